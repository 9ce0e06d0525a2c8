"""The handwritten digits inside the page: a stream to learn, task after task, and others to be asked about.

They are part of MNIST's training set (Yann LeCun and Corinna Cortes, Creative Commons Attribution-Share Alike 3.0), as
`digits.md` beside the file says; `tools/pack_digits.py` chose and packed them. The file is in zlib's format, which
browsers unpack by themselves: the labels of the stream, the labels of those held out, then all images in that order.
"""

from __future__ import annotations

import zlib
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIDE = 28
STREAM, HELD_OUT = 5_000, 1_000
TASKS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
"""The digits of each task of the stream, in its order."""


class Digits(NamedTuple):
    """Images (n, 784) and labels (n,) in bytes: those of the stream in its order, and those held out.

    Example:
        >>> digits = Digits(*load_digits())
        >>> len(digits.held_out_labels)
        1000
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    held_out_images: NDArray[np.uint8]
    held_out_labels: NDArray[np.uint8]


def packed_digits(shape: tuple[int, int] = (SIDE, SIDE)) -> bytes:
    """The file as it lies in the package and in the page, or the same digits in another size."""
    packed = files("kenyon.apps.teach").joinpath("digits.bin").read_bytes()
    if shape == (SIDE, SIDE):
        return packed
    digits = unpack(packed)
    images, held_out = (_resized(part, shape) for part in (digits.images, digits.held_out_images))
    return pack_digits(digits._replace(images=images, held_out_images=held_out))


def load_digits(shape: tuple[int, int] = (SIDE, SIDE)) -> Digits:
    """The digits that the page of a model for images of this shape replays.

    Example:
        >>> digits = load_digits()
        >>> digits.images.shape, sorted(set(digits.labels[:1000].tolist()))
        ((5000, 784), [0, 1])
    """
    return unpack(packed_digits(shape))


def pack_digits(digits: Digits) -> bytes:
    """The content of the file in the package.

    Example:
        >>> len(pack_digits(load_digits())) < 1_000_000
        True
    """
    parts = (digits.labels, digits.held_out_labels, digits.images, digits.held_out_images)
    return zlib.compress(b"".join(part.tobytes() for part in parts), 9)


def unpack(packed: bytes) -> Digits:
    """The inverse of `pack_digits`."""
    content = np.frombuffer(zlib.decompress(packed), np.uint8)
    labels, images = np.split(content, [STREAM + HELD_OUT])
    images = images.reshape(STREAM + HELD_OUT, -1)
    return Digits(images[:STREAM], labels[:STREAM], images[STREAM:], labels[STREAM:])


def _resized(images: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[np.uint8]:
    """Images in another size, every pixel the mean of what it covers."""
    down, across = _cover(shape[0]), _cover(shape[1])
    planes = images.reshape(-1, SIDE, SIDE).astype(np.float32)
    return np.rint(down @ planes @ across.T).astype(np.uint8).reshape(len(images), -1)


def _cover(size: int) -> NDArray[np.float32]:
    """(size, SIDE): the share that each of SIDE pixels has in each of `size` along one axis."""
    edges = np.arange(size + 1) * SIDE / size
    low, high = edges[:-1, np.newaxis], edges[1:, np.newaxis]
    old = np.arange(SIDE)
    overlap = np.clip(np.minimum(high, old + 1) - np.maximum(low, old), 0, None)
    return (overlap * size / SIDE).astype(np.float32)
