"""S(t): features, layers and time, on plain arrays. `KenyonClassifier` wraps it.

The engine takes samples in any number and works on blocks; a block is only a way to compute several
samples side by side, and every sample is learned with the weights that the one before it left.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError, DivergenceError
from kenyon.features import (
    BLOCK,
    Active,
    Features,
    IdentityUnits,
    RampUnits,
    Rescaling,
    SparseRows,
    Workspace,
    make_active,
)
from kenyon.layers import DIVERGED, DiagonalLayer, Layer, Samples, SecondOrderLayer, State, Undo
from kenyon.model.bending import first_active, first_layer
from kenyon.model.calibration import Calibration
from kenyon.model.labels import Batch, Head
from kenyon.model.scale import Scaler
from kenyon.model.spec import Spec
from kenyon.model.table_step import TableStep
from kenyon.model.units import Change, Units
from kenyon.utils.modulation import Moving, values_at

ONE_TAUGHT = np.ones(1, bool)

MANY_SILENT = 100
"""Warn after this many samples in a row for which no unit is active."""


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

    def is_of(self, features: Features) -> bool:
        """Whether it was made for these features."""
        return self._features is features

    @property
    def nbytes(self) -> int:
        return self.workspace.nbytes + sum(array.nbytes for array in self._samples.values())


def dense(samples: NDArray | SparseRows) -> NDArray:
    """Samples with their zeros."""
    return samples.toarray() if isinstance(samples, SparseRows) else samples


class Journal:
    """Where an engine stood when a call began, so that the call can be undone; undoing may be repeated."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._clock = engine.clock.copy()
        self._moments = None if engine.scaler is None else engine.scaler.kept()
        self._calibration = None if engine.calibration is None else engine.calibration.snapshot()
        self._parts = (engine.features, list(engine.layers), engine.spec)
        self._layers: list[Undo] = [layer.mark() for layer in engine.layers]

    def note(self, number: int, active: Active, first: int, last: int) -> None:
        """Keep what learning these samples is about to change in a layer."""
        self._layers[number].note(active, first, last)

    def undo(self) -> None:
        self._engine.put_back(*self._parts)
        for layer in self._layers:
            layer.undo()
        self._engine.clock[:] = self._clock
        if self._engine.scaler is not None and self._moments is not None:
            self._engine.scaler.restore(self._moments)
        if self._engine.calibration is not None and self._calibration is not None:
            self._engine.calibration.state = self._calibration
            self._engine.calibration.applied(self._engine.layers[-1])
            self._calibration = self._engine.calibration.snapshot()


