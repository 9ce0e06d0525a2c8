"""`RiverClassifier`: the classifier under River's interface, for its pipelines and its evaluation.

    from river import evaluate, metrics
    from kenyon.river import RiverClassifier

    evaluate.progressive_val_score(dataset, RiverClassifier(seed=0), metrics.Accuracy())

The defaults are those of `KenyonClassifier`: inputs are scaled on the fly, so that no scaler is needed.

A River sample is a dictionary, and any name may come or go at any time, while a projection has a
fixed width. So the model has `n_features` input slots, as many as the first sample has names unless more are asked for:

- a name gets the next free slot when it is first *learned*; names that come together get theirs in
  sorted order, so the order within a dictionary does not matter;
- a name that is missing from a sample (or is None) is absent, as good as the mean of its values; with a classifier of
  your own that does not say `missing="absent"`, it counts as 0;
- a name that was never learned is ignored by predictions, which change nothing;
- once every slot has a name, a further name shares the slot that a hash of it points to, where values
  add up (the hashing trick). Nothing is refused and memory stays bounded.

>>> DEFAULT
KenyonClassifier(missing='absent')
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kenyon.errors import ConfigError, InputError, require
from kenyon.learner import KenyonClassifier

__all__ = ["DEFAULT", "RiverClassifier"]

base = require("river.base", "river", "RiverClassifier")
dataframe = require("river.utils.dataframe", "river", "RiverClassifier")

DEFAULT = KenyonClassifier(missing="absent")
"""The classifier's own defaults; names may come and go."""


class RiverClassifier(base.MiniBatchClassifier):  # type: ignore[name-defined]
    """Sparse random features and a layer of local plasticity, one sample at a time.

    Args:
        classifier: a `KenyonClassifier` with the parameters to use; it is copied, never trained.
            None: `DEFAULT`.
        n_features: input slots; give it at least as many as there are names. None: as many as the first sample has.
        seed: seed of the projection, in place of the classifier's `random_state`.

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
            raise ConfigError(f"n_features is {n_features!r}: expected a whole number of input slots, or None")
        self.classifier = classifier
        self.n_features = n_features
        self.seed = seed
        self._model = clone(DEFAULT if classifier is None else classifier)
        if seed is not None:
            self._model.set_params(random_state=seed)
        self._slots: dict[Hashable, int] = {}
        self._width = n_features

    # ---- one sample

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable) -> None:
        """Learn one sample. A `y` of None teaches nothing."""
        self._learn([x], [y])

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Hashable, float]:
        """Softmax of the scores of every label met so far; empty before the first."""
        if not self._started:
            return {}
        shares = self._model.predict_proba(self._to_array([x], self._slots))[0]
        return dict(zip(self._model.classes_.tolist(), shares.tolist(), strict=True))

    # ---- many samples, in a data frame

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame in order, with the same result as one by one."""
        self._learn(list(_rows(X)), list(dataframe.into_series(y).to_list()))

    def predict_proba_many(self, X: Any) -> Any:
        """A data frame of the kind given, with a column for each label met so far; no column before the first."""
        frame = dataframe.into_frame(X)
        if not self._started or not len(frame):
            return frame.select().to_native()
        shares = self._model.predict_proba(self._to_array(list(_rows(X)), self._slots))
        return dataframe.to_native_frame(dict(zip(self._model.classes_.tolist(), shares.T, strict=True)), like=frame)

    def predict_many(self, X: Any) -> Any:
        """A series of the kind given: the label of each row, None before the first label is known."""
        frame = dataframe.into_frame(X)
        labels: list[Hashable] = [None] * len(frame)
        if self._started and labels:
            labels = self._model.predict(self._to_array(list(_rows(X)), self._slots)).tolist()
        return dataframe.to_native_series(labels, name=None, like=frame)

    # ---- slots

    def _learn(self, samples: list[Mapping[Hashable, Any]], y: list[Hashable]) -> None:
        slots = dict(self._slots)
        width = self._width if self._width is not None or not samples else max(1, len(samples[0]))
        for x in samples:
            for name in sorted(x.keys() - slots.keys(), key=lambda name: (str(name), repr(name))):
                if width is not None and len(slots) < width:
                    slots[name] = len(slots)
        array = self._to_array(samples, slots, width)
        labels = [label.item() if isinstance(label, np.generic) else label for label in y]
        if self._started or any(label is not None and label == label for label in labels):
            self._model.partial_fit(array, labels)
        self._slots, self._width = slots, width

    def _to_array(
        self, samples: list[Mapping[Hashable, Any]], slots: dict[Hashable, int], width: int | None = None
    ) -> NDArray[np.float64]:
        width, absent = width or self._width or 1, self._model.missing == "absent"
        array, there = np.zeros((len(samples), width)), np.zeros((len(samples), width), bool)
        full = len(slots) == width
        for row, has, x in zip(array, there, samples, strict=True):
            shared = []
            for name, value in x.items():
                if value is None:
                    continue
                if not isinstance(value, (Real, np.bool_)):
                    raise InputError(
                        f"feature {name!r} is {value!r}: expected a number (encode categories first, "
                        "for example with river.preprocessing.OneHotEncoder)"
                    )
                slot = slots.get(name)
                if slot is not None:
                    row[slot] += float(value)
                    has[slot] = True
                elif full:
                    shared.append((str(name), zlib.crc32(repr(name).encode()) % width, float(value)))
            for _, slot, value in sorted(shared):  # one order of summation whatever the dictionary's
                row[slot] += value
                has[slot] = True
        if absent and self.classifier is None and (unknown := np.isnan(array)).any():
            raise InputError(f"Input contains NaN (sample {unknown.any(axis=1).argmax()}): expected numbers, or None")
        if absent:
            array[~there] = np.nan
        return array

    @property
    def _started(self) -> bool:
        return self._model.__sklearn_is_fitted__()

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": None, "n_features": None}


def _rows(X: Any) -> Iterator[dict[Hashable, Any]]:
    return dataframe.into_frame(X).iter_rows(named=True)
