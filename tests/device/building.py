"""Small models as C: compiled for this machine, for ARM cores and for WebAssembly, from packages of PyPI alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulated import compiled
from kenyon import KenyonClassifier
from kenyon.export import export_model
from making import composed

HERE = Path(__file__).parent
MODELS: dict[str, dict[str, Any]] = {
    "second order, 16 bits": {"memory_budget": "4KB", "shape": (8, 8), "expected_classes": 4},
    "second order, 24 bits": {"layer": "second-order", "bits": 24, "n_hidden": 21, "threshold": 0.4, "density": 9},
    "patches": {
        "layer": "second-order",
        "bits": 16,
        "features": "patches",
        "shape": (4, 4, 4),
        "axes": "hwc",
        "n_hidden": 20,
        "size": 2,
        "shifts": 1,
        "grid": 2,
        "views": 2,
    },
    "gen": {"rule": "gen", "bits": 4, "n_hidden": 91, "inhibitory": 0.4, "threshold": 1.0},
    "mean": {"rule": "mean", "bits": 3, "shape": (4, 4, 4), "axes": "hwc", "n_hidden": 61, "window": 3},
    "mean, series": {"rule": "mean", "bits": 8, "shape": (64,), "signs": "oriented", "pooling": "sum", "n_hidden": 40},
    "identity": {"rule": "gen", "bits": 2, "features": "identity", "clamp_kind": "positive"},
}
"""One of each kind: what they compute with covers every part of the C sources."""


def stream(n: int, seed: int = 0, n_classes: int = 4) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Noisy prototypes of 64 bytes, black and white samples among them; labels are not in order."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.random.default_rng(9).integers(0, 256, (n_classes, 64))[y] + rng.normal(0, 50, (n, 64))
    X = np.clip(X, 0, 255).astype(np.uint8)
    X[3::17], X[5::29] = 0, 255
    return X, 7 * y - 3 * (y == 2)


def make(name: str, **more: Any) -> KenyonClassifier:
    """A model that has learned nothing yet."""
    return KenyonClassifier(
        **composed(**{"arithmetic": "integer", "random_state": 5, "unlabelled": -1, **MODELS[name], **more})
    )


def at_random(rng: np.random.Generator) -> dict[str, Any]:
    """A model of samples of 64 bytes, drawn at random."""
    layers: list[dict[str, Any]] = [
        {"rule": "gen", "bits": int(rng.choice([2, 3, 4, 8]))},
        {"rule": "mean", "bits": int(rng.choice([2, 3, 4, 8]))},
        {"layer": "second-order", "bits": int(rng.choice([16, 24]))},
    ]
    shapes: list[dict[str, Any]] = [
        {"shape": (8, 8)}, {"shape": (2, 32), "axes": "ct"}, {"shape": (16, 4), "axes": "tc"},
        {"shape": (64,)}, {"shape": (4, 4, 4), "axes": "hwc"},
    ]  # fmt: skip
    windows = shapes[rng.integers(len(shapes))] | {
        "features": "windows",
        "window": int(rng.integers(2, 5)),
        "shifts": int(rng.integers(0, 4)),
        "pooling": str(rng.choice(["max", "sum"])),
        "signs": str(rng.choice(["random", "oriented"])),
        "root": bool(rng.integers(2)),
        "density": int(rng.integers(2, 5)),
    }
    sparse = {"density": int(rng.integers(3, 40)), "inhibitory": float(rng.uniform(0, 0.6))}
    features = windows if rng.random() < 0.7 else sparse
    threshold = None if rng.random() < 0.3 else float(rng.uniform(0, 1.2))
    common = {"arithmetic": "integer", "n_hidden": int(rng.integers(9, 70)), "threshold": threshold, "random_state": 1}
    return composed(**layers[rng.integers(len(layers))], **features, **common)


def exported(classifier: KenyonClassifier, folder: Path, **options: Any) -> Path:
    export_model(classifier, "c", folder, **options)
    return folder


def wrapper(folder: Path) -> ModuleType:
    """The single-file wrapper as it was exported."""
    spec = importlib.util.spec_from_file_location(f"kenyon_device_{folder.name}", folder / "kenyon_device.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


__all__ = ["MODELS", "at_random", "compiled", "exported", "make", "stream", "wrapper"]
