"""From samples to activity, block by block; other threads work ahead of the one that learns."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.features import BLOCK, Active, Features, IdentityUnits, SparseRows, Workspace

MANY_SILENT = 100
"""Warn after this many samples in a row for which no unit is active."""


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, "kenyon")


def threads(n_threads: int) -> ThreadPoolExecutor:
    """Threads that all engines of a process share; a forked process gets its own."""
    return _pool(n_threads, os.getpid())


def dense(samples: NDArray | SparseRows) -> NDArray:
    """Samples with their zeros."""
    return samples.toarray() if isinstance(samples, SparseRows) else samples


class Bench:
    """What one thread works on: the samples of a block and their activity."""

    def __init__(self, features: Features, n_inputs: int) -> None:
        self._features = features
        self._shape = (BLOCK, n_inputs)
        self._samples: dict[np.dtype, NDArray] = {}
        self.workspace: Workspace = features.workspace()

    def activate(self, X: NDArray | SparseRows) -> Active:
        if isinstance(X, SparseRows):
            if isinstance(self._features, IdentityUnits):
                return self._features.activate_rows(X, self.workspace)
            X = X.toarray()
        dtype = np.dtype(np.uint8 if X.dtype == np.uint8 else np.float32)
        if dtype not in self._samples:
            self._samples[dtype] = np.empty(self._shape, dtype)
        samples = self._samples[dtype][: len(X)]
        samples[:] = X  # one layout for the kernels, whatever the caller's
        return self._features.activate(samples, self.workspace)

    @property
    def nbytes(self) -> int:
        return self.workspace.nbytes + sum(array.nbytes for array in self._samples.values())


class Benches:
    """The benches of one feature layer that are not in use."""

    def __init__(self, features: Features, n_inputs: int) -> None:
        self._features, self._n_inputs = features, n_inputs
        self._free: list[Bench] = []

    def take(self) -> Bench:
        """A bench that no other thread has; one that an error kept is not missed."""
        try:
            return self._free.pop()
        except IndexError:
            return Bench(self._features, self._n_inputs)

    def give_back(self, *benches: Bench) -> None:
        self._free.extend(benches)

    def activated(
        self, first: int, last: int, n_threads: int, samples: Callable[[slice], NDArray | SparseRows]
    ) -> Iterator[tuple[int, int, Active]]:
        """(start, stop, x_e) block by block, in order; other threads work ahead while the caller learns.

        Args:
            first, last: the first sample and the one after the last.
            samples: gives those of a block; called in the order of the blocks.
        """
        blocks = [slice(start, min(start + BLOCK, last)) for start in range(first, last, BLOCK)]
        n_benches = min(n_threads + 1, len(blocks))
        if n_threads == 1 or n_benches == 1:
            bench = self.take()
            for block in blocks:
                yield block.start, block.stop, bench.activate(samples(block))
            self.give_back(bench)
            return
        self._features.prepare()
        benches = [self.take() for _ in range(n_benches)]
        pool, ahead = threads(n_threads), deque[Future[Active]]()
        try:
            for number in range(-n_benches, len(blocks)):
                if number >= 0:
                    yield blocks[number].start, blocks[number].stop, ahead.popleft().result()
                if number + n_benches < len(blocks):  # into the bench that has just been learned from
                    bench, block = benches[number % n_benches], blocks[number + n_benches]
                    ahead.append(pool.submit(bench.activate, samples(block)))
        finally:
            wait(ahead)  # no thread writes to a bench after this call
        self.give_back(*benches)

    @property
    def nbytes(self) -> int:
        return sum(bench.nbytes for bench in self._free)


class Silence:
    """Samples in a row that activate no unit."""

    def __init__(self) -> None:
        self.n_samples, self._warned = 0, False

    def count(self, counts: NDArray[np.int64]) -> None:
        """Count on, from the number of active units of each sample."""
        (active_at,) = np.nonzero(counts)
        if active_at.size:
            self.n_samples, self._warned = len(counts) - 1 - int(active_at[-1]), False
        else:
            self.n_samples += len(counts)

    def warn(self, features: Any) -> None:
        """Warn after MANY_SILENT of them, once until a unit is active again."""
        if self.n_samples < MANY_SILENT or self._warned:
            return
        self._warned = True
        warnings.warn(
            f"no unit was active for the last {self.n_samples} samples, so nothing was learned from them. Lower "
            f"threshold (it is {getattr(features, 'threshold', None)!r}), raise density, or set scale=True "
            "if inputs differ in scale.",
            UserWarning,
            stacklevel=6,
        )
