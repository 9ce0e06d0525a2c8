"""`RiverClassifier`: the classifier under River's interface, for its pipelines and its evaluation.

    from river import evaluate, metrics
    from kenyon.apps.river import RiverClassifier

    evaluate.progressive_val_score(dataset, RiverClassifier(seed=0), metrics.Accuracy())

The defaults are those of `KenyonClassifier`: inputs are scaled on the fly, so that no scaler is needed.

A River sample is a dictionary, and any name may come or go at any time. The model reads it in two parts.

The *table* holds the names of the first sample, or the first `n_features` names, an input each:

- names that come together get their inputs in sorted order, so the order within a dictionary does not matter;
- a name that is missing from a sample (or is None) is imputed by the running mean; with a classifier of your own that
  does not say `missing="absent"`, it counts as 0;
- a name that was never learned is ignored by predictions, which change nothing.

The *bag* holds every name that comes later, and from then on the names of the table that behave like words: absent from
more than half of the samples, or absent from one and without a second value so far. A hash of the name is its input,
one of 8,192 or what a quarter of the memory budget holds (`_bag.py`); an absent name costs nothing. Nothing is refused
and memory stays bounded. Both parts give log-odds, which are added:

    log p(class | x)  =  log p(class | table)  +  log p(bag | class)  +  constant

Where no name is left in the table, the log of the classes' counts takes the place of its term.

>>> DEFAULT
KenyonClassifier(missing='absent')
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator, Mapping, Set
from math import isfinite, isnan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.apps._anomaly import RiverAnomalyDetector
from kenyon.apps._bag import Bag
from kenyon.apps._regressor import RiverRegressor
from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, InputError, require
from kenyon.model.options import OPTIONS

__all__ = ["DEFAULT", "RiverAnomalyDetector", "RiverClassifier", "RiverRegressor"]

base = require("river.base", "river", "RiverClassifier")
dataframe = require("river.utils.dataframe", "river", "RiverClassifier")

DEFAULT = KenyonClassifier(missing="absent")
"""The classifier's own defaults; names may come and go."""

PLAIN = {float, int, bool}
"""Types of values that need no further look."""

BAG_SHARE = 4
"""The bag has one part in this many of a memory budget."""


