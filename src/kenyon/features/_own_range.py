"""Images in numbers other than bytes: each sample becomes bytes by its own range.

    byte_i = round(255 (u_i - low) / (high - low)),    high = max u,    low = min u, or 0 where 0 <= min u <= max u / 2

Whether pixels run from 0 to 1, from -1 to 1 or from 0 to 4095 cannot be known from the first sample, and a range that
moved with the stream would leave what was learned before in other units. The range of a sample is known at once and
does not depend on any other sample. Zero, where it is near, is black: a dark pixel of a positive image stays dark. A
sample without contrast is zero throughout.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def as_bytes(samples: NDArray) -> NDArray[np.uint8]:
    """Samples as bytes, each by its own range; samples that are bytes already are left alone.

    Example:
        >>> import numpy as np
        >>> as_bytes(np.array([[0.0, 0.5, 1.0], [-1.0, 0.0, 1.0], [300.0, 310.0, 320.0]])).tolist()
        [[0, 128, 255], [0, 128, 255], [0, 128, 255]]
        >>> as_bytes(np.array([[30.0, 51.0, 255.0]])).tolist()
        [[30, 51, 255]]
    """
    if samples.dtype == np.uint8:
        return samples
    values = samples.astype(np.float64)
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    low[(low >= 0) & (2 * low <= high)] = 0
    width = high - low
    values -= low
    values *= 255
    np.divide(values, width, out=values, where=width > 0)
    return np.rint(values).astype(np.uint8)
