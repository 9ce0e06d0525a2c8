"""Arrays as the kernels like them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

CACHE_LINE = 64

FEW = 8
"""Up to this many samples go one by one, which is quicker than a block that is mostly empty."""


def aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
    """An array of zeros that starts on a cache line, so that no row of whole vectors straddles two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + size].view(dtype).reshape(shape)