class Engine:
    """Features, layers, and the time.

    Args:
        features: F_e.
        layers: F_l, hidden layers first.
        moving: learning rate, window and the rule's parameters, each of which may move with time.
        seed: what features and codes were drawn from.
        n_threads: threads that compute features ahead of the learning.
        spec: what it is composed of.
        params: the classifier's parameters that it was made with, whatever they are set to later.
        scaler: scales the samples before the features see them, where they are scaled.
        calibration: what predictions before learning tell, where they are made.
    """

    def __init__(
        self,
        features: Features,
        layers: Sequence[Layer],
        moving: Sequence[Moving],
        seed: int,
        n_threads: int,
        spec: Spec,
        params: Mapping[str, Any],
        scaler: Scaler | Units | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        self.scaler, self.calibration = scaler, calibration
        self.features, self.layers = features, list(layers)
        self.clock = np.zeros(2, np.int64)
        self.n_threads, self.n_inputs, self.seed = n_threads, spec.n_inputs, seed
        self.spec, self.params = spec, params
        self._unit_norm, self._moving = spec.unit_norm, list(moving)
        self._constant: NDArray[np.float32] | None = None
        if not any(callable(value) for value in self._moving):
            self._constant = np.tile(np.array(self._moving, np.float32), (BLOCK, 1))
        self._benches: list[_Bench] = []
        self._table: TableStep | None = None
        self.has_bent = False  # whether it was warned that units were dropped
        self._n_silent, self._warned = 0, False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_benches": [], "_table": None}  # scratch is neither copied nor pickled

    @property
    def n_classes(self) -> int:
        return self.layers[-1].n_neurons

    @property
    def time(self) -> int:
        """Labelled samples learned so far."""
        return int(self.clock[0])

    @property
    def updates(self) -> int:
        """Synapses visited so far."""
        return int(self.clock[1])

    # ---- learning

    def learn(self, X: NDArray | SparseRows, batch: Batch, journal: Journal | None) -> None:
        """Learn samples in order, each new class being added when its first sample comes.

        Args:
            batch: the samples' neurons, and the classes they bring.
            journal: takes down what is changed; None where it will not be undone.
        """
        changes: deque[Change] = deque()
        for start, stop, active in self._activated(X, batch.taught, changes):
            active = self._in_use(active)
            self._count_silent(active[2][: stop - start])
            if self._constant is not None:
                beta = self._constant[: stop - start]
            else:
                beta = values_at(self._moving, self.time, batch.taught[start:stop])
            labels = batch.neurons[start:stop]
            cuts = [after for after, _ in changes]
            if self.calibration is not None:
                inside = [after - start for after in cuts if start < after <= stop]
                inside += [sample - start for sample in batch.bends if start <= sample < stop]
                due = self.calibration.cuts(batch.taught[start:stop], self.time, inside)
                cuts += [start + sample for sample in due]
            for first, last in batch.segments(start, stop, cuts):
                if first in batch.bends:
                    self.drop_units(batch.bends[first])
                    active = self._in_use(active)
                for _ in range(batch.n_arriving(first)):
                    self._add_class()
                head = batch.head(first)
                last_layer = self.layers[-1]
                if self.calibration is not None and isinstance(last_layer, (SecondOrderLayer, DiagonalLayer)):
                    place = (first - start, last - start, labels, self.time)
                    self.calibration.note(last_layer, head.neurons, active, *place)
                own = (start, first - start, last - start, labels, batch.taught[first:last])
                x_o = self._learn_segment(active, *own, head, beta, batch.wanted, journal)
                batch.predicted(first, last, x_o)
                if changes and changes[0][0] == last:
                    self._rescale(changes.popleft()[1])
        self._warn_silent()

    @property
    def at_once(self) -> bool:
        """Whether `learn_one` learns one sample by one compiled call, so that no journal is needed."""
        return len(self.layers) == 1 and self.layers[0].at_once and self.scaler is None and self.calibration is None

    def learn_one(self, sample: NDArray, neuron: int, head: Head) -> bool:
        """Learn one sample of a class that is known, at the lowest latency, where the engine is `at_once`.

        Returns:
            False, and nothing was changed, where it takes `learn`.
        """
        bench = self._take_bench()
        active = bench.activate(sample)
        if self._n_silent or not active[2][0]:
            self._count_silent(active[2][:1])
            self._warn_silent()
        beta = self._constant
        if beta is None:
            beta = values_at(self._moving, self.time, ONE_TAUGHT)
        layer = self.layers[0]
        one = Samples(active, 0, 1, np.array([neuron]), head.mask(layer.width), beta)
        learned = layer.learn_one(one, self.clock)
        self._benches.append(bench)
        return learned

    @property
    def table(self) -> TableStep | None:
        """What predicts and learns single samples, where they are rows of a table."""
        if self.calibration is None or self._n_silent:
            return None
        step = self._table
        if step is None or step.parts != (self.scaler, self.features, self.layers[-1], self.calibration):
            self._table = step = TableStep.of(self)
        return step

    def drop_units(self, n_units: int) -> None:
        """Go on with the first units alone: where they are nested, as if there had never been more."""
        last, spec = self.layers[-1], self.spec.with_units(n_units)
        assert isinstance(last, SecondOrderLayer)
        layer, features = first_layer(last, spec, self.seed + 1), spec.features.build(spec.setting(self.seed))
        if self.calibration is not None:
            self.calibration.first_units(n_units)
            self.calibration.applied(layer)
        self.put_back(features, [layer], spec)

    def put_back(self, features: Features, layers: list[Layer], spec: Spec) -> None:
        """Take over features and layers; scratch that was made for others goes."""
        if features is not self.features:
            self._benches = []
        self.features, self.layers, self.spec = features, list(layers), spec

    def with_units(self, n_units: int) -> Engine:
        """A copy that goes on with the first units alone."""
        twin = copy.copy(self)
        twin.calibration, twin._benches = copy.deepcopy(self.calibration), []
        twin.drop_units(n_units)
        return twin

    def _in_use(self, active: Active) -> Active:
        """The activity of units that were not dropped since it was computed."""
        n_units = self.features.n_outputs
        wider = active[0].shape[1] > n_units and self.spec.features.nested
        return first_active(active, n_units) if wider else active

    def _count_silent(self, counts: NDArray[np.int64]) -> None:
        """Count samples in a row that activate no unit, from the number of active units of each."""
        (heard,) = np.nonzero(counts)
        if heard.size:
            self._n_silent, self._warned = len(counts) - 1 - int(heard[-1]), False
        else:
            self._n_silent += len(counts)

    def _warn_silent(self) -> None:
        """Warn after MANY_SILENT of them, once until a unit is active again."""
        if self._n_silent < MANY_SILENT or self._warned:
            return
        self._warned = True
        warnings.warn(
            f"no unit was active for the last {self._n_silent} samples, so nothing was learned from them. Lower "
            f"threshold (it is {getattr(self.spec.features, 'threshold', None)!r}), raise density, or set scale=True "
            "if inputs differ in scale.",
            UserWarning,
            stacklevel=6,
        )

    def _add_class(self) -> None:
        for layer in self.layers:
            layer.add_class()
        if self.calibration is not None:
            self.calibration.grown(self.n_classes)

    def _learn_segment(
        self,
        active: Active,
        start: int,
        a: int,
        b: int,
        labels: NDArray[np.int64],
        taught: NDArray[np.bool_],
        head: Head,
        beta: NDArray[np.float32],
        scores: bool,
        journal: Journal | None,
    ) -> NDArray[np.float32]:
        """Samples a .. b - 1 of a block that begins at sample `start` of the call: `active`, `labels` and `beta` are
        the block's, `taught` (which have a label) is theirs. Returns `x_o` where `scores` are wanted."""
        x_o = np.empty((0, 0), np.float32)
        for number, layer in enumerate(self.layers):
            final = layer is self.layers[-1]
            plastic = head.mask(layer.width) if final else None
            n_plastic = len(head.neurons) if final else layer.n_neurons
            outputs = np.empty((b - a, layer.width), np.float32) if scores or not final else None
            if journal is not None:
                journal.note(number, active, a, b)
            samples = Samples(active, a, b, labels, plastic, beta)
            learned = layer.learn(samples, outputs)
            if learned != b:
                raise DivergenceError(
                    f"the activity of the {'output' if final else 'hidden'} layer passed {DIVERGED:g} at sample "
                    f"{start + learned} of this call (time {self.time}): the rule is not stable like this. "
                    "Set clamp (for example clamp=0.1), or a smaller learning_rate. Nothing was learned."
                )
            self.clock[1] += layer.updates(samples, taught, n_plastic)
            if outputs is not None:
                x_o = outputs
            if not final:
                active = self._next_input(layer, x_o, a, b)
        self.clock[0] += np.count_nonzero(taught)
        return x_o

    def _next_input(self, layer: Layer, outputs: NDArray[np.float32], a: int, b: int) -> Active:
        """The rectified output as the next layer's activity, in memory of its own."""
        active = make_active(layer.n_neurons, BLOCK)
        core.rectify(outputs, layer.n_neurons, a, self._unit_norm, *active)
        return active

    # ---- prediction

    def scores(self, X: NDArray | SparseRows) -> NDArray[np.float32]:
        """`x_o` of the output layer for each sample, (n, n_classes); each thread takes a segment."""
        out = np.empty((len(X), self.n_classes), np.float32)
        n_blocks = -(-len(X) // BLOCK)
        n_threads = min(self.n_threads, n_blocks)
        if n_threads == 1:
            self._score_segment(X, out)
            return out
        self.features.prepare()
        share = -(-n_blocks // n_threads) * BLOCK
        parts = [slice(start, start + share) for start in range(0, len(X), share)]
        pool = _threads(n_threads)
        others = [pool.submit(self._score_segment, X[part], out[part]) for part in parts[1:]]
        self._score_segment(X[parts[0]], out[parts[0]])
        for other in others:
            other.result()
        return out

    def score_one(self, sample: NDArray) -> NDArray[np.float32]:
        """`x_o` of a single sample, (1, inputs), padding included, where there is one layer."""
        bench = self._take_bench()
        active = bench.activate(sample if self.scaler is None else self.scaler.scale(sample))
        out = self.layers[0].forward(active, 0, 1)
        self._benches.append(bench)
        return out[0]

    def _score_segment(self, X: NDArray | SparseRows, out: NDArray[np.float32]) -> None:
        bench = self._take_bench()
        for start in range(0, len(X), BLOCK):
            n = len(X[start : start + BLOCK])
            block = X[start : start + n]
            active = bench.activate(block if self.scaler is None else self.scaler.scale(dense(block)))
            for layer in self.layers[:-1]:
                active = self._next_input(layer, layer.forward(active, 0, n), 0, n)
            out[start : start + n] = self.layers[-1].forward(active, 0, n)[:, : self.n_classes]
        self._benches.append(bench)

    def typicality(self, X: NDArray | SparseRows) -> NDArray[np.float64]:
        """(n, n_classes): the share of each class's own samples that are less typical of it."""
        out, bench = np.empty((len(X), self.n_classes)), self._take_bench()
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK]
            active = bench.activate(block if self.scaler is None else self.scaler.scale(dense(block)))
            out[start : start + len(block)] = self.layers[-1].typicality(active, 0, len(block))
        self._benches.append(bench)
        return out

    def unlikeness(self, x: NDArray[np.uint8], neuron: int) -> int:
        """How unlike a neuron's own samples one sample is, in 1/256 of the usual squared distance."""
        layer = self.layers[-1]
        if not hasattr(layer, "unlikeness"):
            raise ConfigError(f"the layer is a {type(layer).__name__}: expected a second-order one, to reject")
        bench = self._take_bench()
        units, values, counts = bench.activate(x[np.newaxis])
        activity = np.zeros(layer.n_inputs, np.uint8)
        activity[units[0, : counts[0]]] = values[0, : counts[0]]
        self._benches.append(bench)
        return layer.unlikeness(activity, neuron)

    def _take_bench(self) -> _Bench:
        """A bench that is not in use; give it back by appending it. One that an error kept is not missed."""
        try:
            return self._benches.pop()
        except IndexError:
            return _Bench(self.features, self.n_inputs)

    def merge_units(self, other: Engine) -> State:
        """Take what another engine knows of the inputs' units, and give the state of its last layer in the new ones."""
        own, theirs, last = self.scaler, other.scaler, other.layers[-1]
        if own is None or theirs is None:
            return last.state
        if isinstance(own, Units) and isinstance(theirs, Units):
            if own.is_like(theirs):
                return last.state
            change, other_change = own.merge(theirs)
            twin = copy.copy(other)
            twin.layers, twin.calibration = [copy.copy(last)], None  # the other's own stay as they are
            self._rescale(change)
            twin._rescale(other_change)
            return twin.layers[-1].state
        if isinstance(own, Scaler) and isinstance(theirs, Scaler) and not own.is_like(theirs):
            own.merge(theirs)
        return last.state

    def _rescale(self, change: Rescaling) -> None:
        """Re-express what was learned, since the inputs get other units."""
        if isinstance(self.features, RampUnits) and change.changed.any():
            self.layers[-1].rescale(partial(self.features.rescaled, change))
            if self.calibration is not None:
                self.calibration.outdated()

    def _activated(
        self, X: NDArray | SparseRows, taught: NDArray[np.bool_], changes: deque[Change]
    ) -> Iterator[tuple[int, int, Active]]:
        """(start, stop, x_e) block by block, in order; other threads work ahead while the caller learns.

        `changes` of the inputs' units are added with the number of samples after which they are due."""
        blocks = [slice(start, min(start + BLOCK, len(X))) for start in range(0, len(X), BLOCK)]
        n_benches = min(self.n_threads + 1, len(blocks))
        if self.n_threads == 1 or n_benches == 1:
            bench = self._take_bench()
            for block in blocks:
                yield block.start, block.stop, bench.activate(self._scaled(X, block, taught, changes))
            self._return_benches([bench])
            return
        self.features.prepare()
        benches = [self._take_bench() for _ in range(n_benches)]
        pool, ahead = _threads(self.n_threads), deque[Future[Active]]()
        try:
            for number in range(-n_benches, len(blocks)):
                if number >= 0:
                    yield blocks[number].start, blocks[number].stop, ahead.popleft().result()
                if number + n_benches < len(blocks):  # into the bench that has just been learned from
                    bench, block = benches[number % n_benches], blocks[number + n_benches]
                    ahead.append(pool.submit(bench.activate, self._scaled(X, block, taught, changes)))
        finally:
            wait(ahead)  # no thread writes to a bench after this call
        self._return_benches(benches)

    def _return_benches(self, benches: list[_Bench]) -> None:
        """Keep scratch for the next call, where it is that of the present features."""
        self._benches.extend(bench for bench in benches if bench.is_of(self.features))

    def _scaled(
        self, X: NDArray | SparseRows, block: slice, taught: NDArray[np.bool_], changes: deque[Change]
    ) -> NDArray | SparseRows:
        """Samples as the features want them, and counted: to be called in the order of the stream."""
        if self.scaler is None:
            return X[block]
        if not isinstance(self.scaler, Units):
            return self.scaler.count(dense(X[block]), taught[block])
        scaled, found = self.scaler.count(dense(X[block]), taught[block])
        changes.extend((block.start + after, change) for after, change in found)
        return scaled

    # ---- memory

    @property
    def state_bytes(self) -> int:
        """Bytes of the arrays that must be kept: those of the layers, two counters, the moments of scaled inputs."""
        return self.state_bytes_with(0)

    def state_bytes_with(self, n_new: int, n_units: int | None = None) -> int:
        """`state_bytes` with that many more classes, and with another number of units where there is one layer."""
        moments = 0 if self.scaler is None else self.scaler.state_bytes
        predicted = 0 if self.calibration is None else self.calibration.state_bytes_with(n_new, n_units)
        return sum(layer.state_bytes_with(n_new, n_units) for layer in self.layers) + 16 + moments + predicted

    @property
    def nbytes(self) -> int:
        """Bytes held in memory: tables, padded weights, scratch."""
        benches = sum(bench.nbytes for bench in self._benches)
        moments = 0 if self.scaler is None else self.scaler.state.nbytes
        return self.features.nbytes + sum(layer.nbytes for layer in self.layers) + benches + moments
