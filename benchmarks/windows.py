"""How fast windows and a second-order layer are: against batched dense PyTorch, against the projection, and one by one.

    python benchmarks/windows.py [--data-dir DIR]

Everything on one thread and on MNIST's bytes. Every figure is compared with one taken in this run: the same features by
PyTorch in batches of 128, as one matrix product over all shifts, as a product for each place of a window (unfold)
where there are few shifts, and as a convolution where there are many; and learning through the sparse
projection (11,000 units, the first row of speed.py).
"""

from __future__ import annotations

import argparse
import json
import os
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch.nn import functional

from kenyon import KenyonClassifier
from kenyon.data.streams import load_dataset
from kenyon.features import BLOCK, Setting, Windows
from kenyon.rules import MSE
from kenyon.utils.options import options_of
from speed import best

SIDE, BATCH = 28, 128
PROJECTION = {"n_hidden": 11_000, "density": 0.04, "threshold": 1.257}
FEW_SHIFTS = {"shape": (SIDE, SIDE), "window": 8, "shifts": 1, "pooling": "max", "signs": "random", "threshold": 1.6}
MANY_SHIFTS = {"window": 6, "shifts": 5, "pooling": "sum", "signs": "oriented", "root": True}
SECOND_ORDER = {"shape": (SIDE, SIDE), "layer": "second-order", "n_hidden": 1_000, "threshold": 1.0, "shifts": 1}
SPEED = 22.0
"""Microseconds of the projection on the machine for which the limits below were set."""


def make(**options: object) -> KenyonClassifier:
    rule = {} if options.get("layer") else {"rule": MSE(), "layer__learning_rate": 0.15}
    named = {
        f"features__{name}" if name in options_of(Windows) and name != "shape" else name: options[name]
        for name in options
    }
    return KenyonClassifier(random_state=0).set_params(**rule, **named)


def learning(X: np.ndarray, y: np.ndarray, **options: object) -> float:
    """Seconds a sample, features included."""
    learner = make(**options).partial_fit(X[:200], y[:200])
    return best(lambda: learner.partial_fit(X, y), 5) / len(y)


def one_by_one(X: np.ndarray, y: np.ndarray, **options: object) -> float:
    """p50 of `learn_one`, seconds."""
    learner = make(**options).partial_fit(X[:200], y[:200])
    times = []
    for sample, label in zip(X, y.tolist(), strict=True):
        begin = perf_counter()
        learner.learn_one(sample, label)
        times.append(perf_counter() - begin)
    return float(np.percentile(times, 50))


def features_alone(features: Windows, X: np.ndarray) -> float:
    workspace = features.workspace()
    blocks = [X[first : first + BLOCK] for first in range(0, len(X), BLOCK)]

    def run() -> None:
        for block in blocks:
            features.activate(block, workspace)

    run()
    return best(run, 5) / len(X)


