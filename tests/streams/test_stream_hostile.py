"""Data sets that were made to do harm: refused by a DataError that names the file, in little memory, leaving nothing.

`make fuzz` damages files of every kind by the thousand.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from stream_files import idx_bytes, write_layout

from kenyon.data.streams import content_sum, from_arrays, load_dataset
from kenyon.data.streams._sources import SOURCES
from kenyon.errors import ConfigError, DataError, InputError
from kenyon.lab.evaluation import RunConfig

LITTLE = 64 << 20


def refused(path: Path, match: str, most: int = LITTLE) -> None:
    """Loading it, and opening its splits, is refused by an error that names it, in little memory."""
    tracemalloc.start()
    try:
        with pytest.raises((DataError, InputError), match=match) as caught:
            load_dataset(path)
        assert str(path) in str(caught.value) or path.name in str(caught.value)
        assert len(str(caught.value)) < 3000
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


# ---- tables


def test_one_long_cell_does_not_widen_the_others(tmp_path: Path) -> None:
    """As an array of texts these 300 KB took 50 GiB: each cell the room of the longest."""
    path, columns = tmp_path / "long.csv", 100
    lines = [",".join([*(f"c{i}" for i in range(columns)), "label"])]
    lines += [",".join(["1"] * columns + [str(row % 2)]) for row in range(1000)]
    lines[500] = ",".join(["1" + "0" * 130_000] + ["1"] * (columns - 1) + ["1"])
    path.write_text("\n".join(lines))
    refused(path, r"row 500, column 'c0': '1000.*is not a finite number")
    path.write_text("\n".join(lines).replace("1" + "0" * 130_000, "1." + "0" * 130_000))
    tracemalloc.start()
    assert load_dataset(path).train.X.shape == (800, columns)
    assert tracemalloc.get_traced_memory()[1] < LITTLE
    tracemalloc.stop()


def test_one_long_label_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,label\n" + "1,x\n" * 20_000 + f"1,{'y' * 130_000}\n")
    refused(path, r"row 20001: a class name of 130,000 characters")


def test_numbers_in_a_table_are_what_they_were(tmp_path: Path) -> None:
    cells = ["0.1", "1e-45", "3.4028235e38", "16777217", "-0.0", " 7 ", "1_0", "0.30000001192092896", "1e-400"]
    path = tmp_path / "numbers.csv"
    path.write_text("a,label\n" + "".join(f"{cell},{row % 2}\n" for row, cell in enumerate(cells)))
    rows = np.concatenate([load_dataset(path).train.X[:], load_dataset(path).test.X[:]])
    assert sorted(row.tobytes() for row in rows) == sorted(np.float32(cell).tobytes() for cell in cells)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"a,label\n1,\x00\n", "no row has a label|all labels are"),
        (b"\xff\xfe\x00", "CSV"),
        (b"a,label\n" + b'"' * 5 + b"1" * 200_000, "CSV"),
        (b",".join(b"c%d" % i for i in range(100_000)), "no column 'label'"),
        (b"a,a,label\n1,2,3\n", "two columns of one name"),
        (b"", "no column"),
    ],
)
def test_odd_tables(content: bytes, match: str, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(content)
    refused(tmp_path / "odd.csv", match)


def test_a_table_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("a,label\n1,2\n")

    def denied(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    refused(path, "Permission denied")


def test_parquet_of_few_bytes_and_many_rows(tmp_path: Path) -> None:
    """Equal values are written once with their number: these 100 KB would be 3 GB."""
    path = tmp_path / "many.parquet"
    schema = pa.schema([("a", pa.int64()), ("label", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        block = pa.table({"a": np.zeros(1 << 22, np.int64), "label": np.zeros(1 << 22, np.int8)}, schema)
        for _ in range(5):
            writer.write_table(block, row_group_size=1 << 22)
    assert path.stat().st_size < 200_000
    refused(path, "would unpack to")


def test_parquet_of_odd_types(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0, 4.0], "label": pa.array([2**64 - 1, 0] * 2, pa.uint64())}), path)
    assert load_dataset(path, test_share=0.5).class_names == ("0", "18446744073709551615")
    pq.write_table(pa.table({"a": [[1.0], [2.0]], "label": [0, 1]}), path)
    refused(path, "expected numbers")
    for content in (b"", b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b"PAR1\x15" + bytes(60) + b"\x20\0\0\0PAR1"):
        path.write_bytes(content)
        refused(path, "Parquet")


# ---- archives


def _npz(path: Path, header: bytes, method: int = zipfile.ZIP_STORED, more: bytes = b"") -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("X.npy", header + more)
        archive.writestr("y.npy", _npy(np.arange(2)))


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


HEADERS = {
    "a huge shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 1024), }",
    "a negative shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }",
    "a shape beyond 64 bits": "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 340282366920938463463), }",
    "no dictionary": "[" * 3000,
    "text without an end": "{'descr': '''",
    "code": "__import__('os').system('true')",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }",
    "no type": "{'descr': 'nothing', 'fortran_order': False, 'shape': (2, 2), }",
    "empty entries": "{'descr': '|V0', 'fortran_order': False, 'shape': (2, 2), }",
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_arrays_that_are_none(name: str, method: int, tmp_path: Path) -> None:
    _npz(tmp_path / "odd.npz", _header(HEADERS[name]), method)
    refused(tmp_path / "odd.npz", "plain arrays|unpack|expected numbers")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_packed_by_others(method: int, tmp_path: Path) -> None:
    _npz(tmp_path / "odd.npz", _npy(np.zeros((2, 3))), method)
    refused(tmp_path / "odd.npz", "not pack")


def test_an_archive_of_an_unknown_method_and_one_that_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "odd.npz"
    _npz(path, _npy(np.zeros((2, 3))))
    content = path.read_bytes()
    for at, value in ((8, 99), (6, 1)):  # the method, and the flag of encryption, in both of the entry's headers
        data = bytearray(content)
        for magic, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
            data[data.index(magic) + at + shift] = value
        path.write_bytes(data)
        refused(path, "plain arrays")


def test_packed_arrays_are_read_as_before(tmp_path: Path) -> None:
    X = np.asfortranarray(np.random.default_rng(0).random((40, 5)).astype(np.float32))
    np.savez_compressed(tmp_path / "set.npz", X=X, y=np.arange(40) % 2)
    data = load_dataset(tmp_path / "set.npz")
    assert {row.tobytes() for row in data.train.X[:]} <= {row.tobytes() for row in np.ascontiguousarray(X)}


# ---- the published formats


def _mnist(root: Path) -> Path:
    write_layout(SOURCES["mnist"], SOURCES["mnist"].layouts[0], root)
    return root / "mnist" / "train-images-idx3-ubyte.gz"


@pytest.mark.parametrize("with_cache", [True, False])
def test_a_bomb_is_refused_and_nothing_of_it_is_kept(with_cache: bool, tmp_path: Path) -> None:
    bomb = _mnist(tmp_path)
    with gzip.open(bomb, "wb", 1) as file:
        file.write(bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**20, 28, 28))
        for _ in range(60):
            file.write(bytes(1 << 20))
    if not with_cache:
        (tmp_path / "cache").write_text("a file where the folder would go")
    with pytest.raises(DataError, match=r"unpacks to more than 47,040,016 bytes"):
        _ = load_dataset("mnist", tmp_path).train
    assert not with_cache or not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize(
    "change",
    [lambda content: content[:-1], lambda content: b"\0\0\x0d\x03" + content[4:], lambda content: content + b"more"],
)
def test_what_is_refused_is_not_left_in_the_cache(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = _mnist(tmp_path)
    file.write_bytes(gzip.compress(change(gzip.decompress(file.read_bytes()))))
    with pytest.raises(DataError, match="train-images"):
        _ = load_dataset("mnist", tmp_path).train
    assert not list((tmp_path / "cache").iterdir())


def test_a_pickle_that_names_one_long_text_again_and_again(tmp_path: Path) -> None:
    """A text of a megabyte, named 20,000 times in two bytes each, was written out each time: 20 GB."""
    from kenyon.data.streams._unpickle import read_pickle

    text = b"T" + struct.pack("<i", 1 << 20) + bytes(1 << 20) + b"q\x01"
    (tmp_path / "batch").write_bytes(b"\x80\x02}U\x01a](" + text + b"h\x01" * 20_000 + b"es.")
    tracemalloc.start()
    with pytest.raises(DataError, match="which no CIFAR file does"):
        read_pickle(tmp_path / "batch")
    assert tracemalloc.get_traced_memory()[1] < LITTLE
    tracemalloc.stop()


# ---- folders of images


def _folder(root: Path) -> Path:
    for name in ("cat", "dog"):
        (root / name).mkdir(parents=True)
        for number in range(3):
            Image.fromarray(np.full((4, 4), number, np.uint8)).save(root / name / f"{number}.png")
    return root


def _png(width: int, height: int) -> bytes:
    """A picture that is no more than its header."""
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    about = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", about) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(12_000, 12_000), (100_000, 100_000), (2**31 - 1, 2**31 - 1), (0, 4)])
def test_pictures_beyond_reason(size: tuple[int, int], tmp_path: Path) -> None:
    root = _folder(tmp_path / "set")
    for file in root.rglob("*.png"):
        file.write_bytes(_png(*size))
    refused(root / "cat" / ".." / ".." / "set", "cannot be read as an image|cannot be decoded")


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
@pytest.mark.parametrize("suffix", ["png", "gif", "tiff", "bmp", "webp", "ppm", "jpg"])
def test_pictures_that_are_cut_or_scrambled(suffix: str, tmp_path: Path) -> None:
    root, rng = _folder(tmp_path / "set"), np.random.default_rng(0)
    for file in root.rglob("*.png"):
        file.unlink()
    for name in ("cat", "dog"):
        Image.fromarray(np.full((16, 16), 7, np.uint8)).save(root / name / f"0.{suffix}")
    whole = (root / "cat" / f"0.{suffix}").read_bytes()
    for _ in range(60):
        data = bytearray(whole[: rng.integers(1, len(whole) + 1)])
        for _ in range(3):
            data[rng.integers(0, len(data))] = rng.integers(0, 256)
        (root / "cat" / f"0.{suffix}").write_bytes(data)
        with suppress(DataError, InputError):
            load_dataset(root, test_share=0.5)


def test_a_class_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    root = _folder(tmp_path / "set")
    try:
        os.rename(root / "dog", os.fsencode(root) + b"/d\xf6g")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    refused(root, r"the class name 'd\\udcf6g' is not UTF-8: rename it")
    assert content_sum(root)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    root = _folder(tmp_path / "set")
    os.mkfifo(root / "cat" / "pipe.png")
    assert load_dataset(root).n_classes == 2 and content_sum(root)
    for name in ("pipe.csv", "pipe.npz", "pipe.parquet", "pipe.xyz"):
        os.mkfifo(tmp_path / name)
        refused(tmp_path / name, "neither a file nor a folder")
        assert content_sum(tmp_path / name) is None


# ---- names that cannot be written


def test_labels_and_paths_that_are_not_utf8() -> None:
    with pytest.raises(InputError, match="not UTF-8"):
        from_arrays(np.zeros((4, 2)), np.array(["a", "b\ud800"] * 2))
    with pytest.raises(ConfigError, match=r"dataset is 'b\\udcff.csv': expected"):
        RunConfig("b\udcff.csv", "ncm")


def test_idx_of_another_size_stays_readable(tmp_path: Path) -> None:
    (tmp_path / "mnist").mkdir()
    source = SOURCES["mnist"]
    for names, n in ((source.layouts[0].train, 60), (source.layouts[0].test, 20)):
        for name, array in zip(names, (np.zeros((n, 28, 28)), np.arange(n) % 10), strict=True):
            (tmp_path / "mnist" / name).write_bytes(gzip.compress(idx_bytes(array)))
    assert len(load_dataset("mnist", tmp_path).train) == 60
