"""The readout of the state that a layer is in, which follows what the layer learns.

A readout that was asked for lately is changed with every sample that is learned, so that every prediction is that of
the present state. Solving it takes about as long as following units / 8 samples: after that many without a
prediction (32 at least) it is dropped, and solved at the next prediction. It is solved again, too, where the inverse
that following takes is refused (`follows`), after anything else that changes the state, and before rounding adds up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.features import Active
from kenyon.layers._coactivity import Coactivity
from kenyon.layers._few_bits import FewBits
from kenyon.layers._readout import Linear, Rule, linear
from kenyon.layers._solved import FOLLOWED_AT_ONCE, Readout, solve
from kenyon.layers._state import State


class Following:
    """The readout of the present state.

    Args:
        coactivity: how the sums are kept.
        rule: which readout it is.
        follows: whether it may keep the inverse; otherwise it is solved again after each change.
    """

    def __init__(self, coactivity: Coactivity, rule: Rule, follows: bool) -> None:
        self._coactivity, self._rule, self._follows = coactivity, rule, follows
        self._most_unasked = max(FOLLOWED_AT_ONCE, coactivity.n_units // 8)
        self._readout: Readout | None = None  # of the present state
        self._linear: Linear | None = None  # the same as weights
        self._unasked = self._most_unasked + 1  # samples learned since the last prediction

    def drop(self) -> None:
        """The state was replaced."""
        self._readout = self._linear = None
        self._unasked = self._most_unasked + 1

    def widen(self, width: int) -> None:
        """Classes were added that have no samples."""
        self._linear = None
        if self._readout is not None:
            self._readout.widen(width)

    # ---- reading

    def outputs(self, state: State, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """Scores of samples first .. last - 1, (samples, width)."""
        self._unasked = 0
        if self._rule.kind == "ridge":
            return self.linear(state).outputs(active, first, last)
        return self.present(state).outputs(
            state.arrays["class_counts"], self._rule.prior, self.read(active), first, last
        )

    def read(self, active: Active) -> Active:
        """The activity that is read: of the first units, where the rule says so. Units are in ascending order."""
        units, values, counts = active
        if not self._rule.first:
            return active
        near = units[:, : self._rule.first]
        there = (near < self._rule.first) & (np.arange(near.shape[1]) < counts[:, np.newaxis])
        return units, values, there.sum(axis=1)

    def asked(self, state: State) -> Readout:
        """The readout of a state, which is about to be read."""
        self._unasked = 0
        return self.present(state)

    def present(self, state: State, follow: bool = False) -> Readout:
        """The readout of a state; threads that find none may solve it at the same time, with one result.

        Args:
            follow: whether it has to follow what is learned; by default where a prediction was asked for lately.
        """
        readout = self._readout
        if readout is None or (follow and self._follows and readout.inverse is None):
            self._readout = readout = self._solved(state, self._follows and (follow or self._lately))
        return readout

    def anew(self, state: State) -> Linear:
        """The readout as weights and offsets, solved from the state alone: the same bits, whatever was followed before.
        It is followed from here on, where one is."""
        self._readout = self._linear = None
        readout = self._solved(state, follow=True)  # by the inverse in any case: that is other bits than without
        found = self._as_weights(readout, state)
        if self._follows and self._lately:
            self._readout, self._linear = readout, found
        return found

    @property
    def _lately(self) -> bool:
        """Whether a prediction was asked for not long ago."""
        return self._unasked <= self._most_unasked

    def _solved(self, state: State, follow: bool) -> Readout:
        most = self._coactivity.most_followed(self._rule.oracle) if follow else 0
        how = (state.arrays["class_counts"], self._coactivity.n_units, self._rule, most)
        return solve(lambda: self._coactivity.moments(state), *how)

    def linear(self, state: State) -> Linear:
        """The readout of a state as weights and offsets."""
        found = self._linear
        if found is None:
            readout = self.present(state)
            if readout.inverse is not None and not readout.is_of(self._rule, *self._means(readout, state)):
                self._readout = None
                readout = self.present(state, follow=True)
            self._linear = found = self._as_weights(readout, state)
        return found

    def _means(self, readout: Readout, state: State) -> tuple[NDArray[np.float64], NDArray]:
        """(classes, units): the means of the classes that have samples; and the samples of all."""
        class_counts = state.arrays["class_counts"]
        (known,) = np.nonzero(class_counts[: state.n_neurons])
        return np.ascontiguousarray(self._coactivity.means(state)[: len(readout.products), known].T), class_counts

    def _as_weights(self, readout: Readout, state: State) -> Linear:
        found = linear(readout.products, readout.squares, *self._means(readout, state), self._rule)
        unread = self._coactivity.n_units - len(found.weights)
        return found._replace(weights=np.pad(found.weights, ((0, unread), (0, 0)))) if unread else found

    # ---- following

    def take(self, n_learned: int, asked: bool) -> Readout | None:
        """The readout that is to follow some samples, if any. It is given away until `put`: a call that is interrupted
        in between leaves none.

        Args:
            n_learned: labelled samples, at least 1.
            asked: whether they are predicted on the way.
        """
        readout, self._readout, self._linear = self._readout, None, None
        self._unasked = 0 if asked else self._unasked + n_learned
        if readout is None or readout.left < n_learned or self._unasked > self._most_unasked:
            return None
        return readout

    def put(self, readout: Readout | None) -> None:
        """The readout of the state as it is now."""
        self._readout = readout

    def scores_on_the_way(self, state: State) -> bool:
        """Whether following samples gives their scores, too: of a discriminant from sums."""
        if isinstance(self._coactivity, FewBits) or self._rule.kind == "ridge":
            return False
        if self._readout is not None and self._readout.left < FOLLOWED_AT_ONCE:
            self._readout = None
        return self.present(state, follow=True).inverse is not None

    @property
    def nbytes(self) -> int:
        """Bytes of the readout, or of solving it."""
        readout = self._readout  # a thread may put another one there
        n = self._coactivity.n_units
        return max(4 * n * n, 0 if readout is None else readout.nbytes)
