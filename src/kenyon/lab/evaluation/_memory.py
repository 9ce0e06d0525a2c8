"""Peak resident memory of this process over a stretch of time."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")


def _status() -> dict[str, int]:
    """The `kB` fields of /proc/self/status in bytes; empty where there is no such file."""
    try:
        lines = [line.split() for line in _STATUS.read_text().splitlines()]
    except OSError:
        return {}
    return {words[0][:-1]: int(words[1]) * 1024 for words in lines if len(words) == 3 and words[2] == "kB"}


def _lifetime_peak() -> int:
    """0 on systems that do not say."""
    try:
        import resource
    except ModuleNotFoundError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class MemoryGauge:
    """Resident growth since the gauge was made.

    On Linux the kernel's high-water mark is set back first (`/proc/self/clear_refs`), so that what
    came before does not hide the peak, and pages of mapped files that came in meanwhile are left
    out: they are the data set, which the kernel may drop at will. Elsewhere the process's lifetime
    peak is all there is.
    """

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        status = _status()
        self._start = status.get("VmRSS") or _lifetime_peak()
        self._mapped = status.get("RssFile", 0)

    def peak_growth(self) -> int:
        status = _status()
        mapped = max(0, status.get("RssFile", 0) - self._mapped)
        return max(0, (status.get("VmHWM") or _lifetime_peak()) - self._start - mapped)
