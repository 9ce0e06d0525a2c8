"""Data sets: published formats, archives, Parquet tables and folders of images, damaged byte by byte."""

from __future__ import annotations

import gzip
import pickle
import random
import shutil
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np

from fuzz.mutate import mutated_bytes
from fuzz.target import Target
from kenyon.data.streams import load_dataset
from kenyon.errors import KenyonError

N = 8


class Readers(Target):
    """Read by `load_dataset`, every sample of both splits: an error of ours, or samples; nothing refused is kept."""

    name: ClassVar[str] = "readers"
    share: ClassVar[float] = 0.5

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(0)
        self._y = np.arange(N) % 2
        self._X = rng.integers(0, 256, (N, 4, 3), dtype=np.uint8)
        kinds: tuple[Callable[[], tuple[str, Path]], ...] = (
            *(self._mnist, self._cifar_binary, self._cifar_python, self._npz),
            *(self._packed, self._parquet, self._images),
        )
        self._sets = []
        for make in kinds:
            name, root = make()
            files = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
            self._sets.append((name, [(path, path.read_bytes()) for path in files]))

    def case(self, rng: random.Random) -> str:
        name, files = rng.choice(self._sets)
        path, content = rng.choice(files)
        damaged = self._changed(path, content, rng)
        path.write_bytes(damaged)
        try:
            result = self._read(name)
        finally:
            path.write_bytes(content)
        left = sorted(file.name for file in (self.folder / "cache").glob("*"))
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        if any(file.startswith(".") for file in left):
            raise AssertionError(f"left behind in the cache: {left}")
        return result

    def _changed(self, path: Path, content: bytes, rng: random.Random) -> bytes:
        """Packed content is damaged inside half of the time, so that more than its checksum is tried."""
        if path.suffix == ".gz" and rng.random() < 0.5:
            return gzip.compress(mutated_bytes(gzip.decompress(content), rng), 1)
        return mutated_bytes(content, rng)

    def _read(self, name: str) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of Pillow, over tags that it does not need
                data = load_dataset(name if "/" not in name else Path(name), self.folder)
                for split in (data.train, data.test):
                    np.asarray(split.X[:]).sum()
        except KenyonError:
            return "refused"
        return "read"

    # ---- a small set of each kind

    def _mnist(self) -> tuple[str, Path]:
        root = self.folder / "mnist"
        root.mkdir()
        X, y = np.zeros((20, 28, 28), np.uint8), np.arange(20) % 10
        for split in ("train", "t10k"):
            for kind, array in (("images-idx3", X), ("labels-idx1", y.astype(np.uint8))):
                head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
                (root / f"{split}-{kind}-ubyte.gz").write_bytes(gzip.compress(head + array.tobytes(), 1))
        return "mnist", root

    def _cifar_binary(self) -> tuple[str, Path]:
        root = self.folder / "cifar-10-batches-bin"
        root.mkdir()
        for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
            (root / f"{name}.bin").write_bytes(b"".join(bytes([i]) + bytes(3072) for i in range(10)))
        return "cifar10", root

    def _cifar_python(self) -> tuple[str, Path]:
        root = self.folder / "cifar-100-python"
        root.mkdir()
        labels = list(range(100))
        content = {"data": np.zeros((100, 3072), np.uint8), "fine_labels": labels, "coarse_labels": labels}
        for name in ("train", "test"):
            (root / name).write_bytes(pickle.dumps(content, protocol=4))
        return "cifar100", root

    def _npz(self) -> tuple[str, Path]:
        path = self.folder / "plain.npz"
        np.savez(path, X=self._X, y=self._y)
        return str(path), path

    def _packed(self) -> tuple[str, Path]:
        path = self.folder / "packed.npz"
        np.savez_compressed(path, X_train=self._X, y_train=self._y, X_test=self._X[:4] / 255, y_test=self._y[:4])
        return str(path), path

    def _parquet(self) -> tuple[str, Path]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.folder / "table.parquet"
        table = {"a": np.arange(N) / 2, "b": np.arange(N, dtype=np.uint8), "label": ["x", "y"] * (N // 2)}
        pq.write_table(pa.table(table), path)
        return str(path), path

    def _images(self) -> tuple[str, Path]:
        from PIL import Image

        root = self.folder / "images"
        for name in ("cat", "dog"):
            (root / name).mkdir(parents=True)
            for number, suffix in enumerate(("png", "gif", "bmp", "tiff", "jpg")):
                Image.fromarray(self._X[number, :, :]).convert("L").save(root / name / f"{number}.{suffix}")
        return f"{root}/", root
