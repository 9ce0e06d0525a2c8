"""Small data sets written in the publishers' own formats."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np

from kenyon.data.streams._sources import FileLayout, PublishedSet


def idx_bytes(array: np.ndarray) -> bytes:
    """An array of bytes as an IDX file."""
    return (
        bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()
    )


def _put(value: bytes, counter: list[int]) -> bytes:
    """A value followed by the memo instruction that Python 2 writes after it."""
    counter[0] += 1
    slot = counter[0]
    return value + (b"q" + bytes([slot]) if slot < 256 else b"r" + struct.pack("<I", slot))


def _string(text: bytes, counter: list[int]) -> bytes:
    head = b"U" + bytes([len(text)]) if len(text) < 256 else b"T" + struct.pack("<i", len(text))
    return _put(head + text, counter)


def _int(value: int) -> bytes:
    return b"K" + bytes([value]) if value < 256 else b"M" + struct.pack("<H", value)


def python2_batch(X: np.ndarray, labels: dict[str, list[int]]) -> bytes:
    """A CIFAR batch as Python 2 with protocol 2 wrote it: one dictionary, its texts byte strings."""
    n = [0]
    out = b"\x80\x02" + _put(b"}", n) + b"("
    out += _string(b"batch_label", n) + _string(b"training batch 1 of 5", n)
    for key, values in labels.items():
        out += _string(key.encode(), n) + _put(b"]", n) + b"(" + b"".join(map(_int, values)) + b"e"
    out += _string(b"data", n)
    out += _put(b"cnumpy.core.multiarray\n_reconstruct\n", n) + _put(b"cnumpy\nndarray\n", n)
    out += _put(b"K\x00\x85", n) + _string(b"b", n) + _put(b"\x87", n) + _put(b"R", n)
    out += b"(K\x01" + _put(_int(X.shape[0]) + _int(X.shape[1]) + b"\x86", n)
    out += _put(b"cnumpy\ndtype\n", n) + _string(b"u1", n) + _put(b"K\x00K\x01\x87", n) + _put(b"R", n)
    out += b"(K\x03" + _string(b"|", n) + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00" + _put(b"t", n) + b"b"
    out += b"\x89" + _string(X.tobytes(), n) + _put(b"t", n) + b"b"
    out += _string(b"filenames", n) + _put(b"]", n) + b"(" + _string(b"a.png", n) + _string(b"b.png", n) + b"e"
    return out + b"u."


def samples(source: PublishedSet, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random images in which every class occurs in turn."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (n, *source.shape), np.uint8)
    return X, rng.permutation(np.arange(n) % len(source.class_names))


def layout_files(source: PublishedSet, layout: FileLayout, per_class: int = 3) -> tuple[dict[str, bytes], list[tuple]]:
    """The files of a layout by name, and the upright images and labels they hold (training, test)."""
    files: dict[str, bytes] = {}
    splits = []
    for number, names in enumerate((layout.train, layout.test)):
        n = per_class * len(source.class_names) + number  # the two splits differ in length
        X, y = samples(source, n, number)
        splits.append((X, y))
        if layout.version == "idx":
            emnist = source.name.startswith("emnist")
            shown = X.transpose(0, 2, 1) if emnist else X
            files[names[0]] = gzip.compress(idx_bytes(shown), 1, mtime=0)
            first_label = int(source.name == "emnist-letters")
            files[names[1]] = gzip.compress(idx_bytes(y + first_label), 1, mtime=0)
            continue
        fine_key = "labels" if source.name == "cifar10" else "fine_labels"
        for name, part in zip(names, np.array_split(np.arange(n), len(names)), strict=True):
            flat, labels = X[part].reshape(len(part), -1), y[part]
            other = (labels + 1) % 20
            coarse = source.name == "cifar100-coarse"
            if layout.version == "python":
                two = {fine_key: labels.tolist()}
                if fine_key == "fine_labels":
                    pair = (other, labels) if coarse else (labels, other)
                    two = {"fine_labels": pair[0].tolist(), "coarse_labels": pair[1].tolist()}
                files[name] = python2_batch(flat, two)
            else:
                columns = [labels] if source.name == "cifar10" else [labels, other] if coarse else [other, labels]
                files[name] = np.column_stack([*columns, flat]).astype(np.uint8).tobytes()
    return files, splits


def write_layout(source: PublishedSet, layout: FileLayout, root: Path, per_class: int = 3) -> list[tuple]:
    """Write a layout below a data directory; returns what `layout_files` says it holds."""
    files, splits = layout_files(source, layout, per_class)
    folder = root / layout.folders[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return splits


def tar_gz(files: dict[str, bytes], folder: str) -> bytes:
    """Files in a folder of a `.tar.gz`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(files: dict[str, bytes], folder: str) -> bytes:
    """Files in a folder of a `.zip`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{folder}/{name}", content)
    return out.getvalue()
