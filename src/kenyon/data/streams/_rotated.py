"""Images turned about their middle, for tasks that differ by a rotation.

Task k of T turns every image by 180 k / T degrees, counter-clockwise; the first task leaves it as it is. A pixel is
interpolated between the four around the place it comes from, and is the lowest value where that lies outside.

Reference: Lopez-Paz & Ranzato, Gradient episodic memory for continual learning, 2017 (MNIST rotations).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError

HALF_TURN = 180.0


def check_images(shape: tuple[int, ...], name: str) -> None:
    """Refuse samples that cannot be turned."""
    if len(shape) not in (2, 3):
        raise ConfigError(f"scenario is 'rotated' and samples of {name!r} have shape {shape}: expected images")


def rotated(X: NDArray, shape: tuple[int, ...], degrees: float, outside: float) -> NDArray:
    """Flat images, turned; `outside` is the value beyond their edges."""
    if degrees % 360 == 0:
        return X
    height, width = shape[-2:]
    images = X.reshape(len(X), -1, height * width)
    turn = np.deg2rad(degrees)
    row, column = np.divmod(np.arange(height * width), width)
    dy, dx = row - (height - 1) / 2, column - (width - 1) / 2
    from_y = np.cos(turn) * dy + np.sin(turn) * dx + (height - 1) / 2
    from_x = np.cos(turn) * dx - np.sin(turn) * dy + (width - 1) / 2
    y0, x0 = np.floor(from_y).astype(int), np.floor(from_x).astype(int)
    out = np.zeros(images.shape, np.float32)
    for y, wy in ((y0, y0 + 1 - from_y), (y0 + 1, from_y - y0)):
        for x, wx in ((x0, x0 + 1 - from_x), (x0 + 1, from_x - x0)):
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            place = np.where(inside, y * width + x, 0)
            values = np.where(inside, images[:, :, place], np.float32(outside))
            out += (wy * wx).astype(np.float32) * values
    flat = out.reshape(X.shape)
    return np.rint(flat).astype(np.uint8) if X.dtype == np.uint8 else flat.astype(X.dtype)
