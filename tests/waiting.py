"""Wait for an event, never for a time. What hangs is ended by conftest.py, one limit for every test."""

from __future__ import annotations

import time
from collections.abc import Callable
from subprocess import Popen
from typing import Any, TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], process: Popen[Any] | None = None) -> T:
    """Look until the condition holds; fail if the process that should bring it about has ended.

    Returns:
        What the condition gave.
    """
    while not (seen := condition()):
        assert process is None or process.poll() is None, f"the process ended with exit code {process.returncode}"
        time.sleep(0.01)
    return seen
