"""Effective dimensions and centroid distances of MNIST and Fashion-MNIST, computed in other ways than the paper's.

    python benchmarks/dimensions.py

docs/transfer.md says which of them gives the paper's numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams import load_dataset


def dimension(X: NDArray, centred: bool = True) -> float:
    """`(sum lambda)^2 / sum lambda^2` over the eigenvalues of the covariance, or of the second moments."""
    X = X.astype(np.float64)
    second = X.T @ X / len(X)
    if centred:
        mean = X.mean(axis=0)
        second -= np.outer(mean, mean)
    return float(np.trace(second) ** 2 / np.sum(second * second))


def standardised(X: NDArray) -> NDArray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread, spread, 1)


def centroids(X: NDArray, y: NDArray) -> NDArray:
    means = np.array([X[y == c].mean(axis=0) for c in range(10)])
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def main() -> None:
    sets = {}
    for name in ("mnist", "fashion-mnist"):
        data = load_dataset(name)
        parts = [
            (np.asarray(p.X).reshape(len(p.y), -1).astype(np.float32), np.asarray(p.y)) for p in (data.train, data.test)
        ]
        sets[name] = parts
        (X, _), (T, _) = parts
        ways = {
            "training part": dimension(X),
            "test part": dimension(T),
            "both parts": dimension(np.concatenate([X, T])),
            "not centred": dimension(X, centred=False),
            "samples of unit length": dimension(X / np.linalg.norm(X, axis=1, keepdims=True)),
            "standardised pixels": dimension(standardised(X)),
            "binary": dimension((X > 127).astype(np.float32)),
        }
        print(name, ", ".join(f"{way} {value:.2f}" for way, value in ways.items()), flush=True)
    for label, which in (("training parts", slice(0, 1)), ("both parts", slice(0, 2))):
        means = {
            name: centroids(np.concatenate([p[0] for p in parts[which]]), np.concatenate([p[1] for p in parts[which]]))
            for name, parts in sets.items()
        }
        for a, b in (("mnist", "mnist"), ("fashion-mnist", "fashion-mnist"), ("mnist", "fashion-mnist")):
            far = 1 - means[a] @ means[b].T
            found = far[~np.eye(10, dtype=bool)] if a == b else far.ravel()
            print(f"{label}, {a} and {b}: smallest {found.min():.4f}, largest {found.max():.3f}", flush=True)


if __name__ == "__main__":
    main()
