"""Calibration of scores: a temperature and hit rates, from predictions made before learning.

    p_j  =  (1 - e) softmax_j( theta n / (n + 24 C) * score_j )  +  e (n_j + 1) / (n + C),      e = (C / (n + C))^2

for n samples of C classes learned so far, n_j of them of class j: few samples leave doubt.

A readout of the state as it was a little earlier predicts each labelled sample before it is learned; it is replaced
when there are a quarter more samples, or when the inputs get other units. For each theta of a grid the log losses of
these predictions are added up, in 2^-20, and the theta of the least sum is used (`PRIOR` beforehand). So theta is
learned from the stream, no sample is stored, and sums of models add up. Everything follows from the samples in their
order, so the stream may be cut in any way; the earlier readout is part of the state.

Hits are counted for each class. All counts are multiplied by 0.8 when the readout is replaced, so that they tell how
good the model is now. That is still how good it was a little earlier, so the accuracy a + b / sqrt(t) of a readout of
t samples is fitted to the hits by least squares and read off at the present t.

Where inputs stand beside ramps, two readouts race: of all units, and of the inputs alone, which is the better one where
classes are parted by planes, or have few samples each. Both predict each sample before it is learned. When the readouts
are replaced, that of the inputs leads if it alone was right more often than the other alone, by a standard deviation.
Samples of the same class as the one before do not count: where classes come one after the other, such a comparison is
of the newest class alone, while it has few samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import InputError, MergeError, ModelFileError
from kenyon.features import Active
from kenyon.layers import Declared, DiagonalLayer, Layer, SecondOrderLayer, State, axis_sizes

THETAS = 2.0 ** np.arange(-5.0, 1.25, 0.5)
"""Temperatures that are compared, as factors of the scores."""

PRIOR, BELIEF = -1.25, 4.0
"""The prior of log2 theta: its mean, and the loss added per squared factor of two away from it."""

FEW = 24.0
"""Scores from this many samples of each class are halved."""

UNIT = float(1 << 20)
"""Of a sum of losses, which are then the same in any order and everywhere; `core/calibrate.h` has it too."""

MORE, FADE = 4, 0.8
"""The readout is replaced when there is one sample more for this many, and counts are then multiplied by this."""

UNSURE = 1.5
"""The factor by which the variance of an estimate exceeds that of independent predictions, since readouts differ."""

MOST_LOST = 2**62
"""Largest sum of losses."""

READOUTS = ("readout", "offsets", "plain", "plain_offsets")
COUNTS = ("hits", "trials", "squares")
IN_FILE = ".calibration"
NEVER = np.float32(-1e29)
"""Scores below are those of classes that a readout does not know."""

DECLARED = (
    Declared("readout", ("units", "neurons"), np.float32),
    Declared("offsets", ("neurons",), np.float32),
    Declared("plain", ("beside", "neurons"), np.float32),
    Declared("plain_offsets", ("neurons",), np.float32),
    Declared("hits", ("neurons",), np.float64),
    Declared("trials", ("neurons",), np.float64),
    Declared("squares", ("neurons",), np.float64),
    Declared("losses", ("thetas",), np.int64),
    Declared("curve", ("sums",), np.float64),
    Declared("period", ("both",), np.float64),
    Declared("race", ("race",), np.float64),  # as in core/calibrate.h
    Declared("first", ("one",), np.int64),
    Declared("since", ("one",), np.int64),
)


class Estimate(NamedTuple):
    """How often predictions are right.

    Attributes:
        accuracy: the share of predictions that were right, recent ones counting more.
        low, high: the interval that holds the accuracy on samples to come with the probability asked for.
        n_effective: how many equally weighted predictions would tell as much.

    Example:
        >>> Estimate(0.9, 0.85, 0.94, 120.0).accuracy
        0.9
    """

    accuracy: float
    low: float
    high: float
    n_effective: float


class Calibration:
    """Predictions made before learning, and what they tell.

    Args:
        n_units: of the layer whose scores they are.
        n_beside: inputs that are its first units, if any.

    Example:
        >>> Calibration(10).theta
        0.42044820762685725
    """

    def __init__(self, n_units: int, n_beside: int = 0) -> None:
        self.state = State(
            DECLARED, axis_sizes(n_units, 0, thetas=len(THETAS), sums=8, both=2, race=3, beside=n_beside)
        )

    # ---- learning

    def cuts(self, labelled: NDArray[np.bool_], time: int, changes: Sequence[int] = ()) -> list[int]:
        """Samples before which the readout is replaced.

        Args:
            labelled: which samples have a label.
            time: labelled samples before them.
            changes: samples before which the inputs get other units.
        """
        (places,) = np.nonzero(labelled)
        resets = [time + int(np.count_nonzero(labelled[:sample])) for sample in changes]
        found, due = list[int](), self._due(time)
        while True:
            due = min([due, *(reset for reset in resets if reset >= 1)])
            resets = [reset for reset in resets if reset > due]
            if due - time >= len(places):
                return found
            found.append(int(places[due - time]))
            due += due // MORE + 1

    def _due(self, time: int) -> int:
        """Labelled samples after which the readout is replaced next."""
        since = int(self.state.arrays["since"][0])
        return max(time, since + since // MORE + 1) if since else max(time, 1)

    def is_due(self, time: int) -> bool:
        """Whether the readout is replaced before the next labelled sample, given the number learned."""
        return time >= 1 and time >= self._due(time)

    def note(
        self,
        layer: SecondOrderLayer | DiagonalLayer,
        head: NDArray[np.int64],
        active: Active,
        a: int,
        b: int,
        labels: NDArray[np.int64],
        time: int,
    ) -> None:
        """Predict samples a .. b - 1 of a block before they are learned.

        Args:
            head: neurons to choose from.
            labels: neurons of the block's samples, below 0 where they have none.
            time: labelled samples learned so far.
        """
        if not (labels[a:b] >= 0).any():
            return
        if self.is_due(time):
            self.renew(layer, time)
        if not self.state.arrays["since"][0]:
            return
        scratch = np.empty(core.calibrate_scratch(self.state.width))
        core.calibrate(*self.packed(), head, *active, labels, a, b, scratch)

    def packed(self) -> tuple:
        """What a compiled call takes that predicts a sample before it is learned, and changes in place."""
        return (
            THETAS,
            FEW,
            *(self.state.arrays[name] for name in READOUTS),
            *(self.state.arrays[name] for name in (*COUNTS, "losses", "period", "race", "first", "since")),
        )

    def renew(self, layer: SecondOrderLayer | DiagonalLayer, time: int) -> None:
        """Take the readout of the present state, and let the counts fade. Makes new arrays of what changes."""
        arrays = dict(self.grown(layer.n_neurons).arrays)
        arrays["readout"], arrays["offsets"] = layer.solved_anew()
        n_beside = self.state.sizes["beside"]
        if n_beside and isinstance(layer, SecondOrderLayer):
            plain = layer.solved_anew(n_beside)
            arrays["plain"], arrays["plain_offsets"] = plain.weights[:n_beside].copy(), plain.offsets
            arrays["race"] = arrays["race"] * (FADE, FADE, 1.0)
            plain_alone, other_alone, _ = arrays["race"].tolist()
            leads = plain_alone - other_alone > sqrt(plain_alone + other_alone)
            arrays["first"] = np.array([n_beside if leads else 0], np.int64)
        arrays["hits"], arrays["trials"] = FADE * arrays["hits"], FADE * arrays["trials"]
        arrays["squares"], arrays["losses"] = FADE * FADE * arrays["squares"], 4 * arrays["losses"] // 5
        arrays["curve"] = _folded(arrays) * CURVE_FADE
        arrays["period"], arrays["since"] = np.zeros(2), np.array([time], np.int64)
        self.state = State(DECLARED, self.state.sizes, arrays)
        self.applied(layer)

    def applied(self, layer: Layer) -> None:
        """Let a layer read what leads."""
        if isinstance(layer, SecondOrderLayer):
            layer.read_first(int(self.state.arrays["first"][0]))

    def grown(self, n_neurons: int) -> State:
        """The state with as many classes as the layer has."""
        if n_neurons > self.state.n_neurons:
            before = self.state.n_neurons
            self.state = self.state.grown(n_neurons)
            for name in ("offsets", "plain_offsets"):
                self.state.arrays[name][before:] = 10 * NEVER
        return self.state

    def with_units(self, n_units: int) -> None:
        """Go on with a layer that has the first of these units alone, or more of them."""
        readout = self.state.arrays["readout"][:n_units]
        arrays = {**self.state.arrays, "readout": np.pad(readout, ((0, n_units - len(readout)), (0, 0)))}
        self.state = State(DECLARED, self.state.sizes | {"units": n_units}, arrays)
        self.outdated()

    def outdated(self) -> None:
        """Replace the readout before the next sample: the state was changed by something other than learning."""
        arrays = self.state.arrays
        fresh = {"curve": _folded(arrays), "period": np.zeros(2), "since": np.zeros(1, np.int64)}
        self.state = State(DECLARED, self.state.sizes, {**arrays, **fresh})

    # ---- reading

    @property
    def theta(self) -> float:
        """The factor of scores that fits the predictions so far best."""
        exponents = np.log2(THETAS)
        losses = self.state.arrays["losses"] / UNIT + BELIEF * (exponents - PRIOR) ** 2
        best = min(max(int(losses.argmin()), 1), len(losses) - 2)
        low, middle, high = losses[best - 1 : best + 2]
        bend = low - 2 * middle + high
        shift = 0.5 * (low - high) / bend if bend > 0 else 0.0
        return float(2.0 ** (exponents[best] + 0.5 * min(max(shift, -1.0), 1.0)))

    def probabilities(self, scores: NDArray, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """(samples, classes): the probability of each class.

        Args:
            scores: (samples, classes).
            counts: (classes,) samples learned of each.
        """
        n, n_classes = float(counts.sum()), len(counts)
        raised = softmax(self.theta * n / (n + FEW * n_classes) * scores.astype(np.float64))
        doubt = (n_classes / (n + n_classes)) ** 2
        return (1 - doubt) * raised + doubt * (counts + 1) / (n + n_classes)

    def estimate(self, neurons: Sequence[int], time: int, level: float) -> Estimate:
        """The accuracy on samples of these classes to come, by Wilson's interval.

        Args:
            neurons: of the classes.
            time: labelled samples learned so far.
            level: probability of the interval.
        """
        if not isinstance(level, float) or not 0 < level < 1:
            raise InputError(f"level is {level!r}: expected a number above 0 and below 1")
        inside = [neuron for neuron in neurons if neuron < self.state.n_neurons]
        views = self.state.views()
        hits, trials, squares = (float(views[name][inside].sum()) for name in ("hits", "trials", "squares"))
        if not squares:
            return Estimate(float("nan"), 0.0, 1.0, 0.0)
        rise, lost = self._rise(time)
        n = trials**2 / squares / (UNSURE * lost)
        share, z = min(max(hits / trials + rise, 0.0), 1.0), NormalDist().inv_cdf(0.5 + level / 2)
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return Estimate(share, max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share)), n)

    def _rise(self, time: int) -> tuple[float, float]:
        """By how much a readout of the present is better than those that predicted, and the variance that this adds
        as a factor."""
        n, u, uu, hits, hits_u, *squares = _folded(self.state.arrays).tolist()
        spread = uu - u * u / n if n else 0.0
        if spread <= 1e-9 * uu:
            return 0.0, 1.0
        ahead = 1 / sqrt(max(time, 1)) - u / n
        slope = (hits_u - u * hits / n) / spread
        first, second = 1 / n - ahead * u / (n * spread), ahead / spread  # weights of a prediction: first + second u
        variance = first**2 * squares[0] + 2 * first * second * squares[1] + second**2 * squares[2]
        return ahead * slope, max(1.0, variance * n * n / squares[0])

    # ---- keeping

    def snapshot(self) -> State:
        """The state as it is; what is changed in place is copied."""
        copied = {name: self.state.arrays[name].copy() for name in (*COUNTS, "losses", "period", "race")}
        return State(DECLARED, self.state.sizes, {**self.state.arrays, **copied})

    def kept(self) -> dict[str, NDArray]:
        """The arrays, copied, by their names in a file."""
        return {name + IN_FILE: view.copy() for name, view in self.state.views().items()}

    def restore(self, kept: Mapping[str, NDArray], n_classes: int) -> None:
        """Take over the arrays of a file."""
        state = State(DECLARED, self.state.sizes | {"neurons": n_classes})
        for name in ("offsets", "plain_offsets"):
            state.arrays[name][:] = 10 * NEVER
        state.filled(kept, IN_FILE)
        arrays = state.views()
        counts = [arrays[name] for name in (*COUNTS, "losses", "curve", "period", "race", "since")]
        bad = any((array < 0).any() for array in counts) or bool((arrays["hits"] > arrays["trials"]).any())
        bad = bad or bool(arrays["period"][0] > arrays["period"][1])
        bad = bad or int(arrays["first"][0]) not in (0, state.sizes["beside"])
        if bad or arrays["losses"].max() > MOST_LOST or arrays["since"][0] > MOST_LOST:
            raise ModelFileError("the calibration is not that of samples that were predicted")
        self.state = state

    def only(self, left: NDArray[np.int64]) -> None:
        """Keep these classes alone, in this order."""
        full = self.state
        kept = State(DECLARED, full.sizes | {"neurons": len(left)})
        for name in ("offsets", "plain_offsets"):
            kept.arrays[name][:] = 10 * NEVER
        for name, view in kept.views().items():
            source = full.views()[name]
            view[...] = source[..., left] if name in (*READOUTS, *COUNTS) else source
        kept.arrays["race"][2] = 0.0
        self.state = kept
        self.outdated()

    def join(self, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        """Add the counts of some classes to those of the first of them, and keep those that are left."""
        for name in COUNTS:
            array = self.state.arrays[name].copy()
            array[neurons[0]] = array[neurons].sum()
            self.state = State(DECLARED, self.state.sizes, {**self.state.arrays, name: array})
        self.only(left)

    def merge(self, other: Calibration, neurons: NDArray[np.int64]) -> None:
        """Add what another model's predictions counted; neuron k of the other is neuron `neurons[k]` here."""
        state = State(DECLARED, self.state.sizes, {name: array.copy() for name, array in self.state.arrays.items()})
        there = neurons[: other.state.n_neurons]
        if (state.arrays["losses"] > MOST_LOST - other.state.arrays["losses"]).any():
            raise MergeError("the losses of the two models pass 2**62: expected sums of samples that were predicted")
        for name in COUNTS:
            state.arrays[name][there] += other.state.views()[name]
        state.arrays["losses"] += other.state.arrays["losses"]
        state.arrays["race"][:2] += other.state.arrays["race"][:2]
        self.state = state
        self.outdated()
        self.state.arrays["curve"] += _folded(other.state.arrays)

    def state_bytes_with(self, n_new: int, n_units: int | None = None) -> int:
        """Bytes of the state with that many more classes than it has, and with another number of units."""
        sizes = self.state.sizes
        sizes = sizes | {"neurons": sizes["neurons"] + n_new, "units": n_units or sizes["units"]}
        return sum(one.nbytes(sizes) for one in DECLARED)


CURVE_FADE = np.array([FADE] * 5 + [FADE * FADE] * 3)


def _folded(arrays: Mapping[str, NDArray]) -> NDArray[np.float64]:
    """Sums of w, w u, w u^2, w h, w h u, w^2, w^2 u and w^2 u^2 over predictions of weight w: h is 1 for a hit, and u
    is 1 / sqrt(t) for a readout of t samples. Those since the readout was replaced are added to the earlier ones."""
    (hits, trials), since = arrays["period"], int(arrays["since"][0])
    u = 1 / sqrt(since) if since else 0.0
    powers = np.array([1.0, u, u * u])
    return arrays["curve"] + np.concatenate([trials * powers, hits * powers[:2], trials * powers])


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of each row as shares of 1.

    Example:
        >>> softmax(np.zeros((1, 4))).tolist()
        [[0.25, 0.25, 0.25, 0.25]]
    """
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = raised / raised.sum(axis=1, keepdims=True)
    return shares
