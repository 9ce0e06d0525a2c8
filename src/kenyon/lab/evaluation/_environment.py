"""Where a run ran: versions, processor, threads."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
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
