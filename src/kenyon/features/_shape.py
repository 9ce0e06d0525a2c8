"""How a sample with a shape lies in memory: channel by channel, with a border of zeros for the shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, unknown

AXES = ("t", "hw", "tc", "ct", "hwc", "chw")
"""The kinds of samples: series over time and images, without channels or with them last or first."""

MOST_PLACES = 1 << 24
"""Places of a sample with its border: enough for any picture, and what a slip of the keyboard may not pass."""

MOST_CHANNELS = 4
"""Where the axes are left open, a first axis this long at most is taken for channels, if the last is longer."""


@dataclass(frozen=True)
class Layout:
    """A sample of `channels` planes. A series is a plane of height 1, which has no shifts up and down.

    Example:
        >>> layout = layout_of((28, 28), "hw", shifts=1)
        >>> layout.channels, layout.padded, layout.window(6)
        (1, (30, 30), (6, 6))
    """

    axes: str
    channels: int
    height: int
    width: int
    rows: int
    columns: int
    """How many shifts there are up and down, and to the sides."""

    @property
    def padded(self) -> tuple[int, int]:
        """Height and width of a plane with its border."""
        return self.height + self.rows - 1, self.width + self.columns - 1

    @property
    def n_places(self) -> int:
        """Places of all planes, border included."""
        return self.channels * prod(self.padded)

    def places(self) -> NDArray[np.int32]:
        """The place of each input of a sample."""
        height, width = self.padded
        planes = np.arange(self.n_places, dtype=np.int32).reshape(self.channels, height, width)
        top, left = self.rows // 2, self.columns // 2
        inner = planes[:, top : top + self.height, left : left + self.width]
        order = ["chw".index("w" if axis == "t" else axis) for axis in self.axes]
        return np.ascontiguousarray(inner.transpose(order + [axis for axis in range(3) if axis not in order]).ravel())

    def window(self, size: int) -> tuple[int, int]:
        """Height and width of a window of this size."""
        return (1, size) if "t" in self.axes else (size, size)


def layout_of(shape: Sequence[int], axes: str | None, shifts: int, n_inputs: int | None = None) -> Layout:
    """The layout of samples of a shape.

    Args:
        shape: entries along each axis.
        axes: one of AXES; None to tell by the shape.
        shifts: r, how far a window may be shifted along each axis.
        n_inputs: width of a sample, where it is known.

    Example:
        >>> layout_of((3, 32, 32), None, shifts=1).axes
        'chw'
    """
    sizes = tuple(shape)
    if not sizes or not all(isinstance(size, (int, np.integer)) and size > 0 for size in sizes):
        raise ConfigError(f"shape is {shape!r}: expected positive integers, such as (28, 28) or (32, 32, 3)")
    if n_inputs is not None and prod(sizes) != n_inputs:
        raise ConfigError(
            f"shape {sizes} has {prod(sizes)} entries, a sample has {n_inputs}: expected a shape with as many entries"
        )
    if axes is None:
        axes = _axes_of(sizes)
    elif axes not in AXES:
        raise unknown("axes", axes, AXES)
    if len(axes) != len(sizes):
        raise ConfigError(f"axes are {axes!r} and shape is {sizes}: expected {len(axes)} numbers, one for each axis")
    size = {"c": 1, "h": 1, "w": 1} | {
        "w" if axis == "t" else axis: int(n) for axis, n in zip(axes, sizes, strict=True)
    }
    side = 2 * shifts + 1
    layout = Layout(axes, size["c"], size["h"], size["w"], 1 if "t" in axes else side, side)
    if shifts > max(layout.height, layout.width) or layout.n_places > max(MOST_PLACES, 2 * prod(sizes)):
        raise ConfigError(
            f"shifts is {shifts}, which makes {layout.n_places:,} places of a sample of shape {sizes}: expected no "
            f"more than its longest side, and at most {MOST_PLACES:,} places"
        )
    return layout


def _axes_of(sizes: tuple[int, ...]) -> str:
    if len(sizes) > 3:
        raise ConfigError(f"shape is {sizes}: expected one to three axes, such as (28, 28) or (32, 32, 3)")
    if len(sizes) < 3:
        return "t" if len(sizes) == 1 else "hw"
    return "chw" if sizes[0] <= MOST_CHANNELS < sizes[2] else "hwc"
