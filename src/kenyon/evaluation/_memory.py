"""Peak resident memory of this process over a stretch of time."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")


def _status_bytes(key: str) -> int | None:
    """A `kB` field of /proc/self/status in bytes; None where there is no such file."""
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _lifetime_peak() -> int:
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
        self._start = _status_bytes("VmRSS") or _lifetime_peak()
        self._mapped = _status_bytes("RssFile") or 0

    def peak_growth(self) -> int:
        mapped = (_status_bytes("RssFile") or 0) - self._mapped
        return max(0, (_status_bytes("VmHWM") or _lifetime_peak()) - self._start - max(0, mapped))
