"""What a worker does with a job: unpack it, call it, pack the result. It is the same for every engine."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple

from kenyon.errors import KenyonError


class Attempt(NamedTuple):
    """The result of a call.

    Attributes:
        value: what the function returned; None where it raised.
        error: what it raised.
        seconds: how long it took.
    """

    value: Any
    error: Exception | None
    seconds: float


def pack(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """A call as bytes, with the current folder and the folders that modules are imported from."""
    return pickle.dumps((os.getcwd(), sys.path, pickle.dumps((function, arguments))))


def attempt(call: bytes) -> bytes:
    """Do a packed call; whatever it raises is part of the answer."""
    begin = perf_counter()
    try:
        folder, path, inner = pickle.loads(call)
        with suppress(OSError):  # another machine may not have it
            os.chdir(folder)
        sys.path += [place for place in path if place not in sys.path]
        function, arguments = pickle.loads(inner)
        value, error = function(*arguments), None
    except Exception as raised:
        value, error = None, _portable(raised)
    seconds = perf_counter() - begin
    try:
        return pickle.dumps(Attempt(value, error, seconds))
    except Exception as raised:
        failed = KenyonError(f"what the job returned cannot be sent back: {type(raised).__name__}: {raised}")
        return pickle.dumps(Attempt(None, failed, seconds))


def unpack(answer: bytes) -> Attempt:
    """What `attempt` packed."""
    return pickle.loads(answer)


def _portable(error: Exception) -> Exception:
    """The error itself if it can be sent, else one that says the same."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    return KenyonError(f"{type(error).__name__}: {error}")
