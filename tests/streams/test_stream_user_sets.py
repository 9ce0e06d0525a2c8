"""A user's own data: arrays, archives, image folders and tables."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from kenyon.data.streams import SCENARIOS, Curriculum, _images, from_arrays, load_dataset
from kenyon.errors import ConfigError, DataError, InputError, MissingExtraError

RNG = np.random.default_rng(0)
X8 = RNG.integers(0, 256, (40, 4, 3), np.uint8)
Y = np.arange(40) % 4


def _all(split):
    return np.asarray(split.X), split.y


# arrays


def test_arrays_keep_bytes_shape_and_labels():
    dataset = from_arrays(X8, Y, X8[:8], Y[:8])
    assert dataset.shape == (4, 3)
    assert dataset.value_range == (0.0, 255.0)
    assert dataset.train.X.dtype == np.uint8
    assert np.shares_memory(dataset.train.X, X8)
    np.testing.assert_array_equal(dataset.train.y, Y)
    assert dataset.class_names == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [(np.float64, np.float32), (np.int16, np.float32), (np.bool_, np.uint8), (np.float32, np.float32)],
)
def test_array_types(dtype, becomes):
    X = (X8.reshape(40, 12) % 2).astype(dtype)
    dataset = from_arrays(X, Y)
    assert dataset.train.X.dtype == becomes
    if becomes == np.float32:
        assert dataset.value_range == (0.0, 1.0)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.array(["cat", "dog"])[Y % 2], ("cat", "dog")),
        (np.array([-5, 100])[Y % 2], ("-5", "100")),
        (np.array([1.0, 10.0])[Y % 2], ("1", "10")),
        ((Y % 2).astype(bool), ("False", "True")),
    ],
)
def test_labels_of_any_kind_are_numbered(labels, names):
    dataset = from_arrays(X8, labels, X8, labels)
    assert dataset.class_names == names
    np.testing.assert_array_equal(dataset.train.y, Y % 2)


def test_a_test_part_is_cut_off_every_class():
    dataset = from_arrays(X8, Y, test_share=0.3)
    np.testing.assert_array_equal(np.bincount(dataset.test.y), 3)
    both = np.concatenate([_all(dataset.train)[0], _all(dataset.test)[0]])
    assert sorted(map(bytes, both)) == sorted(map(bytes, X8.reshape(40, 12)))
    again = from_arrays(X8, Y, test_share=0.3)
    np.testing.assert_array_equal(_all(dataset.test)[0], _all(again.test)[0])


def test_mapped_arrays_stay_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", RNG.random((40, 6), np.float32))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    dataset = from_arrays(X, Y)
    assert np.shares_memory(dataset.train.X.parts[0], X)


BAD_ARRAYS = {
    "nan": (dict(X_train=np.where(np.arange(80).reshape(40, 2) == 7, np.nan, 1.0)), "nan in sample 3, feature 1"),
    "too large": (dict(X_train=np.full((40, 2), 1e300)), "inf in sample 0"),
    "infinite": (dict(X_train=np.full((40, 2), np.inf)), "inf in sample 0"),
    "text": (dict(X_train=np.full((40, 2), "a")), "expected numbers"),
    "objects": (dict(X_train=np.full((40, 2), None)), "expected numbers"),
    "flat": (dict(X_train=np.zeros(40)), "at least one sample"),
    "empty": (dict(X_train=np.zeros((0, 4)), y_train=[]), "at least one sample"),
    "no features": (dict(X_train=np.zeros((40, 0))), "at least one sample"),
    "few labels": (dict(y_train=Y[:-1]), r"expected \(40,\)"),
    "fractions": (dict(y_train=Y + 0.5), "integers or texts"),
    "nan label": (dict(y_train=np.full(40, np.nan)), "integers or texts"),
    "one class": (dict(y_train=np.zeros(40, int)), "at least two classes"),
    "half a test": (dict(X_test=X8), "both X_test and y_test"),
    "test shape": (dict(X_test=X8[:, :2], y_test=Y), "different shapes"),
    "test class": (dict(X_test=X8, y_test=Y + 1), "in the test set only"),
    "test kind": (dict(X_test=X8, y_test=Y.astype(str)), "test labels of type"),
    "class names": (dict(class_names=["a", "b"]), "must lie in 0 to 1"),
    "test_share": (dict(test_share=1.0), "test_share is 1.0"),
}


@pytest.mark.parametrize(("values", "message"), BAD_ARRAYS.values(), ids=list(BAD_ARRAYS))
def test_bad_arrays_are_named(values, message):
    with pytest.raises((InputError, ConfigError), match=message):
        from_arrays(**{"X_train": X8, "y_train": Y, **values})


# .npz archives


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("keys", [("X_train", "y_train", "X_test", "y_test"), ("X", "y"), ("X_train", "y_train")])
def test_npz(save, keys, tmp_path):
    save(tmp_path / "mine.npz", **dict(zip(keys, (X8, Y, X8[:8], Y[:8]), strict=False)))
    dataset = load_dataset(tmp_path / "mine.npz")
    assert dataset.shape == (4, 3)
    if len(keys) == 4:
        np.testing.assert_array_equal(dataset.train.X, X8.reshape(40, 12))
        np.testing.assert_array_equal(dataset.test.y, Y[:8])
    else:
        assert len(dataset.train) + len(dataset.test) == 40


def test_uncompressed_npz_is_mapped(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, X_train=np.asfortranarray(X8.reshape(40, 12)), y_train=Y, X_test=X8.reshape(40, 12), y_test=Y)
    dataset = load_dataset(str(path))
    base = dataset.test.X
    while getattr(base, "base", None) is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    np.testing.assert_array_equal(dataset.train.X, X8.reshape(40, 12))


def _object_array(path: Path) -> None:
    np.savez(path, X=np.array([[{}], [[]]], object), y=[0, 1])


def _compressed_object_array(path: Path) -> None:
    np.savez_compressed(path, X=np.array([[{}], [[]]], object), y=[0, 1])


def _short_member(path: Path) -> None:
    np.save(path.with_suffix(".npy"), X8)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", path.with_suffix(".npy").read_bytes()[:-10])
        archive.writestr("y.npy", path.with_suffix(".npy").read_bytes())


BAD_NPZ = {
    "objects": (_object_array, "object arrays are not read"),
    "objects, compressed": (_compressed_object_array, "[Oo]bject arrays"),
    "no arrays": (lambda path: np.savez(path, a=X8), "holds a: expected X_train"),
    "no labels": (lambda path: np.savez(path, X_train=X8), "holds X_train: expected"),
    "not a zip": (lambda path: path.write_bytes(b"PK not really"), "damaged or not an .npz"),
    "empty": (lambda path: path.write_bytes(b""), "damaged or not an .npz"),
    "cut member": (_short_member, "does not hold"),
}


@pytest.mark.parametrize(("write", "message"), BAD_NPZ.values(), ids=list(BAD_NPZ))
def test_bad_npz_is_named(write, message, tmp_path):
    write(tmp_path / "mine.npz")
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path / "mine.npz")


def test_truncated_npz_is_named(tmp_path):
    np.savez_compressed(tmp_path / "mine.npz", X=X8, y=Y)
    content = (tmp_path / "mine.npz").read_bytes()
    for cut in range(0, len(content) - 1, 37):
        (tmp_path / "mine.npz").write_bytes(content[:cut])
        with pytest.raises(DataError, match="damaged"):
            load_dataset(tmp_path / "mine.npz")


# folders of images


def _images_in(root: Path, classes: dict[str, int], mode: str = "L", size: tuple[int, int] = (5, 4)) -> None:
    for name, count in classes.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            shape = (size[1], size[0], 3) if mode == "RGB" else (size[1], size[0])
            pixels = np.random.default_rng([number, len(name)]).integers(0, 256, shape, np.uint8)
            Image.fromarray(pixels).save(root / name / f"{number:03}.png")


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_image_folder_with_train_and_test(mode, tmp_path):
    _images_in(tmp_path / "pets/train", {"cat": 6, "dogs": 5}, mode)
    _images_in(tmp_path / "pets/test", {"cat": 2, "dogs": 1}, mode)
    (tmp_path / "pets/train/cat/notes.txt").write_text("not an image")
    dataset = load_dataset(tmp_path / "pets")
    assert dataset.class_names == ("cat", "dogs")
    assert dataset.shape == ((4, 5) if mode == "L" else (3, 4, 5))
    assert dataset.train.y.tolist() == [0] * 6 + [1] * 5
    assert dataset.test.y.tolist() == [0, 0, 1]
    first = np.asarray(Image.open(tmp_path / "pets/train/cat/000.png"))
    planar = first if mode == "L" else first.transpose(2, 0, 1)
    np.testing.assert_array_equal(dataset.train.X[0], planar.ravel())


def test_image_folder_without_a_test_part_and_of_mixed_modes(tmp_path):
    _images_in(tmp_path, {"cat": 10}, "L")
    _images_in(tmp_path, {"dogs": 10}, "RGB")
    dataset = load_dataset(tmp_path, test_share=0.5)
    assert dataset.shape == (3, 4, 5)
    assert len(dataset.test) == 10


def test_many_images_are_decoded_once_and_mapped(tmp_path, monkeypatch):
    monkeypatch.setattr(_images, "IN_MEMORY", 100)
    _images_in(tmp_path / "pets", {"cat": 6, "dogs": 6})
    one = load_dataset(tmp_path / "pets", tmp_path / "data")
    (kept,) = (tmp_path / "data/cache").iterdir()
    stamp = kept.stat().st_mtime_ns
    np.testing.assert_array_equal(_all(load_dataset(tmp_path / "pets", tmp_path / "data").train)[0], _all(one.train)[0])
    assert kept.stat().st_mtime_ns == stamp
    _images_in(tmp_path / "pets", {"cat": 7})  # one more image: another cache file
    assert len(load_dataset(tmp_path / "pets", tmp_path / "data").train) == len(one.train) + 1
    monkeypatch.setattr(_images, "IN_MEMORY", 1 << 20)
    in_memory = load_dataset(tmp_path / "pets", tmp_path / "none")
    np.testing.assert_array_equal(
        _all(in_memory.train)[0], _all(load_dataset(tmp_path / "pets", tmp_path / "data").train)[0]
    )


def _other_size(root: Path) -> None:
    _images_in(root, {"cat": 2})
    _images_in(root, {"dogs": 2}, size=(6, 4))


def _broken(root: Path) -> None:
    _images_in(root, {"cat": 2, "dogs": 2})
    (root / "cat/001.png").write_bytes(b"nothing like a picture")


def _cut(root: Path) -> None:
    _images_in(root, {"cat": 2, "dogs": 2}, "RGB", (80, 80))
    content = (root / "cat/001.png").read_bytes()
    (root / "cat/001.png").write_bytes(content[: len(content) // 2])


def _empty_class(root: Path) -> None:
    _images_in(root, {"cat": 2, "dogs": 0})


def _strange_test(root: Path) -> None:
    _images_in(root / "train", {"cat": 2, "dogs": 2})
    _images_in(root / "test", {"cat": 2, "cow": 2})


BAD_FOLDERS = {
    "other size": (_other_size, "is 6 x 4, 000.png is 5 x 4"),
    "broken": (_broken, "001.png cannot be read as an image"),
    "cut": (_cut, "001.png cannot be decoded"),
    "empty class": (_empty_class, "dogs holds no image"),
    "empty": (lambda root: None, "has 0 class folders"),
    "one class": (lambda root: _images_in(root, {"cat": 2}), "has 1 class folders"),
    "strange test": (_strange_test, "the class 'cow'"),
}


@pytest.mark.parametrize(("write", "message"), BAD_FOLDERS.values(), ids=list(BAD_FOLDERS))
def test_bad_folders_are_named(write, message, tmp_path):
    write(tmp_path)
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path)


# tables


def _csv(path: Path, n: int = 20, label: str = "kind") -> np.ndarray:
    X = RNG.random((n, 2)).astype(np.float32)
    lines = [f'width,{label},"height, cm"', *(f"{a!r},{'ab'[i % 2]},{b!r}" for i, (a, b) in enumerate(X.tolist()))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    return X


def test_csv_with_a_named_label_column(tmp_path):
    X = _csv(tmp_path / "mine.csv", 3000)  # more rows than a block
    dataset = load_dataset(tmp_path / "mine.csv", label="kind", test_share=0.1)
    assert dataset.class_names == ("a", "b")
    assert dataset.shape == (2,)
    assert dataset.value_range == (float(X.min()), float(X.max()))
    both = np.concatenate([_all(dataset.train)[0], _all(dataset.test)[0]])
    np.testing.assert_array_equal(both[both[:, 0].argsort()], X[X[:, 0].argsort()])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_for_training_and_test(suffix, tmp_path):
    for name, n in (("train", 30), ("test", 10)):
        columns = {"a": np.arange(n, dtype=float), "label": np.arange(n) % 11, "b": np.ones(n)}
        if suffix == "parquet":
            pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        else:
            rows = zip(*(values.tolist() for values in columns.values()), strict=True)
            (tmp_path / f"{name}.csv").write_text("a,label,b\n" + "".join(f"{a},{y},{b}\n" for a, y, b in rows))
    dataset = load_dataset(tmp_path)
    assert dataset.class_names[9:] == ("9", "10")  # numbers in their own order, not that of their letters
    np.testing.assert_array_equal(dataset.test.X, np.stack([np.arange(10), np.ones(10)], 1))
    np.testing.assert_array_equal(dataset.train.y, np.arange(30) % 11)


def test_parquet_of_bytes_and_texts(tmp_path):
    table = pa.table(
        {"a": pa.array([1, 2, 3, 4], pa.uint8()), "b": pa.array([5] * 4, pa.uint8()), "label": list("xyxy")}
    )
    pq.write_table(table, tmp_path / "mine.parquet")
    dataset = load_dataset(tmp_path / "mine.parquet", test_share=0.5)
    assert dataset.train.X.dtype == np.uint8
    assert dataset.class_names == ("x", "y")


BAD_CSV = {
    "word": ("a,label,b\n1,x,2\n3,y,four\n", "row 2, column 'b': 'four'"),
    "empty cell": ("a,label,b\n1,x,2\n,y,4\n", "row 2, column 'a': ''"),
    "nan": ("a,label,b\n1,x,2\n3,y,nan\n", "row 2, column 'b': 'nan'"),
    "too large": ("a,label,b\n1,x,2\n3,y,1e60\n", "row 2, column 'b': '1e60'"),
    "short row": ("a,label,b\n1,x,2\n3,y\n", "line 3: 2 cells, the header has 3"),
    "no label column": ("a,labels,b\n1,x,2\n", "no column 'label'.*did you mean 'labels'"),
    "only labels": ("label\nx\n", "no column besides"),
    "same name twice": ("a,a,label\n1,2,x\n", "two columns of one name"),
    "no rows": ("a,label\n", "no row"),
    "nothing": ("", "no column 'label'"),
    "no label at all": ("a,label\n1,\n2,\n", "no row has a label"),
    "one class": ("a,label\n1,x\n2,x\n", "at least two classes"),
}


@pytest.mark.parametrize(("text", "message"), BAD_CSV.values(), ids=list(BAD_CSV))
def test_bad_csv_is_named(text, message, tmp_path):
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises((DataError, InputError), match=message):
        load_dataset(tmp_path / "mine.csv")


def test_bad_cell_in_a_later_block_names_its_own_row(tmp_path):
    (tmp_path / "mine.csv").write_text("a,label\n" + "1,x\n" * 2500 + "oops,y\n")
    with pytest.raises(DataError, match="row 2501, column 'a': 'oops'"):
        load_dataset(tmp_path / "mine.csv")


BAD_PARQUET = {
    "text": ({"a": ["x", "y"], "label": [0, 1]}, "column 'a' is of type string"),
    "empty cell": ({"a": [1.0, None], "label": [0, 1]}, "row 2, column 'a': the cell is empty"),
    "no label at all": ({"a": [1.0, 2.0], "label": [None, None]}, "no row has a label"),
    "no rows": ({"a": pa.array([], pa.float32()), "label": pa.array([], pa.int64())}, "no row"),
    "no label": ({"a": [1.0], "b": [1.0]}, "no column 'label'"),
}


@pytest.mark.parametrize(("columns", "message"), BAD_PARQUET.values(), ids=list(BAD_PARQUET))
def test_bad_parquet_is_named(columns, message, tmp_path):
    pq.write_table(pa.table(columns), tmp_path / "mine.parquet")
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path / "mine.parquet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mine.csv", b"a,label\n\xff\xfe,1\n", "cannot be read as CSV"),
        ("mine.parquet", b"PAR1 not really", "cannot be read as Parquet"),
    ],
)
def test_a_file_of_another_kind_is_named(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path / name)


def test_tables_whose_columns_differ(tmp_path):
    (tmp_path / "train.csv").write_text("a,label\n1,x\n2,y\n")
    (tmp_path / "test.csv").write_text("b,label\n1,x\n2,y\n")
    with pytest.raises(DataError, match=r"has the columns b; train\.csv has a"):
        load_dataset(tmp_path)


# the way in


def test_paths_that_are_none(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no file or folder"):
        load_dataset(str(tmp_path / "nothing.npz"))
    (tmp_path / "mine.mat").write_bytes(b"")
    with pytest.raises(DataError, match="of no known kind"):
        load_dataset(tmp_path / "mine.mat")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="no file or folder"):
        load_dataset("nothing.csv")


def test_options_that_do_not_apply(tmp_path):
    with pytest.raises(ConfigError, match=r"label is 'kind'.*published"):
        load_dataset("digits", label="kind")
    with pytest.raises(ConfigError, match=r"test_share is 0\.1"):
        load_dataset("digits", test_share=0.1)
    np.savez(tmp_path / "mine.npz", X=X8, y=Y)
    with pytest.raises(ConfigError, match="only a CSV or Parquet table"):
        load_dataset(tmp_path / "mine.npz", label="kind")


@pytest.mark.parametrize(("module", "name"), [("PIL.Image", "pets"), ("pyarrow.parquet", "mine.parquet")])
def test_missing_extra_is_named(module, name, tmp_path, monkeypatch):
    _images_in(tmp_path / "pets", {"cat": 2, "dogs": 2})
    pq.write_table(pa.table({"a": [1.0, 2.0], "label": [0, 1]}), tmp_path / "mine.parquet")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kenyon\[data\]'"):
        load_dataset(tmp_path / name)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_own_data_runs_through_every_scenario(scenario):
    dataset = from_arrays(RNG.random((80, 7)), np.array(list("abcd"))[np.arange(80) % 4], shape=(1, 7))
    stream = Curriculum(scenario=scenario).open(dataset)
    for episode in stream.episodes:
        X, y = episode.train()
        assert X.dtype == np.float32
        assert X.shape == (episode.n_train, 7)
        assert len(y) == episode.n_train
