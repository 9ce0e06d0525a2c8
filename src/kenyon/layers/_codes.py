"""The random codes by which a hidden layer is taught."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon import core


def code_of(number: int, n_hidden: int, width: int, seed: int) -> NDArray[np.uint8]:
    """The code of a class: half of the neurons are 1, the others and the padding up to `width` 0."""
    row = np.zeros(width, np.uint8)
    core.draw_code(seed, number, n_hidden // 2, np.empty(n_hidden, np.uint32), row[:n_hidden])
    return row


def more_codes(codes: NDArray, n: int, n_hidden: int, seed: int) -> NDArray:
    """The codes of the classes so far, a row each, and those of n more classes."""
    before, width = codes.shape
    more = [code_of(number, n_hidden, width, seed) for number in range(before, before + n)]
    return np.concatenate([codes, np.array(more, codes.dtype).reshape(n, width)])
