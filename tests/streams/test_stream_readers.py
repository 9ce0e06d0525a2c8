"""Every published format, from small files written in it, and every way such a file can be damaged."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from stream_files import idx_bytes, python2_batch, write_layout

from kenyon.data.streams import load_dataset
from kenyon.data.streams._idx import read_idx_fifths
from kenyon.data.streams._sources import SOURCES
from kenyon.errors import ConfigError, DataError

IMAGES = [source for source in SOURCES.values() if source.layouts[0].remotes]
LAYOUTS = [(source, layout) for source in IMAGES for layout in source.layouts]
IDS = [f"{source.name}-{layout.version}" for source, layout in LAYOUTS]


@pytest.mark.parametrize(("source", "layout"), LAYOUTS, ids=IDS)
def test_reads_what_was_written(source, layout, tmp_path):
    splits = write_layout(source, layout, tmp_path)
    dataset = load_dataset(source.name, tmp_path)
    assert dataset.shape == source.shape
    assert dataset.n_classes == len(source.class_names)
    assert dataset.value_range == (0.0, 255.0)
    for split, (X, y) in zip((dataset.train, dataset.test), splits, strict=True):
        assert split.X.dtype == np.uint8
        assert split.X.shape == (len(y), dataset.n_features)
        np.testing.assert_array_equal(np.asarray(split.X), X.reshape(len(y), -1))
        np.testing.assert_array_equal(split.y, y)
        assert split.y.dtype == np.int64
        some = np.array([len(y) - 1, 0, 2, 2])
        np.testing.assert_array_equal(split.X[some], X.reshape(len(y), -1)[some])


@pytest.mark.parametrize(("source", "layout"), LAYOUTS, ids=IDS)
def test_samples_are_mapped_not_loaded(source, layout, tmp_path):
    """The bytes shown come from a file on disk: changing that file changes them."""
    write_layout(source, layout, tmp_path)
    split = load_dataset(source.name, tmp_path).train
    before = np.array(split.X[:1])  # a copy: a slice would change with the file
    folder = tmp_path / "cache" if layout.version == "idx" else tmp_path / layout.folders[0]
    for file in folder.iterdir():
        if "label" not in file.name:
            with file.open("r+b") as handle:
                content = handle.read()
                handle.seek(0)
                handle.write(bytes(255 - byte for byte in content))
    assert (np.asarray(split.X[:1]) != before).any()


def test_digits_are_embedded_fixed_and_stratified():
    digits = load_dataset("digits")
    assert digits.shape == (8, 8)
    assert digits.value_range == (0.0, 16.0)
    assert digits.train.X.dtype == np.uint8
    assert digits.train.X[:].max() == 16
    assert len(digits.train) + len(digits.test) == 1797
    share = np.bincount(digits.test.y) / (np.bincount(digits.test.y) + np.bincount(digits.train.y))
    assert np.abs(share - 0.2).max() < 0.01
    # the split is part of every published figure: it must never move
    assert digits.test.y[:12].tolist() == [1, 2, 8, 5, 8, 2, 8, 4, 2, 8, 0, 3]
    assert int(digits.test.X.astype(np.int64).sum()) == 112_599


def test_unpacked_idx_is_read_in_place(tmp_path):
    source = SOURCES["mnist"]
    splits = write_layout(source, source.layouts[0], tmp_path)
    for file in (tmp_path / "mnist").iterdir():
        (tmp_path / "mnist" / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        file.unlink()
    np.testing.assert_array_equal(load_dataset("mnist", tmp_path).test.y, splits[1][1])
    assert not (tmp_path / "cache").exists()


def test_read_only_data_directory_is_read_into_memory(tmp_path):
    source = SOURCES["mnist"]
    splits = write_layout(source, source.layouts[0], tmp_path)
    (tmp_path / "cache").write_text("a file where the folder would go, so that nothing can be written")
    dataset = load_dataset("mnist", tmp_path)
    np.testing.assert_array_equal(dataset.train.X[:], splits[0][0].reshape(len(dataset.train), -1))


def test_changed_file_is_not_read_from_the_cache(tmp_path):
    source = SOURCES["mnist"]
    write_layout(source, source.layouts[0], tmp_path)
    old = load_dataset("mnist", tmp_path).train.X[:]
    splits = write_layout(source, source.layouts[0], tmp_path, per_class=4)
    new = load_dataset("mnist", tmp_path).train.X[:]
    assert len(new) != len(old)
    np.testing.assert_array_equal(new, splits[0][0].reshape(len(new), -1))


def test_two_processes_fill_one_cache(tmp_path):
    source = SOURCES["mnist"]
    write_layout(source, source.layouts[0], tmp_path, per_class=200)
    code = (
        "import sys; from kenyon.data.streams import load_dataset; "
        "print(int(load_dataset('mnist', sys.argv[1]).train.X[:].sum()))"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE) for _ in range(3)]
    sums = {run.communicate()[0] for run in runs}
    assert sums == {f"{int(load_dataset('mnist', tmp_path).train.X[:].sum())}\n".encode()}
    assert not [file for file in (tmp_path / "cache").iterdir() if file.name.endswith(".tmp")]


def test_only_the_split_in_use_is_opened(tmp_path):
    source = SOURCES["mnist"]
    write_layout(source, source.layouts[0], tmp_path)
    (tmp_path / "mnist" / "t10k-images-idx3-ubyte.gz").write_bytes(b"damaged")
    dataset = load_dataset("mnist", tmp_path)
    assert len(dataset.train)
    with pytest.raises(DataError, match="t10k-images"):
        _ = dataset.test


def _rewrite(name, change):
    def damage(folder: Path) -> None:
        path = folder / name
        path.write_bytes(change(path.read_bytes()))

    return damage


def _regzip(change):
    return lambda content: gzip.compress(change(gzip.decompress(content)))


TRAIN, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
DAMAGED_IDX = {
    "truncated gzip": (_rewrite(TRAIN, lambda b: b[: len(b) // 2]), "damaged or cut short"),
    "cut trailer": (_rewrite(TRAIN, lambda b: b[:-3]), "damaged or cut short"),
    "empty file": (_rewrite(TRAIN, lambda b: b""), "starts with nothing|damaged"),
    "not gzip": (_rewrite(TRAIN, lambda b: b"<html>404</html>"), "damaged or cut short"),
    "flipped bit": (_rewrite(TRAIN, lambda b: b[:2000] + bytes([b[2000] ^ 4]) + b[2001:]), "damaged or cut short"),
    "wrong magic": (_rewrite(TRAIN, _regzip(lambda b: b"\x00\x00\x0d\x03" + b[4:])), "starts with 00 00 0d 03"),
    "labels for images": (_rewrite(TRAIN, _regzip(lambda b: idx_bytes(np.zeros(30)))), "starts with 00 00 08 01"),
    "cut header": (_rewrite(TRAIN, _regzip(lambda b: b[:9])), "ends inside its header"),
    "too few pixels": (_rewrite(TRAIN, _regzip(lambda b: b[:-1])), "its header says"),
    "too many pixels": (_rewrite(TRAIN, _regzip(lambda b: b + b"0")), "its header says"),
    "huge header": (_rewrite(TRAIN, _regzip(lambda b: b[:4] + b"\xff" * 12 + b[16:])), "its header says"),
    "other size": (_rewrite(TRAIN, lambda b: gzip.compress(idx_bytes(np.zeros((30, 8, 8))))), r"images of \(8, 8\)"),
    "fewer labels": (_rewrite(LABELS, lambda b: gzip.compress(idx_bytes(np.zeros(29)))), "29 labels"),
    "label out of range": (_rewrite(LABELS, lambda b: gzip.compress(idx_bytes(np.full(30, 10)))), "expected 0 to 9"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGED_IDX.values(), ids=list(DAMAGED_IDX))
def test_damaged_idx_is_named(damage, message, tmp_path):
    source = SOURCES["mnist"]
    write_layout(source, source.layouts[0], tmp_path)
    damage(tmp_path / "mnist")
    with pytest.raises(DataError, match=message):
        _ = load_dataset("mnist", tmp_path).train
    assert not list((tmp_path / "cache").glob(".*"))  # no half-written file stays


DAMAGED_CIFAR = {
    "cut": ("data_batch_3.bin", lambda b: b[:-1], "3073-byte records"),
    "empty": ("data_batch_1.bin", lambda b: b"", "3073-byte records"),
    "label": ("data_batch_2.bin", lambda b: b"\x0a" + b[1:], "expected 0 to 9"),
}


@pytest.mark.parametrize(("name", "change", "message"), DAMAGED_CIFAR.values(), ids=list(DAMAGED_CIFAR))
def test_damaged_cifar_binary_is_named(name, change, message, tmp_path):
    source = SOURCES["cifar10"]
    write_layout(source, source.layouts[0], tmp_path)
    _rewrite(name, change)(tmp_path / "cifar-10-batches-bin")
    with pytest.raises(DataError, match=message):
        _ = load_dataset("cifar10", tmp_path).train


DAMAGED_PYTHON = {
    "no data": (b"\x80\x02}.", "no 'data' and 'labels'"),
    "narrow": (python2_batch(np.zeros((2, 5), np.uint8), {"labels": [1, 2]}), r"shape \(n, 3072\)"),
    "few labels": (python2_batch(np.zeros((2, 3072), np.uint8), {"labels": [1]}), "list of 2 integers"),
    "label": (python2_batch(np.zeros((2, 3072), np.uint8), {"labels": [1, 300]}), "expected 0 to 9"),
    "empty": (b"", "not a CIFAR file"),
}


@pytest.mark.parametrize(("content", "message"), DAMAGED_PYTHON.values(), ids=list(DAMAGED_PYTHON))
def test_damaged_cifar_python_is_named(content, message, tmp_path):
    source = SOURCES["cifar10"]
    write_layout(source, source.layouts[1], tmp_path)
    (tmp_path / "cifar-10-batches-py" / "data_batch_4").write_bytes(content)
    with pytest.raises(DataError, match=message):
        _ = load_dataset("cifar10", tmp_path).train


@pytest.mark.parametrize("name", [source.name for source in IMAGES])
def test_missing_set_says_which_files_go_where(name, tmp_path):
    with pytest.raises(DataError) as caught:
        load_dataset(name, tmp_path)
    message = str(caught.value)
    for layout in SOURCES[name].layouts:
        assert all(file in message for file in (*layout.train, *layout.test))
        assert str(tmp_path / layout.folders[0]) in message
    assert f"kenyon data download {name} --data-dir {tmp_path}" in message


def test_half_a_set_says_which_half_is_missing(tmp_path):
    source = SOURCES["mnist"]
    write_layout(source, source.layouts[0], tmp_path)
    (tmp_path / "mnist" / LABELS).unlink()
    with pytest.raises(DataError, match=f"put {LABELS} into"):
        load_dataset("mnist", tmp_path)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("CIFAR-10", "cifar10"),
        ("cifar_100", "cifar100"),
        ("Fashion_MNIST", "fashion-mnist"),
        ("emnist", "emnist-balanced"),
    ],
)
def test_other_spellings(given, meant, tmp_path):
    write_layout(SOURCES[meant], SOURCES[meant].layouts[0], tmp_path, per_class=1)
    assert load_dataset(given, tmp_path).name == meant


@pytest.mark.parametrize(("wrong", "right"), [("minst", "mnist"), ("cifar11", "cifar10"), ("digit", "digits")])
def test_unknown_set_names_the_nearest(wrong, right):
    with pytest.raises(ConfigError, match=f"did you mean '{right}'"):
        load_dataset(wrong)


def test_data_directory_comes_from_argument_then_environment_then_home(tmp_path, monkeypatch):
    source = SOURCES["mnist"]
    for number, place in enumerate(("given", "environment", "home/kenyon/data")):
        write_layout(source, source.layouts[0], tmp_path / place, per_class=number + 1)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KENYON_DATA", str(tmp_path / "environment"))
    assert len(load_dataset("mnist", tmp_path / "given").train) == 10
    assert len(load_dataset("mnist").train) == 20
    monkeypatch.delenv("KENYON_DATA")
    assert len(load_dataset("mnist").train) == 30


def test_core_import_brings_no_optional_dependency():
    code = (
        "import sys, kenyon.data.streams; print({'torch', 'PIL', 'pooch', 'pyarrow', 'matplotlib'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert out.stdout.strip() == "set()"


def test_a_set_without_a_split_gives_every_fifth_of_a_class_to_the_test(tmp_path):
    X = np.arange(30, dtype=np.uint8)[:, None, None] * np.ones((1, 28, 28), np.uint8)
    y = np.repeat(np.arange(3, dtype=np.uint8), 10)
    (tmp_path / "X").write_bytes(idx_bytes(X))
    (tmp_path / "y").write_bytes(idx_bytes(y))
    read = partial(read_idx_fifths, [tmp_path / "X", tmp_path / "y"], None, (28, 28))
    train, test = read(test=False), read(test=True)
    assert test.X[:, 0].tolist() == [4, 9, 14, 19, 24, 29] and test.y.tolist() == [0, 0, 1, 1, 2, 2]
    assert sorted([*train.X[:, 0].tolist(), *test.X[:, 0].tolist()]) == list(range(30))
