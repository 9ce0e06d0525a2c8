"""Co-activity in 16 or 24 bits: thinned, not rounded.

A sample adds `z z'` to the co-activity, z being its distance from its class's mean so far in whole steps. When an
entry of the diagonal would pass what the bits hold, every entry is halved, and from then on half as many samples are
let in, chosen by a generator keyed by their time. Rounding every product instead would put white noise under the
small eigenvalues, which a readout inverts. The class means see every sample; they are kept in units of 1/256 and
rounded by chance.

Steps begin at 1, and where an entry overflows although few samples are in it, the step is doubled instead and every
entry divided by four. How many samples are enough: a step adds white noise of a twelfth of its square to each variance;
n samples in d dimensions leave a share of about d / n to chance; and the bits hold n samples of a variance of limit / n
squared steps. So both errors grow alike at n = sqrt(c d limit). On held-out digits c = 1/16 was best: rounding weighs
more than chance, since it falls on the small eigenvalues.

The state depends on the order of the stream, but not on how the stream is cut into calls.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels import thin
from kenyon._kernels.pairs import fill_triangle
from kenyon._kernels.pairs_one import learn_thinned_16, learn_thinned_24
from kenyon.errors import ModelFileError
from kenyon.features import BLOCK, Active
from kenyon.layers._coactivity import FEW_ROWS, TAUGHT, Coactivity, with_counts
from kenyon.layers._pairs_undo import PairsUndo
from kenyon.layers._readout import ClassMoments
from kenyon.layers._state import Declared, State

MOST_HALVINGS = 62
"""As many as a stream with less than 2**64 samples can need."""

MOST_DOUBLINGS = 8
"""A step of 2**8 is more than any distance between two bytes."""


def few_bits_of(bits: int) -> tuple[Declared, ...]:
    """Packed pairs, class means, their counts, how often the pairs were halved, and how often the step was doubled."""
    pairs = Declared("pairs", ("pairs",), np.int16) if bits == 16 else Declared("pairs", ("pairs",), np.uint8, bits)
    scales = [Declared(name, ("one",), np.uint8) for name in ("halvings", "doublings")]
    return pairs, Declared("means", ("units", "neurons"), np.uint16), TAUGHT, *scales


class FewBits(Coactivity):
    """Centred co-activity in few bits, of activity in whole numbers.

    Args:
        n_units: inputs of the layer.
        bits: 16 or 24.
    """

    def __init__(self, n_units: int, bits: int) -> None:
        super().__init__(n_units, few_bits_of(bits), np.uint8)
        self.bits, self._limit = bits, 2 ** (bits - 1) - 1
        self._enough = isqrt(n_units * self._limit // 16)

    def add(
        self,
        state: State,
        active: Active,
        chosen: NDArray[np.int64],
        labels: NDArray[np.int64],
        undo: PairsUndo | None = None,
    ) -> State:
        state = with_counts(state, len(chosen))
        packed, means, taught, halvings, doublings = (state.arrays[one.name] for one in state.declared)
        dense, room = self.dense(active, chosen), self.room("distances", (BLOCK, self.n_units), np.float32)
        pairs = self._unpacked(packed)
        diagonal = pairs[self.diagonal].astype(np.int64)
        time, at, before = int(taught.sum()), 0, self.visited
        while True:
            how = (8 + int(doublings[0]), int(halvings[0]), self._limit)
            at, n = thin.centre(means, taught, diagonal, dense, labels, chosen, time, *how, at, room)
            if n:
                (self.add_one_by_one if n <= FEW_ROWS else self.add_in_panels)(pairs, room[:n])
                self.visited += n * pairs.size
            if at == len(chosen):
                break
            enough = (time + at) >> int(halvings[0]) >= self._enough
            (halvings if enough else doublings)[0] += 1
            thin.divide(pairs, 1 if enough else 2, 256 * int(doublings[0]) + int(halvings[0]))
            self.visited += pairs.size
            diagonal[:] = pairs[self.diagonal]
        if self.visited > before:
            if undo is not None:
                undo.before_all(packed)
            self._pack(pairs, packed)
        return state

    def add_one(self, state: State, active: Active, labels: NDArray[np.int64], clock: NDArray[np.int64]) -> bool:
        packed, means, taught, *scales = (state.arrays[one.name] for one in state.declared)
        learn = learn_thinned_16 if self.bits == 16 else learn_thinned_24
        return learn(packed, means, taught, tuple(scales), active, labels, self._limit, self._scratch_of_one(), clock)

    def _scratch_of_one(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        n_pairs = 0 if self.bits == 16 else self.n_units * (self.n_units + 1) // 2
        dense, distances = (self.room(name, (BLOCK, self.n_units), np.float32)[:1] for name in ("rows", "distances"))
        diagonal = self.room("diagonal", (self.n_units,), np.int64)
        return diagonal, self.room("unpacked", (n_pairs,), np.int32), dense, distances

    def moments(self, state: State) -> ClassMoments:
        views = state.views()
        known = views["taught"] > 0
        n_samples = float(views["taught"].sum())
        share, square = 2.0 ** -float(views["halvings"][0]), 4.0 ** float(views["doublings"][0])
        scatter = np.empty((self.n_units, self.n_units))
        fill_triangle(self._unpacked(views["pairs"]), square / share, scatter)
        return ClassMoments(scatter, views["means"][:, known] / 256, n_samples, n_samples * share)

    def check(self, state: State) -> None:
        for name, most in (("halvings", MOST_HALVINGS), ("doublings", MOST_DOUBLINGS)):
            seen = int(state.arrays[name][0])
            if seen > most:
                raise ModelFileError(f"{name} is {seen}: expected at most {most}")

    def means(self, state: State) -> NDArray[np.float64]:
        return state.views()["means"] / 256

    def visits(self, active: Active, chosen: NDArray[np.int64]) -> int:
        """As counted when the samples were learned, which was just now: it depends on which were let in."""
        return self.visited

    def _unpacked(self, packed: NDArray) -> NDArray[np.int32]:
        if self.bits == 16:
            return packed.astype(np.int32)
        pairs = np.empty(len(packed) // 3, np.int32)
        thin.unpack_24(packed, pairs)
        return pairs

    def _pack(self, pairs: NDArray[np.int32], packed: NDArray) -> None:
        if self.bits == 16:
            packed[:] = pairs
        else:
            thin.pack_24(pairs, packed)
