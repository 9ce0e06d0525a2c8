"""Jobs for the tests of the pool, in a module that a new process imports quickly."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any, NoReturn

from kenyon.utils.parallel import Answer, Workers, open_pool


def perform(jobs: dict[str, tuple[Any, ...]], where: Workers) -> dict[Any, Answer]:
    """The answers of jobs, each a function and its arguments, by their names."""
    with open_pool(where) as pool:
        for key, (function, *arguments) in jobs.items():
            pool.submit(key, function, *arguments)
        return {answer.key: answer for answer in pool.answers()}


def double(x: int) -> int:
    return 2 * x


def where() -> tuple[int, str, str | None]:
    return os.getpid(), os.getcwd(), os.environ.get("OMP_NUM_THREADS")


def fail(message: str) -> NoReturn:
    raise ValueError(message)


class OddError(Exception):
    """Cannot be unpickled: its constructor wants two arguments."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


def fail_oddly() -> NoReturn:
    raise OddError("it", "odd")


def unsendable() -> object:
    return lambda: None


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_unless(marker: Path) -> str:
    """Die the first time; be done the second."""
    if marker.exists():
        return "done"
    marker.touch()
    die()


def hold(marker: Path) -> None:
    """Leave a file with this process's number, and do not end."""
    hidden = marker.with_name(f".{marker.name}")
    hidden.write_text(str(os.getpid()))
    hidden.rename(marker)
    threading.Event().wait()


def visible_gpus(number: int) -> list[str]:
    """The GPUs that Ray gives to this job."""
    import ray

    return [str(gpu) for gpu in ray.get_gpu_ids()]
