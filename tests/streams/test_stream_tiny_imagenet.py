"""Tiny ImageNet in its published layout, in small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kenyon.data.streams import _images, load_dataset
from kenyon.data.streams._sources import SOURCES
from kenyon.data.streams._tiny_imagenet import read_tiny_imagenet, read_tiny_imagenet_test
from kenyon.errors import DataError

WNIDS = ("n02", "n01")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two images of each of two classes for training, one of each for testing; each of one colour."""
    image = pytest.importorskip("PIL.Image")
    root = tmp_path / "tiny-imagenet-200"
    for at in ("val/images", *(f"train/{name}/images" for name in WNIDS)):
        (root / at).mkdir(parents=True)
    (root / "wnids.txt").write_text("".join(f"{name}\n" for name in WNIDS))
    for name, red in zip(WNIDS, (200, 100), strict=True):
        for k in range(2):
            image.new("RGB", (64, 64), (red + k, 0, 50)).save(root / "train" / name / "images" / f"{name}_{k}.JPEG")
    image.new("L", (64, 64), 30).save(root / "val/images/val_0.JPEG")
    image.new("RGB", (64, 64), (100, 0, 50)).save(root / "val/images/val_1.JPEG")
    (root / "val/val_annotations.txt").write_text("val_0.JPEG\tn02\t0\t0\t9\t9\nval_1.JPEG\tn01\t0\t0\t9\t9\n")
    return root


def test_reads_both_parts_with_classes_in_order(folder: Path, tmp_path: Path) -> None:
    train = read_tiny_imagenet([folder / "wnids.txt"], tmp_path / "cache")
    assert train.y.tolist() == [0, 0, 1, 1]
    planes = np.asarray(train.X).reshape(4, 3, 64 * 64)
    np.testing.assert_allclose(planes.mean(axis=2), [[100, 0, 50], [101, 0, 50], [200, 0, 50], [201, 0, 50]], atol=2)
    test = read_tiny_imagenet_test([folder / "val/val_annotations.txt"], None)
    assert test.y.tolist() == [1, 0]
    np.testing.assert_array_equal(np.asarray(test.X)[0], 30)  # grey in all channels


def test_many_images_are_decoded_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_images, "IN_MEMORY", 1)
    first = read_tiny_imagenet([folder / "wnids.txt"], tmp_path / "cache")
    (kept,) = [file for file in (tmp_path / "cache").iterdir() if file.suffix != ".lock"]
    again = read_tiny_imagenet([folder / "wnids.txt"], tmp_path / "cache")
    np.testing.assert_array_equal(first.X, again.X)
    assert kept.stat().st_size == 4 * 3 * 64 * 64 and isinstance(again.X, np.memmap)


def test_damage_is_named(folder: Path) -> None:
    annotations = folder / "val/val_annotations.txt"
    for text in ("val_0.JPEG\tn09\t0\n", "../val_0.JPEG\tn02\n", "no tabs\n"):
        annotations.write_text(text)
        with pytest.raises(DataError, match=r"val_annotations.txt, line 1: .* is no file name and class of wnids.txt"):
            read_tiny_imagenet_test([annotations], None)
    annotations.write_text("val_7.JPEG\tn02\n")
    with pytest.raises(DataError, match=r"val_7\.JPEG"):
        read_tiny_imagenet_test([annotations], None)
    (folder / "wnids.txt").write_text("n02\n../n01\n")
    with pytest.raises(DataError, match=r"wnids.txt names the class '../n01'"):
        read_tiny_imagenet([folder / "wnids.txt"], None)
    (folder / "wnids.txt").write_text("n02\nn03\n")
    with pytest.raises(DataError, match=r"n03.images holds no image: expected files \*.JPEG"):
        read_tiny_imagenet([folder / "wnids.txt"], None)


def test_an_image_of_another_size_is_refused(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (32, 64)).save(folder / "train/n01/images/n01_0.JPEG")
    with pytest.raises(DataError, match=r"n01_0.JPEG has 6,144 bytes of pixels: expected 12,288"):
        read_tiny_imagenet([folder / "wnids.txt"], None)


def test_it_is_in_the_table(folder: Path) -> None:
    assert load_dataset("tiny-imagenet-200", folder.parent).test.y.tolist() == [1, 0]
    assert len(set(SOURCES["tiny-imagenet"].class_names)) == 200
