"""Small files of samples for the tests, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.data.shards import LearnConfig

WIDTH = 20
CONFIG = LearnConfig(options={"layer": "second-order", "shape": [4, 5], "n_hidden": 24, "unlabelled": -1})


def samples(n: int = 600, seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Noisy prototypes of five classes, which come one after the other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 1 + np.arange(n) * 5 // n)
    X = np.clip(np.random.default_rng(1).integers(0, 256, (5, WIDTH))[y] + rng.normal(0, 30, (n, WIDTH)), 0, 255)
    y[7::11] = -1
    return X.astype(np.uint8), y


def table(X: NDArray, y: NDArray, kind: str = "columns") -> pa.Table:
    label = pa.array(y)
    if kind == "columns":
        return pa.table({**{f"p{i}": X[:, i] for i in range(X.shape[1])}, "label": label})
    flat = pa.array(X.ravel())
    if kind == "lists":
        return pa.table({"pixels": pa.FixedSizeListArray.from_arrays(flat, X.shape[1]), "label": label})
    return pa.table({"pixels": pa.array([row.tobytes() for row in X], pa.binary(X.shape[1])), "label": label})


def write(path: Path, X: NDArray, y: NDArray, kind: str = "columns", row_group: int = 50) -> Path:
    """A file in the format of its name."""
    if path.suffix == ".npz":
        np.savez_compressed(path, X=X, y=y)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(table(X, y, kind), path, row_group_size=row_group)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table(X, y, kind).schema) as file:
            file.write_table(table(X, y, kind), max_chunksize=row_group)
    else:
        pyarrow.csv.write_csv(table(X, y, kind), path)
    return path


def parts(folder: Path, n: int = 6, ending: str = ".parquet", seed: int = 0) -> tuple[NDArray, NDArray]:
    """So many files `part-0`, `part-1`, ..., and what is in all of them."""
    X, y = samples(seed=seed)
    for number, some in enumerate(np.array_split(np.arange(len(y)), n)):
        write(folder / f"part-{number}{ending}", X[some], y[some])
    return X, y


def single_pass(X: NDArray, y: NDArray, path: Path, config: LearnConfig = CONFIG, named: bool = True) -> bytes:
    """The file of a model that learned everything in one call, with the names of the columns unless it has none."""
    samples = pd.DataFrame(X, columns=[f"p{i}" for i in range(X.shape[1])]) if named else X
    config.classifier().partial_fit(samples, y).save(path)
    return path.read_bytes()


def loaded(path: Path) -> KenyonClassifier:
    return KenyonClassifier.load(path)
