"""What one call teaches: the neuron of each sample, the classes it brings, what was predicted before it was learned."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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
        self._n_old, self._all = len(before.neurons), np.array(list(after.neurons.values()), np.int64)
        self._in_label_order, self._arrived = np.empty(0, np.int64), np.empty(0, np.int64)
        if wanted:
            self._in_label_order = after.sorted()[1]
            place = np.empty(self._all.max(initial=-1) + 1, np.int64)
            place[self._all] = np.arange(len(self._all))
            self._arrived = place[self._in_label_order]
        self._head = Head(self._neurons(0))

    def stretches(self, start: int, stop: int, cuts: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
        """Samples start .. stop - 1, cut where a new class arrives and before these samples."""
        return pairwise(sorted({start, stop, *self._between(start, stop), *(a for a in cuts if start < a < stop)}))

    def _between(self, start: int, stop: int) -> list[int]:
        return self._arrivals[bisect_right(self._arrivals, start) : bisect_left(self._arrivals, stop)]

    def n_arriving(self, sample: int) -> int:
        """Classes whose first sample this is."""
        return bisect_right(self._arrivals, sample) - bisect_left(self._arrivals, sample)

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