class Peer:
    """The pooled responses of a layer of windows on MNIST, in PyTorch."""

    def __init__(self, features: Windows, window: int, shifts: int, pooling: str, **_: object) -> None:
        inputs = features.inputs.astype(np.int64)
        signs = np.where(np.arange(inputs.shape[1]) < features._n_excitatory, 1.0, -1.0).astype(np.float32)
        self.r, self.best, self.n_units = shifts, pooling == "max", len(inputs)
        self.padded = SIDE + 2 * shifts
        self.y, self.x = inputs // self.padded, inputs % self.padded
        self.signs, self.window = signs, window

    def matrix(self) -> torch.Tensor:
        """(places, shifts x units): every unit at every shift."""
        weights = np.zeros((self.padded**2, (2 * self.r + 1) ** 2, self.n_units), np.float32)
        units = np.arange(self.n_units)[:, np.newaxis]
        for number, (down, right) in enumerate(np.ndindex(2 * self.r + 1, 2 * self.r + 1)):
            weights[(self.y + down) * self.padded + self.x + right, number, units] = self.signs
        return torch.from_numpy(weights.reshape(self.padded**2, -1))

    def by_place(self) -> tuple[torch.Tensor, torch.Tensor, int]:
        """(a matrix for each place of a window and its shifts; where each unit went; size of what it looks at)."""
        size = self.window + 2 * self.r
        columns = self.padded - size + 1
        top, left = (np.minimum(part.min(axis=1), columns - 1) for part in (self.y, self.x))
        place = top * columns + left
        rank = np.zeros(self.n_units, np.int64)
        for number in np.unique(place):
            rank[place == number] = np.arange(np.count_nonzero(place == number))
        deepest = int(rank.max()) + 1
        weights = np.zeros((columns**2, (2 * self.r + 1) ** 2, deepest, size * size), np.float32)
        y, x = self.y - top[:, np.newaxis], self.x - left[:, np.newaxis]
        for number, (down, right) in enumerate(np.ndindex(2 * self.r + 1, 2 * self.r + 1)):
            at = (y + down) * size + x + right
            weights[place[:, np.newaxis], number, rank[:, np.newaxis], at] = self.signs
        rows = torch.from_numpy(weights.reshape(columns**2, -1, size * size))
        return rows, torch.from_numpy(place * deepest + rank), size

    def kernels(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(a kernel for each unit; the places of its shifts in what a convolution gives)."""
        columns = self.padded - self.window + 1
        last = columns - 2 * self.r - 1
        top, left = (np.minimum(part.min(axis=1), last)[:, np.newaxis] for part in (self.y, self.x))
        weights = np.zeros((self.n_units, 1, self.window, self.window), np.float32)
        weights[np.arange(self.n_units)[:, np.newaxis], 0, self.y - top, self.x - left] = self.signs
        shifts = np.arange(2 * self.r + 1)
        places = ((top + shifts)[:, :, np.newaxis] * columns + (left + shifts)[:, np.newaxis]).reshape(self.n_units, -1)
        return torch.from_numpy(weights), torch.from_numpy(places)

    def pooled(self, responses: torch.Tensor, axis: int) -> torch.Tensor:
        return responses.amax(axis) if self.best else responses.relu().sum(axis)

    def by_matrix(self, X: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        padded = functional.pad(X.view(-1, SIDE, SIDE).float(), [self.r] * 4).flatten(1)
        return self.pooled((padded @ weights).view(len(X), -1, self.n_units), 1)

    def by_unfold(self, X: torch.Tensor, weights: torch.Tensor, order: torch.Tensor, size: int) -> torch.Tensor:
        windows = functional.unfold(X.view(-1, 1, SIDE, SIDE).float(), size, padding=self.r).permute(2, 1, 0)
        responses = torch.bmm(weights, windows.contiguous()).view(len(weights), (2 * self.r + 1) ** 2, -1, len(X))
        return self.pooled(responses, 1).flatten(0, 1)[order].T

    def by_convolution(self, X: torch.Tensor, weights: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        responses = functional.conv2d(X.view(-1, 1, SIDE, SIDE).float(), weights, padding=self.r).flatten(2)
        return self.pooled(responses.gather(2, places.expand(len(X), -1, -1)), 2)


def peers(features: Windows, X: np.ndarray, options: dict, names: tuple[str, ...]) -> dict[str, float]:
    """Seconds a sample of each way to do it, after a check that it gives the same."""
    peer, batch = Peer(features, **options), torch.from_numpy(X[:BATCH])
    plain = Windows((SIDE, SIDE), peer.n_units, features.inputs.shape[1], unit_norm=False, **_plain(options))
    units, values, counts = plain.activate(X[:BATCH], plain.workspace())
    ways = {
        "matrix product": (peer.by_matrix, lambda: (peer.matrix(),)),
        "unfold": (peer.by_unfold, peer.by_place),
        "convolution": (peer.by_convolution, peer.kernels),
    }
    times = {}
    for name in names:
        way, tables = ways[name][0], ways[name][1]()
        found = way(batch, *tables).numpy()
        for s in range(BATCH):
            wanted = np.zeros(peer.n_units, np.float32)
            wanted[units[s, : counts[s]]] = values[s, : counts[s]]
            assert np.array_equal(np.maximum(found[s], 0), wanted), f"{name} is not what it is compared with"
        times[name] = best(lambda way=way, tables=tables: way(batch, *tables), 3) / BATCH
    return times


def _plain(options: dict) -> dict:
    """Pooled responses as they are."""
    return {name: options[name] for name in ("window", "shifts", "pooling", "signs")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    torch.set_num_threads(1)
    train = load_dataset("mnist", data_dir=parser.parse_args().data_dir).train
    X, y = np.array(train.X[:4_000]), np.array(train.y[:4_000])

    def row(name: str, text: str, ok: bool, **values: float) -> None:
        print(f"{'ok  ' if ok else 'MISS'} {name:<22} {text}")
        print(json.dumps({"benchmark": name, "ok": bool(ok), **values}))

    projection = learning(X, y, **PROJECTION)
    for n_units, most in ((4_000, 40.0), (30_000, 300.0)):
        options = {**FEW_SHIFTS, "n_hidden": n_units, "density": 16}
        seconds, single = learning(X, y, **options), one_by_one(X[:1_500], y[:1_500], **options)
        row(
            f"windows, {n_units:,} units",
            f"{seconds * 1e6:.1f} us a sample, 9 shifts of 16 inputs, learning included: {seconds / projection:.2f}x "
            f"the projection ({projection * 1e6:.1f} us; wanted {most / SPEED:.2f}x)",
            seconds / projection <= most / SPEED,
            us=seconds * 1e6,
            projection=seconds / projection,
        )
        row(
            f"learn_one, {n_units:,} units",
            f"p50 {single * 1e6:.0f} us: {single / seconds:.1f}x the blocked time (wanted 3x)",
            single / seconds <= 3,
            p50_us=single * 1e6,
            ratio=single / seconds,
        )
        if n_units == 4_000:
            layer = {name: value for name, value in FEW_SHIFTS.items() if name != "shape"}
            times = peers(Windows((SIDE, SIDE), n_units, 16, **layer), X, layer, ("matrix product", "unfold"))
            _against(row, "PyTorch, 4,000 units", seconds, times, "learning included")
    seconds = learning(X, y, **SECOND_ORDER)
    row(
        "second order",
        f"{seconds * 1e6:.1f} us a sample, 1,000 sparse units, learning included: {seconds / projection:.2f}x the "
        f"projection (wanted {100 / SPEED:.2f}x)",
        seconds / projection <= 100 / SPEED,
        us=seconds * 1e6,
        projection=seconds / projection,
    )
    single = one_by_one(X[:1_500], y[:1_500], **SECOND_ORDER)
    row(
        "learn_one, 2nd order",
        f"p50 {single * 1e6:.0f} us: {single / seconds:.1f}x the blocked time (wanted 3x)",
        single / seconds <= 3,
        p50_us=single * 1e6,
        ratio=single / seconds,
    )
    for n_units in (130, 500, 2_000):
        part = Windows((SIDE, SIDE), n_units, density=16, threshold=None, **MANY_SHIFTS)
        features = part.build(Setting(SIDE * SIDE, in_bytes=True))
        seconds = features_alone(features, X[: 4 * BLOCK])
        ways = ("convolution", "matrix product") if n_units == 130 else ("convolution",)
        times = peers(features, X, MANY_SHIFTS, ways)
        _against(row, f"121 shifts, {n_units:,} units", seconds, times, "features alone")


def _against(row, name: str, seconds: float, times: dict[str, float], what: str) -> None:
    ratios = {way: time / seconds for way, time in times.items()}
    text = ", ".join(f"{ratios[way]:.0f}x {way} ({time * 1e6:.0f} us)" for way, time in times.items())
    row(
        name,
        f"{seconds * 1e6:.1f} us a sample, {what}: {text}; wanted 10x",
        min(ratios.values()) >= 10,
        us=seconds * 1e6,
        **{way.replace(" ", "_"): ratio for way, ratio in ratios.items()},
    )


if __name__ == "__main__":
    main()
