"""How co-activity is kept: in integers to the last bit, or in floats (and `_few_bits.py`: in few bits).

Each way declares its arrays, adds samples to them, and gives the moments that a readout is solved from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kenyon import core
from kenyon.errors import InputError, MergeError
from kenyon.features import BLOCK, Active
from kenyon.layers._base import Rescale
from kenyon.layers._class_sums import with_counts as with_counts_of_classes
from kenyon.layers._pairs_undo import PairsUndo
from kenyon.layers._readout import ClassMoments, add_outer
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import NARROW, added, taken_away, widened, with_counts

PEAK = 255
"""Largest activity in integers."""

LARGEST_FLOAT = 1e12
"""Largest activity in floats: the sum of as many squares as a stream could have still fits a float32."""

FEW_ROWS = 4
"""Up to this many dense samples are quicker one by one than side by side."""

INTEGER_SPARSE, FLOAT_SPARSE = 20, 10
"""Active pairs are visited one by one where they are at most one in this many: a fifth of the units, or a third."""

FOLLOWED, FOLLOWED_FLOATS = 16, 2
"""A readout follows this many samples for each unit; fewer from sums in floats, which are rounded."""

LEAST_FOLLOWED = 64
"""At least this many, whatever the units."""

CLASS_COUNTS = Declared("class_counts", ("neurons",), np.uint32, wide=True)


def sums_of(dtype: DTypeLike, wide: bool) -> tuple[Declared, ...]:
    """Sums of products over pairs of units, sums of activity over classes, and the classes' counts."""
    pairs = Declared("pairs", ("pairs",), dtype, wide=wide)
    return pairs, Declared("sums", ("units", "neurons"), dtype, wide=wide), CLASS_COUNTS


