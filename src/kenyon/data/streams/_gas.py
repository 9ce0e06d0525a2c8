"""Gas sensors that drift: 128 features of 16 sensors, six gases, measured over 36 months in batches.

A line of `batchN.dat` is `GAS;CONCENTRATION 1:v 2:v ... 128:v`, gases from 1. Batches are in the order of time:
batches 1 to 6 are for training, 8 and 9 for testing; 7 and 10 are not used. As "gas-months" every batch is a domain:
four fifths of each gas in it are for training, by a fixed seed, the rest for testing.

Reference: Vergara et al., Chemical gas sensor drift compensation using classifier ensembles, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._cache import made_once
from kenyon.data.streams._dataset import Split
from kenyon.data.streams._random import stratified_share
from kenyon.data.streams._reading import reading
from kenyon.errors import DataError

FEATURES, GASES = 128, 6
BATCHES = (1, 2, 3, 4, 5, 6, 8, 9)
TEST_SHARE = 0.2


def read_gas_split(files: Sequence[Path], cache: Path | None) -> Split:
    """Read the batches of one split, in order."""

    def make() -> NDArray[np.float32]:
        return np.concatenate([_read_batch(path) for path in files])

    table = made_once(cache, "gas", files, "float32", make)
    return Split(table[:, :-1], table[:, -1].astype(np.int64))


def read_gas_months(files: Sequence[Path], cache: Path | None, test: bool) -> Split:
    """Read one split of every batch; the batch is the domain."""
    parts = [read_gas_split([path], cache) for path in files]
    X, y = np.concatenate([np.asarray(part.X) for part in parts]), np.concatenate([part.y for part in parts])
    domain = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    chosen = stratified_share(0, "gas months", y + GASES * domain, TEST_SHARE) == test
    return Split(X[chosen], y[chosen], domain[chosen])


def _read_batch(path: Path) -> NDArray[np.float32]:
    """Features, and the gas from 0 as the last column."""
    rows = []
    with reading(path, "cannot be read as a batch"), path.open(encoding="ascii") as file:
        for number, line in enumerate(file, start=1):
            head, *cells = line.split()
            pairs = [cell.split(":") for cell in cells]
            if [pair[0] for pair in pairs] != [str(k) for k in range(1, FEATURES + 1)]:
                raise DataError(f"{path}, line {number}: {len(cells)} features: expected 1 to {FEATURES}, in order")
            gas = int(head.split(";")[0])
            row = np.array([float(pair[1]) for pair in pairs], np.float32)
            if not 1 <= gas <= GASES or not np.isfinite(row).all():
                raise DataError(f"{path}, line {number}: gas {gas}: expected 1 to {GASES}, and finite features")
            rows.append(np.append(row, np.float32(gas - 1)))
    if not rows:
        raise DataError(f"{path} has no line")
    return np.array(rows)
