"""Write samples made from MNIST, by shifts and noise, as parquet files for `benchmarks/merging.py`.

    python benchmarks/write_shards.py shards                    10,000,000 samples in 100 files, about 1.8 GB
    python benchmarks/write_shards.py shards --samples 200000   the same, smaller

Every file is drawn from a seed of its own, so that it has the same samples whenever it is written; files that are there
already are left alone. A sample is a training image moved by up to three pixels each way, with its strokes changed by
up to sixteen levels of grey; a file has row groups of 10,000 samples, each a column of 784 bytes and a label.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kenyon.data.streams import load_dataset
from kenyon.utils.system import replacing

PER_FILE = 100_000
SHIFT, NOISE = 3, 16


def varied(images: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Images (n, 28, 28), each moved by a shift of its own, with noise on its strokes."""
    moved = np.zeros_like(images)
    shifts = rng.integers(-SHIFT, SHIFT + 1, (len(images), 2))
    for down, right in np.unique(shifts, axis=0).tolist():
        some = np.flatnonzero((shifts == (down, right)).all(axis=1))
        moved[some] = np.roll(images[some], (down, right), axis=(1, 2))
    noise = rng.integers(-NOISE, NOISE + 1, moved.shape, dtype=np.int16)
    return np.where(moved > 0, np.clip(moved + noise, 1, 255), 0).astype(np.uint8)


def write(path: Path, n: int, seed: int, images: NDArray[np.uint8], labels: NDArray[np.int64]) -> None:
    """One file of n samples."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(labels), n)
    samples = varied(images[chosen], rng).reshape(n, -1)
    pixels = pa.FixedSizeBinaryArray.from_buffers(pa.binary(784), n, [None, pa.py_buffer(samples.tobytes())])
    table = pa.table({"pixels": pixels, "label": labels[chosen].astype(np.uint8)})
    with replacing(path, durable=False) as temporary:
        pq.write_table(table, temporary, row_group_size=10_000, compression="zstd", use_dictionary=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=10_000_000)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    train = load_dataset("mnist").train
    images, labels = np.asarray(train.X[:]).reshape(-1, 28, 28), train.y
    per_file = min(PER_FILE, max(1, arguments.samples // 10))
    for number in range(-(-arguments.samples // per_file)):
        path = arguments.folder / f"part-{number:05}.parquet"
        if not path.exists():
            write(path, min(per_file, arguments.samples - number * per_file), number, images, labels)
            print(f"{path} {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
