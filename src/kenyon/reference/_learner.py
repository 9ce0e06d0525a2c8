"""The learner: features, layers and time, one sample after the other.

    x_e = F_e(u);   x_o = F_l(x_e; W);   W = f(x_e, x_o, x_m; W, beta(t))

Each sample passes the scaling, the features and the layers, and each layer learns from its own signal. Nothing else is
kept: no samples, no gradients.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.reference._activity import Active, rectified
from kenyon.reference._counting import Counting
from kenyon.reference._diagonal import Diagonal
from kenyon.reference._features import Dense, Identity, Ramps, Sparse
from kenyon.reference._few_bit_weights import FewBitWeights
from kenyon.reference._local_error import LocalError
from kenyon.reference._patches import Patches
from kenyon.reference._plastic import Plastic
from kenyon.reference._race import Race
from kenyon.reference._scaling import Scaler, Units
from kenyon.reference._second_order import SecondOrder
from kenyon.reference._spec import bent, grown, settled
from kenyon.reference._windows import Windows

FEATURES: dict[str, Any] = {
    "sparse": Sparse,
    "windows": Windows,
    "patches": Patches,
    "ramps": Ramps,
    "dense": Dense,
    "identity": Identity,
}
LAYERS: dict[str, Any] = {
    "plastic": Plastic,
    "counting": Counting,
    "second-order": SecondOrder,
    "diagonal": Diagonal,
}


class Learner:
    """`KenyonClassifier` in plain Python and NumPy: the same state and the same scores, thousands of times slower.

    State and scores are equal to the bit, except what is solved in float64 (`_readout.py`, and a half-life before such
    a readout), whose last bits depend on LAPACK. Input is not checked.

    Args:
        params: those of `KenyonClassifier`.

    Example:
        >>> import numpy as np
        >>> from kenyon import KenyonClassifier
        >>> X, y = np.eye(9, dtype=np.uint8)[np.arange(30) % 9] * 200, np.arange(30) % 9
        >>> params = {"rule": "mse", "n_hidden": 40, "random_state": 0}
        >>> fast, plain = KenyonClassifier(**params).partial_fit(X, y), Learner(**params).partial_fit(X, y)
        >>> bool(np.array_equal(fast.decision_function(X), plain.decision_function(X)))
        True
    """

    def __init__(self, **params: Any) -> None:
        self.params = params
        self.neurons: dict[tuple[Hashable, Hashable], int] = {}  # of each label of each task, in order of arrival
        self.time = self.updates = 0

    def _begin(self, X: NDArray, n_classes: int) -> None:
        self.spec, self.seed = settled(self.params, X, n_classes)
        spec, seed = self.spec, self.seed
        self.features = FEATURES[spec.features.name](spec, seed)
        half_life = getattr(spec.layer, "half_life", None)
        steps = spec.features.name == "ramps" and self.features.beside and half_life is None
        self.scaler: Scaler | Units | None = None
        if spec.scale is True:
            self.scaler = Units(spec.n_inputs) if steps else Scaler(spec)
        self.layers: list[Any] = []
        n_units = spec.n_units
        for width in spec.widths:
            self.layers.append(LocalError(n_units, width, seed + len(self.layers) + 1, spec))
            n_units = width
        few = spec.layer.name == "plastic" and spec.layer.bits != 32  # type: ignore[attr-defined]
        output = FewBitWeights if few else LAYERS[spec.layer.name]
        self.layers.append(output(n_units, seed + len(self.layers) + 1, spec))
        self.moving = spec.layer.moving
        tables = spec.features.name == "ramps" and spec.layer.name == "second-order" and self.features.beside
        self.race = Race(self.layers[-1], self.features.beside) if tables else None

    # ---- learning

    def partial_fit(
        self, X: ArrayLike, y: Sequence, task: Hashable = None, modulation: Sequence[float] | None = None
    ) -> Self:
        """Learn samples in order; None, NaN and `unlabelled` mark those without a label."""
        self._learn(X, y, task, predict=False, modulation=modulation)
        return self

    def test_then_learn(self, X: ArrayLike, y: Sequence, task: Hashable = None) -> list:
        """Learn samples in order; what was predicted for each before it was learned, None before the first class."""
        return self._learn(X, y, task, predict=True)

    def _learn(
        self, X: ArrayLike, y: Sequence, task: Hashable, predict: bool, modulation: Sequence[float] | None = None
    ) -> list:
        samples, predictions = np.asarray(X), []
        labels = [None if self._is_missing(label) else label for label in np.asarray(y).tolist()]
        if not self.neurons:
            self._begin(samples, len({*labels} - {None}))
        signals = [None] * len(labels) if modulation is None else modulation
        for u, label, signal in zip(samples, labels, signals, strict=True):
            if predict:
                predictions.append(self._best(self._passed(u), task))
            if label is not None:
                self._learn_one(u, label, task, signal)
        return predictions

    def _is_missing(self, label: Any) -> bool:
        return label is None or label != label or label == self.params.get("unlabelled")

    def _learn_one(self, u: NDArray, label: Hashable, task: Hashable, signal: float | None = None) -> None:
        self._grow(grown(self.params, self.spec, self.seed, self.neurons, self.time))
        if (task, label) not in self.neurons:
            self.neurons[task, label] = len(self.neurons)
            self._cut(bent(self.params, self.spec, self.seed, self.neurons))
            for layer in self.layers:
                layer.add_class()
        x, number = self._activity(u), self.neurons[task, label]
        change = None if self.scaler is None else self.scaler.count(u)
        beta = [np.float32(value(self.time) if callable(value) else value) for value in self.moving]
        for layer in self.layers[:-1]:
            x_o = layer.outputs(x)
            self.updates += layer.learn(x, number, range(len(x_o)), beta)
            x = rectified(x_o, self.spec.unit_norm)
        plastic = [neuron for (own, _), neuron in self.neurons.items() if own == task]
        if self.race is not None:
            self.race.note(x, number, plastic, self.time)
        graded = () if signal is None else (signal,)
        self.updates += self.layers[-1].learn(x, number, plastic, beta, *graded)
        self.time += 1
        if change is not None:
            self.layers[-1].rescale(self.features.ramps, change)
            if self.race is not None:
                self.race.outdated()

    def _grow(self, spec: Any) -> None:
        """Go on with as many units as the spec has, unless the inputs alone are read."""
        if spec.n_units > self.spec.n_units and not self.layers[-1].first:
            self.spec, self.features = spec, FEATURES[spec.features.name](spec, self.seed)
            self.layers[-1].grow(spec, self.features.ramps)
            if self.race is not None:
                self.race.outdated()

    def _cut(self, spec: Any) -> None:
        """Keep the first units alone, as many as the spec has."""
        if spec.n_units < self.spec.n_units:
            self.spec, self.features = spec, FEATURES[spec.features.name](spec, self.seed)
            self.layers[-1].cut(spec)
            if self.race is not None:
                self.race.outdated()

    # ---- prediction

    def _activity(self, u: NDArray) -> Active:
        u = u if self.scaler is None else self.scaler.scaled(u)
        return self.features(u if u.dtype == np.uint8 else u.astype(np.float32))

    def _passed(self, u: NDArray) -> NDArray[np.float32]:
        """The output of every neuron."""
        x = self._activity(u)
        for layer in self.layers[:-1]:
            x = rectified(layer.outputs(x), self.spec.unit_norm)
        return self.layers[-1].outputs(x)

    def _labels(self, task: Hashable) -> list:
        """Labels of a task, ascending."""
        return sorted(label for own, label in self.neurons if own == task)

    def _best(self, scores: NDArray[np.float32], task: Hashable) -> Hashable:
        labels = self._labels(task)
        own = {label: scores[self.neurons[task, label]] for label in labels if self.neurons[task, label] < len(scores)}
        return max(own, key=lambda label: own[label], default=None)

    def decision_function(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float32]:
        """`x_o` of each class of a task, by label; their difference where there are two."""
        neurons = [self.neurons[task, label] for label in self._labels(task)]
        scores = np.array([self._passed(u)[neurons] for u in np.asarray(X)])
        return scores[:, 1] - scores[:, 0] if len(neurons) == 2 else scores

    # ---- the state

    def merge(self, other: Learner) -> Self:
        """Add what another learner has learned, whose new classes come behind the own ones; the wider one is cut."""
        new = [key for key in other.neurons if key not in self.neurons]
        self.neurons |= {key: len(self.neurons) + n for n, key in enumerate(new)}
        spec = bent(self.params, self.spec, self.seed, self.neurons) if new else self.spec
        spec = min(spec, other.spec, key=lambda one: one.n_units)
        self._cut(spec)
        other._cut(spec)
        for _ in new:
            self.layers[-1].add_class()
        self.layers[-1].merge(other.layers[-1], np.array([self.neurons[key] for key in other.neurons]))
        if isinstance(self.scaler, Scaler) and isinstance(other.scaler, Scaler):
            self.scaler.merge(other.scaler)
        self.time, self.updates = self.time + other.time, self.updates + other.updates
        return self

    def to_arrays(self) -> dict[str, NDArray]:
        """The state, as `KenyonClassifier.to_arrays` names it; without its "model", which holds no numbers."""
        arrays = {"counters": np.array([self.time, self.updates])}
        arrays |= {} if self.scaler is None else self.scaler.arrays()
        for number, layer in enumerate(self.layers):
            arrays |= {f"{name}.{number}": array for name, array in layer.arrays().items()}
        return arrays
