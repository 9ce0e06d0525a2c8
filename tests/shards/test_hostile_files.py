"""Damaged files of samples are refused by an error that names them, whatever the library that reads them raises."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from fuzz.mutate import mutated_bytes
from kenyon.data.shards._formats import Columns, batches_of, layout_of
from kenyon.errors import KenyonError

X, Y = np.arange(40, dtype=np.float32).reshape(10, 4), np.arange(10) % 2


def _write(path: Path) -> None:
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": Y})
    if path.suffix == ".npz":
        (np.savez if path.stem == "plain" else np.savez_compressed)(path, X=X, y=Y)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path))
    else:
        path.write_text("a,b,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(X[:, 0], X[:, 1], Y, strict=True)))


@pytest.mark.parametrize("name", ["plain.npz", "packed.npz", "table.parquet", "table.feather", "table.csv"])
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_refused_by_name(name: str, tmp_path: Path) -> None:
    path, rng, refused = tmp_path / name, random.Random(0), 0
    _write(path)
    whole = path.read_bytes()
    for _ in range(150):
        path.write_bytes(mutated_bytes(whole, rng))
        try:
            layout = layout_of(path, "label", 1000)
            for piece in layout.pieces:
                for _batch in batches_of(path, Columns("label", layout.columns), piece):
                    pass
        except KenyonError as error:
            assert name in str(error)
            refused += 1
    assert refused > 50