class Coactivity(ABC):
    """One way to keep the co-activity of units.

    Class attributes:
        inexact: in what a merged state differs from that of one pass, in words; None: in nothing.

    Args:
        n_units: inputs of the layer.
        declared: the arrays it keeps, `pairs` and `class_counts` among them.
        values: type of the activity that it takes.
    """

    inexact: ClassVar[str | None] = None

    def __init__(self, n_units: int, declared: tuple[Declared, ...], values: type[np.generic]) -> None:
        self.n_units, self.declared, self.values = n_units, declared, values
        unit = np.arange(n_units, dtype=np.int64)
        self.diagonal = unit * (unit + 3) // 2
        self.visited = 0  # pairs, in the call under way, where they can be counted in no other way
        self._scratch: dict[str, NDArray] = {}

    @abstractmethod
    def add(
        self,
        state: State,
        active: Active,
        chosen: NDArray[np.int64],
        labels: NDArray[np.int64],
        undo: PairsUndo | None = None,
    ) -> State:
        """Learn up to BLOCK chosen samples in order.

        Args:
            state: changed in place.
            labels: class number of each sample of the block.
            undo: is passed what changes.

        Returns:
            The state, or a wider one where it cannot hold them.
        """

    @abstractmethod
    def add_one(self, state: State, active: Active, labels: NDArray[np.int64], clock: NDArray[np.int64]) -> bool:
        """Learn the first sample of a block by one compiled call, which moves the clock on, too.

        Returns:
            False, and nothing was changed, where it takes more than that.
        """

    @abstractmethod
    def moments(self, state: State) -> ClassMoments:
        """What was learned of the classes that have samples."""

    def most_followed(self, oracle: bool) -> int:
        """Samples that a readout may follow before rounding adds up; 0 where it cannot.

        Args:
            oracle: whether its shrinkage depends on the state.
        """
        return max(FOLLOWED * self.n_units, LEAST_FOLLOWED)

    def scales(self, state: State) -> tuple[int, int] | None:
        """How often entries were halved, and steps doubled; None where they never are."""
        return None

    def merged(self, state: State, other: State, neurons: NDArray[np.int64]) -> State:
        """What two states learned; neuron k of the other is neuron `neurons[k]` of the first."""
        return added(state, other, neurons)

    def without(self, state: State, other: State, neurons: NDArray[np.int64]) -> State:
        """The state as if what the other learned had never come; refuses what it cannot have learned."""
        if self.inexact is not None:
            raise MergeError(f"{self.inexact}, so that nothing can be taken out again: expected exact sums")
        return taken_away(state, other, neurons)

    def with_counts(self, state: State, counts: NDArray) -> State:
        """A new state that weighs each class by another count; its mean, and the scatter per sample, stay."""
        return with_counts_of_classes(self, state, counts)

    def rescaled(self, state: State, how: Rescale) -> State:
        """The state after the inputs of the features got other units."""
        raise NotImplementedError

    def check(self, state: State) -> None:  # noqa: B027  most states will do
        """Refuse a state from a file that no stream can have led to and that could not keep learning."""

    def visits(self, active: Active, chosen: NDArray[np.int64]) -> int:
        """Pairs visited when the chosen samples are learned."""
        counts = active[2][chosen]
        return int((counts * (counts + 1) // 2).sum())

    def means(self, state: State) -> NDArray[np.float64]:
        """(units, neurons): the mean activity of each class, zero where it has no samples."""
        views = state.views()
        return views["sums"] / np.maximum(views["class_counts"], 1)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_scratch": {}}  # scratch is neither copied nor pickled

    def room(self, name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray:
        """Scratch, made when first needed."""
        if name not in self._scratch:
            self._scratch[name] = np.empty(shape, dtype)
        return self._scratch[name]

    def dense(self, active: Active, chosen: NDArray[np.int64]) -> NDArray:
        """The chosen samples as rows, in scratch: float32, or int16 where the activity is in bytes."""
        dtype = np.float32 if self.values is np.float32 else np.int16
        rows = self.room("rows", (BLOCK, self.n_units), dtype)[: len(chosen)]
        core.spread(*active, chosen, rows)
        return rows

    def add_dense(self, pairs: NDArray, rows: NDArray) -> None:
        """Add the products of up to BLOCK rows."""
        core.add_dense(pairs, rows, self.tiles())

    def tiles(self) -> NDArray[np.int32]:
        """Scratch of products."""
        return self.room("tiles", (core.tiles_for(BLOCK, self.n_units),), np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes of scratch."""
        return self.diagonal.nbytes + sum(array.nbytes for array in self._scratch.values())


class _Sums(Coactivity):
    """Sums that are not centred, so that an inactive unit changes nothing."""

    def _add_sparse(
        self, pairs: NDArray, active: Active, chosen: NDArray[np.int64], undo: PairsUndo | None, share: int
    ) -> bool:
        """Add the products of active units where they are one in `share` or less; else False, and add nothing."""
        visits = self.visits(active, chosen)
        if share * visits > pairs.size * len(chosen):
            return False
        if undo is not None:
            undo.before_some(pairs, active, chosen, visits)
        core.add_products(pairs, *active, chosen)
        return True

    def moments(self, state: State) -> ClassMoments:
        views = state.views()
        (known,) = np.nonzero(views["class_counts"])
        counts = views["class_counts"][known].astype(np.float64)[:, np.newaxis]
        sums = np.ascontiguousarray(views["sums"][:, known].T, np.float64)
        scatter, n_samples = np.empty(len(views["pairs"])), float(counts.sum())
        core.fill_scatter(views["pairs"], 1.0, scatter)
        add_outer(scatter, sums / np.sqrt(counts), -1.0)
        return ClassMoments(scatter, sums / counts, n_samples, n_samples)


class ExactSums(_Sums):
    """Integers of 32 bits, or of 64 where an entry needs them: the same bytes in any order of the stream."""

    def __init__(self, n_units: int) -> None:
        super().__init__(n_units, sums_of(np.uint32, wide=True), np.uint8)
        self._sure = 0  # samples that are sure to fit into pairs of 32 bits

    def add(
        self,
        state: State,
        active: Active,
        chosen: NDArray[np.int64],
        labels: NDArray[np.int64],
        undo: PairsUndo | None = None,
    ) -> State:
        state = self._with_room(state, active, chosen, labels)
        pairs, sums, class_counts = (state.arrays[one.name] for one in state.declared)
        if not self._add_sparse(pairs, active, chosen, undo, INTEGER_SPARSE):
            rows = self.dense(active, chosen)
            if len(rows) <= FEW_ROWS:
                for row in rows:
                    core.add_row(pairs, row, np.zeros(1, np.int64) if undo is None else undo.before_row(pairs, row))
            else:
                if undo is not None:
                    undo.before_all(pairs)
                self.add_dense(pairs, rows)
        core.add_classes(sums, class_counts, *active, chosen, labels)
        return state

    def add_one(self, state: State, active: Active, labels: NDArray[np.int64], clock: NDArray[np.int64]) -> bool:
        arrays = [state.arrays[one.name] for one in state.declared]
        if any(array.dtype != np.uint32 for array in arrays):
            return False
        self._sure = max(0, self._sure - 1)
        row = self.room("rows", (BLOCK, self.n_units), np.int16)[:1]
        return bool(core.learn_exact(*arrays, *active, labels, INTEGER_SPARSE, row, clock))

    def _with_room(self, state: State, active: Active, chosen: NDArray[np.int64], labels: NDArray[np.int64]) -> State:
        """The state, with 64 bits where this block would pass 32."""
        pairs, sums, class_counts = (state.arrays[one.name] for one in state.declared)
        n, wide = len(chosen), set()
        if pairs.dtype == np.uint32:
            if self._sure < n:  # no entry is larger than the largest of the diagonal
                self._sure = (NARROW - int(pairs[self.diagonal].max())) // PEAK**2
            if self._sure < n:
                squares = pairs[self.diagonal].astype(np.uint64)
                core.add_squares(squares, *active, chosen)
                if squares.max() > NARROW:
                    wide.add("pairs")
            self._sure = max(0, self._sure - n)
        if (int(class_counts.max(initial=0)) + n) * PEAK > NARROW:
            after = {"sums": sums.astype(np.uint64), "class_counts": class_counts.astype(np.uint64)}
            core.add_classes(after["sums"], after["class_counts"], *active, chosen, labels)
            wide |= {name for name, array in after.items() if array.max() > NARROW}
        return widened(state, wide)

    def merged(self, state: State, other: State, neurons: NDArray[np.int64]) -> State:
        self._sure = 0
        return super().merged(state, other, neurons)

    def without(self, state: State, other: State, neurons: NDArray[np.int64]) -> State:
        self._sure = 0
        left = super().without(state, other, neurons)
        nobody = left.arrays["class_counts"] == 0
        if left.arrays["sums"][:, nobody].any() or (nobody.all() and left.arrays["pairs"].any()):
            raise MergeError("a class without samples would have sums: expected samples that were learned")
        return left


class FloatSums(_Sums):
    """Sums in float32, added sample by sample: a stream in another order gives other last bits."""

    inexact = "the co-activity is summed in floats, whose last bits depend on the order"

    def most_followed(self, oracle: bool) -> int:
        return max(FOLLOWED_FLOATS * self.n_units, LEAST_FOLLOWED)

    def __init__(self, n_units: int) -> None:
        super().__init__(n_units, sums_of(np.float32, wide=False), np.float32)

    def add(
        self,
        state: State,
        active: Active,
        chosen: NDArray[np.int64],
        labels: NDArray[np.int64],
        undo: PairsUndo | None = None,
    ) -> State:
        largest = np.zeros(1, np.float32)
        core.largest(*active, chosen, largest)
        if largest[0] > LARGEST_FLOAT:
            raise InputError(
                f"the activity of a unit is {largest[0]:g}: expected at most {LARGEST_FLOAT:g}; scale the inputs"
            )
        state = with_counts(state, len(chosen))
        pairs, sums, class_counts = (state.arrays[one.name] for one in state.declared)
        if not self._add_sparse(pairs, active, chosen, undo, FLOAT_SPARSE):
            if undo is not None:
                undo.before_all(pairs)
            self.add_dense(pairs, self.dense(active, chosen))
        core.add_classes(sums, class_counts, *active, chosen, labels)
        return state

    def rescaled(self, state: State, how: Rescale) -> State:
        views, lower = state.views(), np.tril_indices(self.n_units)
        if not views["class_counts"].any():
            return state
        pairs = np.zeros((self.n_units, self.n_units))
        pairs[lower] = pairs.T[lower] = views["pairs"]
        pairs, sums = how(pairs, views["sums"].astype(np.float64), views["class_counts"].astype(np.float64))
        new = State(state.declared, state.sizes)
        for name, values in (("pairs", pairs[lower]), ("sums", sums), ("class_counts", views["class_counts"])):
            new.views()[name][...] = values
        return new

    def add_one(self, state: State, active: Active, labels: NDArray[np.int64], clock: NDArray[np.int64]) -> bool:
        pairs, sums, class_counts = state.arrays.values()
        return bool(core.learn_floats(pairs, sums, class_counts, *active, labels, LARGEST_FLOAT, clock))
