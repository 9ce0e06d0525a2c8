"""Which tests run where, and the one limit that ends a hang.

`pytest` runs what is fast and needs nothing but the package: `make test`. `pytest -m ""` runs everything:
`make test-all`. What a test needs and this machine lacks skips it, with the reason: an extra, the browser, the real
data sets.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Generator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import settings

import unsynced  # noqa: F401
from kenyon.errors import MissingExtraError
from real_sets import data_dir

# Processes that a test starts find what it finds.
HERE = Path(__file__).parent
PATHS = [*map(str, (HERE, HERE / "lab", HERE / "paper", HERE.parent / "tools")), os.environ.get("PYTHONPATH", "")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, PATHS))
# Test processes share the processors among themselves, so none of them needs a second thread for linear algebra. NumPy
# is not imported yet.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

HANG = 600
"""Seconds after which a test is taken to hang. No test depends on it: a slow machine is no error."""

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacking = {}
    if data_dir() is None:
        lacking["real_data"] = "needs the real data sets in KENYON_DATA"
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        lacking["browser"] = "needs chromium and chromedriver on the PATH (Debian: chromium-driver)"
    for item in items:
        for marker, reason in lacking.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """What asks for an extra that is not installed is skipped; `test_optional.py` has what must never ask for one."""
    try:
        return (yield)
    except MissingExtraError as error:
        extra = re.search(r"kenyon\[(\w+)\]", str(error))
        pytest.skip(f"needs the extra {extra[1]!r}" if extra else str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Raise in a test that waits for what never comes."""
    if not hasattr(signal, "SIGALRM"):
        return (yield)

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {HANG} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANG)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
