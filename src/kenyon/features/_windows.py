"""Windows: a feature layer for samples with a shape, images and series.

    r_u(d) = sum_k s_uk u[place_uk + d],    |d| <= r along each axis      the response of unit u at a shift d
    p_u    = max_d r_u(d)   or   sum_d max(0, r_u(d))                     pooled over the shifts
    v_u    = p_u            or   sqrt(p_u / 2^a)                          with `root`
    x_u    = max(0, v_u - mu - beta sigma)                                the dynamic threshold, or none

A unit has K inputs inside a window at a random place, of any channel, with signs s of +1 or -1; outside the sample
there are zeros. `mu` and `sigma` are mean and standard deviation of the sample's own v over the units. Signs are
random, or oriented: a random line in the window then parts excitatory from inhibitory inputs, one side from the
other (an edge, every other unit) or a bar along it from the rest. In a series this is early against late, or the
middle against both ends.

Bytes give whole numbers throughout: the root is rounded down, and the whole number `a` is the least such that it never
passes 255, whatever the sample. Other numbers become bytes by each sample's own range with `own_range`
(`_own_range.py`); else they are summed in float32 and read as bytes divided by 255: v = sqrt(255 p / 2^a).

With `exact` everything is in whole numbers, from bytes on. The threshold is then worked out from the sum T
and the sum of squares S of v over the n units, with B the whole number nearest to 2^12 beta (isqrt and // round down):

    mu + beta sigma  becomes  (2^12 T + B isqrt(n S - T^2)) // (2^12 n)

Activity is float32, scaled to length 1 with `unit_norm`; or bytes, without a scaling of their own:

    x_u = min(255, floor((v_u - floor(mu + beta sigma)) / 2^b))           of bytes
    x_u = min(255, floor(c (v_u - mu - beta sigma) / 2^b))                of floats

with b = 0 and c = 1 for roots; else c = 255, and b is the least number such that p / 2^b of bytes never passes 255.
Units whose byte is zero are not active.

Nothing is stored but the seed: places, inputs and signs are drawn from it (`draw_windows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels import LANES
from kenyon._kernels.draw import draw_windows
from kenyon._kernels.pooling import PLACES, TOGETHER
from kenyon._kernels.windows import activate_windows, activate_windows_one
from kenyon.errors import ConfigError, unknown
from kenyon.features._arrays import FEW, aligned, limits
from kenyon.features._base import Active, make_active
from kenyon.features._exact import check_bytes, check_exact, strength_of
from kenyon.features._own_range import as_bytes
from kenyon.features._shape import Layout, layout_of

BYTE = 255

FEW_COLUMNS = 7
"""Up to this many rows and columns of shifts are put side by side for single samples; eight at most."""


class Windows:
    """Samples of a shape to M sparse units, each with a window of its own.

    Args:
        shape: entries of a sample along each axis.
        n_units: M.
        n_connections: K, inputs of each unit.
        axes: what the axes of `shape` are: "t", "hw", "tc", "ct", "hwc" or "chw", for time, height, width and channels.
            None: by their number, "t", "hw", and "hwc", or "chw" where the first has at most 4 entries
            and the last more.
        window: entries of a window along time, or height and width.
        shifts: r, how far a window may be shifted.
        pooling: "max" for the best response over the shifts, "sum" for the sum of the positive ones.
        signs: "random" or "oriented".
        inhibitory: share of a unit's inputs with sign -1.
        threshold: beta, in standard deviations; None for none, so that positive responses are active.
        root: take the square root of the pooled response.
        unit_norm: scale float activity to length 1.
        activity: "float" or "byte".
        exact: everything in whole numbers, which needs activity in bytes, and samples of bytes or `own_range`.
        own_range: convert samples that are not bytes to bytes, each by its own range.
        seed: the units are drawn from it, the same everywhere.
        n_inputs: width of a sample, checked against the shape.

    Example:
        >>> import numpy as np
        >>> features = Windows((8, 8), n_units=500, n_connections=4, window=4, shifts=1)
        >>> units, values, counts = features.activate(np.arange(64, dtype=np.uint8)[None, :], features.workspace())
        >>> bool(counts[0] > 0)
        True
    """

    @classmethod
    def build(cls, seed: int, values: Mapping[str, Any]) -> Windows:
        names = ("axes", "window", "shifts", "pooling", "signs", "inhibitory", "threshold", "root", "unit_norm")
        return cls(
            values["shape"],
            values["n_hidden"],
            values["n_connections"],
            activity="byte" if values["whole"] else "float",
            exact=values["arithmetic"] == "integer",
            own_range=values["own_range"],
            seed=seed,
            n_inputs=values["n_inputs"],
            **{name: values[name] for name in names},
        )

    def __init__(
        self,
        shape: Sequence[int],
        n_units: int,
        n_connections: int,
        *,
        axes: str | None = None,
        window: int = 6,
        shifts: int = 0,
        pooling: str = "max",
        signs: str = "random",
        inhibitory: float = 0.5,
        threshold: float | None = None,
        root: bool = False,
        unit_norm: bool = True,
        activity: str = "float",
        exact: bool = False,
        own_range: bool = False,
        seed: int = 0,
        n_inputs: int | None = None,
    ) -> None:
        for name, value, allowed in (
            ("pooling", pooling, ("max", "sum")),
            ("signs", signs, ("random", "oriented")),
            ("activity", activity, ("float", "byte")),
        ):
            if value not in allowed:
                raise unknown(name, value, allowed)
        if shifts < 0:
            raise ConfigError(f"shifts is {shifts}: expected 0 or more")
        self.layout = layout = layout_of(shape, axes, shifts, n_inputs)
        n_connections = int(n_connections)
        size = _checked_window(layout, window, n_connections)
        self.n_outputs, self.seed = n_units, seed
        self._window, self._oriented = size, signs == "oriented"
        self._best, self._root = pooling == "max", root
        self._activity: type[np.number] = np.uint8 if activity == "byte" else np.float32
        self.threshold, self._unit_norm, self.exact = threshold, unit_norm, exact
        self.own_range = own_range
        if exact and activity != "byte":
            raise ConfigError(f"activity is {activity!r}: expected 'byte' with whole numbers throughout")
        self._n_excitatory = n_connections - round(inhibitory * n_connections)
        self._largest = BYTE * max(self._n_excitatory, n_connections - self._n_excitatory)
        self._largest_pooled = BYTE * self._n_excitatory * (1 if self._best else layout.rows * layout.columns)
        if self._largest_pooled > np.iinfo(np.int32).max:
            raise ConfigError(
                f"{layout.rows * layout.columns} shifts of {self._n_excitatory} excitatory inputs could add up to "
                f"{self._largest_pooled:,}: expected at most {np.iinfo(np.int32).max:,}. Lower shifts or the inputs."
            )
        if exact and threshold is not None:
            check_exact(n_units, BYTE if root else max(self._largest, self._largest_pooled))
        self.inputs = np.empty((n_units, n_connections), np.uint16 if layout.n_places <= 1 << 16 else np.uint32)
        planes = (layout.channels, layout.height, layout.width)
        draw_windows(np.uint64(seed), planes, size, signs == "oriented", self._n_excitatory, layout.padded, self.inputs)
        self._places = layout.places()
        self._for_blocks = (self.inputs, self._n_excitatory, _block_offsets(layout))
        starts, lanes, shift = _one_offsets(layout)
        self._for_one = (_items(self.inputs, layout.n_places, shift), self._n_excitatory, starts, lanes, shift)
        self._arithmetics = {np.dtype(dtype): self._arithmetic(dtype) for dtype in (np.uint8, np.float32)}

    def workspace(self) -> WindowsWorkspace:
        return WindowsWorkspace(self.n_outputs, self._activity)

    def prepare(self) -> None:
        """There is nothing left to make."""

    def activate(self, samples: NDArray, workspace: WindowsWorkspace) -> Active:
        if self.own_range:
            samples = as_bytes(samples)
        if self.exact:
            check_bytes(samples)
        types, how = self._arithmetics[samples.dtype]
        active = workspace.active
        if len(samples) > FEW:
            scratch = workspace.block(self.layout, *types)
            activate_windows(samples, self._places, self._for_blocks, how, scratch, active)
            return active
        shift = self._for_one[-1]
        scratch = workspace.one(self.layout, shift, _stored(types[0], shift), types[1])
        if len(samples) == 1:
            activate_windows_one(samples, self._places, self._for_one, how, scratch, active)
            return active
        for s in range(len(samples)):
            row = slice(s, s + 1)
            here = (active[0][row], active[1][row], active[2][row])
            activate_windows_one(samples[row], self._places, self._for_one, how, scratch, here)
        return active

    def _arithmetic(self, dtype: type[np.number]) -> tuple[Any, Any]:
        """(types of inputs and of responses; how to make activity of them)."""
        whole = dtype is np.uint8
        types: tuple[type[np.number], type[np.number]] = (np.float32, np.float32)
        if whole:
            narrow = self._largest <= np.iinfo(np.int16).max
            narrow &= self._best or TOGETHER * self._largest <= np.iinfo(np.uint16).max
            types = (np.int16 if narrow else np.int32, np.int32)
        bits = self._largest_pooled.bit_length()
        unit = 1.0 if whole else float(BYTE)
        how = (
            self._best,
            unit / 2.0 ** (bits - 16) if self._root else 0.0,
            strength_of(self.threshold, self.exact),
            self.threshold is not None,
            self._unit_norm,
            1.0 if self._root else unit / 2.0 ** max(0, bits - 8),
            self.exact,
        )
        return types, how

    @property
    def in_bytes(self) -> bool:
        """Whether the activity of units is in bytes."""
        return self._activity is np.uint8

    def plan(self) -> dict[str, int]:
        """The numbers that another implementation needs, beside `layout` and `inputs`: as below, or all drawn anew."""
        bits = self._largest_pooled.bit_length()
        return {
            "places": self.layout.n_places,
            "stride": self.layout.padded[1],
            "rows": self.layout.rows,
            "columns": self.layout.columns,
            "window_height": self._window[0],
            "window_width": self._window[1],
            "oriented": int(self._oriented),
            "excitatory": self._n_excitatory,
            "best": int(self._best),
            "root": int(self._root),
            "root_shift": bits - 16,
            "shift": 0 if self._root else max(0, bits - 8),
            "thresholded": int(self.threshold is not None),
            "strength": int(strength_of(self.threshold, True)),
            "largest": BYTE if self._root else max(self._largest, self._largest_pooled),
        }

    @property
    def nbytes(self) -> int:
        arrays = [self.inputs, self._places, self._for_blocks[2], *self._for_one[2:4]]
        arrays += [] if self._for_one[0] is self.inputs else [self._for_one[0]]
        return sum(array.nbytes for array in arrays)


def _checked_window(layout: Layout, window: int, n_connections: int) -> tuple[int, int]:
    """Height and width of a window, if there is room for it and for K inputs in it."""
    size = layout.window(window)
    if window < 1 or size[0] > layout.height or size[1] > layout.width:
        least = layout.width if "t" in layout.axes else min(layout.height, layout.width)
        raise ConfigError(f"window is {window}: expected 1 to {least}, the smallest side of a sample")
    room = layout.channels * prod(size)
    if not 1 <= n_connections <= room:
        raise ConfigError(f"a unit has {n_connections} inputs: expected 1 to {room}, which its window holds")
    return size


def _block_offsets(layout: Layout) -> NDArray[np.int64]:
    """The shifts as offsets between places, row by row."""
    rows = np.arange(layout.rows, dtype=np.int64)[:, np.newaxis] * layout.padded[1]
    return (rows + np.arange(layout.columns)).reshape(1, -1)


def _one_offsets(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """(where the shifts of a place begin, PLACES at a time; how many of them there are; the distance of two places, as
    a power of two).

    Few shifts lie side by side, in an array of their own; many are taken from the sample itself, row by row."""
    n_shifts = layout.rows * layout.columns
    if layout.rows > 1 and layout.columns <= FEW_COLUMNS:
        starts = np.arange(0, n_shifts, PLACES, dtype=np.int64)
        return starts, np.minimum(PLACES, n_shifts - starts), (PLACES * starts.size - 1).bit_length()
    columns = np.arange(0, layout.columns, PLACES, dtype=np.int64)
    rows = np.arange(layout.rows)[:, np.newaxis] * layout.padded[1]
    return (rows + columns).ravel(), (0 * rows + np.minimum(PLACES, layout.columns - columns)).ravel(), 0


def _items(inputs: NDArray, n_places: int, shift: int) -> NDArray:
    """Where the inputs begin in the array that a single sample is laid out in."""
    if not shift:
        return inputs
    items: type[np.unsignedinteger] = np.uint16 if n_places << shift <= 1 << 16 else np.uint32
    return np.left_shift(inputs, shift, dtype=items)


def _stored(summed: type[np.number], shift: int) -> type[np.number]:
    """What a single sample is kept as; bytes where many shifts make loading what takes longest."""
    return np.uint8 if summed is np.int16 and not shift else summed


class WindowsWorkspace:
    """Scratch memory of one thread, made when first needed."""

    def __init__(self, n_units: int, activity: type[np.number]) -> None:
        self.active = make_active(n_units, dtype=activity)
        self._n_units = n_units
        self._scratch: dict[tuple[str, type], tuple] = {}

    def block(self, layout: Layout, x: type[np.number], response: type[np.number]) -> tuple:
        key = ("block", x)
        if key not in self._scratch:
            self._scratch[key] = (
                aligned((layout.n_places, LANES), x),
                aligned((self._n_units, LANES), response),
                limits(response),
                aligned((2 * LANES, LANES), np.float64),
                np.empty(self._n_units, np.uint32),
                np.empty(self._n_units, np.uint32),
            )
        return self._scratch[key]

    def one(self, layout: Layout, shift: int, x: type[np.number], response: type[np.number]) -> tuple:
        key = ("one", x)
        if key not in self._scratch:
            self._scratch[key] = (
                np.zeros(layout.n_places + PLACES, x),
                aligned((layout.n_places << shift if shift else 0,), x),
                (layout.channels, layout.height, layout.width, *layout.padded),
                aligned((-(-self._n_units // LANES), LANES), response),
                limits(response),
            )
        return self._scratch[key]

    @property
    def nbytes(self) -> int:
        arrays = [item for items in self._scratch.values() for item in items if isinstance(item, np.ndarray)]
        return sum(array.nbytes for array in (*arrays, *self.active))
