"""Tiny ImageNet: 200 classes of photographs, 64 x 64 in colour, 500 of each for training and 50 for testing.

`wnids.txt` names the classes, `train/WNID/images/*.JPEG` are the training images. The published test images have no
labels, so those for validation are the test set, as in the literature: `val/images/`, and `val/val_annotations.txt`,
where a line has a file name, a WNID and a box. Images are decoded once into the cache folder. Needs Pillow.

Reference: Le and Yang, "Tiny ImageNet visual recognition challenge", 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kenyon.data.streams._dataset import Split
from kenyon.data.streams._images import decode_images
from kenyon.data.streams._reading import reading
from kenyon.errors import DataError

SHAPE = (3, 64, 64)


def read_tiny_imagenet(files: Sequence[Path], cache: Path | None) -> Split:
    """The training images; `files` is `wnids.txt`. Classes are numbered in the order of their sorted names."""
    images: list[Path] = []
    labels: list[int] = []
    for label, name in enumerate(_classes(files[0])):
        folder = files[0].parent / "train" / name / "images"
        own = sorted(folder.glob("*.JPEG"))
        if not own:
            raise DataError(f"{folder} holds no image: expected files *.JPEG")
        images += own
        labels += [label] * len(own)
    return _split(images, labels, cache)


def read_tiny_imagenet_test(files: Sequence[Path], cache: Path | None) -> Split:
    """The images for validation; `files` is `val/val_annotations.txt`."""
    folder = files[0].parent
    numbers = {name: label for label, name in enumerate(_classes(folder.parent / "wnids.txt"))}
    images: list[Path] = []
    labels: list[int] = []
    with reading(files[0], "cannot be read"):
        lines = files[0].read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        name, _, rest = line.partition("\t")
        wnid = rest.split("\t")[0]
        if wnid not in numbers or Path(name).name != name:
            raise DataError(f"{files[0]}, line {number}: {line[:80]!r} is no file name and class of wnids.txt")
        images.append(folder / "images" / name)
        labels.append(numbers[wnid])
    return _split(images, labels, cache)


def _classes(wnids: Path) -> list[str]:
    with reading(wnids, "cannot be read"):
        names = sorted(wnids.read_text(encoding="utf-8").split())
    if strange := next((name for name in names if not name.isalnum()), None):
        raise DataError(f"{wnids} names the class {strange!r}: expected letters and digits")
    return names


def _split(images: list[Path], labels: list[int], cache: Path | None) -> Split:
    return Split(decode_images(images, SHAPE, cache), np.array(labels, np.int64))
