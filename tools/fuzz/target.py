"""What a target of the fuzzer is, and how its cases are run."""

from __future__ import annotations

import random
import tempfile
import traceback
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, NamedTuple


class Failure(NamedTuple):
    """A case that ended as no case may.

    Attributes:
        case: its number.
        what: what happened, a traceback where there is one.
    """

    case: int
    what: str


class Target(ABC):
    """Hostile files of one kind.

    Args:
        folder: where files may be written.
    """

    name: ClassVar[str]
    share: ClassVar[float] = 1.0
    """Of the cases that are asked for; less for what takes long."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def case(self, rng: random.Random) -> str:
        """Make a hostile file, read it, and say in a word what came of it; raises where that is not allowed."""


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder for files by the million: in memory where the system has such a place."""
    place = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=place if place.is_dir() else None) as folder:
        yield Path(folder)


def rng_of(seed: int, name: str, case: int) -> random.Random:
    """The chance of one case, the same everywhere."""
    return random.Random(f"{seed} {name} {case}")


def run_one(target: Target, seed: int, case: int) -> str | Failure:
    """What came of a case, or how it failed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of NumPy: what overflows is to be noticed by us
            return target.case(rng_of(seed, target.name, case))
    except Exception:
        return Failure(case, traceback.format_exc())


def run_here(target: Target, seed: int, cases: range) -> tuple[Counter[str], list[Failure]]:
    """Run cases in this process: how many ended how, and those that failed."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for case in cases:
        result = run_one(target, seed, case)
        if isinstance(result, Failure):
            failures.append(result)
        else:
            counts[result] += 1
    return counts, failures