class RiverClassifier(base.MiniBatchClassifier):  # type: ignore[name-defined]
    """Sparse random features and a layer of local plasticity, one sample at a time.

    Args:
        classifier: a `KenyonClassifier` with the parameters to use; it is copied, never trained.
            None: `DEFAULT`.
        n_features: inputs of the table; names beyond it go to the bag. None: as many as the first sample has.
        seed: seed of the features, in place of the classifier's `random_state`.

    Example:
        >>> model = RiverClassifier(seed=0)
        >>> for x, y in [({"a": 1.0, "b": 0.0}, "left"), ({"a": 0.0, "b": 1.0}, "right")] * 10:
        ...     model.learn_one(x, y)
        >>> model.predict_one({"a": 0.9, "b": 0.1, "new": 5.0})
        'left'
    """

    def __init__(
        self, classifier: KenyonClassifier | None = None, n_features: int | None = None, seed: int | None = None
    ) -> None:
        if classifier is not None and not isinstance(classifier, KenyonClassifier):
            raise ConfigError(f"classifier is {classifier!r}: expected a KenyonClassifier, or None for the default")
        whole = isinstance(n_features, (int, np.integer)) and not isinstance(n_features, bool)
        if n_features is not None and not (whole and n_features >= 1):
            raise ConfigError(f"n_features is {n_features!r}: expected an integer of at least 1, or None")
        self.classifier = classifier
        self.n_features = n_features
        self.seed = seed
        self._model = _unfitted(DEFAULT if classifier is None else classifier)
        if seed is not None:
            self._model.set_params(random_state=seed)
        budget = OPTIONS["memory_budget"].check(self._model.memory_budget)
        if budget is not None:
            self._model.set_params(memory_budget=budget - budget // BAG_SHARE)
        self._bag_budget = None if budget is None else budget // BAG_SHARE
        self._slots: dict[Hashable, int] = {}
        self._width = n_features
        self._bag: Bag | None = None
        self._present: dict[Hashable, int] = {}
        self._constant: dict[Hashable, float] = {}
        self._moved: frozenset[Hashable] = frozenset()
        self._counts: dict[Hashable, int] = {}
        self._names: tuple[Hashable, ...] = ()  # of the table, in order, where it is full and there is no bag
        self._steady: list[Hashable] = []  # those that had one value so far
        self._complete = 0  # samples with a label that had all of them, not yet in `_present`

    # ---- one sample

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable) -> None:
        """Learn one sample. A `y` of None teaches nothing."""
        label = y.item() if isinstance(y, np.generic) else y
        row = self._row(x) if _is_label(label, self._model.unlabelled) else None
        if row is None:
            self._learn([x], [label])
            return
        self._model.learn_one(row, label)
        self._counts[label] = self._counts.get(label, 0) + 1
        self._complete += 1
        for name in [name for name in self._steady if x[name] != self._constant[name]]:
            self._constant[name] = np.nan  # more than one value
            self._steady.remove(name)

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Hashable, float]:
        """The probability of every label met so far; empty before the first."""
        if not self._started:
            return {}
        if (row := self._row(x)) is not None:
            shares = self._model.predict_proba(row[np.newaxis])
            return dict(zip(self._model.classes_.tolist(), shares[0].tolist(), strict=True))
        labels, shares = self._shares([x])
        return dict(zip(labels, shares[0].tolist(), strict=True))

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Hashable:
        """The label that is most likely; None before the first."""
        if (row := self._row(x)) is not None:
            return self._model.predict_one(row)
        return super().predict_one(x, **kwargs)

    def _row(self, x: Mapping[Hashable, Any]) -> NDArray[np.float64] | None:
        """The table's row of a sample that has all of its names and no other, each with a plain finite number."""
        if not self._names or x.keys() != self._slots.keys():
            return None
        values = [x[name] for name in self._names]
        if not PLAIN.issuperset(map(type, values)) or not isfinite(sum(values)):
            return None
        return np.array(values, np.float64)

    # ---- many samples, in a data frame

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame in order, with the same result as one by one."""
        self._learn(list(_rows(X)), list(dataframe.into_series(y).to_list()))

    def predict_proba_many(self, X: Any) -> Any:
        """A data frame of the kind given, with a column for each label met so far; no column before the first."""
        frame = dataframe.into_frame(X)
        if not self._started or not len(frame):
            return frame.select().to_native()
        known, shares = self._shares(list(_rows(X)))
        return dataframe.to_native_frame(dict(zip(known, shares.T, strict=True)), like=frame)

    def predict_many(self, X: Any) -> Any:
        """A series of the kind given: the label of each row, None before the first label is known."""
        frame = dataframe.into_frame(X)
        labels: list[Hashable] = [None] * len(frame)
        if self._started and labels:
            known, shares = self._shares(list(_rows(X)))
            labels = [known[best] for best in shares.argmax(axis=1)]
        return dataframe.to_native_series(labels, name=None, like=frame)

    # ---- table and bag

    def _learn(self, samples: list[Mapping[Hashable, Any]], y: list[Hashable]) -> None:
        if self._complete:
            self._present = {name: self._present.get(name, 0) + self._complete for name in self._slots}
            self._complete = 0
        labels: list[Any] = [label.item() if isinstance(label, np.generic) else label for label in y]
        named = [self._values(x) for x in samples]
        slots, present, moved, counts = dict(self._slots), dict(self._present), set(self._moved), dict(self._counts)
        constant = dict(self._constant)
        width = self._width if self._width is not None or not samples else max(1, len(samples[0]))
        in_table, in_bag, known = 0, len(samples) if self._bag is None else 0, list(counts)
        bags: list[dict[Hashable, float]] = []
        array = np.full((len(samples), width or 1), self._absent)
        for number, (x, label) in enumerate(zip(named, labels, strict=True)):
            for name in sorted(x.keys() - slots.keys(), key=lambda name: (str(name), repr(name))):
                if width is not None and len(slots) < width:
                    slots[name] = len(slots)
            bags.append(self._split(x, slots, moved, array[number]))
            if bags[-1] and number < in_bag:
                in_bag, known = number, list(counts)
            in_table += len(moved) < len(slots) or not slots
            if not _is_label(label, self._model.unlabelled):
                continue
            counts[label] = counts.get(label, 0) + 1
            for name in x.keys() & slots.keys():
                present[name] = present.get(name, 0) + 1
                if constant.setdefault(name, x[name]) != x[name]:
                    constant[name] = np.nan  # more than one value
            if number >= in_bag:
                half = sum(counts.values()) / 2
                wordlike = (name for name in slots.keys() - x.keys() - moved if not isnan(constant.get(name, 0.0)))
                moved.update(wordlike, (name for name in slots if present.get(name, 0) < half))
        bag = self._learned_bag(bags[in_bag:], labels[in_bag:], known)
        if in_table and (self._table_started or counts):
            self._model.partial_fit(array[:in_table], labels[:in_table])
        self._slots, self._width, self._bag = slots, width, bag
        self._present, self._moved, self._counts = present, frozenset(moved), counts
        self._constant = constant
        plain = self._table_started and bag is None and not moved and len(slots) == width
        self._names = tuple(slots) if plain else ()
        self._steady = [name for name, value in constant.items() if not isnan(value)]

    def _learned_bag(
        self, samples: list[dict[Hashable, float]], labels: list[Hashable], known: list[Hashable]
    ) -> Bag | None:
        """The bag with these samples, a copy where the table might still refuse a label of theirs."""
        if not samples or not (known or any(_is_label(label, self._model.unlabelled) for label in labels)):
            return self._bag
        bag = self._bag
        if bag is None:
            bag = Bag.within(self._bag_budget, self._model)
        elif len(self._moved) < len(self._slots):
            bag = copy.deepcopy(bag)
        bag.learn(samples, labels, known)
        return bag

    def _shares(self, samples: list[Mapping[Hashable, Any]]) -> tuple[list[Hashable], NDArray[np.float64]]:
        """The labels in ascending order, and the probability of each."""
        array = np.full((len(samples), self._width or 1), self._absent)
        named = [self._values(x) for x in samples]
        bags = [self._split(x, self._slots, self._moved, row) for x, row in zip(named, array, strict=True)]
        if self._bag is None:
            return self._model.classes_.tolist(), self._model.predict_proba(array)
        labels, scores = self._bag.labels, self._bag.log_likelihoods(bags)
        if len(self._moved) < len(self._slots):
            scores += np.log(np.maximum(self._model.predict_proba(array), 1e-300))
        else:
            scores += np.log([self._counts[label] for label in labels])
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return labels, raised / raised.sum(axis=1, keepdims=True)

    def _split(
        self, x: Mapping[Hashable, float], slots: Mapping[Hashable, int], moved: Set[Hashable], row: NDArray
    ) -> dict[Hashable, float]:
        """Fill a row of the table; what is left of the sample is for the bag."""
        left = {}
        for name, value in x.items():
            if name in slots and name not in moved:
                row[slots[name]] = value
            else:
                left[name] = value
        return left

    def _values(self, x: Mapping[Hashable, Any]) -> dict[Hashable, float]:
        """The values that are there, as floats."""
        values = {}
        own = self.classifier is not None and self._model.missing == "absent"
        for name, value in x.items():
            if value is None:
                continue
            if not isinstance(value, (Real, np.bool_)):
                raise InputError(
                    f"feature {name!r} is {value!r}: expected a number (encode categories first, "
                    "for example with river.preprocessing.OneHotEncoder)"
                )
            if not isfinite(number := float(value)):
                if own and isnan(number):
                    continue
                seen = "NaN" if isnan(number) else "infinity"
                raise InputError(f"Input contains {seen} (feature {name!r}): expected finite numbers, or None")
            values[name] = number
        return values

    @property
    def _absent(self) -> float:
        """What the table has where a name is absent."""
        return np.nan if self._model.missing == "absent" else 0.0

    @property
    def _table_started(self) -> bool:
        return self._model.__sklearn_is_fitted__()

    @property
    def _started(self) -> bool:
        return bool(self._counts)

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": None, "n_features": None}


def _is_label(label: Hashable, unlabelled: float | None) -> bool:
    return label is not None and label == label and (unlabelled is None or label != unlabelled)


def _rows(X: Any) -> Iterator[dict[Hashable, Any]]:
    return dataframe.into_frame(X).iter_rows(named=True)


def _unfitted(classifier: KenyonClassifier) -> KenyonClassifier:
    """One with the same parameters that has learned nothing."""
    return type(classifier)(**copy.deepcopy(classifier.get_params(deep=False)))
