"""A feature layer `F_e`: the part that describes it, and what the part builds.

A new kind of features is a file in this folder and a line in `FEATURES` (`__init__.py`), or a class outside the
package that is named as `module:Class`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kenyon import core
from kenyon.core import LANES
from kenyon.errors import ConfigError, InputError
from kenyon.features._shape import Layout
from kenyon.utils.options import Part

Active = tuple[NDArray[np.uint32], NDArray[np.float32 | np.uint8], NDArray[np.int64]]
"""A block of sparse activity: (units, values, counts). Sample s has the active units
`units[s, :counts[s]]`, ascending, with the activities `values[s, :counts[s]]`: float32, or bytes
from layers that say so."""

BLOCK = 4 * LANES
"""Samples a feature layer takes at a time: it spreads the cost of a call, and their activity stays small."""


def make_active(n_units: int, n_samples: int = BLOCK, dtype: DTypeLike = np.float32) -> Active:
    """Arrays for the activity of a block; `dtype` is that of an activity, float32 or uint8."""
    return (
        np.empty((n_samples, n_units), np.uint32),
        np.empty((n_samples, n_units), dtype),
        np.zeros(n_samples, np.int64),
    )


def rooted(samples: NDArray) -> NDArray[np.float32]:
    """The root of every input, with its sign: it evens out inputs of which a few are much larger than the others."""
    values = samples.astype(np.float32)
    return np.copysign(np.sqrt(np.abs(values)), values)


class Workspace:
    """Scratch memory of one thread; holds the activity of the last block.

    Args:
        active: arrays for the activity.

    Example:
        >>> workspace = Workspace(make_active(500))
        >>> workspace.nbytes == sum(array.nbytes for array in workspace.active)
        True
    """

    def __init__(self, active: Active) -> None:
        self.active = active
        self._packs: dict[tuple[Any, ...], core.Pack] = {}
        self._scratch_bytes = 0

    def pack(self, make: Callable[..., tuple[NDArray, ...]], *how: Any) -> core.Pack:
        """The arrays that `make(*how)` gives and the activity, as a kernel takes them; made when first needed."""
        key = (make.__name__, *how)
        if (found := self._packs.get(key)) is None:
            arrays = make(*how)
            self._packs[key] = found = core.pack(*arrays, *self.active)
            self._scratch_bytes += sum(array.nbytes for array in arrays)
        return found

    @property
    def nbytes(self) -> int:
        return self._scratch_bytes + sum(array.nbytes for array in self.active)


class Features(Protocol):
    """A fixed map from samples to sparse activity. It keeps no state but its seed."""

    n_outputs: int

    def workspace(self) -> Workspace:
        """New scratch memory, one for each thread."""

    def prepare(self) -> None:
        """Make the tables that are otherwise made on first use, before several threads use them."""

    def activate(self, samples: NDArray, workspace: Any) -> Active:
        """`x_e` of up to BLOCK samples, (n, n_inputs) uint8 or float32, C-contiguous.

        `workspace` is one of this object's own. The result lies in it and is valid until the next call.
        """

    @property
    def nbytes(self) -> int:
        """Bytes of tables that are regenerated from the seed."""


@dataclass(frozen=True)
class Setting:
    """What a part is built for: the samples, and what the parts beside it expect.

    Attributes:
        n_inputs: width of a sample.
        seed: what the features are drawn from.
        shape, axes: of a sample; None where it has no shape.
        unit_norm: scale the input of every learning layer to length 1.
        in_bytes: whether the activity of units is bytes.
        integer: whether everything is computed in integers, from bytes to scores.
        own_range: convert samples that are not bytes to bytes, each by its own range.
        features: the part of the feature layer.
        hidden: widths of the hidden layers.
    """

    n_inputs: int
    seed: int = 0
    shape: tuple[int, ...] | None = None
    axes: str | None = None
    unit_norm: bool = True
    in_bytes: bool = False
    integer: bool = False
    own_range: bool = False
    features: FeaturesPart | None = None
    hidden: tuple[int, ...] = ()


class Case(NamedTuple):
    """What the values of options that are left open depend on.

    Attributes:
        n_inputs: width of a sample.
        shape, layout: of a sample; None where it has none, or its features take no notice of it.
        table: whether samples are rows of a table: floats without a shape.
        second_order: whether the layer is a second-order one.
        memory_budget: most bytes of state.
        features: name of the kind of features.
        scaled: whether inputs are taken in standard deviations.
        in_bytes: whether samples are bytes, or become bytes.

    Example:
        >>> from kenyon.features import Sparse
        >>> Sparse(units=500).settled(Case(n_inputs=64))
        Sparse(units=500, density=16, inhibitory=0.0, threshold=2.3)
    """

    n_inputs: int
    shape: tuple[int, ...] | None = None
    layout: Layout | None = None
    table: bool = False
    second_order: bool = False
    memory_budget: int | None = None
    features: str = ""
    scaled: bool = False
    in_bytes: bool = True


class FeaturesPart(Part, ABC):
    """Base of the parts that describe a feature layer.

    Class attributes:
        signed: whether the activity may be negative.

    Example:
        >>> from kenyon.features import Sparse
        >>> issubclass(Sparse, FeaturesPart)
        True
    """

    signed: ClassVar[bool] = False

    @abstractmethod
    def build(self, setting: Setting) -> Features:
        """The feature layer; no option is `"auto"` any more."""

    def settled(self, case: Case) -> Self:
        """The same with nothing left open but the number of units."""
        return self

    @property
    def nested(self) -> bool:
        """Whether the first units of a layer are the units of a smaller layer."""
        return False

    def n_units(self, setting: Setting) -> int:
        """Units of the layer that `build` makes."""
        return int(getattr(self, "units", setting.n_inputs))

    def table_bytes(self, setting: Setting) -> int:
        """Bytes of the tables that `build` draws from the seed, for a check of model files from elsewhere."""
        return 0


# ---- what several feature layers use


def n_connections(density: float | int | str, reach: int, usual: int) -> int:
    """Inputs of a unit: a count (int), a share of the inputs that it can reach (float), or `"auto"`."""
    if density == "auto":
        return min(usual, reach)
    if isinstance(density, int):
        if density > reach:
            raise ConfigError(f"density is {density}: expected a count of inputs from 1 to {reach}")
        return density
    return max(1, round(float(density) * reach))


CACHE_LINE = 64

FEW = 8
"""Up to this many samples go one by one, which is quicker than a block that is mostly empty."""


def aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
    """An array of zeros that starts on a cache line, so that no vector of a row straddles two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + size].view(dtype).reshape(shape)


FRACTION = 12
"""Bits of the fraction with which a threshold in standard deviations is taken in integers; `threshold.h` has it too."""


def check_bytes(samples: NDArray) -> None:
    """Refuse samples that are not bytes."""
    if samples.dtype != np.uint8:
        raise InputError(
            f"the samples are numbers of type {samples.dtype}: expected bytes (uint8), since the model learns with "
            "arithmetic='integer'"
        )


def check_exact(n_units: int, largest: int) -> None:
    """Refuse units whose sums and sums of squares could overflow the 63 bits that a threshold is computed in."""
    most = min((2**31 - 1) // largest, (2**53 - 1) // largest**2)
    if n_units > most:
        raise ConfigError(
            f"{n_units:,} units that answer with up to {largest:,}: expected at most {most:,} of them for a threshold "
            "in integers"
        )


def strength_of(threshold: float | None, exact: bool) -> float:
    """beta as the kernels take it: as it is, or in units of 2^-FRACTION."""
    strength = 0.0 if threshold is None else float(threshold)
    return float(round(strength * 2.0**FRACTION)) if exact else strength
