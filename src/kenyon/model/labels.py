"""Labels of any kind to output neurons and back; samples without a label.

A sample has no label where `y` is None, NaN, or the number given as `unlabelled`, if one is given.
Labels may be integers, strings, booleans, or any other hashable type, but one kind only:
mixing kinds is refused. A label gets the next free neuron when it is first met, in stream order.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import InputError, LabelWarning

NO_LABEL = -1
"""What an absent label is encoded as."""

PLAIN = ("number", "string", "boolean")
"""Kinds of labels and tasks that a file holds."""
MANY_VALUES, FEW_SAMPLES = 20, 4
"""Labels in floats look continuous once they have this many values, with fewer than this many samples for each."""


def label_kind(label: Hashable) -> str:
    """`number`, `string`, `boolean`, or the name of another type."""
    if isinstance(label, bool):
        return "boolean"
    if isinstance(label, (int, float)):
        return "number"
    return "string" if isinstance(label, str) else type(label).__name__


class Head:
    """The output neurons of one task, in order of arrival; they do not change."""

    def __init__(self, neurons: NDArray[np.int64]) -> None:
        self.neurons = neurons
        self._mask = np.zeros(0, bool)

    def mask(self, width: int) -> NDArray[np.bool_]:
        """Which neurons of the output layer are in the head."""
        if self._mask.size != width:
            mask = np.zeros(width, bool)
            mask[self.neurons] = True
            self._mask = mask
        return self._mask


class Labels:
    """The labels of one head, each with its output neuron; `kind` is what other heads have settled."""

    def __init__(self, pairs: Iterable[tuple[Hashable, int]] = (), kind: str | None = None) -> None:
        self.neurons: dict[Hashable, int] = dict(pairs)
        self._kind = kind

    @property
    def kind(self) -> str | None:
        """Kind of the labels met so far."""
        return next((label_kind(label) for label in self.neurons), self._kind)

    @cached_property
    def boolean(self) -> bool:
        """Whether the labels are booleans; only for labels that will not change any more."""
        return self.kind == "boolean"

    @cached_property
    def head(self) -> Head:
        """The neurons as a head; only for labels that will not change any more."""
        return Head(np.array(list(self.neurons.values()), np.int64))

    @cached_property
    def in_order(self) -> tuple[NDArray, NDArray[np.int64]]:
        """`sorted`; only for labels that will not change any more."""
        return self.sorted()

    @cached_property
    def listed(self) -> tuple[list[Hashable], NDArray[np.int64]]:
        """The same, labels as Python has them."""
        labels, neurons = self.in_order
        return labels.tolist(), neurons

    def copy(self) -> Labels:
        return Labels(self.neurons.items(), self._kind)

    def sorted(self) -> tuple[NDArray, NDArray[np.int64]]:
        """The labels in ascending order, and the neuron of each."""
        try:
            ordered = sorted(self.neurons)  # type: ignore[type-var]
        except TypeError:  # labels without an order keep the order of arrival
            ordered = list(self.neurons)
        if self.kind == "number":
            labels: NDArray = np.array(ordered, _narrowest(ordered))
        elif self.kind in ("string", "boolean"):
            labels = np.array(ordered)
        else:
            labels = np.empty(len(ordered), object)
            labels[:] = ordered
        return labels, np.array([self.neurons[label] for label in ordered], np.int64)

    def decode(self, neurons: NDArray[np.int64]) -> NDArray:
        """Labels of neurons; for NO_LABEL -1, or None where labels are not numbers or -1 is one of them."""
        labels, order = self.sorted()
        missing = neurons == NO_LABEL
        numbered = self.kind in ("number", None) and NO_LABEL not in self.neurons
        if missing.all():
            return np.full(neurons.size, NO_LABEL) if numbered else np.full(neurons.size, None)
        if missing.any() and (not numbered or labels.dtype == np.uint64):
            labels = labels.astype(object)
        position = np.zeros(max(order, default=0) + 1, np.int64)
        position[order] = np.arange(order.size)
        decoded = labels[position[np.where(missing, order[0], neurons)]]
        if missing.any():
            decoded[missing] = NO_LABEL if numbered else None
        return decoded

    def encode(self, y: Any, unlabelled: float | None) -> tuple[NDArray[np.int64], list[tuple[int, Hashable]]]:
        """Number the labels without entering new ones.

        Returns:
            (numbers, new): `numbers` holds the position of each sample's label in the order of
            arrival, new labels after the known ones, NO_LABEL where there is none; `new` lists
            (first sample, label) of the labels not met before, in stream order.
        """
        plain, where = _distinct(y, unlabelled)
        order = {label: number for number, label in enumerate(self.neurons)}
        new: list[tuple[int, Hashable]] = []
        numbers = np.full(len(where), NO_LABEL, np.int64)
        kind = self.kind
        lookup = np.empty(len(plain), np.int64)
        for index, (label, first) in enumerate(plain):
            if kind is None:
                kind = label_kind(label)
            elif label_kind(label) != kind:
                raise InputError(
                    f"label {label!r} is a {label_kind(label)}: expected a {kind}, as the labels before it"
                )
            if label not in order:
                order[label] = len(order)
                new.append((first, label))
            lookup[index] = order[label]
        if len(plain):
            labelled = where != NO_LABEL
            numbers[labelled] = lookup[where[labelled]]
        return numbers, new


def warn_continuous(y: NDArray, before: int, after: int, n_samples: int) -> None:
    """Warn once, where labels in floats have so many different values that they look like a regression target.

    Integers, strings and floats with NaN among them (which integers with gaps become) are taken to be classes.

    Args:
        y: labels of a call.
        before, after: how many different labels were known before it, and after.
        n_samples: samples learned, those of the call included.
    """
    if not before < MANY_VALUES <= after or n_samples >= FEW_SAMPLES * after:
        return
    floats = y.dtype.kind == "f" or (y.dtype == object and all(isinstance(label, float) for label in y.tolist()))
    if floats and not any(is_missing(label) for label in y.tolist()):
        warnings.warn(
            f"y has {after} different values in floats among {n_samples} samples, as a regression target has, and each "
            "becomes a class: expected class labels; pass integers or strings if that is what they are",
            LabelWarning,
            stacklevel=6,
        )


def plain_task(task: Hashable) -> Hashable:
    """A task as Python has it, NumPy's numbers and texts included; refuses what is not hashable.

    Example:
        >>> plain_task(np.int64(3)), plain_task("a")
        (3, 'a')
    """
    if isinstance(task, np.generic):
        return task.item()
    try:
        hash(task)
    except TypeError:
        raise InputError(f"task {task!r} is a {type(task).__name__}: expected a hashable task") from None
    return task


def head_of(heads: Mapping[Hashable, Labels], task: Hashable) -> Labels:
    """The labels of a task."""
    if (found := heads.get(plain_task(task))) is not None:
        return found
    tasks = ", ".join(map(repr, heads))
    raise InputError(f"task {task!r} was never learned: expected one of {tasks}")


def is_plain(task: Hashable) -> bool:
    """Whether a file can hold a task: None, a finite number, a string or a boolean."""
    return task is None or (label_kind(task) in PLAIN and not (isinstance(task, float) and not isfinite(task)))


def _narrowest(labels: list) -> type:
    """The type that holds all of these integers exactly; Python's own where no other does."""
    low, high = min(labels, default=0), max(labels, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.int64
    return np.uint64 if low >= 0 and high < 2**64 else object


def _distinct(y: Any, unlabelled: float | None) -> tuple[list[tuple[Hashable, int]], NDArray[np.int64]]:
    """Distinct labels with the first sample of each, in stream order; and each sample's index."""
    array = label_array(y)
    if array.dtype.kind in "biuf" and array.size:
        values, first, inverse = np.unique(array, return_index=True, return_inverse=True, equal_nan=True)
        by_arrival = np.argsort(first, kind="stable")
        rank = np.empty(values.size, np.int64)
        plain: list[tuple[Hashable, int]] = []
        for i in by_arrival:
            label = values[i].item()
            if array.dtype.kind != "b" and (label != label or label == unlabelled):
                rank[i] = NO_LABEL
                continue
            if isinstance(label, float):
                label = _integer(label)
            rank[i] = len(plain)
            plain.append((label, int(first[i])))
        return plain, rank[inverse.reshape(-1)]
    seen: dict[tuple[str, Hashable], int] = {}
    plain = []
    where = np.full(len(array), NO_LABEL, np.int64)
    for s, item in enumerate(array.tolist()):
        if isinstance(item, np.generic):
            item = item.item()
        if is_missing(item) or (label_kind(item) == "number" and item == unlabelled):
            continue
        if isinstance(item, float):
            item = _integer(item)
        try:
            hash(item)
        except TypeError:
            raise InputError(
                f"label {item!r} of sample {s} is a {type(item).__name__}: expected a hashable label"
            ) from None
        key = (label_kind(item), item)  # True == 1, but they are labels of two kinds
        if key not in seen:
            seen[key] = len(plain)
            plain.append((item, s))
        where[s] = seen[key]
    return plain, where


def _integer(label: float) -> int:
    if not label.is_integer():
        raise InputError(f"Unknown label type: continuous. Label {label!r} is not an integer: expected class labels")
    return int(label)


def is_missing(label: Any) -> bool:
    """None, NaN, or a data frame's NA, which will not say whether it equals itself."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True


def label_array(y: Any) -> NDArray:
    """Labels as an array that keeps None and mixed types apart instead of making them strings."""
    if isinstance(y, np.ndarray):
        return y
    if hasattr(y, "to_numpy"):  # data frames
        return y.to_numpy()
    if hasattr(y, "__array__"):
        return np.asarray(y)
    items = list(y)
    if all(isinstance(item, (int, float, np.number, list)) and not isinstance(item, bool) for item in items):
        return np.asarray(items)
    array = np.empty(len(items), object)
    for number, item in enumerate(items):  # one by one: a tuple is one label, not a row
        array[number] = item
    return array


class Batch:
    """The samples of one call as the engine sees them.

    Args:
        neurons: output neuron of each sample, or NO_LABEL; those of new classes are numbered on from the old.
        before, after: the task's labels when the call begins, and with those that it brings.
        arrivals: first sample of each new class, ascending.
        wanted: whether to note what is predicted for each sample before it is learned.
        bends: units that are left from a sample on, since the class that it brings would not fit otherwise.
        grows: units that there are from a sample on, more than before.
        modulation: x_m of each sample's neuron; None for 1.
    """

    def __init__(
        self,
        neurons: NDArray[np.int64],
        before: Labels,
        after: Labels,
        arrivals: Sequence[int],
        wanted: bool,
        bends: Mapping[int, int] | None = None,
        grows: Mapping[int, int] | None = None,
        modulation: NDArray[np.float32] | None = None,
    ) -> None:
        self.neurons, self.wanted, self.bends, self.grows = neurons, wanted, bends or {}, grows or {}
        self.modulation = modulation
        self.labelled = neurons != NO_LABEL
        self.predictions = np.full(len(neurons) if wanted else 0, NO_LABEL, np.int64)
        self._arrivals = list(arrivals)
        self._n_old, self._all = len(before.neurons), np.array(list(after.neurons.values()), np.int64)
        self._in_label_order, self._arrived = np.empty(0, np.int64), np.empty(0, np.int64)
        if wanted:
            self._in_label_order = after.sorted()[1]
            place = np.empty(self._all.max(initial=-1) + 1, np.int64)
            place[self._all] = np.arange(len(self._all))
            self._arrived = place[self._in_label_order]
        self._head = Head(self._neurons(0))

    def segments(self, start: int, stop: int, cuts: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
        """Samples start .. stop - 1, cut where a new class arrives and before these samples."""
        return pairwise(sorted({start, stop, *self._between(start, stop), *(a for a in cuts if start < a < stop)}))

    def n_arriving(self, sample: int) -> int:
        """Classes whose first sample this is."""
        return bisect_right(self._arrivals, sample) - bisect_left(self._arrivals, sample)

    def _between(self, start: int, stop: int) -> list[int]:
        return self._arrivals[bisect_right(self._arrivals, start) : bisect_left(self._arrivals, stop)]

    def head(self, sample: int) -> Head:
        """The task's neurons, those of the class that this sample brings included."""
        neurons = self._neurons(bisect_right(self._arrivals, sample))
        if len(neurons) != len(self._head.neurons):
            self._head = Head(neurons)
        return self._head

    def predicted(self, first: int, last: int, x_o: NDArray[np.float32]) -> None:
        """Note the best neuron of samples first .. last - 1; a sample that brings a class is predicted without it."""
        if not self.wanted:
            return
        before, known = bisect_left(self._arrivals, first), bisect_right(self._arrivals, first)
        skip = int(known > before)
        if skip:
            self.predictions[first] = self._best(x_o[:1], before)[0]
        self.predictions[first + skip : last] = self._best(x_o[skip:], known)

    def _neurons(self, known: int) -> NDArray[np.int64]:
        """The task's neurons once this many new classes have come."""
        return self._all[: self._n_old + known]

    def _best(self, scores: NDArray[np.float32], known: int) -> NDArray[np.int64]:
        """The neuron with the highest score for each sample; NO_LABEL where there is none to choose from."""
        choice = self._in_label_order[self._arrived < self._n_old + known]
        if not choice.size:
            return np.full(len(scores), NO_LABEL, np.int64)
        return choice[scores[:, choice].argmax(axis=1)]
