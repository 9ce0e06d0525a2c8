"""`KenyonClassifier`: a classifier that learns from a stream one sample at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.errors import ConfigError, InputError, MergeError
from kenyon.features import Features, SparseRows
from kenyon.features.front import Event, Events
from kenyon.layers import Layer
from kenyon.model import bending, model_file
from kenyon.model.activity import dense
from kenyon.model.calibration import Estimate, softmax
from kenyon.model.classes import joined, reject_below, renamed, without
from kenyon.model.engine import Engine
from kenyon.model.estimator import Estimator, seed_of
from kenyon.model.fitted import Core
from kenyon.model.growing import growth
from kenyon.model.inputs import DIRECT, Inputs, as_rows, check_labels, check_samples, check_scores, is_bearable
from kenyon.model.journal import Journal, OfCalibration
from kenyon.model.labels import NO_LABEL, Batch, Labels, head_of, plain_task, warn_continuous
from kenyon.model.listening import events_in
from kenyon.model.lock import ModelLock
from kenyon.model.merging import (
    MOVING,
    add,
    addition,
    check_exact,
    copied,
    learned_alone,
    moments_differ,
    take_out,
    warn_inexact,
)
from kenyon.model.narrowing import narrowed_core
from kenyon.model.options import OPTIONS, ClassifierOptions
from kenyon.model.presets import load_preset
from kenyon.model.recommend import for_sparse, settle
from kenyon.model.recordings import first_of_each, front_of, mean_of_each, of_each_window, windows_of
from kenyon.model.scale import Scaler
from kenyon.model.spec import Spec, check_budget
from kenyon.model.table_step import TableStep
from kenyon.model.units import Units
from kenyon.model.weights import by_class, check_modulation, check_weights, in_proportion, repeated
from kenyon.utils.options import describe, is_default

if TYPE_CHECKING:
    from sklearn.utils import Tags

KIND = ("rule", "features", "layer", "hidden")
"""Options that decide what kind of learner it is; at their defaults, it does well with few inputs too."""

T = TypeVar("T")
C = TypeVar("C", bound="KenyonClassifier")

_LOCKS: WeakKeyDictionary[KenyonClassifier, ModelLock] = WeakKeyDictionary()
"""The lock of each classifier: no attribute of it, since it is neither copied nor saved."""


class _Merge:
    """`model.merge(other, ...)` adds others to a model; `KenyonClassifier.merge(models)` makes a new one of them."""

    @overload
    def __get__(self, model: None, kind: type[C]) -> Callable[[Iterable[C]], C]: ...

    @overload
    def __get__(self, model: C, kind: type[C]) -> Callable[..., C]: ...

    def __get__(self, model: C | None, kind: type[C]) -> Callable[..., C]:
        return MethodType(_merged, kind) if model is None else MethodType(_merge_into, model)


class KenyonClassifier(ClassifierOptions, Estimator):
    __doc__ = f"""Sparse random features and a layer of local plasticity: one pass, no replay, no backpropagation.

    {describe(OPTIONS)}

    Parameters take effect when the first sample is learned; setting them later changes nothing until `fit`.

    Any number of threads may predict at once; a thread that learns waits for them, and they for it. A call that
    fails or is interrupted leaves the model as it was.

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

    _core: Core
    """What was learned so far; there from the first call on."""

    # ---- learning

    def fit(self, X: ArrayLike, y: ArrayLike, task: Hashable = None, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, `y` in the order given, `epochs` times.

        Inputs that are scaled are scaled by all of `X` from the start; otherwise this is `partial_fit` of a new model.
        Weights that are not all integers count in proportion to their mean.
        """
        epochs = OPTIONS["epochs"].check(self.epochs)
        fresh = type(self)(**self.get_params(deep=False))
        for _ in range(epochs):
            fresh._learn(X, y, None, task, predict=False, weights=sample_weight, fit=True)

        def take() -> None:
            self._core = fresh._core

        self._lock.write(take)
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: Iterable[Hashable] | None = None,
        task: Hashable = None,
        sample_weight: ArrayLike | None = None,
        modulation: ArrayLike | None = None,
    ) -> Self:
        """Learn samples in the order given; how they are cut into calls does not matter.

        Args:
            X: (n_samples, n_features), bytes or numbers. Bytes are never converted to floats. With a front end,
                recordings: a list of int16 arrays.
            y: labels; None, NaN and `unlabelled` mark samples without a label.
            classes: labels to add at once. Others may still come later.
            task: the task whose head learns (task-incremental use); any hashable.
            sample_weight: how often each sample counts. Integers are exact: as if the sample had come that many times.
                A fraction is rounded up for that share of the samples (`kenyon.model.weights`).
            modulation: x_m of each sample's neuron, from 0 to 1, in place of 1; for a `Plastic` layer of 32 bits
                without hidden layers.
        """
        more: Any = {"weights": sample_weight, "modulation": modulation}
        self._lock.write(lambda: self._learn(X, y, classes, task, predict=False, **more))
        return self

    def test_then_learn(self, X: ArrayLike, y: ArrayLike, task: Hashable = None) -> NDArray:
        """Learn like `partial_fit`; return what was predicted for each sample before it was learned.

        A sample that comes before any class is known gets -1 (None where labels are not numbers, or -1 is one).
        """
        return self._lock.write(lambda: self._learn(X, y, None, task, predict=True))

    def learn_one(self, x: NDArray, y: Hashable, task: Hashable = None) -> Self:
        """Learn a single sample (one-dimensional), at the lowest latency."""
        self._lock.write(lambda: self._learn_one(x, y, task))
        return self

    def _learn_one(self, x: NDArray, y: Hashable, task: Hashable) -> None:
        if self.__sklearn_is_fitted__() and self._learn_at_once(self._settled(), x, y, task):
            return
        samples = np.asarray(x)
        if samples.ndim != 1 and self.front is None:
            raise InputError(f"x has {samples.ndim} dimensions: expected one, a single sample")
        label = np.empty(1, object)
        label[0] = y
        self._learn(samples[np.newaxis], label, None, task, predict=False)

    def _learn_at_once(self, core: Core, x: NDArray, y: Hashable, task: Hashable) -> bool:
        """Learn a sample of a known class in one step that cannot be interrupted; False where that is not possible."""
        engine = core.engine
        try:
            head = core.heads.get(task)
            neuron = None if head is None else head.neurons.get(y)
        except TypeError:  # one of them is not hashable, which the longer way reports
            return False
        if neuron is None or head is None or type(x) is not np.ndarray or not core.inputs.fits(x):
            return False
        if y == self.unlabelled or isinstance(y, (bool, np.bool_)) != head.boolean:  # True == 1: labels of two kinds
            return False
        if x.dtype == np.float64:
            table = engine.table
            if table is None or not x.flags.carray:
                return False
            return table.learn(x, neuron, head.head) or (
                table.due and self._learn_renewed(core, table, x, neuron, head)
            )
        if x.dtype != np.uint8 or not engine.at_once:
            return False
        return engine.learn_one(x[np.newaxis], neuron, head.head)

    def _learn_renewed(self, core: Core, table: TableStep, x: NDArray, neuron: int, head: Labels) -> bool:
        """`_learn_at_once` of a sample before which the calibration is renewed."""
        self._core = core._replace(journal=OfCalibration(core.engine))
        try:
            table.renew()
            return table.learn(x, neuron, head.head)
        finally:
            self._settled()

    def _learn_named(
        self, X: NDArray, y: ArrayLike, names: Sequence[str], classes: Iterable[Hashable] | None = None
    ) -> Self:
        """`partial_fit` of an array whose columns have these names, as those of a data frame have.

        The names are those of the first call; files are matched by them before they come here (`kenyon.data.shards`).
        """
        self._lock.write(lambda: self._learn(X, y, classes, None, predict=False, names=names))
        return self

    def _check_samples(self, X: NDArray) -> bool:
        """Refuse samples that cannot be learned; whether they are numbers other than bytes. Changes nothing."""
        inputs = Inputs()
        check_samples(inputs, X, first=True, absent=self._absent(None))
        return inputs.floats

    def _learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: Iterable[Hashable] | None,
        task: Hashable,
        predict: bool,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        modulation: ArrayLike | None = None,
        fit: bool = False,
    ) -> NDArray:
        task = plain_task(task)
        core = self._settled() if self.__sklearn_is_fitted__() else None
        inputs = Inputs() if core is None else core.inputs
        X, counts = self._windows(core, X)
        if counts is not None:
            y, weights = of_each_window(y, counts, "y"), of_each_window(weights, counts, "sample_weight")
            modulation = of_each_window(modulation, counts, "modulation")
        checked = inputs if core is None or names is None else inputs.without_names()
        samples = check_samples(checked, as_rows(X, self.shape), first=core is None, absent=self._absent(core))
        if core is None and names is not None:
            inputs.feature_names_in_ = np.array(names, object)
        heads: Mapping[Hashable, Labels] = {} if core is None else core.heads
        kind = None if core is None else next(iter(heads.values())).kind
        before = heads.get(task, Labels(kind=kind))
        declared = [] if classes is None else [label for _, label in before.encode(classes, None)[1]]
        after = before.copy()
        after.neurons.update((label, 0) for label in declared)
        y, first = check_labels(y, len(samples)), None
        signal = None if modulation is None else check_modulation(modulation, len(samples))
        if weights is not None or self.class_weight is not None:
            samples, y, first = self._weighted(samples, y, weights, fit)
            if signal is not None:
                signal = np.repeat(signal, np.diff(np.append(first, len(samples))))
        numbers, new = after.encode(y, self.unlabelled)
        labels = [*declared, *(label for _, label in new)]
        if core is None and not labels:
            raise InputError("no sample has a label: expected at least one in the first call, or classes=")
        engine = self._make_engine(inputs, len(declared), len(labels)) if core is None else core.engine
        if signal is not None and not engine.graded:
            kind = type(engine.layers[-1]).__name__ if len(engine.layers) == 1 else "hidden layers"
            raise InputError(f"modulation is given for {kind}: expected a Plastic layer of 32 bits alone")
        after.neurons.update((label, engine.n_classes + i) for i, label in enumerate(labels))
        all_heads = {**heads, task: after} if labels else heads
        arrivals = [0] * len(declared) + [first for first, _ in new]
        wanted, plan, budgeted = growth(engine, numbers), None, self.memory_budget is not None
        needed = engine.state_bytes_with(len(labels)) if budgeted else 0
        if wanted or (budgeted and labels):
            described = model_file.metadata_bytes(engine, inputs, all_heads)
            plan = bending.plan(engine, self.memory_budget, arrivals, labels, described, wanted)
            needed = engine.state_bytes_with(len(labels), plan.n_units)
            if labels:
                check_budget(self.memory_budget, needed + plan.metadata_bytes, labels)
        if new:
            n_samples = engine.time + np.count_nonzero(numbers != NO_LABEL)
            warn_continuous(y, len(before.neurons), len(after.neurons), int(n_samples))
        neurons = np.array([*after.neurons.values(), NO_LABEL])[numbers]  # position -1 is NO_LABEL itself
        bends, grows = ({}, {}) if plan is None else (plan.bends, plan.grows)
        batch = Batch(neurons, before, after, arrivals, predict, bends, grows, signal)
        learned = Core(engine, all_heads, inputs)
        if fit and core is None and engine.scaler is not None and batch.labelled.any():
            engine.scaler.settle(dense(samples[batch.labelled]))

        def learn(journal: Journal | None) -> NDArray:
            engine.learn(samples, batch, journal)
            if budgeted and engine.state_bytes > needed:
                check_budget(self.memory_budget, model_file.state_bytes(learned), ())
            found = after.decode(batch.predictions if first is None or not predict else batch.predictions[first])
            return found if counts is None else first_of_each(found, counts)

        if core is None:
            predictions = learn(None)  # this engine is not visible before it has learned
            self._core = learned
            return predictions
        journal = Journal(engine)
        self._core = core._replace(journal=journal)  # from here on an interruption is undone
        try:
            predictions = learn(journal)
            self._core = learned
        except BaseException:
            self._settled()
            raise
        return predictions

    def _weighted(
        self, samples: NDArray | SparseRows, y: NDArray, given: ArrayLike | None, fit: bool
    ) -> tuple[NDArray | SparseRows, NDArray, NDArray[np.int64]]:
        """Samples as often as they count, and where each first stands."""
        weights = check_weights(given, len(samples))
        of_class = by_class(OPTIONS["class_weight"].check(self.class_weight), y, self.unlabelled, fit)
        both = (np.ones(len(samples)) if weights is None else weights) * (1.0 if of_class is None else of_class)
        if fit and not both.any():
            raise InputError("the weight of every sample is zero: expected at least one above it")
        return repeated(samples, y, in_proportion(both) if fit else both)

    def _settled(self) -> Core:
        """The core, after a call that was interrupted has been undone; the caller holds the lock for writing."""
        core = self._core
        if core.journal is not None:
            core.journal.undo()
            self._core = core = core._replace(journal=None)
        return core

    def _read(self, action: Callable[[Core], T]) -> T:
        """Do something with the core that changes nothing."""
        self._check_fitted()
        if self._core.journal is not None:  # learning is under way, or was interrupted: wait for it, or undo it
            self._lock.write(self._settled)
        return self._lock.read(lambda: action(self._core))

    @property
    def _lock(self) -> ModelLock:
        return _LOCKS.setdefault(self, ModelLock()) if (lock := _LOCKS.get(self)) is None else lock

    def __getstate__(self) -> dict[str, Any]:
        def state() -> dict[str, Any]:
            if self.__sklearn_is_fitted__():
                self._settled()
            return dict(vars(self))

        return self._lock.write(state)

    # ---- prediction

    def decision_function(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float32]:
        """`x_o` of each class in the order of `classes_`; their difference where there are two."""
        scores = self._scores(X, task)[1]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike, task: Hashable = None, reject: float | None = None) -> NDArray:
        """The label with the highest score. Changes nothing.

        Args:
            X: samples.
            task: whose labels to choose from.
            reject: answer None where a sample is less familiar than this (`familiarity`): about this share of the
                samples of known classes, and most others.
        """
        if reject is not None:
            return reject_below(*self._best(X, task), reject)
        labels, scores = self._scores(X, task)
        best: NDArray = labels[scores.argmax(axis=1)]
        return best

    def predict_one(self, x: ArrayLike, task: Hashable = None, reject: float | None = None) -> Hashable:
        """The label of a single sample (one-dimensional), as Python has it."""
        if reject is None and type(x) is np.ndarray and self.__sklearn_is_fitted__():
            place = self._read(lambda core: self._best_at_once(core, x, task))
            if place is not None:
                return place[0][place[1]]
        if (sample := np.asarray(x)).ndim != 1 and self.front is None:
            raise InputError(f"x has {sample.ndim} dimensions: expected one, a single sample")
        return self.predict(sample[np.newaxis], task=task, reject=reject).tolist()[0]

    def _best_at_once(self, core: Core, x: NDArray, task: Hashable) -> tuple[list[Hashable], int] | None:
        """The labels, and the index of the best one for a single sample; None where the fast path does not apply."""
        engine = core.engine
        if len(engine.layers) > 1 or x.dtype not in DIRECT or not core.inputs.fits(x):
            return None
        if engine.spec.front is not None and x.dtype != np.uint8:  # a recording
            return None
        labels, neurons = head_of(core.heads, task).listed
        if x.dtype == np.float64 and x.flags.carray and (table := engine.table) is not None:
            best = table.best(x, neurons)
            if best >= 0:
                return labels, best
        sample = x[np.newaxis]
        if x.dtype != np.uint8 and not is_bearable(sample, self._absent(core)):
            return None
        scores = engine.score_one(sample)[neurons]
        best = int(scores.argmax())
        return (labels, best) if isfinite(scores.sum()) else None

    def predict_proba(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float64]:
        """Softmax of the scores, at a scale that predictions made before learning have chosen (tables), or the layer's.

        With the default for tables, probabilities are calibrated (`kenyon.model.calibration`). Those of other features
        and layers are a ranking with a rough confidence.
        """

        def probabilities(core: Core) -> NDArray[np.float64]:
            neurons, layer = head_of(core.heads, task).in_order[1], core.engine.layers[-1]
            scores = self._scores_of(core, X, task)[1]
            if core.engine.calibration is None:
                return softmax(layer.sharpness * scores.astype(np.float64))
            return core.engine.calibration.probabilities(scores, layer.class_counts()[neurons])

        return self._read(probabilities)

    def predict_log_proba(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, task=task))

    def accuracy_estimate(self, label: Hashable = None, task: Hashable = None, level: float = 0.9) -> Estimate:
        """How often predictions are right, from predictions made while learning, before each sample was learned.

        Nothing is stored but counts (`kenyon.model.calibration`). For the default of tables, and samples like those
        that were learned.

        Args:
            label: accuracy on samples of this class alone; None for all.
            task: the task whose labels are chosen from.
            level: probability with which the interval holds the accuracy.

        Example:
            >>> import numpy as np
            >>> from sklearn.datasets import load_iris
            >>> from kenyon import KenyonClassifier
            >>> X, y = load_iris(return_X_y=True)
            >>> order = np.random.default_rng(0).permutation(len(y))
            >>> estimate = KenyonClassifier(random_state=0).fit(X[order], y[order]).accuracy_estimate()
            >>> estimate.low < estimate.accuracy < estimate.high
            True
        """

        def estimate(core: Core) -> Estimate:
            neurons, calibration = head_of(core.heads, task).neurons, core.engine.calibration
            if calibration is None:
                raise ConfigError(
                    "features and layer are not those of a table, for which samples are predicted before they are "
                    "learned: expected features='ramps' and layer='second-order', the default for floats"
                )
            if label is not None and label not in neurons:
                raise InputError(f"{label!r} is not a class: expected one of {list(neurons)[:10]}")
            chosen = list(neurons.values()) if label is None else [neurons[label]]
            return calibration.estimate(chosen, core.engine.time, level)

        return self._read(estimate)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, task: Hashable = None) -> float:
        """Mean accuracy."""
        hits = self.predict(X, task=task) == np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(hits, weights=weights))

    def _scores(self, X: ArrayLike, task: Hashable) -> tuple[NDArray, NDArray[np.float32]]:
        """The labels of a task in ascending order, and their scores for each sample."""
        return self._read(lambda core: self._scores_of(core, X, task))

    def _scores_of(self, core: Core, X: ArrayLike, task: Hashable) -> tuple[NDArray, NDArray[np.float32]]:
        labels, neurons = head_of(core.heads, task).in_order
        windows, counts = self._windows(core, X)
        samples = self._samples(core, windows)
        scores = check_scores(samples, core.engine.scores(samples)[:, neurons])
        return labels, scores if counts is None else mean_of_each(scores, counts)

    def listen(self, chunks: Iterable[Any], events: Events | None = None) -> Iterator[Event]:
        """Events as they are recognised in the stream of a sensor, for which the model has a front end.

        Args:
            chunks: int16 samples of any number, as arrays or bytes; readings of motion are rows. None where samples
                were lost.
            events: how labels become events.

        Example:
            >>> import numpy as np
            >>> from kenyon.features.front import Spectra
            >>> t, quiet = np.arange(4000) / 8000, np.zeros(4000, np.int16)
            >>> low, high = (np.int16(9000 * np.sin(6.28 * f * t) * np.hanning(4000)) for f in (400, 1500))
            >>> model = KenyonClassifier(front=Spectra(rate=8000), memory_budget="6KB", expected_classes=2)
            >>> model = model.partial_fit([low, high] * 3, ["low", "high"] * 3)
            >>> [event.label for event in model.listen([quiet, high, quiet, low, quiet])]
            ['high', 'low']
        """
        front = self._read(lambda core: core.engine.spec.front)
        return events_in(self, front, chunks, Events() if events is None else events)

    def _windows(self, core: Core | None, X: Any) -> tuple[Any, NDArray[np.int64] | None]:
        """Windows of the front end where recordings are given, and how many each of them has."""
        front = self.front if core is None else core.engine.spec.front
        return (X, None) if front is None else windows_of(front_of(front), X)

    def _samples(self, core: Core, X: ArrayLike) -> NDArray | SparseRows:
        return check_samples(core.inputs, as_rows(X, self.shape), absent=self._absent(core))

    # ---- classes

    def rename(self, old: Hashable, new: Hashable, task: Hashable = None) -> Self:
        """Call a class by another name, of the same kind, from now on.

        Example:
            >>> from kenyon import KenyonClassifier
            >>> clf = KenyonClassifier(random_state=0).partial_fit([[0.0], [1.0], [9.0]], ["a", "b", "c"])
            >>> clf.rename("c", "far").classes_.tolist()
            ['a', 'b', 'far']
        """
        return self._replace(lambda core: renamed(core, old, new, task))

    def join(self, labels: Iterable[Hashable], into: Hashable, task: Hashable = None) -> Self:
        """Make one class of several, as if all their samples had been learned as `into`.

        For layers whose classes are sums: a second-order layer with 32 bits, and a counting one.

        Example:
            >>> from kenyon import KenyonClassifier
            >>> clf = KenyonClassifier(random_state=0).partial_fit([[0.0], [1.0], [9.0]], ["a", "b", "c"])
            >>> clf.join(["a", "b"], "near").classes_.tolist()
            ['c', 'near']
        """
        chosen = list(dict.fromkeys(labels))
        return self._replace(lambda core: joined(core, chosen, into, task))

    def forget(self, label: Hashable, task: Hashable = None) -> Self:
        """Remove a class, its name and what was kept for it alone; the others are separated as before.

        What the class shared with others stays: its part of the common scatter of a second-order layer, and what
        weights of other classes learned from it. `unlearn` takes samples out to the last bit.

        Example:
            >>> from kenyon import KenyonClassifier
            >>> clf = KenyonClassifier(random_state=0).partial_fit([[0.0], [1.0], [9.0]], ["a", "b", "c"])
            >>> clf.forget("b").predict([[1.0]]).tolist()
            ['a']
        """
        return self._replace(lambda core: without(core, label, task))

    def _replace(self, change: Callable[[Core], Core]) -> Self:
        def action() -> None:
            core = self._settled()
            self._change(core, lambda: change(core))

        self._check_fitted()
        self._lock.write(action)
        return self

    def familiarity(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float64]:
        """How typical each sample is of the class that it is predicted as, from 0 to 1.

        It is the share of the class's own samples that are expected to lie farther from its mean (`kenyon.layers`), and
        next to nothing for most samples of no known class. Of second-order layers only.

        Example:
            >>> import numpy as np
            >>> from sklearn.datasets import load_iris
            >>> from kenyon import KenyonClassifier
            >>> X, y = load_iris(return_X_y=True)
            >>> clf = KenyonClassifier(random_state=0).partial_fit(X[50:], y[50:])
            >>> bool(np.median(clf.familiarity(X[:50])) < 0.01 < np.median(clf.familiarity(X[50:])))
            True
        """
        return self._best(X, task)[1]

    def reject_at(self, X: ArrayLike, share: float, task: Hashable = None) -> float:
        """The `reject` at which this share of the samples given is rejected.

        Given samples of known classes that were not learned, `predict(..., reject=...)` will reject about as many of
        those to come, whatever their distribution: a familiarity is only a number to compare.

        Example:
            >>> from sklearn.datasets import load_iris
            >>> from kenyon import KenyonClassifier
            >>> X, y = load_iris(return_X_y=True)
            >>> clf = KenyonClassifier(random_state=0).partial_fit(X[::2], y[::2])
            >>> t = clf.reject_at(X[1::4], share=0.1)
            >>> sum(label is None for label in clf.predict(X[1::4], reject=t))
            4
        """
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
            raise InputError(f"share is {share!r}: expected a number from 0 to below 1")
        return float(np.quantile(self.familiarity(X, task), share, method="higher"))

    def _best(self, X: ArrayLike, task: Hashable) -> tuple[NDArray, NDArray[np.float64]]:
        """The label of each sample, and how familiar it is."""
        labels, scores, typical = self._read(lambda core: self._typical_scores(core, X, task))
        best = scores.argmax(axis=1)
        rows = np.arange(len(best))
        return labels[best], typical[rows, best]

    def _typical_scores(self, core: Core, X: ArrayLike, task: Hashable) -> tuple[NDArray, NDArray, NDArray]:
        labels, neurons = head_of(core.heads, task).in_order
        windows, counts = self._windows(core, X)
        samples = self._samples(core, windows)
        return (
            labels,
            mean_of_each(check_scores(samples, core.engine.scores(samples)[:, neurons]), counts),
            mean_of_each(core.engine.typicality(samples)[:, neurons], counts),
        )

    # ---- merging

    merge = _Merge()

    def unlike_one_pass(self) -> str | None:
        """How a model merged from parts differs from the model of a single pass; None if they are equal to the bit.

        Raises `MergeError` where models like this one cannot be merged.
        """

        def differs(core: Core) -> str | None:
            scaled = None if core.engine.scaler is None else MOVING
            return core.engine.layers[-1].unlike_one_pass() or scaled

        return self._read(differs)

    def unlearn(self, X: ArrayLike, y: ArrayLike, task: Hashable = None, keep_classes: bool = False) -> Self:
        """Take samples out again: the model as if they had never come, to the bit.

        For models whose sums are exact: a second-order layer on activity in bytes with `bits=32`, and
        `layer="counting"`. Samples that cannot have been learned, since a sum would fall below zero, are refused, and
        nothing is changed; whether others have been, sums cannot tell.

        Args:
            X, y: samples with the labels they were learned with, each as often as it was learned; samples
                without a label are skipped.
            task: the task that they were learned in.
            keep_classes: whether classes that no sample is left of stay known, as they do where they were declared by
                `classes=`. Otherwise they are forgotten; a model without any sample left is as before its first.
        """
        self._check_fitted()
        self._lock.write(lambda: self._unlearn(X, y, task, keep_classes))
        return self

    def narrowed(self, bits: Literal[8, 4, 3, 2]) -> Self:
        """A model with synapses of few bits, made of one that counted in sums that never saturate.

        Args:
            bits: of a synapse: 8, 4, 3 or 2. The new model is as if `bits` had been given from the start, but for
                rounding: it saves, learns, merges and predicts like any other with these bits.
        """
        self._check_fitted()
        core = self._read(lambda core: narrowed_core(core, bits))
        new = type(self)(**self.get_params(deep=False) | {"layer": core.engine.spec.layer})
        new._core = core
        return new

    def _unlearn(self, X: ArrayLike, y: ArrayLike, task: Hashable, keep_classes: bool) -> None:
        core = self._settled()
        check_exact(core)
        X, counts = self._windows(core, X)
        samples, head = self._samples(core, X), head_of(core.heads, task)
        y = y if counts is None else of_each_window(y, counts, "y")
        numbers, new = head.encode(check_labels(y, len(samples)), self.unlabelled)
        if new:
            raise MergeError(f"label {new[0][1]!r} was never learned: expected one of {list(head.neurons)[:10]}")
        twin = learned_alone(core, samples, head, numbers)
        self._change(core, lambda: take_out(core, twin, keep_classes))

    def _add(self, other: Core) -> None:
        """Add what another model has learned; the caller holds the lock, or is the only one who knows this model."""
        core, budget = self._settled(), self.memory_budget
        what = addition(core, other, budget)
        self._change(core, lambda: add(core, other, what, budget))

    def _change(self, core: Core, change: Callable[[], Core | None]) -> None:
        """Change the engine and put a new core in the old one's place, or undo all of it."""
        self._core = core._replace(journal=Journal(core.engine))  # from here on an interruption is undone
        try:
            changed = change()
            if changed is None:
                del self._core
            else:
                self._core = changed
        except BaseException:
            self._settled()
            raise

    # ---- what may be looked at

    @property
    def spec_(self) -> Spec:
        """What the model is composed of, with nothing left open; it prints as the code that makes the same model."""
        return self._read(lambda core: core.engine.spec)

    @property
    def classes_(self) -> NDArray:
        """Labels met so far, ascending (of every task)."""
        everything = {label: 0 for labels in self._read(lambda core: core.heads).values() for label in labels.neurons}
        return Labels(everything.items()).sorted()[0]

    @property
    def tasks_(self) -> list[Hashable]:
        """Tasks met so far, in order; `[None]` where no task was ever named."""
        return self._read(lambda core: list(core.heads))

    @property
    def n_samples_learned_(self) -> int:
        """Labelled samples learned so far: the time of the schedules."""
        return self._read(lambda core: core.engine.time)

    @property
    def synaptic_updates_(self) -> int:
        """Synapses visited by the rule so far."""
        return self._read(lambda core: core.engine.updates)

    @property
    def weights_(self) -> NDArray[np.float32]:
        """(units, neurons) of the output layer, read-only; neurons in order of arrival."""
        weights = self._read(lambda core: core.engine.layers[-1].weights.view())
        weights.flags.writeable = False
        return weights

    @property
    def weight_means_(self) -> NDArray[np.float64]:
        """The mean incoming weight of each output neuron, in order of arrival."""
        return self._read(lambda core: core.engine.layers[-1].weight_means())

    def neurons(self, task: Hashable = None) -> dict[Hashable, int]:
        """The output neuron (column of `weights_`) of each label of a task."""
        return self._read(lambda core: dict(head_of(core.heads, task).neurons))

    def parts(self) -> tuple[Features, list[Layer]]:
        """The feature layer and the learning layers, for inspection; do not change them."""
        return self._read(lambda core: (core.engine.features, core.engine.layers))

    def scaler(self) -> Scaler | Units | None:
        """What scales the inputs, for inspection; None where they are not scaled. Do not change it."""
        return self._read(lambda core: core.engine.scaler)

    @property
    def state_bytes(self) -> int:
        """Bytes that must be kept to keep learning: what `save` writes, less the container's framing.

        The projection is drawn again from its seed, and counts as the seed.
        """
        return self._read(model_file.state_bytes)

    @property
    def working_bytes(self) -> int:
        """Bytes held in memory: state, padding, the projection and scratch."""
        return self._read(lambda core: core.engine.nbytes)

    # ---- files, and what may be asked before learning

    def check_params(self, n_features: int) -> None:
        """Refuse parameters that could not learn samples of this width; changes nothing."""
        settle(self.get_params(deep=False), n_features, 0, floats=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one safetensors file, atomically; `load` goes on as if nothing had happened."""
        self._read(lambda core: model_file.save(core, path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], **overrides: Any) -> Self:
        """Read a file of `save`. `overrides` replace parameters that a file does not hold: functions, `n_jobs`.

        Options of parts have nested names: `layer__learning_rate`.
        """
        params, core = model_file.load(path, overrides)
        return cls._with(params, core)

    def to_arrays(self, working: bool = False) -> dict[str, NDArray]:
        """The whole state as named arrays; `from_arrays` of a classifier continues from them.

        Args:
            working: also what is no part of the state, but lets `test_then_learn` go on with the same predictions.
        """
        model, tensors = self._read(lambda core: model_file.to_arrays(core, working))
        return {"model": np.frombuffer(model.encode(), np.uint8), **tensors}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], **overrides: Any) -> Self:
        """A classifier that continues from `to_arrays`; `overrides` as in `load`."""
        tensors = {name: array for name, array in arrays.items() if name != "model"}
        params, core = model_file.from_arrays(arrays["model"].tobytes().decode(), tensors, overrides)
        return cls._with(params, core)

    @classmethod
    def _with(cls, params: Mapping[str, Any], core: Core) -> Self:
        classifier = cls(**params)
        classifier._core = core
        return classifier

    @classmethod
    def from_preset(cls, name: str, **overrides: Any) -> Self:
        """A classifier, not fitted, with a configuration that a search found (`kenyon.model.presets`).

        Args:
            name: such as `"split-mnist"`.
            overrides: parameters to set differently, `random_state` for one.
        """
        return cls(**(load_preset(name).classifier_params() | overrides))

    def _learned_as(self) -> str | None:
        return repr(self._core.engine.spec) if self.__sklearn_is_fitted__() else None

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        # a sparse projection spreads many inputs over its units; scikit-learn's check has two inputs in all
        changed = any(not is_default(OPTIONS[name], getattr(self, name)) for name in KIND)
        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=changed),
            input_tags=InputTags(sparse=True),
            transformer_tags=None,
            regressor_tags=None,
        )

    # ---- building and memory

    def _make_engine(self, inputs: Inputs, n_declared: int, n_classes: int) -> Engine:
        """An engine for the classes that are declared; for all of the first call, where its units stay."""
        n_inputs, seed = inputs.n_features_in_, seed_of(self.random_state)
        params = self.get_params(deep=False)
        params = for_sparse(params) if inputs.sparse else params
        described = 0 if params["memory_budget"] is None else model_file.empty_bytes(params, seed, inputs)
        spec = settle(params, n_inputs, n_declared, inputs.floats, described)
        if spec.memory_budget is not None and not bending.bends(spec, params):
            spec = settle(params, n_inputs, n_classes, inputs.floats, described)
        inputs.floats = inputs.floats and spec.scale != "range"  # images are bytes to the model, whatever they were
        return spec.build(seed, params)

    def _absent(self, core: Core | None) -> bool:
        """Whether NaN in a sample is an absent value."""
        params = self.get_params(deep=False) if core is None else core.engine.params
        return bool(params["missing"] == "absent")


# ---- merge


def _merged(kind: type[C], models: Iterable[C]) -> C:
    """A new model of what several have learned, one after the other; none of them is changed.

    Args:
        models: at least one, all with the same parameters and seed. In the order of their parts of the stream, the
            result is the model of the whole stream, its neurons in the same order.

    Example:
        >>> from kenyon import KenyonClassifier
        >>> X = np.eye(9, dtype=np.uint8) * 200
        >>> parts = [
        ...     KenyonClassifier(layer="second-order", shape=(3, 3), n_hidden=20, random_state=0)
        ...     .partial_fit(X[start::2], ["a", "b", "c", "d", "e", "f", "g", "h", "i"][start::2])
        ...     for start in (0, 1)
        ... ]
        >>> KenyonClassifier.merge(parts).n_samples_learned_
        9
    """
    models = list(models)
    _check_models(kind, models)
    new, moved = _total(models), _moments_differ(models)
    warn_inexact(new._core.engine, moved)
    return new


def _total(models: list[C]) -> C:
    """Merge two halves: in few bits every merge rounds, and a tree rounds what a sample left less often than a row."""
    first, half = models[0], (len(models) + 1) // 2
    if len(models) == 1:
        new = type(first)(**first.get_params(deep=False))
        new._core = first._read(copied)
        return new
    new, rest = _total(models[:half]), models[half:]
    (rest[0] if len(rest) == 1 else _total(rest))._read(new._add)
    return new


def _merge_into(model: C, *others: C) -> C:
    """Add what other models have learned to this one, and return it; the others stay as they are.

    Args:
        others: at least one, all with the parameters and the seed of this model.

    Example:
        >>> from kenyon import KenyonClassifier
        >>> X = np.eye(9, dtype=np.uint8) * 200
        >>> a, b = (KenyonClassifier(layer="second-order", shape=(3, 3), n_hidden=20, random_state=0) for _ in "ab")
        >>> a.partial_fit(X[:4], [0, 1, 2, 3]).merge(b.partial_fit(X[4:], [4, 5, 6, 7, 8])).classes_.tolist()
        [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    _check_models(type(model), [model, *others])
    if not others:
        raise InputError("merge was given no model: expected at least one")
    # copied first: a model that waited for another's lock while it holds its own could wait for ever
    other, moved = _total(list(others))._core, _moments_differ([model, *others])
    model._lock.write(lambda: model._add(other))
    warn_inexact(model._core.engine, moved)
    return model


def _check_models(kind: type[C], models: list[C]) -> None:
    if not models:
        raise InputError("merge was given no model: expected at least one")
    for number, model in enumerate(models):
        if not isinstance(model, KenyonClassifier):
            raise InputError(f"model {number} is a {type(model).__name__}: expected a {kind.__name__}")
        model._check_fitted()
        if any(model is other for other in models[:number]):
            raise MergeError(f"model {number} is among the models twice: expected each once, or it would count twice")
    models[0]._read(lambda core: core.engine.layers[-1].unlike_one_pass())


def _moments_differ(models: list[C]) -> bool:
    return moments_differ([model._read(lambda core: core) for model in models])
