"""What one call teaches: the neuron of each sample, the classes it brings, what was predicted before it was learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kenyon.model.labels import NO_LABEL, Head, Labels


class Lesson:
    """The samples of one call as the engine sees them.

    Args:
        neurons: output neuron of each sample, or NO_LABEL; those of new classes are numbered on from the old.
        before, after: the task's labels when the call begins, and with those that it brings.
        arrivals: first sample of each new class, ascending.
        wanted: whether to note what is predicted for each sample before it is learned.
        bends: units that are left from a sample on, since the class that it brings would not fit otherwise.
    """

    def __init__(
        self,
        neurons: NDArray[np.int64],
        before: Labels,
        after: Labels,
        arrivals: Sequence[int],
        wanted: bool,
        bends: Mapping[int, int] | None = None,
    ) -> None:
        self.neurons, self.wanted, self.bends = neurons, wanted, bends or {}
        self.taught = neurons != NO_LABEL
        self.predictions = np.full(len(neurons) if wanted else 0, NO_LABEL, np.int64)
        self._arrivals = list(arrivals)
        self._old, self._all = list(before.neurons.values()), list(after.neurons.values())
        self._in_label_order = after.sorted()[1] if wanted else np.empty(0, np.int64)
        self._heads: dict[int, Head] = {}

    def stretches(self, start: int, stop: int, cuts: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
        """Samples start .. stop - 1, cut where a new class arrives and before these samples."""
        return pairwise(sorted({start, stop, *(a for a in (*self._arrivals, *cuts) if start < a < stop)}))

    def n_arriving(self, sample: int) -> int:
        """Classes whose first sample this is."""
        return self._arrivals.count(sample)

    def head(self, sample: int) -> Head:
        """The task's neurons, those of the class that this sample brings included."""
        known = sum(arrival <= sample for arrival in self._arrivals)
        if known not in self._heads:
            self._heads[known] = Head(self._neurons(known))
        return self._heads[known]

    def predicted(self, first: int, last: int, x_o: NDArray[np.float32]) -> None:
        """Note the best neuron of samples first .. last - 1; a sample that brings a class is predicted without it."""
        if not self.wanted:
            return
        skip = 1 if first in self._arrivals else 0
        if skip:
            self.predictions[first] = self._best(x_o[:1], sum(arrival < first for arrival in self._arrivals))[0]
        known = sum(arrival <= first for arrival in self._arrivals)
        self.predictions[first + skip : last] = self._best(x_o[skip:], known)

    def _neurons(self, known: int) -> list[int]:
        """The task's neurons once this many new classes have come."""
        return self._all[: len(self._old) + known]

    def _best(self, scores: NDArray[np.float32], known: int) -> NDArray[np.int64]:
        """The neuron with the highest score for each sample; NO_LABEL where there is none to choose from."""
        order = self._in_label_order
        choice = order[np.isin(order, self._neurons(known))]
        if not choice.size:
            return np.full(len(scores), NO_LABEL, np.int64)
        return choice[scores[:, choice].argmax(axis=1)]
