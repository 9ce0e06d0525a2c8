"""The second-order layer: which units are active together, beside which class they are active for.

    T <- T + x x',   S_j <- S_j + x,   n_j <- n_j + 1        for a sample x of class j

Each entry of T is local to a pair of units, and each of S to a unit and a neuron. The readout is solved from them
when somebody asks (`_readout.py`), and kept until the next sample is learned. With activity in whole numbers the sums
are exact: the state does not depend on the order of the stream, nothing is forgotten by construction, two states
that learned parts of a stream add up to the one that learned all of it, and a sample can be taken out again.

`test_then_learn` asks before every sample, and a readout takes about as long as learning as many samples as there are
units. So while predictions are asked for, a readout serves several samples. It is solved anew after max(8, units / 8,
time / 16) labelled samples; and, when a class has meanwhile been taught its 1st, 2nd, 4th, .. or 64th sample, already
after max(1, units / 64, time / 512). Samples learned without a prediction end its service. All this follows from the
stream alone, so predictions do not depend on how the stream is cut. `forward` uses the readout of the present state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError, ModelFileError, unknown
from kenyon.features import BLOCK, Active
from kenyon.layers._base import NO_LABEL, Layer, Rescale, Samples
from kenyon.layers._class_sums import Spread, spread_of, with_joined
from kenyon.layers._coactivity import Coactivity, ExactSums, FloatSums
from kenyon.layers._fading import FADES, halved, learn_and_fade
from kenyon.layers._few_bits import FewBits
from kenyon.layers._pairs_undo import KeptPairs, PairsUndo
from kenyon.layers._readout import Readout, checked_arrays, chosen_shrinkage, solve
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import check_neurons, narrowest, only, wide_in, widened
from kenyon.layers._whole_readout import WholeReadout
from kenyon.rules import as_shifted

SHRINKAGE = 0.001
READOUTS = ("discriminant", "ridge")

MOST_TAUGHT = 2**62
"""Samples that a file may say were learned."""


class Service(NamedTuple):
    """The readout that predictions made while learning are read from.

    Attributes:
        readout: as solved at a time.
        since: that time, in labelled samples.
        pending: whether a class has reached one of the counts since then that ask for a new one.
    """

    readout: Readout | WholeReadout
    since: int
    pending: bool


def coactivity_of(n_inputs: int, whole: bool, bits: int) -> Coactivity:
    """The way to keep co-activity of whole numbers or floats in that many bits."""
    if bits == 32:
        return ExactSums(n_inputs) if whole else FloatSums(n_inputs)
    if bits not in (16, 24):
        raise ConfigError(f"bits is {bits!r}: expected 16, 24 or 32 for a second-order layer")
    if not whole:
        raise ConfigError(
            f"bits is {bits} and the activity is in floats: expected activity in whole numbers, or bits=32"
        )
    return FewBits(n_inputs, bits)


def _kind(values: Mapping[str, Any]) -> tuple[bool, int]:
    """Whether the features give whole numbers, and the bits of an entry."""
    return bool(values.get("whole", False)), int(values.get("bits") or 32)


class SecondOrderLayer(Layer):
    """Co-activity of units and sums of classes; the readout is solved when asked.

    Args:
        n_inputs: presynaptic units.
        whole: whether their activity comes in whole numbers (uint8), or in floats (float32).
        bits: of an entry of the co-activity: 32, or 24 or 16 for less memory (whole numbers only).
        readout: `discriminant` or `ridge`.
        shrinkage: lambda of the readout, as a share of the mean variance; `auto` chooses it from the state.
        prior: `equal` for classes that are all alike beforehand, `counts` for classes as likely as they were.
        at_least: whether the state may ask for more shrinkage than that.
        memory: half-life of what is kept, in samples; 0 for none.
        integer: solve and read the readout in whole numbers; for 16 or 24 bits, with a discriminant of fixed shrinkage.

    Example:
        >>> layer = SecondOrderLayer(n_inputs=100)
        >>> layer.add_class()
        >>> layer.weights.shape
        (100, 1)
    """

    @classmethod
    def declare(cls, values: Mapping[str, Any]) -> tuple[Declared, ...]:
        return coactivity_of(1, *_kind(values)).declared

    @classmethod
    def build(cls, n_inputs: int, n_hidden: int, seed: int, values: Mapping[str, Any]) -> SecondOrderLayer:
        if n_hidden:
            raise ConfigError(f"hidden_layers has a width of {n_hidden}: expected none with a second-order layer")
        whole, bits = _kind(values)
        more = {name: values[name] for name in ("readout", "shrinkage", "prior") if name in values}
        more |= {"at_least": values.get("features") == "ramps", "memory": values.get("memory") or 0}
        more["integer"] = values.get("arithmetic") == "integer"
        return cls(n_inputs, whole=whole, bits=bits, **more)

    def __init__(
        self,
        n_inputs: int,
        *,
        whole: bool = True,
        bits: int = 32,
        readout: str = "discriminant",
        shrinkage: float | str = SHRINKAGE,
        prior: str = "equal",
        at_least: bool = False,
        memory: int = 0,
        integer: bool = False,
    ) -> None:
        if readout not in READOUTS:
            raise unknown("readout", readout, READOUTS)
        if shrinkage != "auto" and not (isinstance(shrinkage, (int, float)) and 0 <= shrinkage < np.inf):
            raise ConfigError(f"shrinkage is {shrinkage!r}: expected a finite number, at least 0, or 'auto'")
        self.coactivity = coactivity_of(n_inputs, whole, bits)
        super().__init__(n_inputs, 0, self.coactivity.declared)
        self.readout, self.shrinkage, self.prior, self.integer = readout, shrinkage, prior, integer
        self.memory = memory
        self._how = (readout, shrinkage, prior, at_least)
        if integer:
            self._check_integer()
        self._solved: Readout | WholeReadout | None = None
        self._spread: tuple[Readout | WholeReadout, Spread] | None = None
        self._service: Service | None = None
        self._kept: KeptPairs | None = None
        self._undo: PairsUndo | None = None

    @property
    def sharpness(self) -> float:
        return 1.0 if self.readout == "discriminant" else 10.0  # differences of discriminant scores are log-odds

    # ---- learning

    def add_class(self) -> None:
        self.add_classes(1)

    def add_classes(self, n: int) -> None:
        self.n_classes += n
        self.state = self.state.grown(self.n_neurons + n)
        self._solved = None

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        self.coactivity.visited = 0
        if self.memory:
            return learn_and_fade(self, samples, outputs)
        self.learn_on(samples, outputs)
        return samples.last

    def learn_on(self, samples: Samples, outputs: NDArray[np.float32] | None) -> None:
        active, first, last, labels, *_ = samples
        plastic = samples.plastic_in(self)
        if outputs is None:
            self._add(active, first, last, labels, plastic)
            return
        at = first
        while at < last:
            service, stop = self._service_until(at, last, labels, plastic)
            outputs[at - first : stop - first] = service.readout.widened(self.width).outputs(active, at, stop)
            self._add(active, at, stop, labels, plastic)
            self._service = service
            at = stop

    def rescale(self, how: Rescale) -> None:
        self._replace(self.coactivity.rescaled(self.state, how))

    def fade(self) -> None:
        """Halve the weight of everything that was learned."""
        self._replace(self.coactivity.with_counts(self.state, halved(self.state.views()["taught"])))

    @property
    def at_once(self) -> bool:
        return not self.memory

    def learn_one(self, sample: Samples, clock: NDArray[np.int64]) -> bool:
        self._check(sample.active)
        self._solved = self._service = None
        return self.coactivity.add_one(self.state, sample.active, sample.labels, clock)

    def _service_until(
        self, first: int, last: int, labels: NDArray[np.int64], plastic: NDArray[np.bool_]
    ) -> tuple[Service, int]:
        """The readout for sample `first` and how far it serves; as it stands once the samples before are learned."""
        taught = self.state.arrays["taught"].copy()
        block, time = (labels, plastic, first, last, taught, self.n_inputs), int(taught.sum())
        service, stop, pending = self._service, first, 0
        if service is not None:
            stop, pending = divmod(core.until_refresh(*block, time, service.since, service.pending), 2)
        if service is None or stop == first:
            service = Service(self.present(), time, False)
            stop, pending = divmod(core.until_refresh(*block, time, time, False), 2)
        return service._replace(pending=bool(pending)), stop

    def _add(
        self, active: Active, first: int, last: int, labels: NDArray[np.int64], plastic: NDArray[np.bool_]
    ) -> None:
        """Learn samples first .. last - 1; a readout of what was known before is no longer in service."""
        chosen = self._chosen(active, first, last, labels, plastic)
        if not chosen.size:
            return
        self._solved = self._service = None
        for start in range(0, len(chosen), BLOCK):
            self.state = self.coactivity.add(self.state, active, chosen[start : start + BLOCK], labels, self._undo)

    def _chosen(
        self, active: Active, first: int, last: int, labels: NDArray[np.int64], plastic: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The samples that teach something."""
        self._check(active)
        labelled = first + np.flatnonzero(labels[first:last] != NO_LABEL)
        return labelled[plastic[labels[labelled]]]

    def _check(self, active: Active) -> None:
        if active[1].dtype != self.coactivity.values:
            raise TypeError(f"the activity is {active[1].dtype}: expected {np.dtype(self.coactivity.values)}")

    def updates(self, samples: Samples, taught: NDArray[np.bool_], n_plastic: int) -> int:
        return self.coactivity.visits(samples.active, samples.first + np.flatnonzero(taught))

    # ---- sums of sums

    def unlike_one_pass(self) -> str | None:
        return FADES if self.memory else self.coactivity.inexact

    def merge(self, other: State, neurons: NDArray[np.int64]) -> None:
        check_neurons(self.state, other, neurons)
        self._replace(self.coactivity.merged(self.state, other, neurons))

    def subtract(self, other: State, neurons: NDArray[np.int64]) -> None:
        check_neurons(self.state, other, neurons)
        self._replace(self.coactivity.without(self.state, other, neurons))

    def keep(self, neurons: NDArray[np.int64]) -> None:
        self._replace(only(self.state, neurons))
        self.n_classes = len(neurons)

    def forget(self, left: NDArray[np.int64]) -> None:
        counts = np.zeros_like(self.state.views()["taught"])
        counts[left] = self.state.views()["taught"][left]
        self._replace(only(self.coactivity.with_counts(self.state, counts), left))
        self.n_classes = len(left)

    def join(self, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        if isinstance(self.coactivity, FewBits):
            super().join(neurons, left)
        self._replace(with_joined(self.state, neurons, left))
        self.n_classes = len(left)

    def typicality(self, active: Active, first: int, last: int) -> NDArray[np.float64]:
        if self._spread is None or self._spread[0] is not self.present():
            moments = self.coactivity.moments(self.state)
            _, shrinkage, _, at_least = self._how
            amount = chosen_shrinkage(moments.scatter, moments.n_used, shrinkage, at_least)
            self._spread = (self.present(), spread_of(moments, amount))
        shares = np.zeros((last - first, self.n_neurons))
        rows = self.coactivity.dense(active, np.arange(first, last))
        shares[:, np.flatnonzero(self.taught())] = self._spread[1].shares(rows)
        return shares

    def unlikeness(self, activity: NDArray[np.uint8], neuron: int) -> int:
        """How unlike a neuron's own samples a sample is, in 1/256 of the usual squared distance. In integers only."""
        if not self.integer:
            raise ConfigError("arithmetic is 'float': expected 'integer', in which distances are the same everywhere")
        return self._few_bits().unlikeness(self.state, as_shifted(float(self.shrinkage)), activity, neuron)

    def taught(self) -> NDArray[np.int64]:
        return self.state.views()["taught"].astype(np.int64)

    def _replace(self, state: State) -> None:
        """Put a state in the place of this one, and everything that was worked out from it aside."""
        self._solved = self._service = None
        self.state = state

    # ---- reading

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        return self.present().widened(self.width).outputs(active, first, last)

    def present(self) -> Readout | WholeReadout:
        """The readout of the present state; threads that find none may solve it at the same time, with one result."""
        solved = self._solved
        if solved is None and self.integer:
            self._solved = solved = self._few_bits().solved_whole(self.state, as_shifted(float(self.shrinkage)))
        if solved is None:
            taught = self.state.views()["taught"]
            weights = np.zeros((self.n_inputs, self.width), np.float32)
            solved = solve(lambda: self.coactivity.moments(self.state), taught, weights, *self._how)
            self._solved = solved
        return solved

    def _few_bits(self) -> FewBits:
        if not isinstance(self.coactivity, FewBits):
            raise ConfigError("bits is 32 and arithmetic is 'integer': expected bits=16 or bits=24 with it")
        return self.coactivity

    def _check_integer(self) -> None:
        """Refuse what the readout cannot do in whole numbers."""
        self._few_bits()
        for name, wanted in (("readout", "'discriminant'"), ("shrinkage", "a number"), ("prior", "'equal'")):
            if getattr(self, name) in ("ridge", "auto", "counts"):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: expected {wanted} with arithmetic='integer'")

    @property
    def weights(self) -> NDArray[np.float32]:
        """(n_inputs, n_neurons): the readout, without its offsets."""
        return self.present().widened(self.width).in_floats()[:, : self.n_neurons]

    @property
    def offsets(self) -> NDArray[np.float32]:
        """(n_neurons,): what the readout adds to each score."""
        return self.present().widened(self.width).offsets[: self.n_neurons].astype(np.float32)

    def weight_means(self) -> NDArray[np.float64]:
        """The mean of what each neuron keeps: its class's mean activity, which needs no solving."""
        return self.coactivity.means(self.state).mean(axis=0)

    # ---- keeping

    def load(self, tensors: Mapping[str, NDArray], where: str, n_classes: int) -> None:
        wide = wide_in(self.state, tensors, where)
        self.state = widened(self.state, wide)
        super().load(tensors, where, n_classes)
        taught = sum(self.state.views()["taught"].tolist())
        if taught > MOST_TAUGHT:
            raise ModelFileError(f"taught{where} adds up to {taught}: expected at most {MOST_TAUGHT}")
        self.coactivity.check(self.state)
        self.state = narrowest(self.state, self.state.arrays) if wide else self.state
        self._solved = self._service = None

    def working_arrays(self) -> dict[str, NDArray]:
        """What predictions made while learning go on from: no part of the state, empty where none were asked for."""
        if self._service is None:
            return {}
        readout, since, pending = self._service
        return {**readout.arrays(self.n_neurons), "service": np.array([since, pending], np.int64)}

    def load_working(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over the `working_arrays` of a layer in the same state."""
        if not arrays:
            return
        kind = WholeReadout if self.integer else Readout
        readout = kind.from_arrays(arrays, self.n_inputs, self.n_neurons).widened(self.width)
        since, pending = checked_arrays(arrays, {"service": ("int64", (2,))})["service"].tolist()
        self._service = Service(readout, since, bool(pending))

    # ---- undoing

    def mark(self) -> PairsUndo:
        pairs = self.state.arrays["pairs"]
        if self._kept is None or self._kept.whole.dtype != pairs.dtype:
            self._kept = KeptPairs(pairs)
        self._undo = PairsUndo(self, self._kept)
        return self._undo

    def found(self) -> tuple:
        """Everything that a call replaces rather than changes in place."""
        return self.state, self.n_classes, self._solved, self._service

    def go_back(self, found: tuple) -> None:
        """Put back what was `found`."""
        self.state, self.n_classes, self._solved, self._service = found

    @property
    def nbytes(self) -> int:
        solving = 8 * self.n_inputs**2 + 2 * 4 * self.n_inputs * self.width
        return super().nbytes + self.coactivity.nbytes + solving + KeptPairs.bytes_for(self.state.arrays["pairs"])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": None, "_undo": None}
