"""Compile kernels and keep their machine code on disk; where that is impossible, go on without.

Numba refuses to define a cached function where no folder can be written (a read-only install without a
home), and fails in the middle of a call where the disk is full. Neither is a reason not to learn.

It also numbers the files of a function without a lock: two processes that compile different versions of it at once,
such as one kernel around two rules, may leave a version's name on the other's machine code. So writing takes a lock.

And it tells the helpers of kernels apart by a number that every process counts from 1. Kernels that two processes kept
may then both hold, say, a `halve` number 7, one for 8 bits and one for 3; a third process that loads both takes the
first for either. So the numbers are drawn at random here.
"""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import FunctionCache

from kenyon.system import locked

LOCK = "compiling.lock"

F = TypeVar("F", bound=Callable[..., Any])

_said = False

# Drawn at each call: a fork would go on counting where its parent was.
FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(62), None)  # type: ignore[assignment]


def kernel(**options: Any) -> Callable[[F], F]:
    """`numba.njit` that releases the GIL and keeps its machine code on disk if it can."""

    def compiled(function: F) -> F:
        dispatcher = njit(nogil=True, **options)(function)
        try:
            dispatcher._cache = _Cache(function)
        except (OSError, RuntimeError):  # RuntimeError: Numba has no locator for the function
            _say_once("no folder for it can be written")
        return dispatcher

    return compiled


class _Cache(FunctionCache):
    """Numba's cache, except that one process writes at a time, and that failing to read or write is no error."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file gives any of them: compile, and write it anew
            self._write(self.flush)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self._write(super().save_overload, sig, data)

    def _write(self, write: Callable[..., None], *arguments: Any) -> None:
        try:
            os.makedirs(self.cache_path, exist_ok=True)
            with locked(Path(self.cache_path, LOCK)):
                write(*arguments)
        except OSError as error:
            self.disable()
            _say_once(str(error))


def _say_once(reason: str) -> None:
    global _said
    if not _said:
        _said = True
        warnings.warn(
            f"Compiled code cannot be kept on disk ({reason}), so every process compiles anew. "
            "Set NUMBA_CACHE_DIR to a folder with room that can be written.",
            stacklevel=3,
        )
