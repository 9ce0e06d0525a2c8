"""What few bits cost: GEN and the counting rule on MNIST, class-incremental, from float32 to 2 bits.

    python benchmarks/few_bits.py [--features sparse|windows] [--data-dir DIR]

54,000 training samples are learned once, two digits after two digits, and 6,000 others are asked; the test set is not
read. "Floats" is activity in float32, "bytes" activity of 8 bits, everything after it in integers. Every sample's
features are computed once for all layers. Odd at a tenth: of the odd digits every tenth sample is learned.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams import load_dataset
from kenyon.features import BLOCK, Active, Features, Setting, Sparse, Windows
from kenyon.layers import NO_LABEL, FewBitLayer, Layer, PlasticLayer, Samples, clamp_bounds
from kenyon.rules import GEN, MEAN, Rule

HELD_OUT = 6_000
WEIGHTS = ("float32", "8 bits", "4 bits", "3 bits", "2 bits")

SPARSE = (GEN(b2=-0.228), 0.0196, 0.0114)
WINDOWS = (GEN(b2=-0.054), 0.0126, 0.117)
"""GEN, its learning rate and its clamp for either kind of features."""


def features(kind: str) -> tuple[Features, Features | None]:
    """(with activity in floats; in bytes, None where bytes are to be made of the others)."""
    if kind == "sparse":
        part = Sparse(units=10_000, density=156, inhibitory=0.377, threshold=2.15)
        return part.build(Setting(784, unit_norm=False)), None
    windows = Windows((28, 28), 4_000, 10, 2, 28, threshold=1.6, pooling="max", signs="random", root=False)
    floats, in_bytes = (windows.build(Setting(784, unit_norm=False, in_bytes=given)) for given in (False, True))
    return floats, in_bytes


def activities(kind: str, X: NDArray[np.uint8]) -> Iterator[tuple[slice, Active, Active]]:
    """Block by block: activity of length 1 in floats, and in bytes."""
    floats, exact = features(kind)
    own, exact_own = floats.workspace(), exact.workspace() if exact else None
    for start in range(0, len(X), BLOCK):
        block = np.ascontiguousarray(X[start : start + BLOCK])
        units, values, counts = floats.activate(block, own)
        used = np.arange(values.shape[1]) < counts[: len(block), np.newaxis]
        values = np.where(used, values[: len(block)], 0).astype(np.float32)
        bytes_ = np.minimum(values / 16, 255).astype(np.uint8)  # responses of this projection stay below 4,000
        in_bytes = exact.activate(block, exact_own) if exact else (units, bytes_, counts)
        length = np.linalg.norm(values, axis=1, keepdims=True)
        yield slice(start, start + len(block)), (units, values / np.maximum(length, 1e-9), counts), in_bytes


def layers(rule: Rule, rate: float, clamp: float | None, n_units: int) -> dict[tuple[str, str], Layer]:
    """A layer for each kind of weight and of activity, by what it is called and what it learns."""
    bounds = clamp_bounds(clamp, "symmetric")
    made: dict[tuple[str, str], Layer] = {("float32", "floats"): PlasticLayer(n_units, rule, bounds)}
    for bits in (8, 4, 3, 2):
        for activity in ("floats", "bytes"):
            in_bytes = activity == "bytes"
            made[f"{bits} bits", activity] = FewBitLayer(n_units, rule, bounds, bits, rate=rate, in_bytes=in_bytes)
    for layer in made.values():
        for _ in range(10):
            layer.add_class()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", choices=("sparse", "windows"), default="sparse")
    parser.add_argument("--data-dir")
    arguments = parser.parse_args()
    train = load_dataset("mnist", data_dir=arguments.data_dir).train
    order = np.random.default_rng(0).permutation(len(train.y))
    learned = order[HELD_OUT:][np.argsort(train.y[order[HELD_OUT:]] // 2, kind="stable")]
    order = np.concatenate([learned, order[:HELD_OUT]])
    X, y = np.asarray(train.X)[order], train.y[order]
    rare = np.where((y % 2 == 0) | (np.arange(len(y)) % 10 == 0), y, NO_LABEL)

    gen, rate, clamp = SPARSE if arguments.features == "sparse" else WINDOWS
    n_units = features(arguments.features)[0].n_outputs
    runs = [
        ("GEN", gen, rate, layers(gen, rate, clamp, n_units), y),
        ("MEAN", MEAN(), 1.0, layers(MEAN(), 1.0, None, n_units), y),
        ("MEAN, odd at a tenth", MEAN(), 1.0, layers(MEAN(), 1.0, None, n_units), rare),
    ]
    hits: dict[tuple[str, str, str], int] = {}
    for block, floats, in_bytes in activities(arguments.features, X):
        n, asked = len(y[block]), block.start >= len(learned) // BLOCK * BLOCK
        class_counts = np.arange(block.start, block.stop) < len(learned)
        for name, rule, own_rate, made, labels in runs:
            beta = np.tile(np.array([own_rate, 0.0, *rule.parameters.values()], np.float32), (n, 1))
            for (weights, activity), layer in made.items():
                active = floats if activity == "floats" else in_bytes
                layer.learn(Samples(active, 0, n, np.where(class_counts, labels[block], NO_LABEL), None, beta))
                if asked:
                    found = layer.forward(active, 0, n)[:, :10].argmax(axis=1)
                    key = (name, weights, activity)
                    hits[key] = hits.get(key, 0) + int(np.count_nonzero((found == y[block]) & ~class_counts))
    print(f"Held-out accuracy, MNIST two digits after two, {n_units:,} {arguments.features} units, %")
    print(f"{'':28}" + "".join(f"{weights:>9}" for weights in WEIGHTS))
    for name, *_ in runs:
        for activity in ("floats", "bytes"):
            row = [
                hits.get((name, weights, activity)) for weights in ("float32", "8 bits", "4 bits", "3 bits", "2 bits")
            ]
            shown = "".join(f"{'' if hit is None else f'{100 * hit / HELD_OUT:.2f}':>9}" for hit in row)
            print(f"{name + (', bytes' if activity == 'bytes' else ''):28}{shown}")
    result = {", ".join(key): hit / HELD_OUT for key, hit in hits.items()}
    print(json.dumps({"benchmark": "few-bits", "features": arguments.features, **result}))


if __name__ == "__main__":
    main()
