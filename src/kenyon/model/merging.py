"""One model from several, and samples taken out of a model again.

Counts and sums add up. So two models with the same parameters and seed, each of which learned a part of a stream, merge
into the model that would have learned the first part and then the second: classes are united in that order, and what
each unit and each pair of units has seen is added. Where the sums are exact, that is true to the bit, whatever the
parts, their order and the tree of merges; and what was added can be taken away again.
"""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MethodType
from typing import NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.errors import InputError, MergeError, MergeWarning
from kenyon.model import model_file
from kenyon.model.batch import Lesson
from kenyon.model.build import check_budget
from kenyon.model.compatible import check_alike
from kenyon.model.engine import Engine, Journal
from kenyon.model.estimator import Estimator
from kenyon.model.fitted import Core
from kenyon.model.flat import as_rows
from kenyon.model.inputs import check_labels, check_samples
from kenyon.model.inspection import Inspection, head_of
from kenyon.model.labels import NO_LABEL, Labels
from kenyon.model.lock import ModelLock
from kenyon.model.model_check import MOST_COUNTED
from kenyon.model.narrowing import narrowed_core
from kenyon.model.recordings import of_each_window, windows_of

MOVING = "each model scaled its inputs by moments that it learned itself"

M = TypeVar("M", bound="Merging")


class MergeMethod:
    """`model.merge(other, ...)` adds others to a model; `KenyonClassifier.merge(models)` makes a new one of them."""

    @overload
    def __get__(self, model: None, kind: type[M]) -> Callable[[Iterable[M]], M]: ...

    @overload
    def __get__(self, model: M, kind: type[M]) -> Callable[..., M]: ...

    def __get__(self, model: M | None, kind: type[M]) -> Callable[..., M]:
        return MethodType(_merged, kind) if model is None else MethodType(_merge_into, model)


class Merging(Inspection, Estimator):
    """What a classifier can do with what others have learned."""

    _core: Core
    """What was learned so far; there from the first call on."""

    merge = MergeMethod()

    @property
    @abstractmethod
    def _lock(self) -> ModelLock: ...

    @abstractmethod
    def _settled(self) -> Core: ...

    @abstractmethod
    def _check_fitted(self) -> None: ...

    @abstractmethod
    def _check_wider(self, core: Core) -> None: ...

    def unlike_one_pass(self) -> str | None:
        """In what a model merged from parts differs from that of a single pass, in words; None: in nothing, to the bit.

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
            X, y: samples with the labels they were learned with, each as often as it was learned; what has no label
                taught nothing, and is passed over.
            task: the task that they were learned in.
            keep_classes: whether classes that no sample is left of stay known, as they do where they were declared by
                `classes=`. Otherwise they are forgotten; a model without any sample left is as before its first.
        """
        self._check_fitted()
        self._lock.write(lambda: self._unlearn(X, y, task, keep_classes))
        return self

    def narrowed(self, bits: int) -> Self:
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
        engine, layer = core.engine, core.engine.layers[-1]
        if (inexact := layer.unlike_one_pass()) is not None:
            raise MergeError(f"{inexact}, so that nothing can be taken out again: expected exact sums")
        if getattr(engine.spec.layer, "half_life", None) is not None:
            raise MergeError("half_life has halved what samples left: expected None, so that they are still whole")
        if engine.scaler is not None:
            raise MergeError("inputs are scaled by moments that a sample cannot be taken out of: expected scale=False")
        X, counts = windows_of(engine.spec.front, X)
        y = of_each_window(y, counts, "y")
        samples, head = check_samples(core.inputs, as_rows(X, self.shape)), head_of(core, task)
        numbers, new = head.encode(check_labels(y, len(samples)), self.unlabelled)
        if new:
            raise MergeError(f"label {new[0][1]!r} was never learned: expected one of {list(head.neurons)[:10]}")
        twin = copy.copy(engine)
        twin.layers, twin.clock = [layer.emptied()], np.zeros_like(engine.clock)
        neurons = np.array([*head.neurons.values(), NO_LABEL])[numbers]
        twin.learn(samples, Lesson(neurons, head, head, [], False), None)

        def take_out() -> Core | None:
            before = layer.taught()
            layer.subtract(twin.layers[-1].state, np.arange(engine.n_classes))
            if engine.time < twin.time:
                raise MergeError(f"{twin.time} samples of {engine.time} would be taken out: expected learned ones")
            engine.clock[:] = np.maximum(engine.clock - twin.clock, 0)
            left = np.flatnonzero((before == 0) | (layer.taught() > 0))
            if keep_classes or len(left) == engine.n_classes:
                return core
            layer.keep(left)
            return core._replace(heads=renumbered(core.heads, left)) if len(left) else None

        self._change(core, take_out)

    def _add(self, other: Core) -> None:
        """Add what another model has learned; the caller holds the lock, or is the only one who knows this model."""
        core = self._settled()
        check_alike(core, other)
        union, engine = unite(core.heads, other.heads, core.engine.n_classes), core.engine
        merged = Core(engine, union.heads, core.inputs)
        needed = engine.state_bytes_with(len(union.new))
        if union.new:
            metadata = model_file.metadata_bytes(engine, core.inputs, union.heads)
            check_budget(self.memory_budget, needed + metadata, union.new)

        def add() -> Core:
            for _ in union.new:
                engine.layers[-1].add_class()
            if engine.calibration is not None and other.engine.calibration is not None:
                engine.calibration.grown(engine.n_classes)
                engine.calibration.merge(other.engine.calibration, union.neurons)
            engine.layers[-1].merge(engine.merge_units(other.engine), union.neurons)
            if (over := int((engine.clock.astype(object) + other.engine.clock.astype(object)).max())) > MOST_COUNTED:
                raise MergeError(f"the counters of the two models add up to {over}: expected at most {MOST_COUNTED}")
            engine.clock[:] = engine.clock + other.engine.clock
            if engine.state_bytes > needed:
                self._check_wider(merged)
            return merged

        self._change(core, add)

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


