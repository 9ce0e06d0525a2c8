"""S(t): features, layers and time, on plain arrays. `KenyonClassifier` wraps it.

The engine takes samples in any number and works on blocks; a block is only a way to compute several
samples side by side, and every sample is learned with the weights that the one before it left.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError, DivergenceError
from kenyon.features import BLOCK, Active, Features, RampUnits, Rescaling, SparseRows, make_active
from kenyon.layers import DIVERGED, DiagonalLayer, Layer, Samples, SecondOrderLayer
from kenyon.model.activity import Benches, Silence, dense, threads
from kenyon.model.bending import first_active, first_layer
from kenyon.model.calibration import Calibration
from kenyon.model.growing import grown_layer
from kenyon.model.journal import Journal
from kenyon.model.labels import Batch, Head
from kenyon.model.scale import Scaler
from kenyon.model.spec import Spec
from kenyon.model.table_step import TableStep
from kenyon.model.units import Change, Units
from kenyon.utils.modulation import Moving, values_at

ONE_LABELLED = np.ones(1, bool)


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
        self._benches, self._silence = Benches(features, spec.n_inputs), Silence()
        self._table: TableStep | None = None
        self.has_bent = False  # whether it was warned that units were dropped

    def __getstate__(self) -> dict[str, Any]:
        scratch = {"_benches": Benches(self.features, self.n_inputs), "_table": None}
        return {**vars(self), **scratch, "_silence": copy.copy(self._silence)}

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
        for first, last in pairwise(sorted({0, *batch.grows, len(X)})):
            if first in batch.grows:
                self.add_units(batch.grows[first])
            self._learn_part(X, first, last, batch, journal)
        self._silence.warn(self.spec.features)

    def _learn_part(self, X: NDArray | SparseRows, begin: int, end: int, batch: Batch, journal: Journal | None) -> None:
        """Learn samples begin .. end - 1, between which no unit is added."""
        changes: deque[Change] = deque()
        benches, scaled = self._benches, partial(self._scaled, X, batch.labelled, changes)
        for start, stop, active in benches.activated(begin, end, self.n_threads, scaled):
            active = self._in_use(active)
            self._silence.count(active[2][: stop - start])
            if self._constant is not None:
                beta = self._constant[: stop - start]
            else:
                beta = values_at(self._moving, self.time, batch.labelled[start:stop])
            labels = batch.neurons[start:stop]
            modulation = None if batch.modulation is None else batch.modulation[start:stop]
            cuts = [after for after, _ in changes]
            if self.calibration is not None:
                inside = [after - start for after in cuts if start < after <= stop]
                inside += [sample - start for sample in batch.bends if start <= sample < stop]
                due = self.calibration.cuts(batch.labelled[start:stop], self.time, inside)
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
                own = (start, first - start, last - start, labels, batch.labelled[first:last])
                x_o = self._learn_segment(active, *own, head, beta, modulation, batch.wanted, journal)
                batch.predicted(first, last, x_o)
                if changes and changes[0][0] == last:
                    self.rescale(changes.popleft()[1])

    @property
    def graded(self) -> bool:
        """Whether x_m may be anything from 0 to 1."""
        return len(self.layers) == 1 and self.layers[0].graded

    @property
    def at_once(self) -> bool:
        """Whether `learn_one` learns one sample by one compiled call, so that no journal is needed."""
        return len(self.layers) == 1 and self.layers[0].at_once and self.scaler is None and self.calibration is None

    def learn_one(self, sample: NDArray, neuron: int, head: Head) -> bool:
        """Learn one sample of a class that is known, at the lowest latency, where the engine is `at_once`.

        Returns:
            False, and nothing was changed, where it takes `learn`.
        """
        bench = self._benches.take()
        active = bench.activate(sample)
        if self._silence.n_samples or not active[2][0]:
            self._silence.count(active[2][:1])
            self._silence.warn(self.spec.features)
        beta = self._constant
        if beta is None:
            beta = values_at(self._moving, self.time, ONE_LABELLED)
        layer = self.layers[0]
        one = Samples(active, 0, 1, np.array([neuron]), head.mask(layer.width), beta)
        learned = layer.learn_one(one, self.clock)
        self._benches.give_back(bench)
        return learned

    @property
    def table(self) -> TableStep | None:
        """What predicts and learns single samples, where they are rows of a table."""
        if self.calibration is None or self._silence.n_samples:
            return None
        step = self._table
        if step is None or step.parts != (self.scaler, self.features, self.layers[-1], self.calibration):
            self._table = step = TableStep.of(self)
        return step

    def drop_units(self, n_units: int) -> None:
        """Go on with the first units alone: where they are nested, as if there had never been more."""
        last, spec = self.layers[-1], self.spec.with_units(n_units)
        assert isinstance(last, SecondOrderLayer)
        if n_units < self.spec.n_units:
            features = spec.features.build(spec.setting(self.seed))
            self._resize(features, first_layer(last, spec, self.seed + 1), spec)

    def add_units(self, n_units: int) -> None:
        """Go on with more ramps, unless the inputs alone are read."""
        last, spec = self.layers[-1], self.spec.with_units(n_units)
        assert isinstance(last, SecondOrderLayer)
        if not last.rule.first and n_units > self.spec.n_units:
            features = spec.features.build(spec.setting(self.seed))
            assert isinstance(features, RampUnits)
            self._resize(features, grown_layer(last, features, spec, self.seed + 1), spec)

    def _resize(self, features: Features, layer: SecondOrderLayer, spec: Spec) -> None:
        if self.calibration is not None:
            self.calibration.with_units(spec.n_units)
            self.calibration.applied(layer)
        self.put_back(features, [layer], spec)

    def put_back(self, features: Features, layers: list[Layer], spec: Spec) -> None:
        """Take over features and layers; scratch that was made for others goes."""
        if features is not self.features:
            self._benches = Benches(features, self.n_inputs)
        self.features, self.layers, self.spec = features, list(layers), spec

    def with_units(self, n_units: int) -> Engine:
        """A copy that goes on with the first units alone."""
        twin = copy.copy(self)
        twin.calibration = copy.deepcopy(self.calibration)
        twin.drop_units(n_units)
        return twin

    def _in_use(self, active: Active) -> Active:
        """The activity of units that were not dropped since it was computed."""
        n_units = self.features.n_outputs
        wider = active[0].shape[1] > n_units and self.spec.features.nested
        return first_active(active, n_units) if wider else active

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
        labelled: NDArray[np.bool_],
        head: Head,
        beta: NDArray[np.float32],
        modulation: NDArray[np.float32] | None,
        scores: bool,
        journal: Journal | None,
    ) -> NDArray[np.float32]:
        """Samples a .. b - 1 of a block that begins at sample `start` of the call: `active`, `labels`, `beta` and
        `modulation` are the block's, `labelled` (which have a label) is theirs. Returns `x_o` where `scores` are
        wanted."""
        x_o = np.empty((0, 0), np.float32)
        for number, layer in enumerate(self.layers):
            final = layer is self.layers[-1]
            plastic = head.mask(layer.width) if final else None
            n_plastic = len(head.neurons) if final else layer.n_neurons
            outputs = np.empty((b - a, layer.width), np.float32) if scores or not final else None
            if journal is not None:
                journal.note(number, active, a, b)
            samples = Samples(active, a, b, labels, plastic, beta, modulation)
            learned = layer.learn(samples, outputs)
            if learned != b:
                raise DivergenceError(
                    f"the activity of the {'output' if final else 'hidden'} layer passed {DIVERGED:g} at sample "
                    f"{start + learned} of this call (time {self.time}): the rule is not stable like this. "
                    "Set clamp (for example clamp=0.1), or a smaller learning_rate. Nothing was learned."
                )
            self.clock[1] += layer.updates(samples, labelled, n_plastic)
            if outputs is not None:
                x_o = outputs
            if not final:
                active = self._next_input(layer, x_o, a, b)
        self.clock[0] += np.count_nonzero(labelled)
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
        pool = threads(n_threads)
        others = [pool.submit(self._score_segment, X[part], out[part]) for part in parts[1:]]
        self._score_segment(X[parts[0]], out[parts[0]])
        for other in others:
            other.result()
        return out

    def score_one(self, sample: NDArray) -> NDArray[np.float32]:
        """`x_o` of a single sample, (1, inputs), padding included, where there is one layer."""
        bench = self._benches.take()
        active = bench.activate(sample if self.scaler is None else self.scaler.scale(sample))
        out = self.layers[0].forward(active, 0, 1)
        self._benches.give_back(bench)
        return out[0]

    def _score_segment(self, X: NDArray | SparseRows, out: NDArray[np.float32]) -> None:
        bench = self._benches.take()
        for start in range(0, len(X), BLOCK):
            n = len(X[start : start + BLOCK])
            block = X[start : start + n]
            active = bench.activate(block if self.scaler is None else self.scaler.scale(dense(block)))
            for layer in self.layers[:-1]:
                active = self._next_input(layer, layer.forward(active, 0, n), 0, n)
            out[start : start + n] = self.layers[-1].forward(active, 0, n)[:, : self.n_classes]
        self._benches.give_back(bench)

    def typicality(self, X: NDArray | SparseRows) -> NDArray[np.float64]:
        """(n, n_classes): the share of each class's own samples that are less typical of it."""
        out, bench = np.empty((len(X), self.n_classes)), self._benches.take()
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK]
            active = bench.activate(block if self.scaler is None else self.scaler.scale(dense(block)))
            out[start : start + len(block)] = self.layers[-1].typicality(active, 0, len(block))
        self._benches.give_back(bench)
        return out

    def unlikeness(self, x: NDArray[np.uint8], neuron: int) -> int:
        """How unlike a neuron's own samples one sample is, in 1/256 of the usual squared distance."""
        layer = self.layers[-1]
        if not hasattr(layer, "unlikeness"):
            raise ConfigError(f"the layer is a {type(layer).__name__}: expected a second-order one, to reject")
        bench = self._benches.take()
        units, values, counts = bench.activate(x[np.newaxis])
        activity = np.zeros(layer.n_inputs, np.uint8)
        activity[units[0, : counts[0]]] = values[0, : counts[0]]
        self._benches.give_back(bench)
        return layer.unlikeness(activity, neuron)

    def rescale(self, change: Rescaling) -> None:
        """Re-express what was learned, since the inputs get other units."""
        if isinstance(self.features, RampUnits) and change.changed.any():
            self.layers[-1].rescale(partial(self.features.rescaled, change))
            if self.calibration is not None:
                self.calibration.outdated()

    def _scaled(
        self, X: NDArray | SparseRows, labelled: NDArray[np.bool_], changes: deque[Change], block: slice
    ) -> NDArray | SparseRows:
        """Samples as the features want them, and counted: to be called in the order of the stream. `changes` of the
        inputs' units are added with the number of samples after which they are due."""
        if self.scaler is None:
            return X[block]
        if not isinstance(self.scaler, Units):
            return self.scaler.count(dense(X[block]), labelled[block])
        scaled, found = self.scaler.count(dense(X[block]), labelled[block])
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
        moments = 0 if self.scaler is None else self.scaler.state.nbytes
        return self.features.nbytes + sum(layer.nbytes for layer in self.layers) + self._benches.nbytes + moments
