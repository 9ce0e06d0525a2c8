"""A folder of images as a data set, with one subfolder per class, in `train/` and `test/` or directly.

Grey images become `(height, width)` bytes, others `(3, height, width)`. A set of more than `IN_MEMORY` bytes is
decoded once into the cache folder and memory-mapped.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._arrays import from_arrays
from kenyon.data.streams._cache import cached_file
from kenyon.data.streams._dataset import Dataset
from kenyon.data.streams._reading import check_name, reading
from kenyon.errors import DataError, require

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
IN_MEMORY = 64 << 20
_GREY = ("1", "L", "LA")


def read_image_folder(path: Path, cache: Path, test_share: float = 0.2, fewest_classes: int = 2) -> Dataset:
    """The images below `path`; needs Pillow (the extra "data").

    Args:
        path: a folder of class folders, or a folder with `train/` and perhaps `test/` that hold them.
        cache: where decoded images are kept when there are many.
        test_share: the share of every class that is kept for testing where there is no `test/`.
        fewest_classes: fewer are refused.
    """
    pillow = require("PIL.Image", "data", "reading images")
    train_root = path / "train" if (path / "train").is_dir() else path
    test_root = path / "test" if train_root != path and (path / "test").is_dir() else None
    classes = _classes(train_root, fewest_classes)
    train = _files(train_root, classes)
    test = _files(test_root, _classes(test_root, fewest_classes)) if test_root else []
    if strange := sorted({file.parent.name for file in test} - set(classes)):
        raise DataError(f"{test_root} has the class {strange[0]!r}, which {train_root} has not")
    shape = _common_shape(pillow, [*train, *test])
    parts: list[Any] = []
    for files in (train, test) if test else (train,):
        parts += [decode_images(files, shape, cache), [classes.index(file.parent.name) for file in files]]
    return from_arrays(*parts, name=path.name, shape=shape, class_names=classes, test_share=test_share)


def _classes(root: Path, fewest: int) -> list[str]:
    names = sorted(entry.name for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    for name in names:
        check_name(root, "", name)
    if len(names) < fewest:
        raise DataError(
            f"{root} has {len(names)} class folders: expected a folder of images for each of two classes or more"
        )
    return names


def _files(root: Path, classes: list[str]) -> list[Path]:
    found: list[Path] = []
    for name in classes:
        own = sorted(file for file in (root / name).iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
        if not own:
            raise DataError(f"{root / name} holds no image ({', '.join(SUFFIXES)})")
        found += own
    return found


def _common_shape(pillow: Any, files: list[Path]) -> tuple[int, ...]:
    """The shape that all images share, read from their headers."""
    first: tuple[int, int] | None = None
    colour = False
    for file in files:
        with reading(file, "cannot be read as an image"), _no_bombs(pillow), pillow.open(file) as image:
            size, mode = image.size, image.mode
        first = first or size
        if size != first:
            raise DataError(
                f"{file} is {size[0]} x {size[1]}, {files[0].name} is {first[0]} x {first[1]}: they must be of one size"
            )
        colour |= mode not in _GREY
    assert first is not None  # every class folder holds an image
    return (3, first[1], first[0]) if colour else (first[1], first[0])


@contextmanager
def _no_bombs(pillow: Any) -> Iterator[None]:
    """Refuse images that Pillow would only warn of as decompression bombs."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pillow.DecompressionBombWarning)
        yield


def decode_images(files: list[Path], shape: tuple[int, ...], cache: Path | None) -> NDArray[np.uint8]:
    """The pixels of images of one shape, grey or with three channels; mapped from the cache where there are many."""
    pillow = require("PIL.Image", "data", "reading images")
    width = int(np.prod(shape))

    def images() -> Iterator[NDArray[np.uint8]]:
        for file in files:
            with reading(file, "cannot be decoded"), _no_bombs(pillow), pillow.open(file) as image:
                pixels = np.asarray(image.convert("RGB" if len(shape) == 3 else "L"))
            if pixels.size != width:
                raise DataError(f"{file} has {pixels.size:,} bytes of pixels: expected {width:,}")
            yield (pixels.transpose(2, 0, 1) if len(shape) == 3 else pixels).ravel()

    def write(target: BinaryIO) -> None:
        for pixels in images():
            target.write(pixels.tobytes())

    if cache is not None and len(files) * width > IN_MEMORY:
        about = [(str(file.resolve()), (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files]
        digest = hashlib.sha256(repr((shape, about)).encode()).hexdigest()[:16]
        if kept := cached_file(cache, f"images-{digest}", write):
            return np.memmap(kept, np.uint8, "r", shape=(len(files), width))
    out = np.empty((len(files), width), np.uint8)
    for row, pixels in enumerate(images()):
        out[row] = pixels
    return out
