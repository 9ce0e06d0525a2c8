"""Co-activity in 16 or 24 bits: thinned, not rounded.

A sample adds `z z'` to the co-activity, z being its distance from its class's mean so far in integer steps. When an
entry of the diagonal would pass what the bits hold, every entry is halved, and from then on half as many samples are
let in, chosen by a generator keyed by their time. Rounding every product instead would put white noise under the
small eigenvalues, which a readout inverts. The class means see every sample; they are kept in units of 1/256 and
rounded by chance.

Steps begin at 1, and where an entry overflows although few samples are in it, the step is doubled instead and every
entry divided by four. How many samples are enough: a step adds white noise of a twelfth of its square to each variance;
n samples in d dimensions leave a share of about d / n to chance; and the bits hold n samples of a variance of limit / n
squared steps. So both errors grow equally at n = sqrt(c d limit). On held-out digits c = 1/16 was best: rounding weighs
more than chance, since it falls on the small eigenvalues.

The state depends on the order of the stream, but not on how the stream is cut into calls.

**Merging** two states, a and b, in integers of 64 bits; `>>` and `/` round down, and `word(x, y)` is that of
`core/numbers.h`. With n the count of a class, m its mean at a unit in 1/256, t the samples of both states in all, h
halvings and d doublings, p an entry of the co-activity at place k:

    m    = (n_a m_a + n_b m_b + ((word(word(t, 2), unit * width + class) >> 48) * (n_a + n_b) >> 16)) / (n_a + n_b)
    H, D = max(h_a, h_b), max(d_a, d_b)
    v_c  = min(low * ((high << 16) / (low + high)) >> H, 2^47)      low, high: the smaller and the larger of n_a, n_b
    B    = sum over classes c of both of  g * (v_c >> 16) + (g * (v_c & 65535) >> 16),   g = delta_c[i] delta_c[j]
    S    = 16 + 2 D
    T    = (p_a << S >> H - h_a + 2 (D - d_a)) + (p_b << S >> H - h_b + 2 (D - d_b)) + B
    p    = T + r >> S, clipped to the limit;   r = (word(word(t, 1), k) >> 1) & (2^S - 1),   2^S - 1 on the diagonal

with delta_c = m_a - m_b for each unit, and `width` the classes padded to a multiple of eight. B is the scatter between
the two means of a class, n_a n_b / (n_a + n_b) delta delta'. Shifts of more than 62 are 62. Where an entry of the
diagonal would pass the limit, H is raised by one if t >> H is at least the number of samples that are enough, or if
D is 8 already, else D; and everything but the means is computed again. A state that learned nothing changes nothing,
and a and b may change places. Counts are added.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ModelFileError
from kenyon.features import BLOCK, Active
from kenyon.layers._coactivity import CLASS_COUNTS, Coactivity
from kenyon.layers._integer_readout import IntegerReadout, most_steps, shrinkage_amount, solve_integers
from kenyon.layers._pairs_undo import PairsUndo
from kenyon.layers._readout import ClassMoments
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import NARROW, narrowest, spread, with_counts

MOST_HALVINGS = 62
"""As many as a stream with less than 2**64 samples can need."""

MOST_DOUBLINGS = 8
"""A step of 2**8 is more than any distance between two bytes."""


def few_bits_of(bits: int) -> tuple[Declared, ...]:
    """Packed pairs, class means, their counts, how often the pairs were halved, and how often the step was doubled."""
    pairs = Declared("pairs", ("pairs",), np.int16) if bits == 16 else Declared("pairs", ("pairs",), np.uint8, bits)
    scales = [Declared(name, ("one",), np.uint8) for name in ("halvings", "doublings")]
    return pairs, Declared("means", ("units", "neurons"), np.uint16), CLASS_COUNTS, *scales


class FewBits(Coactivity):
    """Centred co-activity in few bits, of activity in integers.

    Args:
        n_units: inputs of the layer.
        bits: 16 or 24.
    """

    inexact = "the co-activity is thinned to few bits, and chance rounds it"

    def __init__(self, n_units: int, bits: int) -> None:
        super().__init__(n_units, few_bits_of(bits), np.uint8)
        self.bits, self._limit = bits, 2 ** (bits - 1) - 1
        self.enough = isqrt(n_units * self._limit // 16)
        self._scratch_pack: core.Pack | None = None

    def add(
        self,
        state: State,
        active: Active,
        chosen: NDArray[np.int64],
        labels: NDArray[np.int64],
        undo: PairsUndo | None = None,
    ) -> State:
        state = with_counts(state, len(chosen))
        if undo is not None:
            undo.before_all(state.arrays["pairs"])
        arrays = (state.arrays[one.name] for one in state.declared)
        self.visited += core.learn_thin(self.bits, *arrays, *active, chosen, labels, *self._how(), None)
        return state

    def add_one(self, state: State, active: Active, labels: NDArray[np.int64], clock: NDArray[np.int64]) -> bool:
        if int(state.arrays["class_counts"].sum()) >= NARROW:
            return False
        arrays = (state.arrays[one.name] for one in state.declared)
        core.learn_thin(self.bits, *arrays, *active, None, labels, *self._how(), clock)
        return True

    def _how(self) -> tuple[int, int, core.Pack]:
        """When entries are halved and how large they may be, and scratch."""
        if self._scratch_pack is None:
            n, n_pairs = self.n_units, 0 if self.bits == 16 else self.n_units * (self.n_units + 1) // 2
            self._scratch_pack = core.pack(
                self.room("activity", (n,), np.uint8),
                self.room("column", (n,), np.uint16),
                self.room("diagonal", (2, n), np.int32),
                self.room("distances", (BLOCK, n), np.int16),
                self.tiles(),
                self.room("triangle", (n_pairs,), np.int32),
            )
        return self.enough, self._limit, self._scratch_pack

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_scratch_pack": None}

    def most_followed(self, oracle: bool) -> int:
        return 0 if oracle else super().most_followed(oracle)

    def scales(self, state: State) -> tuple[int, int] | None:
        return int(state.arrays["halvings"][0]), int(state.arrays["doublings"][0])

    @property
    def distances(self) -> NDArray[np.int16]:
        """Those of the samples let in by the last call, a row each."""
        return self._scratch["distances"]

    def merged(self, state: State, other: State, neurons: NDArray[np.int64]) -> State:
        ours, theirs = (
            {one.name: spread(one, array, place, state.width) for one, array in zip(each.declared, arrays, strict=True)}
            for each, arrays, place in (
                (state, state.arrays.values(), np.arange(state.width)),
                (other, other.views().values(), neurons),
            )
        )
        a, b = (each["class_counts"].astype(np.uint64) for each in (ours, theirs))
        time = int(a.sum()) + int(b.sum())
        means = ours["means"].copy()
        core.merge_means(ours["means"], theirs["means"], a, b, _word(time, 2), means)
        both = np.flatnonzero((a > 0) & (b > 0))
        distances = np.ascontiguousarray(ours["means"][:, both].astype(np.int64) - theirs["means"][:, both])
        pairs, others = (self.unpacked(each["pairs"]) for each in (ours, theirs))
        scales = np.array([[each["halvings"][0], each["doublings"][0]] for each in (ours, theirs)], np.int64)
        halvings, doublings = scales.max(axis=0).tolist()
        weights = np.zeros(len(both), np.uint64)
        while True:
            core.shared_weights(a[both], b[both], halvings, weights)
            places = np.minimum(halvings - scales[:, 0] + 2 * (doublings - scales[:, 1]), 62)
            how = (pairs, others, places, distances, weights, 16 + 2 * doublings, self._limit)
            if core.diagonal_fits(*how):
                break
            if time >> halvings >= self.enough or doublings == MOST_DOUBLINGS:
                halvings += 1
            else:
                doublings += 1
        total = np.empty_like(pairs)
        core.merge_pairs(*how, _word(time, 1), total)
        packed = np.empty_like(ours["pairs"])
        self._pack(total, packed)
        arrays = {"pairs": packed, "means": means, "class_counts": a + b}
        arrays |= {"halvings": np.array([halvings], np.uint8), "doublings": np.array([doublings], np.uint8)}
        return narrowest(state, arrays)

    def moments(self, state: State) -> ClassMoments:
        views = state.views()
        known = views["class_counts"] > 0
        n_samples = float(views["class_counts"].sum())
        share, square = 2.0 ** -float(views["halvings"][0]), 4.0 ** float(views["doublings"][0])
        scatter = np.empty(self.n_units * (self.n_units + 1) // 2)
        pairs = views["pairs"] if self.bits == 16 else self.unpacked(views["pairs"])
        core.fill_scatter(pairs, square / share, scatter)
        return ClassMoments(scatter, views["means"][:, known].T / 256, n_samples, n_samples * share)

    def solved_in_integers(
        self, state: State, shrinkage: tuple[int, int], last: IntegerReadout | None, n_learned: int
    ) -> IntegerReadout:
        """The readout in integers, with lambda as (mantissa, shift), a number of samples after the last one."""
        arrays = state.arrays
        n_used = float(arrays["class_counts"].sum()) / 2.0 ** int(arrays["halvings"][0])
        unit = n_used / 4.0 ** int(arrays["doublings"][0]) / 256
        triangle = arrays["pairs"] if self.bits == 16 else self.unpacked(arrays["pairs"])
        return solve_integers(triangle, arrays["means"], arrays["class_counts"], shrinkage, unit, last, n_learned)

    def unlikeness(self, state: State, shrinkage: tuple[int, int], activity: NDArray[np.uint8], neuron: int) -> int:
        """How unlike a neuron's own samples a sample is, in 1/256: `unlikeness_of` of core/solve.h."""
        arrays = state.arrays
        triangle = arrays["pairs"] if self.bits == 16 else self.unpacked(arrays["pairs"])
        used, doublings = int(arrays["class_counts"].sum()) >> int(arrays["halvings"][0]), int(arrays["doublings"][0])
        return core.unlikeness(
            triangle,
            np.ascontiguousarray(arrays["means"][:, neuron]),
            activity,
            shrinkage_amount(triangle, self.n_units, shrinkage, used),
            most_steps(self.n_units),
            used,
            doublings,
            np.empty(3 * self.n_units, np.int32),
            np.empty(self.n_units, np.int64),
        )

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

    def with_counts(self, state: State, counts: NDArray) -> State:
        """The co-activity scaled with the samples, each entry to the nearest integer."""
        changed = State(state.declared, state.sizes, {name: array.copy() for name, array in state.arrays.items()})
        before, class_counts = int(state.arrays["class_counts"].sum()), changed.views()["class_counts"]
        class_counts[...] = counts
        shift = max(0, before.bit_length() - 38)
        after, before = int(class_counts.sum()) >> shift, max(1, before >> shift)
        pairs = (2 * self.unpacked(state.arrays["pairs"]).astype(np.int64) * after + before) // (2 * before)
        self._pack(pairs.astype(np.int32), changed.arrays["pairs"])
        return changed

    def unpacked(self, packed: NDArray) -> NDArray[np.int32]:
        """The triangle in integers of 32 bits."""
        if self.bits == 16:
            return packed.astype(np.int32)
        pairs = np.empty(len(packed) // 3, np.int32)
        core.unpack_pairs(packed, pairs)
        return pairs

    def _pack(self, pairs: NDArray[np.int32], packed: NDArray) -> None:
        if self.bits == 16:
            packed[:] = pairs
        else:
            core.pack_pairs(pairs, packed)


def _word(a: int, b: int) -> int:
    """64 random bits for a pair of numbers."""
    return core.word(a, b) % 2**64
