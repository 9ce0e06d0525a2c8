"""The diagonal layer: what each unit does by itself, and for which class.

    Q_i <- Q_i + x_i^2,   S_ij <- S_ij + x_i,   n_j <- n_j + 1        for a sample x of class j

    x_o[j] = c sum_i (m_ij - m_i) (x_i - (m_ij + m_i) / 2) / v_i + log n_j
    v_i    = (Q_i - sum_j S_ij^2 / n_j) / n + shrinkage (Q_i / n - m_i^2)
    c      = 1 - (C - 1) sum_i w_i / v_i / sum_j n_j sum_i (m_ij - m_i)^2 / v_i

It is the discriminant of a second-order layer without the co-activity of different units: its state grows with the
number of units, not with its square, so that wide samples need no projection. m_ij and m_i are means of a class and of
everything, w_i the variance within classes, C the number of classes. c is the share of the distances between class
means that chance does not explain, so that scores from few samples of many inputs are not taken for more than they
are. Inputs may be on any scale. Sums are in float64.

Reference: Dudoit, Fridlyand and Speed, "Comparison of discrimination methods for the classification of tumors using
gene expression data", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError
from kenyon.features import Active, Setting
from kenyon.layers._base import NO_LABEL, Layer, LayerPart, Samples
from kenyon.layers._class_sums import with_joined
from kenyon.layers._coactivity import CLASS_COUNTS
from kenyon.layers._readout import NEVER, Linear
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import added, check_neurons, narrowest, only, wide_in, widened, with_counts
from kenyon.utils.options import option

SHRINKAGE = 0.1
LEAST_SHARE = 1 / 64
"""c is at least this."""

DECLARED = (
    Declared("sums", ("units", "neurons"), np.float64),
    Declared("squares", ("units",), np.float64),
    CLASS_COUNTS,
)


@dataclass(frozen=True, repr=False)
class Diagonal(LayerPart):
    """Means and variances of each unit by itself, for samples with many inputs.

    Example:
        >>> Diagonal(prior="equal")
        Diagonal(prior='equal')
    """

    name: ClassVar[str] = "diagonal"

    shrinkage: float = option(
        SHRINKAGE, "Share of a unit's whole variance that is added to that within classes.", "number", low=0.0, high=1e6
    )
    prior: Literal["equal", "counts"] = option(
        "counts", "Class prior: uniform (equal) or empirical (counts).", "choice"
    )

    def declare(self, setting: Setting) -> tuple[Declared, ...]:
        return DECLARED

    def build(self, n_inputs: int, seed: int, setting: Setting) -> DiagonalLayer:
        if setting.hidden:
            raise ConfigError(f"hidden has widths of {setting.hidden!r}: expected None, with layer='diagonal'")
        if setting.unit_norm:
            raise ConfigError("unit_norm is True: expected False, with layer='diagonal'")
        return DiagonalLayer(n_inputs, self.shrinkage, self.prior)


class _Moments:
    """What the sums say: means of the classes that were class_counts, of everything, and variances."""

    def __init__(self, state: State, shrinkage: float) -> None:
        views = state.views()
        (self.known,) = np.nonzero(views["class_counts"])
        self.counts = views["class_counts"][self.known].astype(np.float64)
        sums, n = views["sums"][:, self.known], max(float(self.counts.sum()), 1.0)
        self.means, self.centre = sums / self.counts, sums.sum(axis=1) / n
        squares = views["squares"] / n
        self.within = np.maximum(squares - (self.means * sums).sum(axis=1) / n, 0.0)
        whole = np.maximum(squares - self.centre**2, 0.0)
        whole[whole <= 1e-12 * squares] = 0.0  # an input that did not vary
        variance = self.within + shrinkage * whole
        usable = (whole > 0) & (variance > 0)
        self.inverse = np.where(usable, 1.0 / np.where(usable, variance, 1.0), 0.0)

    def share(self) -> float:
        """c: the share of the distances between class means that chance does not explain."""
        apart = self.means - self.centre[:, np.newaxis]
        between = float(self.inverse @ (apart * apart) @ self.counts)
        chance = (len(self.known) - 1) * float(self.within @ self.inverse)
        return max(1 - chance / between, LEAST_SHARE) if between > 0 else LEAST_SHARE


class DiagonalLayer(Layer):
    """Sums of activity for each class, and sums of squares.

    Args:
        n_inputs: presynaptic units.
        shrinkage: share of a unit's whole variance that is added to that within classes.
        prior: `counts` for classes as likely as they were, `equal` for equally likely ones.

    Example:
        >>> layer = DiagonalLayer(100)
        >>> layer.add_class()
        >>> layer.weights.shape, layer.state.state_bytes
        ((100, 1), 1604)
    """

    def __init__(self, n_inputs: int, shrinkage: float = SHRINKAGE, prior: str = "counts") -> None:
        super().__init__(n_inputs, 0, DECLARED)
        self.shrinkage, self.prior = shrinkage, prior
        self._linear: Linear | None = None

    @property
    def sharpness(self) -> float:
        return 1.0

    # ---- learning and reading

    def add_class(self) -> None:
        self.n_classes += 1
        self._replace(self.state.grown(self.n_neurons + 1))

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        (units, values, counts), first, last, labels, *_ = samples
        plastic = samples.plastic_in(self)
        self.state = with_counts(self.state, last - first)
        sums, squares, class_counts = (self.state.arrays[one.name] for one in self.state.declared)
        for s in range(first, last):
            if outputs is not None:
                outputs[s - first] = self.forward(samples.active, s, s + 1)[0]
            label = int(labels[s])
            if label == NO_LABEL or not plastic[label]:
                continue
            places, x = units[s, : counts[s]], values[s, : counts[s]].astype(np.float64)
            at = slice(None) if len(places) == self.n_inputs else places  # in order of the units
            sums[at, label] += x
            squares[at] += x * x
            class_counts[label] += 1
            self._linear = None
        return last

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        return self.solved_anew().outputs(active, first, last)

    def solved_anew(self) -> Linear:
        """The readout of the present state as weights and offsets."""
        found = self._linear
        if found is None:
            moments = _Moments(self.state, self.shrinkage)
            weights = np.zeros((self.n_inputs, self.width), np.float32)
            offsets = np.full(self.width, NEVER, np.float32)
            share, centre = moments.share(), moments.centre[:, np.newaxis]
            own = share * (moments.means - centre) * moments.inverse[:, np.newaxis]
            weights[:, moments.known] = own
            offset = -0.5 * (own * (moments.means + centre)).sum(axis=0)
            offsets[moments.known] = offset + (np.log(moments.counts) if self.prior == "counts" else 0.0)
            self._linear = found = Linear(weights, offsets)
        return found

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        return int(samples.active[2][samples.first : samples.last] @ labelled)

    @property
    def weights(self) -> NDArray[np.float32]:
        return self.solved_anew().weights[:, : self.n_neurons]

    def weight_means(self) -> NDArray[np.float64]:
        return self.weights.mean(axis=0, dtype=np.float64)

    def typicality(self, active: Active, first: int, last: int) -> NDArray[np.float64]:
        """By the law of squared distances of independent units (`_class_sums.py`)."""
        moments, out = _Moments(self.state, self.shrinkage), np.zeros((last - first, self.n_neurons))
        shares = moments.within * moments.inverse
        expected, variance = max(float(shares.sum()), 1e-6), max(2 * float((shares * shares).sum()), 1e-6)
        scale, units = variance / expected, np.zeros(self.n_inputs)
        shape, squares = expected / scale, np.empty((last - first, len(moments.known)))
        for s in range(first, last):
            units[:] = 0.0
            units[active[0][s, : active[2][s]]] = active[1][s, : active[2][s]]
            away = units[:, np.newaxis] - moments.means
            squares[s - first] = moments.inverse @ (away * away)
        found = np.empty(squares.shape)
        core.upper_gamma(shape, lgamma(shape), squares / scale, found)
        out[:, moments.known] = found
        return out

    # ---- sums of sums

    def unlike_one_pass(self) -> str | None:
        return "sums are in floats, whose last bits depend on the order"

    def merge(self, other: State, neurons: NDArray[np.int64]) -> None:
        check_neurons(self.state, other, neurons)
        self._replace(added(self.state, other, neurons))

    def forget(self, left: NDArray[np.int64]) -> None:
        """Keep these classes alone; the variance within classes stays."""
        moments, kept = _Moments(self.state, self.shrinkage), only(self.state, left)
        views = kept.views()
        n = float(views["class_counts"].sum())
        means = views["sums"] / np.maximum(views["class_counts"], 1)
        views["squares"][:] = n * moments.within + (means * views["sums"]).sum(axis=1)
        self._replace(kept)
        self.n_classes = len(left)

    def join(self, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        self._replace(with_joined(self.state, neurons, left))
        self.n_classes = len(left)

    def class_counts(self) -> NDArray[np.int64]:
        return self.state.views()["class_counts"].astype(np.int64)

    def _replace(self, state: State) -> None:
        self.state, self._linear = state, None

    # ---- keeping and undoing

    def load(self, tensors: Any, where: str, n_classes: int) -> None:
        self.state = widened(self.state, wide_in(self.state, tensors, where))
        super().load(tensors, where, n_classes)
        self._replace(narrowest(self.state, self.state.arrays))

    def mark(self) -> DiagonalUndo:
        return DiagonalUndo(self)

    def restore(self, state: State, n_classes: int) -> None:
        """Be as found before."""
        self.n_classes = n_classes
        self._replace(state)

    @property
    def nbytes(self) -> int:
        return 2 * super().nbytes + 4 * self.n_inputs * self.width  # a journal and the readout, needed or not

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_linear": None}


class DiagonalUndo:
    """Where a layer stood when a call began: everything is copied."""

    def __init__(self, layer: DiagonalLayer) -> None:
        self._layer, self._state, self._n_classes = layer, layer.state, layer.n_classes
        self._copies = [(array, array.copy()) for array in layer.state.arrays.values()]

    def note(self, active: Active, first: int, last: int) -> None:
        """Everything is kept already."""

    def undo(self) -> None:
        for array, copy in self._copies:
            array[...] = copy
        self._layer.restore(self._state, self._n_classes)