def _merged(kind: type[M], models: Iterable[M]) -> M:
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
    _warn(new._core.engine, moved)
    return new


def _total(models: list[M]) -> M:
    """Merge two halves: in few bits every merge rounds, and a tree rounds what a sample left less often than a row."""
    first, half = models[0], (len(models) + 1) // 2
    if len(models) == 1:
        new = type(first)(**first.get_params(deep=False))
        new._core = first._read(_copied)
        return new
    new, rest = _total(models[:half]), models[half:]
    (rest[0] if len(rest) == 1 else _total(rest))._read(new._add)
    return new


def _merge_into(model: M, *others: M) -> M:
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
    _warn(model._core.engine, moved)
    return model


def _check_models(kind: type[Merging], models: list[M]) -> None:
    if not models:
        raise InputError("merge was given no model: expected at least one")
    for number, model in enumerate(models):
        if not isinstance(model, Merging):
            raise InputError(f"model {number} is a {type(model).__name__}: expected a {kind.__name__}")
        model._check_fitted()
        if any(model is other for other in models[:number]):
            raise MergeError(f"model {number} is among the models twice: expected each once, or it would count twice")
    models[0]._read(lambda core: core.engine.layers[-1].unlike_one_pass())


def _copied(core: Core) -> Core:
    """A core that shares nothing that learning changes."""
    engine = copy.copy(core.engine)
    engine.layers, engine.clock = [copy.deepcopy(layer) for layer in engine.layers], engine.clock.copy()
    engine.scaler, engine.calibration = copy.deepcopy(engine.scaler), copy.deepcopy(engine.calibration)
    return Core(engine, core.heads, core.inputs)


def _moments_differ(models: list[M]) -> bool:
    """Whether the inputs of some models were scaled by other moments than those of the first."""
    scalers = [model._read(lambda core: core.engine.scaler) for model in models]
    first = scalers[0]
    return first is not None and any(other is not None and not first.is_like(other) for other in scalers[1:])


def _warn(engine: Engine, moved: bool) -> None:
    """Say so where the merged model is not the one of a single pass to the bit."""
    why = [engine.layers[-1].unlike_one_pass()]
    why += [MOVING] if moved else []
    if reasons := "; ".join(reason for reason in why if reason is not None):
        warnings.warn(
            f"the merged model is close to the one of a single pass, not equal to the bit: {reasons}",
            MergeWarning,
            stacklevel=4,
        )


class Union(NamedTuple):
    """The labels of two models.

    Attributes:
        heads: of every task, the labels of the second behind those of the first.
        neurons: of the first, one for each neuron of the second.
        new: the labels that the first did not know.
    """

    heads: dict[Hashable, Labels]
    neurons: NDArray[np.int64]
    new: list[Hashable]


def unite(first: Mapping[Hashable, Labels], second: Mapping[Hashable, Labels], n_classes: int) -> Union:
    """Both models' labels, those that are new numbered on from `n_classes` in the order in which they came."""
    heads = {task: labels.copy() for task, labels in first.items()}
    theirs = [(neuron, task, label) for task, head in second.items() for label, neuron in head.neurons.items()]
    places = np.zeros(len(theirs), np.int64)
    new: list[Hashable] = []
    for neuron, task, label in sorted(theirs, key=lambda entry: entry[0]):
        own = heads.setdefault(task, Labels(kind=second[task].kind)).neurons
        if label not in own:
            own[label] = n_classes + len(new)
            new.append(label)
        places[neuron] = own[label]
    return Union(heads, places, new)


def renumbered(heads: Mapping[Hashable, Labels], left: NDArray[np.int64]) -> dict[Hashable, Labels]:
    """The labels whose neurons are left, numbered anew; a task without any is no task."""
    place = {neuron: number for number, neuron in enumerate(left.tolist())}
    kept = {
        task: Labels((label, place[neuron]) for label, neuron in labels.neurons.items() if neuron in place)
        for task, labels in heads.items()
    }
    return {task: labels for task, labels in kept.items() if labels.neurons}
