"""From images as a data set holds them to what a network takes in: colour, size, normalisation.

    pixel in 0 .. 255  ->  three channels, (pixel - mean) / std  ->  resized to resolution x resolution

Resizing is linear and separable, so an image is resized by two small matrices, `A image B^T`, a block
of images at a time. When shrinking, the kernel is widened by the ratio so that no pixel is skipped,
as image libraries do; when enlarging this is plain bilinear (or bicubic) interpolation between
pixel centres. An image that is not square is scaled to a square.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError, unknown

Triple = tuple[float, float, float]

NORMALISATIONS: dict[str, tuple[Triple, Triple]] = {
    "imagenet": ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)),
    "caffe": ((123.68, 116.779, 103.939), (1.0, 1.0, 1.0)),
    "tensorflow": ((127.0, 127.0, 127.0), (128.0, 128.0, 128.0)),
    "unit": ((0.0, 0.0, 0.0), (255.0, 255.0, 255.0)),
    "none": ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
}
"""Mean and standard deviation of each channel, on the scale of 0 to 255."""

GREYSCALE = ("refuse", "repeat")


def _box(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return ((x > -0.5) & (x <= 0.5)).astype(np.float64)


def _triangle(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(0.0, 1.0 - np.abs(x))


def _cubic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keys' kernel with a = -1/2."""
    x = np.abs(x)
    near = (1.5 * x - 2.5) * x * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


INTERPOLATIONS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "nearest": _box,
    "bilinear": _triangle,
    "bicubic": _cubic,
}


def resize_matrix(size: int, wanted: int, interpolation: str) -> NDArray[np.float32]:
    """The `(wanted, size)` matrix that resizes a row of pixels; each of its rows sums to 1."""
    ratio = size / wanted
    widen = 1.0 if interpolation == "nearest" else max(1.0, ratio)
    centres = (np.arange(wanted, dtype=np.float64)[:, None] + 0.5) * ratio - 0.5
    if interpolation == "nearest":
        centres = np.asarray(np.floor(centres + 0.5))  # the pixel whose area holds the centre
    weights = INTERPOLATIONS[interpolation]((centres - np.arange(size)) / widen)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def find_normalisation(value: Any) -> tuple[Triple, Triple]:
    """Mean and standard deviation from a name of `NORMALISATIONS` or `[[r, g, b], [r, g, b]]`."""
    if isinstance(value, str):
        if value not in NORMALISATIONS:
            raise unknown("normalisation", value, NORMALISATIONS)
        return NORMALISATIONS[value]
    try:
        pair = np.array(value, np.float64)
    except (TypeError, ValueError):
        pair = np.empty(0)
    if pair.shape != (2, 3) or not np.isfinite(pair).all() or (pair[1] <= 0).any():
        raise ConfigError(
            f"normalisation is {value!r}: expected {', '.join(NORMALISATIONS)}, or the mean and the (positive) "
            "standard deviation of three channels on the scale of 0 to 255, [[r, g, b], [r, g, b]]"
        )
    mean, std = pair.tolist()
    return tuple(mean), tuple(std)


def check_shape(shape: Sequence[int], greyscale: str) -> tuple[int, int, int]:
    """Channels, height and width of an image that a backbone can take in, or the error that says why not."""
    if len(shape) == 3 and shape[0] == 3:
        return 3, int(shape[1]), int(shape[2])
    grey = len(shape) == 2 or (len(shape) == 3 and shape[0] == 1)
    if grey and greyscale == "repeat":
        return 1, int(shape[-2]), int(shape[-1])
    if grey:
        raise InputError(
            f"the images are grey, of shape {tuple(shape)}: a backbone takes three channels. "
            "Choose greyscale = 'repeat' to show it the same picture in each of them"
        )
    raise InputError(
        f"the samples have shape {tuple(shape)}: a backbone takes images of shape (3, height, width), or grey ones "
        "of shape (height, width) with greyscale = 'repeat'"
    )


class ImagePipeline:
    """Flat images in, the network's input out.

    Args:
        shape: of an image, `(3, height, width)`, or `(height, width)` if greyscale is "repeat".
        value_range: darkest and brightest value a pixel can take; scaled to 0 .. 255.
        resolution: height and width of the result.
        interpolation: a key of `INTERPOLATIONS`.
        normalisation: mean and standard deviation of each channel.
        greyscale: "refuse", or "repeat" to use a grey image for all three channels.
    """

    def __init__(
        self,
        shape: Sequence[int],
        value_range: tuple[float, float],
        resolution: int,
        interpolation: str,
        normalisation: tuple[Triple, Triple],
        greyscale: str = "refuse",
    ) -> None:
        self._channels, self._height, self._width = check_shape(shape, greyscale)
        low, high = value_range
        mean, std = (np.array(values, np.float64) for values in normalisation)
        to_byte = 255.0 / (high - low)
        self._scale = (to_byte / std).astype(np.float32)[:, None, None]
        self._shift = ((-low * to_byte - mean) / std).astype(np.float32)[:, None, None]
        self._rows = self._columns = None
        if (self._height, self._width) != (resolution, resolution):
            self._rows = np.ascontiguousarray(resize_matrix(self._height, resolution, interpolation).T)
            self._columns = np.ascontiguousarray(resize_matrix(self._width, resolution, interpolation).T)

    def __call__(self, X: NDArray) -> NDArray[np.float32]:
        """(n, pixels) to (n, 3, resolution, resolution)."""
        pixels = self._channels * self._height * self._width
        if X.ndim != 2 or X.shape[1] != pixels:
            raise InputError(f"images of shape {X.shape} were given: expected (n, {pixels}), one flat image a row")
        # normalised first, which is the same since resizing keeps a constant, and cheaper while the image is small
        images = X.reshape(len(X), self._channels, self._height, self._width) * self._scale + self._shift
        if self._rows is not None and self._columns is not None:
            # each step is one large product over all images, many times quicker than a small one for each
            tall = _last_axis(images.swapaxes(2, 3), self._rows)
            images = _last_axis(tall.swapaxes(2, 3), self._columns)
        return images


def _last_axis(images: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply the last axis by a matrix."""
    flat = np.ascontiguousarray(images).reshape(-1, images.shape[-1])
    return (flat @ matrix).reshape(*images.shape[:-1], matrix.shape[1])
