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

Bytes give integers throughout: the root is rounded down, and the integer `a` is the least such that it never
passes 255, whatever the sample. Other numbers become bytes by each sample's own range with `own_range`
(`_own_range.py`); else they are summed in float32 and read as bytes divided by 255: v = sqrt(255 p / 2^a).

With `exact` everything is in integers, from bytes on. The threshold is then worked out from the sum T
and the sum of squares S of v over the n units, with B the integer nearest to 2^12 beta (isqrt and // round down):

    mu + beta sigma  becomes  (2^12 T + B isqrt(n S - T^2)) // (2^12 n)

Activity is float32, scaled to length 1 with `unit_norm`; or bytes, without a scaling of their own:

    x_u = min(255, floor((v_u - floor(mu + beta sigma)) / 2^b))           of bytes
    x_u = min(255, floor(c (v_u - mu - beta sigma) / 2^b))                of floats

with b = 0 and c = 1 for roots; else c = 255, and b is the least number such that p / 2^b of bytes never passes 255.
Units whose byte is zero are not active.

Nothing is stored but the seed: places, inputs and signs are drawn from it (`draw_windows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.core import LANES
from kenyon.errors import ConfigError
from kenyon.features._base import (
    FEW,
    Active,
    Case,
    FeaturesPart,
    Setting,
    Workspace,
    aligned,
    check_bytes,
    check_exact,
    make_active,
    n_connections,
    strength_of,
)
from kenyon.features._own_range import as_bytes
from kenyon.features._shape import Layout, layout_of
from kenyon.utils.options import Auto, option

GREY, COLOUR = (6 / 28, 5 / 28, "oriented"), (4 / 32, 6 / 32, "random")
"""Windows of images before a second-order layer: window and shifts as a share of the shorter side, signs."""
LOCAL = (10 / 28, 2 / 28, "random")
"""Windows of images before a plastic layer, whose units compete by their best response."""
SERIES = (1 / 8, 1 / 8, "random")
"""Windows of series, as a share of their length."""
THRESHOLD, CONNECTIONS = 1.6, 16
BYTE = 255

MOST_TOGETHER = 16
"""Rows of shifts that are put side by side for single samples, at most."""

SLACK = 64
"""Items behind a sample that a vector may reach, of which it takes nothing."""


@dataclass(frozen=True, repr=False)
class Windows(FeaturesPart):
    """Units that look through a window of a sample with a shape: for images and series.

    Example:
        >>> Windows(shape=(28, 28), window=6)
        Windows(shape=(28, 28), window=6)
    """

    name: ClassVar[str] = "windows"

    shape: Sequence[int] | Auto = option(
        "auto", "Shape of a sample, such as (28, 28); 'auto' is the classifier's shape.", "shape", auto=True
    )
    units: int | Auto = option("auto", "Units; 'auto' is the classifier's n_hidden.", "integer", auto=True)
    window: int | Auto = option(
        "auto", "Entries of a window along time, or height and width; 'auto' goes with the shape.", "integer", auto=True
    )
    shifts: int | Auto = option(
        "auto", "How far a window may be shifted along each axis; 'auto' goes with the shape.", "integer", low=0,
        auto=True,
    )  # fmt: skip
    density: float | int | Auto = option(
        "auto",
        "Inputs of each unit: a share of the window's inputs (a fraction) or a count (an integer); 'auto' is 16 at the "
        "most.",
        "share", auto=True,
    )  # fmt: skip
    inhibitory: float = option(0.5, "Share of a unit's inputs that inhibit it.", "number", low=0.0, high=1.0)
    threshold: float | Auto | None = option(
        "auto",
        "Threshold in standard deviations of the sample's own responses; 'auto' is 1.6, and None before a second-order "
        "layer.",
        "number", low=-100.0, high=100.0, auto=True, off=True,
    )  # fmt: skip
    pooling: Literal["auto", "max", "sum"] = option(
        "auto",
        "What a unit answers with: the best response over the shifts, or the sum of the positive ones; 'auto' is max, "
        "and sum before a second-order layer.",
        "choice", auto=True,
    )  # fmt: skip
    signs: Literal["auto", "random", "oriented"] = option(
        "auto",
        "Signs of a window's inputs: random, or oriented along a line; 'auto' is random, and oriented before a "
        "second-order layer where there is one channel.",
        "choice", auto=True,
    )  # fmt: skip
    root: bool | Auto = option(
        "auto",
        "Take the square root of the pooled response; 'auto' is True before a second-order layer, with sums.",
        "flag", auto=True,
    )  # fmt: skip

    def settled(self, case: Case) -> Windows:
        layout, second = case.layout, case.second_order
        if layout is None:
            return self
        series = "t" in layout.axes
        window, shifts, signs = SERIES if series else LOCAL if not second else COLOUR if layout.channels > 1 else GREY
        side = layout.width if series else min(layout.height, layout.width)
        chosen: dict[str, Any] = {
            "window": max(min(2, side), round(side * window)),
            "shifts": max(1 if side > 2 else 0, round(side * shifts)),
            "pooling": "sum" if second else "max",
            "signs": signs,
            "threshold": None if second else THRESHOLD,
        }
        part = replace(self, **{name: value for name, value in chosen.items() if getattr(self, name) == "auto"})
        return replace(
            part,
            shape=tuple(case.shape or ()),
            root=second and part.pooling == "sum" if part.root == "auto" else part.root,
            density=n_connections(part.density, part.n_window_inputs(layout), CONNECTIONS),
        )

    def build(self, setting: Setting) -> WindowUnits:
        return WindowUnits(self, setting)

    def n_window_inputs(self, layout: Layout) -> int:
        """How many inputs a window holds, all channels included."""
        height, width = layout.window(int(self.window))
        return layout.channels * min(height, layout.height) * min(width, layout.width)

    @property
    def nested(self) -> bool:
        return self.threshold is None

    def table_bytes(self, setting: Setting) -> int:
        oriented = self.signs == "oriented"  # all inputs of the window are sorted for each unit
        layout = layout_of(setting.shape or (), setting.axes, 0, setting.n_inputs)
        return 4 * int(self.units) * (self.n_window_inputs(layout) if oriented else int(self.density))


class WindowUnits:
    """Samples of a shape to sparse units, each with a window of its own.

    Args:
        part: with no option left open.
        setting: what it is built for. Integers throughout need bytes, or images that become bytes by their own range.

    Example:
        >>> import numpy as np
        >>> part = Windows((8, 8), 500, 4, 1, 4, threshold=None, signs="random", pooling="max", root=False)
        >>> features = part.build(Setting(n_inputs=64))
        >>> units, values, counts = features.activate(np.arange(64, dtype=np.uint8)[None, :], features.workspace())
        >>> bool(counts[0] > 0)
        True
    """

    def __init__(self, part: Windows, setting: Setting) -> None:
        settled: Any = part
        n_units, n_connections, shifts = settled.units, int(settled.density), settled.shifts
        exact, threshold, root = setting.integer, settled.threshold, settled.root
        self.layout = layout = layout_of(settled.shape, setting.axes, shifts, setting.n_inputs)
        size = _checked_window(layout, settled.window, n_connections)
        self.n_outputs, self.seed = n_units, setting.seed
        self._window, self._oriented = size, part.signs == "oriented"
        self._best, self._root = part.pooling == "max", root
        self._activity: type[np.number] = np.uint8 if setting.in_bytes else np.float32
        self.threshold, self._unit_norm, self.exact = threshold, setting.unit_norm, exact
        self.own_range = setting.own_range
        self._n_excitatory = n_connections - round(part.inhibitory * n_connections)
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
        window_inputs = layout.channels * prod(size)
        planes = (layout.channels, layout.height, layout.width)
        drawn = (np.empty(window_inputs, np.int64), np.empty(window_inputs, np.uint32), self.inputs)
        core.draw_windows(setting.seed, *planes, *size, self._oriented, self._n_excitatory, *layout.padded, *drawn)
        self._together = _together(layout.rows)
        self._items = _times(self.inputs, layout.n_places, self._together)
        self._places, self._turned = layout.places(), _turned(layout) if self._together > 1 else layout.places()
        self._arithmetics = {np.dtype(dtype): self._arithmetic(dtype) for dtype in (np.uint8, np.float32)}

    def workspace(self) -> Workspace:
        return Workspace(make_active(self.n_outputs, dtype=self._activity))

    def prepare(self) -> None:
        """Nothing to prepare."""

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        if self.own_range:
            samples = as_bytes(samples)
        if self.exact:
            check_bytes(samples)
        types, for_blocks, for_one = self._arithmetics[samples.dtype]
        if len(samples) > FEW:
            core.windows_block(samples, for_blocks, workspace.pack(self._block_scratch, *types))
        else:
            core.windows_one(samples, for_one, workspace.pack(self._one_scratch, *types))
        return workspace.active

    def _block_scratch(self, x: type[np.number], response: type[np.number]) -> tuple[NDArray, ...]:
        return aligned((self.layout.n_places, LANES), x), aligned((self.n_outputs, LANES), response)

    def _one_scratch(self, x: type[np.number], response: type[np.number]) -> tuple[NDArray, ...]:
        layout, together = self.layout, self._together
        plane = aligned((layout.n_places + SLACK,), x)
        image = aligned((layout.n_places * together + SLACK if together > 1 else 0,), x)
        pooled = aligned((8 * layout.rows * (layout.columns + SLACK) if x is np.float32 else 0,), np.float32)
        return plane, image, pooled, aligned((-(-self.n_outputs // LANES), LANES), response)

    def _arithmetic(
        self, dtype: type[np.number]
    ) -> tuple[tuple[type[np.number], type[np.number]], core.Pack, core.Pack]:
        """(types of inputs and of responses; what blocks and single samples are handed)."""
        of_bytes = dtype is np.uint8
        types: tuple[type[np.number], type[np.number]] = (np.float32, np.float32)
        if of_bytes:
            types = (np.int16 if self._largest <= np.iinfo(np.int16).max else np.int32, np.int32)
        bits = self._largest_pooled.bit_length()
        unit = 1.0 if of_bytes else float(BYTE)
        layout, root = self.layout, unit / 2.0 ** (bits - 16) if self._root else 0.0
        shifts = core.pack(self._n_excitatory, layout.rows, layout.columns, layout.padded[1], self._best, root)
        rule = core.pack(
            strength_of(self.threshold, self.exact),
            self.threshold is not None,
            self._unit_norm,
            1.0 if self._root else unit / 2.0 ** max(0, bits - 8),
            self.exact,
        )
        for_blocks = core.pack(self.inputs, shifts, self._places, rule)
        for_one = core.pack(self._items, shifts, self._turned, rule, layout.channels, layout.padded[0], self._together)
        return types, for_blocks, for_one

    @property
    def in_bytes(self) -> bool:
        """Whether the activity of units is in bytes."""
        return self._activity is np.uint8

    def plan(self) -> dict[str, int]:
        """The numbers that another implementation needs, beside `layout` and `inputs`: as below, or all redrawn."""
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
        tables = [self.inputs, self._places] + ([self._items, self._turned] if self._together > 1 else [])
        return sum(table.nbytes for table in tables)


def _checked_window(layout: Layout, window: int, n_connections: int) -> tuple[int, int]:
    """Height and width of a window, if it fits into the sample and holds K inputs."""
    size = layout.window(window)
    if window < 1 or size[0] > layout.height or size[1] > layout.width:
        least = layout.width if "t" in layout.axes else min(layout.height, layout.width)
        raise ConfigError(f"window is {window}: expected 1 to {least}, the smallest side of a sample")
    held = layout.channels * prod(size)
    if not 1 <= n_connections <= held:
        raise ConfigError(f"a unit has {n_connections} inputs: expected 1 to {held}, which its window holds")
    return size


def _together(rows: int) -> int:
    """How many rows of shifts single samples have side by side: the largest number that divides them all."""
    return max(n for n in range(1, MOST_TOGETHER + 1) if rows % n == 0)


def _times(inputs: NDArray, n_places: int, together: int) -> NDArray:
    """Where the inputs begin in the array that a single sample is laid out in."""
    if together == 1:
        return inputs
    items: type[np.unsignedinteger] = np.uint16 if n_places * together <= 1 << 16 else np.uint32
    return inputs.astype(items) * items(together)


def _turned(layout: Layout) -> NDArray[np.int32]:
    """The place of each input of a sample whose planes lie column by column."""
    height, width = layout.padded
    plane, place = np.divmod(layout.places(), height * width)
    row, column = np.divmod(place, width)
    return (plane * width + column) * height + row
