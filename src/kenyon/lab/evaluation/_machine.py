"""The machine of a run: versions, processor and threads, and how much memory the run took."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kenyon.utils.system import n_cores

PACKAGES = ("kenyon", "numpy", "scikit-learn", "safetensors", "torch")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def environment() -> dict[str, Any]:
    """This process's surroundings, as plain values. Packages that are not installed are None.

    Example:
        >>> sorted(environment())
        ['cores', 'packages', 'processor', 'python', 'started', 'system', 'threads']
    """
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": n_cores(),
        "threads": {name: os.environ.get(name) for name in THREADS},
        "packages": {name: _version(name) for name in PACKAGES},
    }


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
    peak is used.
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
