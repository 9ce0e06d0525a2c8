"""The second-order layer: which units are active together, beside which class they are active for.

    T <- T + x x',   S_j <- S_j + x,   n_j <- n_j + 1        for a sample x of class j

Each entry of T is local to a pair of units, and each of S to a unit and a neuron. The readout is solved from them
(`_readout.py`), and follows what is learned while predictions are asked for (`_following.py`). With activity in
integers the sums are exact: the state does not depend on the order of the stream, nothing is forgotten by construction,
two states that learned parts of a stream add up to the one that learned all of it, and a sample can be taken out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, ModelFileError, unknown
from kenyon.features import BLOCK, Active
from kenyon.layers._base import NO_LABEL, Layer, Rescale, Samples
from kenyon.layers._class_sums import Spread, spread_of, with_joined
from kenyon.layers._coactivity import LARGEST_FLOAT, Coactivity, ExactSums, FloatSums
from kenyon.layers._fading import FADES, halved, learn_and_fade
from kenyon.layers._few_bits import FewBits
from kenyon.layers._following import Following
from kenyon.layers._integer_readout import MANY_LEARNED, IntegerReadout
from kenyon.layers._pairs_undo import KeptPairs, PairsUndo
from kenyon.layers._readout import Linear, Rule
from kenyon.layers._solved import FOLLOWED_AT_ONCE, Readout
from kenyon.layers._state import State
from kenyon.layers._sums import check_neurons, narrowest, only, wide_in, widened
from kenyon.rules import as_shifted

SHRINKAGE = 0.001
READOUTS = ("discriminant", "ridge")

MOST_COUNTED = 2**62
"""Samples that a file may say were learned."""


def coactivity_of(n_inputs: int, in_bytes: bool, bits: int) -> Coactivity:
    """The way to keep co-activity of integers or floats in that many bits."""
    if bits == 32:
        return ExactSums(n_inputs) if in_bytes else FloatSums(n_inputs)
    if bits not in (16, 24):
        raise ConfigError(f"bits is {bits!r}: expected 16, 24 or 32 for a second-order layer")
    if not in_bytes:
        raise ConfigError(f"bits is {bits} and the activity is in floats: expected activity in integers, or bits=32")
    return FewBits(n_inputs, bits)


class SecondOrderLayer(Layer):
    """Co-activity of units and sums of classes; the readout is solved when asked.

    Args:
        n_inputs: presynaptic units.
        in_bytes: whether their activity comes in integers (uint8), or in floats (float32).
        bits: of an entry of the co-activity: 32, or 24 or 16 for less memory (integers only).
        readout: `discriminant` or `ridge`.
        shrinkage: lambda of the readout, as a share of the mean variance; `auto` chooses it from the state.
        prior: class prior: `equal` for a uniform one, `counts` for an empirical one.
        at_least: whether the state may need more shrinkage than that.
        half_life: half-life of what is kept, in samples; 0 for none.
        integer: solve and read the readout in integers; for 16 or 24 bits, with a discriminant of fixed shrinkage.
        follows: whether the readout may keep what it takes to follow each sample; otherwise it is solved when asked.

    Example:
        >>> layer = SecondOrderLayer(n_inputs=100)
        >>> layer.add_class()
        >>> layer.weights.shape
        (100, 1)
    """

    def __init__(
        self,
        n_inputs: int,
        *,
        in_bytes: bool = True,
        bits: int = 32,
        readout: str = "discriminant",
        shrinkage: float | str = SHRINKAGE,
        prior: str = "equal",
        at_least: bool = False,
        half_life: int = 0,
        integer: bool = False,
        follows: bool = True,
    ) -> None:
        if readout not in READOUTS:
            raise unknown("readout", readout, READOUTS)
        if shrinkage != "auto" and not (isinstance(shrinkage, (int, float)) and 0 <= shrinkage < np.inf):
            raise ConfigError(f"shrinkage is {shrinkage!r}: expected a finite number, at least 0, or 'auto'")
        self.coactivity = coactivity_of(n_inputs, in_bytes, bits)
        super().__init__(n_inputs, 0, self.coactivity.declared)
        self.readout, self.shrinkage, self.prior, self.integer = readout, shrinkage, prior, integer
        self.half_life, self.follows = half_life, follows
        self.rule = Rule(readout, shrinkage, prior, at_least)
        if integer:
            self._check_integer()
        self.following = Following(self.coactivity, self.rule, follows)
        self._latest: tuple[IntegerReadout, int] | None = None  # the last one in integers, and samples learned since
        self._spread: Spread | None = None
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
        self.following.widen(self.width)

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        self.coactivity.visited = 0
        if self.half_life:
            return learn_and_fade(self, samples, outputs)
        self.learn_on(samples, outputs)
        return samples.last

    def learn_on(self, samples: Samples, outputs: NDArray[np.float32] | None) -> None:
        active, first, last, labels, *_ = samples
        plastic, at = samples.plastic_in(self), first
        while at < last:
            stop, room = min(at + BLOCK, last), None
            if outputs is not None and not self.integer and self.following.scores_on_the_way(self.state):
                stop = min(at + FOLLOWED_AT_ONCE, last)
                room = outputs[at - first : stop - first]
            elif outputs is not None:
                stop = at + 1
                outputs[at - first] = self.forward(active, at, stop)[0]
            at = self._learn_some(active, (at, stop), labels, plastic, room)

    def rescale(self, how: Rescale) -> None:
        self._replace(self.coactivity.rescaled(self.state, how))

    def fade(self) -> None:
        """Halve the weight of everything that was learned."""
        self._replace(self.coactivity.with_counts(self.state, halved(self.state.views()["class_counts"])))

    @property
    def at_once(self) -> bool:
        return not self.half_life

    @property
    def sums_floats(self) -> bool:
        """Whether sums are kept in floats, as those of a table."""
        return isinstance(self.coactivity, FloatSums)

    most_active = LARGEST_FLOAT

    def learn_one(self, sample: Samples, clock: NDArray[np.int64]) -> bool:
        active, _, _, labels, *_ = sample
        self._check(active)
        readout, visited = self.following.take(1, asked=False), int(clock[1])
        scales = self.coactivity.scales(self.state)
        within = False
        if readout is not None and scales is None:
            how = (self.following.read(active), labels, sample.plastic_in(self), (0, 1), self.rule, None)
            _, within = readout.follow(self._sums(), *how)
        learned = self.coactivity.add_one(self.state, active, labels, clock)
        if readout is not None and scales is not None and learned:
            within = self._follow_thin(readout, scales, int(clock[1]) > visited, int(labels[0]))
        if readout is not None and within and learned:
            self._follow_on(readout)
        if learned:
            self.settle(1)
        return learned

    def _learn_some(
        self,
        active: Active,
        span: tuple[int, int],
        labels: NDArray[np.int64],
        plastic: NDArray[np.bool_],
        outputs: NDArray[np.float32] | None,
    ) -> int:
        """Learn up to BLOCK samples, and let the readout follow where that is worth it; gives the first that is left.

        Args:
            outputs: where the scores of each sample go before it is learned, if they come on the way.
        """
        chosen = self._chosen(active, *span, labels, plastic)
        if not chosen.size and outputs is None:
            return span[1]
        readout = self.following.take(len(chosen), asked=outputs is not None)
        self.settle(len(chosen))
        if readout is None:
            self._add(active, chosen, labels)
            return span[1]
        if isinstance(self.coactivity, FewBits):
            self._learn_thin(readout, active, chosen, labels)
            return span[1]
        read = self.following.read(active)
        done, within = readout.follow(self._sums(), read, labels, plastic, span, self.rule, outputs)
        stop = span[0] + done
        self._add(active, chosen[chosen < stop], labels)
        if within:
            self._follow_on(readout)
        return stop

    def _follow_on(self, readout: Readout) -> None:
        """Keep a readout that followed samples which were learned since."""
        if self.sums_floats:
            readout.refine(self._sums())
        self.following.put(readout)

    def _learn_thin(
        self, readout: Readout | None, active: Active, chosen: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> None:
        """Learn samples in few bits one by one, followed by the readout."""
        for sample in chosen:
            scales, visited = self.coactivity.scales(self.state), self.coactivity.visited
            self._add(active, chosen[chosen == sample], labels)
            let_in = self.coactivity.visited > visited
            if readout is not None and not self._follow_thin(readout, scales, let_in, int(labels[sample])):
                readout = None
        self.following.put(readout)

    def _follow_thin(self, readout: Readout, scales: tuple[int, int] | None, let_in: bool, j: int) -> bool:
        """Let a readout follow a sample that was just learned in few bits; False where it cannot."""
        few = self._few_bits()
        if scales is None or few.scales(self.state) != scales:
            return False
        halvings, doublings = scales
        distances = few.distances[0] if let_in else None
        how = (2.0**doublings, 2.0**halvings, self.state.arrays["means"], j)
        return readout.follow_thin(distances, *how, self.rule)

    def _add(self, active: Active, chosen: NDArray[np.int64], labels: NDArray[np.int64]) -> None:
        if chosen.size:
            self.state = self.coactivity.add(self.state, active, chosen, labels, self._undo)

    def settle(self, n_learned: int = MANY_LEARNED) -> None:
        """Invalidate what was computed from the state before this many samples were learned."""
        self._spread = None
        if self._latest is not None:
            latest, before = self._latest
            self._latest = (latest, before + n_learned) if before + n_learned < MANY_LEARNED else None

    def _sums(self) -> tuple[NDArray, ...]:
        return tuple(self.state.arrays.values())

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

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        return self.coactivity.visits(samples.active, samples.first + np.flatnonzero(labelled))

    # ---- sums of sums

    def unlike_one_pass(self) -> str | None:
        return FADES if self.half_life else self.coactivity.inexact

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
        counts = np.zeros_like(self.state.views()["class_counts"])
        counts[left] = self.state.views()["class_counts"][left]
        self._replace(only(self.coactivity.with_counts(self.state, counts), left))
        self.n_classes = len(left)

    def join(self, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        if isinstance(self.coactivity, FewBits):
            super().join(neurons, left)
        self._replace(with_joined(self.state, neurons, left))
        self.n_classes = len(left)

    def typicality(self, active: Active, first: int, last: int) -> NDArray[np.float64]:
        if self._spread is None:
            self._spread = spread_of(lambda: self.coactivity.moments(self.state), self.rule)
        shares = np.zeros((last - first, self.n_neurons))
        rows = self.coactivity.dense(active, np.arange(first, last))
        shares[:, np.flatnonzero(self.class_counts())] = self._spread.shares(rows)
        return shares

    def unlikeness(self, activity: NDArray[np.uint8], neuron: int) -> int:
        """How unlike a neuron's own samples a sample is, in 1/256 of the usual squared distance. In integers only."""
        if not self.integer:
            raise ConfigError("arithmetic is 'float': expected 'integer', in which distances are the same everywhere")
        return self._few_bits().unlikeness(self.state, as_shifted(float(self.shrinkage)), activity, neuron)

    def class_counts(self) -> NDArray[np.int64]:
        return self.state.views()["class_counts"].astype(np.int64)

    def _replace(self, state: State) -> None:
        """Replace the state, and drop everything that was computed from it."""
        self.following.drop()
        self.settle()
        self.state = state

    # ---- reading

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        if self.integer:
            return self.present_integers().outputs(active, first, last)
        return self.following.outputs(self.state, active, first, last)

    def solved_anew(self, first: int = 0) -> Linear:
        """The readout in floats as weights, of the state alone: the same bits, whatever was followed before.

        Args:
            first: units that are read, the first ones; 0 for all.
        """
        if first == self.rule.first:
            return self.following.anew(self.state)
        return Following(self.coactivity, self.rule._replace(first=first), follows=False).anew(self.state)

    def read_first(self, n_units: int) -> None:
        """Read the first units alone from now on; 0 for all."""
        if n_units != self.rule.first:
            self.rule = self.rule._replace(first=n_units)
            self.following = Following(self.coactivity, self.rule, self.follows)

    def present_integers(self) -> IntegerReadout:
        """The readout of the present state in integers."""
        last, n_learned = (None, MANY_LEARNED) if self._latest is None else self._latest
        if last is not None:
            last = last.widened(self.width)
            if not n_learned:
                return last
        how = (as_shifted(float(self.shrinkage)), last, n_learned)
        latest = self._few_bits().solved_in_integers(self.state, *how)
        self._latest = latest, 0
        return latest

    def _few_bits(self) -> FewBits:
        if not isinstance(self.coactivity, FewBits):
            raise ConfigError("bits is 32 and arithmetic is 'integer': expected bits=16 or bits=24 with it")
        return self.coactivity

    def _check_integer(self) -> None:
        """Refuse what the readout cannot do in integers."""
        self._few_bits()
        for name, wanted in (("readout", "'discriminant'"), ("shrinkage", "a number"), ("prior", "'equal'")):
            if getattr(self, name) in ("ridge", "auto", "counts"):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: expected {wanted} with arithmetic='integer'")

    @property
    def weights(self) -> NDArray[np.float32]:
        """(n_inputs, n_neurons): the readout, without its offsets."""
        weights = self.present_integers().in_floats() if self.integer else self.following.linear(self.state).weights
        return weights[:, : self.n_neurons]

    @property
    def offsets(self) -> NDArray[np.float32]:
        """(n_neurons,): what the readout adds to each score."""
        found = self.present_integers() if self.integer else self.following.linear(self.state)
        return found.offsets[: self.n_neurons].astype(np.float32)

    def weight_means(self) -> NDArray[np.float64]:
        """The mean of what each neuron keeps: its class's mean activity, which needs no solving."""
        return self.coactivity.means(self.state).mean(axis=0)

    # ---- keeping

    def load(self, tensors: Mapping[str, NDArray], where: str, n_classes: int) -> None:
        wide = wide_in(self.state, tensors, where)
        self.state = widened(self.state, wide)
        super().load(tensors, where, n_classes)
        class_counts = sum(self.state.views()["class_counts"].tolist())
        if class_counts > MOST_COUNTED:
            raise ModelFileError(f"class_counts{where} adds up to {class_counts}: expected at most {MOST_COUNTED}")
        self.coactivity.check(self.state)
        self._replace(narrowest(self.state, self.state.arrays) if wide else self.state)

    # ---- undoing

    def mark(self) -> PairsUndo:
        pairs = self.state.arrays["pairs"]
        if self._kept is None or self._kept.whole.dtype != pairs.dtype:
            self._kept = KeptPairs(pairs)
        self._undo = PairsUndo(self, self._kept)
        return self._undo

    def snapshot(self) -> tuple:
        """Everything that a call replaces rather than changes in place."""
        return self.state, self.n_classes

    def restore(self, snapshot: tuple) -> None:
        """Put back a `snapshot`."""
        state, self.n_classes = snapshot
        self._replace(state)

    @property
    def nbytes(self) -> int:
        kept = KeptPairs.bytes_for(self.state.arrays["pairs"])
        return super().nbytes + self.coactivity.nbytes + self.following.nbytes + kept

    def __getstate__(self) -> dict[str, Any]:
        following = Following(self.coactivity, self.rule, self.follows)
        return {**vars(self), "_kept": None, "_undo": None, "following": following}
