"""`KenyonClassifier`: a classifier that learns from a stream one sample at a time."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from kenyon import _modelfile
from kenyon._build import build_engine, check_budget, seed_of, settle
from kenyon._engine import NO_LABEL, Engine
from kenyon._inputs import check_labels, check_samples
from kenyon._learning import learn_samples
from kenyon.errors import ConfigError, InputError
from kenyon.labels import Labels
from kenyon.modulation import Moving
from kenyon.rules import Rule, get_rule


class KenyonClassifier(ClassifierMixin, BaseEstimator):
    """Sparse random features and a layer of local plasticity: one pass, no replay, no backpropagation.

    Args:
        rule: plasticity rule, by name (`"gen"`, `"oja"`, `"mse"`, `"inel"`) or as an object
            such as `GEN(b1=0.0, b2=-1.0)`.
        n_hidden: units of the feature layer; `"auto"` is 11,000, or what `memory_budget` has room for.
        density: inputs of each unit: a share of the inputs (float) or a count (int); `"auto"` is a
            quarter of the inputs, 32 at the most.
        inhibitory: share of a unit's inputs that inhibit it.
        threshold: of the feature layer, in standard deviations of the sample's projection; None: off.
        learning_rate: a number, a schedule or a function of time (`kenyon.modulation`); `"auto"`: the rule's own.
        clamp: bound of the weights, None for none; `"auto"`: the rule's own.
        clamp_kind: `"symmetric"`, weights in [-clamp, clamp], or `"positive"`, in [0, clamp].
        hidden_layers: widths of learning layers between the features and the output.
        features: `"sparse"`, or `"identity"` for raw input to the learning layer.
        unit_norm: scale the input of every learning layer to length 1. Learning rates assume it.
        memory_budget: bytes, or a size such as `"512KB"`; `state_bytes` never exceeds it.
        expected_classes: how many classes a memory budget is divided among.
        epochs: passes over the data in `fit` (`partial_fit` always makes one).
        unlabelled: number that marks a sample without a label, besides None and NaN;
            None where it is a class of its own.
        n_jobs: threads for features and prediction (-1: all). Changes no result.
        random_state: seed of the projection.

    Parameters take effect when the first sample is learned; setting them later changes nothing until `fit`.

    Example:
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> clf = KenyonClassifier(rule="mse", n_hidden=2000, random_state=0)
        >>> for start in range(0, 1500, 100):
        ...     clf = clf.partial_fit(X[start : start + 100], y[start : start + 100])
        >>> bool(clf.score(X[1500:], y[1500:]) > 0.85)
        True

    Reference: Madireddy, Yanguas-Gil and Balaprakash, "Neuromodulated Neural Architectures with Local
    Error Signals for Memory-Constrained Online Continual Learning".
    """

    def __init__(
        self,
        rule: str | Rule = "gen",
        *,
        n_hidden: int | str = "auto",
        density: float | int | str = "auto",
        inhibitory: float = 0.0,
        threshold: float | None = 2.3,
        learning_rate: Moving | str = "auto",
        clamp: float | str | None = "auto",
        clamp_kind: str = "symmetric",
        hidden_layers: Sequence[int] = (),
        features: str = "sparse",
        unit_norm: bool = True,
        memory_budget: int | str | None = None,
        expected_classes: int = 10,
        epochs: int = 1,
        unlabelled: int | None = -1,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rule = rule
        self.n_hidden = n_hidden
        self.density = density
        self.inhibitory = inhibitory
        self.threshold = threshold
        self.learning_rate = learning_rate
        self.clamp = clamp
        self.clamp_kind = clamp_kind
        self.hidden_layers = hidden_layers
        self.features = features
        self.unit_norm = unit_norm
        self.memory_budget = memory_budget
        self.expected_classes = expected_classes
        self.epochs = epochs
        self.unlabelled = unlabelled
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ---- learning

    def fit(self, X: ArrayLike, y: ArrayLike, task: Hashable = None) -> Self:
        """Forget everything and learn `X`, `y` in the order given, `epochs` times."""
        if not isinstance(self.epochs, (int, np.integer)) or self.epochs < 1:
            raise ConfigError(f"epochs is {self.epochs!r}: expected a whole number, at least 1")
        fresh = type(self)(**self.get_params(deep=False))
        for _ in range(self.epochs):
            fresh.partial_fit(X, y, task=task)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        self.__dict__.update(vars(fresh))
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: Iterable[Hashable] | None = None, task: Hashable = None
    ) -> Self:
        """Learn samples in the order given; how they are cut into calls does not matter.

        Args:
            X: (n_samples, n_features), bytes or numbers. Bytes are never converted to floats.
            y: labels; None, NaN and `unlabelled` mark samples that teach nothing.
            classes: labels to make room for at once. Others may still come later.
            task: the task whose head learns (task-incremental use); any hashable.
        """
        self._learn(X, y, classes, task, predict=False)
        return self

    def test_then_learn(self, X: ArrayLike, y: ArrayLike, task: Hashable = None) -> NDArray:
        """Learn like `partial_fit`; return what was predicted for each sample before it was learned.

        A sample that comes before any class is known gets -1 (None where labels are not numbers).
        """
        predictions = self._learn(X, y, None, task, predict=True)
        assert predictions is not None
        return predictions

    def learn_one(self, x: NDArray, y: Hashable, task: Hashable = None) -> Self:
        """Learn a single sample (one-dimensional), at the lowest latency."""
        engine: Engine | None = getattr(self, "_engine", None)
        head = self._heads.get(task) if engine is not None else None
        neuron = head.neurons.get(y) if head is not None and isinstance(y, Hashable) else None
        if head is not None and isinstance(y, (bool, np.bool_)) != (head.kind == "boolean"):
            neuron = None  # True == 1, but they are labels of two kinds
        plain = (
            engine is not None and type(x) is np.ndarray and x.dtype == np.uint8 and x.shape == (self.n_features_in_,)
        )
        if engine is None or head is None or neuron is None or not plain or y == self.unlabelled:
            samples = np.asarray(x)
            if samples.ndim != 1:
                raise InputError(f"x has {samples.ndim} dimensions: expected one, a single sample")
            label = np.empty(1, object)
            label[0] = y
            return self.partial_fit(samples[np.newaxis], label, task=task)
        snapshot = engine.snapshot(1)
        try:
            engine.learn_one(x[np.newaxis], neuron, head.head)
        except BaseException:
            if snapshot is not None:
                engine.roll_back(snapshot)
            raise
        return self

    def _learn(
        self, X: ArrayLike, y: ArrayLike, classes: Iterable[Hashable] | None, task: Hashable, predict: bool
    ) -> NDArray | None:
        first_call = not hasattr(self, "_engine")
        before = set(vars(self))
        try:
            samples = check_samples(self, X, reset=first_call)
            kind = None if first_call else next(iter(self._heads.values())).kind
            head = Labels() if first_call else self._heads.get(task, Labels(kind=kind))
            declared = [] if classes is None else [label for _, label in head.encode(classes, None)[1]]
            after = head.copy()
            after.neurons.update((label, 0) for label in declared)
            numbers, new = after.encode(check_labels(y, len(samples)), self.unlabelled)
            labels = [*declared, *(label for _, label in new)]
            if first_call:
                if not labels:
                    raise InputError("no sample has a label: expected at least one in the first call, or classes=")
                self._heads: dict[Hashable, Labels] = {}
                self._engine = self._make_engine(samples.shape[1], len(labels))
            engine = self._engine
            after.neurons.update((label, engine.n_classes + i) for i, label in enumerate(labels))
            if labels:
                needed = engine.state_bytes_with(len(labels)) + self._metadata_bytes({**self._heads, task: after})
                check_budget(self.memory_budget, needed, labels)
            neurons = np.array([*after.neurons.values(), NO_LABEL])[numbers]  # position -1 is NO_LABEL itself
            arrivals = [0] * len(declared) + [first for first, _ in new]
            predictions = np.full(len(samples), NO_LABEL, np.int64) if predict else None
            learn_samples(engine, samples, neurons, head, after, arrivals, predictions)
        except BaseException:
            for name in set(vars(self)) - before:  # a first call that failed leaves no trace
                delattr(self, name)
            raise
        if labels:
            self._heads[task] = after
        return None if predictions is None else after.decode(predictions)

    # ---- prediction

    def decision_function(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float32]:
        """`x_o` of each class in the order of `classes_`; their difference where there are two."""
        scores = self._scores(X, task)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike, task: Hashable = None) -> NDArray:
        """The label with the highest score. Changes nothing."""
        scores = self._scores(X, task)
        return self._head(task).sorted()[0][scores.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float64]:
        """Softmax of the scores at the rule's own scale: a ranking with a rough confidence."""
        scores = get_rule(self.rule).plasticity.sharpness * self._scores(X, task).astype(np.float64)
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, task: Hashable = None) -> float:
        """Mean accuracy."""
        hits = self.predict(X, task=task) == np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(hits, weights=weights))

    def _scores(self, X: ArrayLike, task: Hashable) -> NDArray[np.float32]:
        _, neurons = self._head(task).sorted()
        return self._engine.scores(check_samples(self, X, reset=False))[:, neurons]

    # ---- what it knows and what it holds

    @property
    def classes_(self) -> NDArray:
        """Labels met so far, ascending (of every task)."""
        everything = {label: 0 for labels in self._fitted_heads().values() for label in labels.neurons}
        return Labels(everything.items()).sorted()[0]

    @property
    def tasks_(self) -> list[Hashable]:
        """Tasks met so far, in order; `[None]` where no task was ever named."""
        return list(self._fitted_heads())

    @property
    def n_samples_learned_(self) -> int:
        """Labelled samples learned so far: the time of the schedules."""
        return self._fitted_engine().time

    @property
    def synaptic_updates_(self) -> int:
        """Synapses visited by the rule so far."""
        return self._fitted_engine().updates

    @property
    def weights_(self) -> NDArray[np.float32]:
        """(units, neurons) of the output layer, read-only; neurons in order of arrival."""
        weights = self._fitted_engine().layers[-1].weights.view()
        weights.flags.writeable = False
        return weights

    @property
    def weight_means_(self) -> NDArray[np.float64]:
        """The mean incoming weight of each output neuron, in order of arrival."""
        return self._fitted_engine().layers[-1].weight_means()

    def neurons(self, task: Hashable = None) -> dict[Hashable, int]:
        """The output neuron (column of `weights_`) of each label of a task."""
        return dict(self._head(task).neurons)

    def check_params(self, n_features: int) -> None:
        """Refuse parameters that could not learn samples of this width; changes nothing."""
        settle(self.get_params(deep=False), n_features, 0, 0)

    @property
    def state_bytes(self) -> int:
        """Bytes that must be kept to go on learning: what `save` writes, less the container's framing.

        The projection is drawn again from its seed, and counts as the seed.
        """
        return self._fitted_engine().state_bytes + self._metadata_bytes(self._heads)

    @property
    def working_bytes(self) -> int:
        """Bytes held in memory: state, padding, the projection and scratch."""
        return self._fitted_engine().nbytes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one safetensors file, atomically; `load` goes on as if nothing had happened."""
        self._fitted_engine()
        _modelfile.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **overrides: Any) -> Self:
        """Read a file of `save`. `overrides` replace parameters that a file does not hold: functions, `n_jobs`."""
        return cast("Self", _modelfile.load(cls, path, overrides))

    @classmethod
    def from_preset(cls, name: str, **overrides: Any) -> Self:
        """A classifier, not fitted, with a configuration that a search found (`kenyon.presets`).

        Args:
            name: such as `"split-mnist"`.
            overrides: parameters to set differently, `random_state` for one.
        """
        from kenyon.presets import load_preset

        return cls(**(load_preset(name).classifier_params() | overrides))

    def _head(self, task: Hashable) -> Labels:
        heads = self._fitted_heads()
        if task in heads:
            return heads[task]
        tasks = ", ".join(map(repr, heads))
        raise InputError(f"task {task!r} was never learned: expected one of {tasks}")

    def _fitted_heads(self) -> dict[Hashable, Labels]:
        self._fitted_engine()
        return self._heads

    def _fitted_engine(self) -> Engine:
        if not hasattr(self, "_engine"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learned nothing. "
                "Call 'partial_fit' or 'fit' with labelled samples first."
            )
        return self._engine

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # a projection spreads many inputs over its units; scikit-learn's check has two inputs in all
        tags.classifier_tags.poor_score = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_engine")

    # ---- building and memory

    def _make_engine(self, n_inputs: int, n_classes: int) -> Engine:
        seed, params = seed_of(self.random_state), self.get_params(deep=False)
        overhead = _modelfile.metadata_bytes(self, seed, n_inputs, {})
        return build_engine(settle(params, n_inputs, n_classes, overhead), n_inputs, seed, params)

    def _metadata_bytes(self, heads: dict[Hashable, Labels]) -> int:
        return _modelfile.metadata_bytes(self, self._engine.seed, self._engine.n_inputs, heads)
