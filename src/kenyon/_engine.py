"""S(t): features, layers and time, on plain arrays. The classifier in `learner.py` is its face.

The engine takes samples in any number and works on blocks; a block is only a way to compute several
samples side by side, and every sample is learned with the weights that the one before it left.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels.learn import DIVERGED
from kenyon.errors import DivergenceError
from kenyon.features import BLOCK, Active, Features, Workspace
from kenyon.labels import Head
from kenyon.layers import NO_LABEL, Layer, LayerSnapshot
from kenyon.modulation import Moving, clamp_bounds, values_at
from kenyon.rules import Rule

__all__ = ["NO_LABEL", "Engine"]

ONE_TAUGHT = np.ones(1, bool)


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, "kenyon")


def _threads(n_threads: int) -> ThreadPoolExecutor:
    """Threads that all engines of a process share; a forked process gets its own."""
    return _pool(n_threads, os.getpid())


class _Bench:
    """What one thread works on: the samples of a block and their activity."""

    def __init__(self, features: Features, n_inputs: int) -> None:
        self._features = features
        self._shape = (BLOCK, n_inputs)
        self._samples: dict[np.dtype, NDArray] = {}
        self.workspace: Workspace = features.workspace()

    def activate(self, X: NDArray) -> Active:
        dtype = np.dtype(np.uint8 if X.dtype == np.uint8 else np.float32)
        if dtype not in self._samples:
            self._samples[dtype] = np.empty(self._shape, dtype)
        samples = self._samples[dtype][: len(X)]
        samples[:] = X  # one layout for the kernels, whatever the caller's
        return self._features.activate(samples, self.workspace)

    @property
    def nbytes(self) -> int:
        return self.workspace.nbytes + sum(array.nbytes for array in self._samples.values())


class Engine:
    """Features, layers, and the time.

    Args:
        features: F_e.
        n_inputs: width of a sample.
        rule: plasticity of every layer.
        hidden: widths of the hidden layers.
        rate: the learning rate; moves with time.
        clamp, clamp_kind: bounds of the weights.
        unit_norm: scale the input of every layer to length 1.
        seed: codes of the hidden layers.
        n_threads: threads that compute features ahead of the learning.
        params: the classifier's parameters that it is made with, whatever they are set to later.
    """

    def __init__(
        self,
        features: Features,
        n_inputs: int,
        rule: Rule,
        hidden: Sequence[int],
        rate: Moving,
        clamp: float | None,
        clamp_kind: str,
        unit_norm: bool,
        seed: int,
        n_threads: int,
        params: Mapping[str, Any],
    ) -> None:
        bounds = clamp_bounds(clamp, clamp_kind)
        widths = [features.n_outputs, *hidden]
        self.features = features
        self.layers = [
            Layer(inputs, rule, bounds, n_hidden, seed + number + 1)
            for number, (inputs, n_hidden) in enumerate(zip(widths, [*hidden, 0], strict=True))
        ]
        self.time = 0
        self.updates = 0
        self.n_threads = n_threads
        self.n_inputs, self.seed = n_inputs, seed
        self.params = params
        self._unit_norm = unit_norm
        window = rule.window
        self._moving = [rate, 0.0 if window is None else window, *rule.plasticity.parameters.values()]
        self._constant: NDArray[np.float32] | None = None
        if not any(callable(value) for value in self._moving):
            self._constant = values_at(self._moving, 0, np.ones(BLOCK, bool))
        # within bounds like these no activity of unit length can come near the limit
        self._bounded = clamp is not None and unit_norm and clamp * max(widths) < DIVERGED
        self._benches = [_Bench(features, n_inputs)]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_benches": []}  # scratch is neither copied nor pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._benches = [_Bench(self.features, self.n_inputs)]

    @property
    def n_classes(self) -> int:
        return self.layers[-1].n_neurons

    def add_class(self) -> int:
        """One more output neuron; returns its number."""
        for layer in self.layers:
            layer.add_class()
        return self.n_classes - 1

    def learn(
        self, X: NDArray, labels: NDArray[np.int64], head: Head, arrivals: Sequence[int], scores: bool = False
    ) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
        """Learn samples in order, each new class being added when its first sample comes.

        Args:
            labels: output neuron of each sample (new ones numbered on from `n_classes`), or NO_LABEL.
            head: the task's neurons; new ones are entered into it.
            arrivals: first sample of each new class, ascending.
            scores: also compute `x_o` of each sample before it is learned.

        Yields:
            (first, last, x_o) of each stretch that was learned, `x_o` being empty unless asked for.
        """
        taught = labels != NO_LABEL
        for start, stop, active in self._activated(X):
            if self._constant is not None:
                beta = self._constant[: stop - start]
            else:
                beta = values_at(self._moving, self.time, taught[start:stop])
            cuts = sorted({start, stop, *(a for a in arrivals if start < a < stop)})
            for first, last in pairwise(cuts):
                for _ in range(arrivals.count(first)):
                    head.neurons.append(self.add_class())
                own = (labels[start:stop], taught[first:last])
                x_o = self._learn_stretch(active, start, first, last, *own, head, beta, scores)
                yield first, last, x_o

    def learn_one(self, sample: NDArray, neuron: int, head: Head) -> None:
        """As `learn` for one sample of a class that is known, at the lowest latency."""
        labels = np.array([neuron])
        active = self._benches[0].activate(sample)
        beta = self._constant
        if beta is None:
            beta = values_at(self._moving, self.time, ONE_TAUGHT)
        self._learn_stretch(active, 0, 0, 1, labels, ONE_TAUGHT, head, beta, False)

    def _learn_stretch(
        self,
        active: Active,
        start: int,
        first: int,
        last: int,
        labels: NDArray[np.int64],
        taught: NDArray[np.bool_],
        head: Head,
        beta: NDArray[np.float32],
        scores: bool,
    ) -> NDArray[np.float32]:
        """Samples first .. last - 1 of a block that begins at `start`: `active`, `labels` and `beta` are the block's,
        `taught` (which have a label) is theirs."""
        a, b = first - start, last - start
        x_o = np.empty((0, 0), np.float32)
        for layer in self.layers:
            final = layer is self.layers[-1]
            plastic = head.mask(layer.width) if final else None
            n_plastic = len(head.neurons) if final else layer.n_neurons
            outputs = np.empty((b - a, layer.width), np.float32) if scores or not final else None
            learned = layer.learn(active, a, b, labels, plastic, beta, outputs)
            if learned != b:
                raise DivergenceError(
                    f"the activity of the {'output' if final else 'hidden'} layer passed {DIVERGED:g} at sample "
                    f"{start + learned} of this call (time {self.time}): the rule is not stable like this. "
                    "Set clamp (for example clamp=0.1), or a smaller learning_rate. Nothing was learned."
                )
            self.updates += layer.updates(active, a, b, taught, n_plastic)
            if outputs is not None:
                x_o = outputs
            if not final:
                active = layer.next_input(x_o, a, b, self._unit_norm)
        self.time += int(np.count_nonzero(taught))
        return x_o

    def scores(self, X: NDArray) -> NDArray[np.float32]:
        """`x_o` of the output layer for each sample, (n, n_classes); each thread takes a stretch."""
        out = np.empty((len(X), self.n_classes), np.float32)
        n_blocks = -(-len(X) // BLOCK)
        n_threads = min(self.n_threads, n_blocks)
        if n_threads == 1:
            self._score_stretch(X, out, self._benches[0])
            return out
        share = -(-n_blocks // n_threads) * BLOCK
        parts = [slice(start, start + share) for start in range(0, len(X), share)]
        self._make_benches(len(parts))
        pool = _threads(n_threads)
        others = [
            pool.submit(self._score_stretch, X[part], out[part], bench)
            for part, bench in zip(parts[1:], self._benches[1:], strict=False)
        ]
        self._score_stretch(X[parts[0]], out[parts[0]], self._benches[0])
        for other in others:
            other.result()
        return out

    def _score_stretch(self, X: NDArray, out: NDArray[np.float32], bench: _Bench) -> None:
        for start in range(0, len(X), BLOCK):
            n = len(X[start : start + BLOCK])
            active = bench.activate(X[start : start + n])
            for layer in self.layers[:-1]:
                active = layer.next_input(layer.forward(active, 0, n), 0, n, self._unit_norm)
            out[start : start + n] = self.layers[-1].forward(active, 0, n)[:, : self.n_classes]

    def _activated(self, X: NDArray) -> Iterator[tuple[int, int, Active]]:
        """(start, stop, x_e) block by block, in order; other threads work ahead while the caller learns."""
        blocks = [X[start : start + BLOCK] for start in range(0, len(X), BLOCK)]
        n_benches = min(self.n_threads + 1, len(blocks))
        if self.n_threads == 1 or n_benches == 1:
            for number, block in enumerate(blocks):
                yield number * BLOCK, number * BLOCK + len(block), self._benches[0].activate(block)
            return
        self._make_benches(n_benches)
        pool, ahead = _threads(self.n_threads), deque[Future[Active]]()
        try:
            for number in range(-n_benches, len(blocks)):
                if number >= 0:
                    yield number * BLOCK, number * BLOCK + len(blocks[number]), ahead.popleft().result()
                if number + n_benches < len(blocks):  # into the bench that has just been learned from
                    bench = self._benches[number % n_benches]
                    ahead.append(pool.submit(bench.activate, blocks[number + n_benches]))
        finally:
            wait(ahead)  # nobody writes to a bench after this call

    def _make_benches(self, n: int) -> None:
        while len(self._benches) < n:
            self._benches.append(_Bench(self.features, self.n_inputs))
        self.features.prepare()

    def snapshot(self, n_samples: int) -> tuple[list[LayerSnapshot], int, int] | None:
        """What is needed to undo a call of this many samples; None where it cannot half succeed."""
        if self._constant is not None and (self._bounded or (n_samples == 1 and len(self.layers) == 1)):
            return None  # a schedule may fail at any sample
        return [layer.snapshot() for layer in self.layers], self.time, self.updates

    def roll_back(self, snapshot: tuple[list[LayerSnapshot], int, int]) -> None:
        layers, self.time, self.updates = snapshot
        for layer, saved in zip(self.layers, layers, strict=True):
            layer.roll_back(saved)

    @property
    def state_bytes(self) -> int:
        """Bytes of the arrays that must be kept (weights, their sums where needed, two counters)."""
        return sum(layer.state_bytes for layer in self.layers) + 16

    def state_bytes_with(self, n_new: int) -> int:
        """`state_bytes` with that many more classes."""
        output = self.layers[-1]
        each = 4 * output.n_inputs + (8 if output.windowed else 0)
        return self.state_bytes + n_new * each

    @property
    def nbytes(self) -> int:
        """Bytes held in memory: tables, padded weights, scratch."""
        benches = sum(bench.nbytes for bench in self._benches)
        return self.features.nbytes + sum(layer.nbytes for layer in self.layers) + benches
