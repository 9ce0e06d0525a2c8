"""Small classifiers and streams for the tests, and what a classifier holds as bytes."""

from __future__ import annotations

from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, LocalError, features, layers
from kenyon.layers import clamp_bounds
from kenyon.model import model_file
from kenyon.model.options import OPTIONS
from kenyon.rules import GEN, INEL, MEAN, MSE, OJA, get_rule
from kenyon.utils.modulation import Exponential, InverseTime, Step
from kenyon.utils.options import options_of
from outside_rule import Leaky

NUMPY_2 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 computes the rules of the reference in float64"
)
"""On tests that compare floats with `kenyon.reference` to the bit."""

RULES = {
    "mse": MSE(),
    "gen": GEN(),
    "gen-dense": GEN(b1=0.01),
    "gen-moving": GEN(b1=Exponential(0.02, 0.1), b2=Step(-1.0, 0.9, 7)),
    "oja": OJA(),
    "oja-event": OJA(b1=0.0),
    "mean": MEAN(),
    "inel": INEL(),
    "inel-moving": INEL(InverseTime(300.0, 0.01)),
    "inel-gen": INEL(20.0, GEN()),
    "inel-oja": INEL(50.0, OJA()),
    "leaky": Leaky(leak=0.25),
}


def window_units(
    shape: tuple[int, ...], units: int, density: int, *, activity: str = "float", exact: bool = False, **more: Any
) -> features.WindowUnits:
    """Windows with nothing left open; `more` are options of the part, and of what it is built for."""
    own = {"window": 6, "shifts": 0, "pooling": "max", "signs": "random", "threshold": None, "root": False} | more
    setting = {name: own.pop(name) for name in ("axes", "unit_norm", "own_range", "seed", "n_inputs") if name in own}
    setting = {"n_inputs": prod(shape), "in_bytes": activity == "byte", "integer": exact} | setting
    return features.Windows(shape=shape, units=units, density=density, **own).build(features.Setting(**setting))


def sparse_units(n_inputs: int, units: int, density: int, *, exact: bool = False, **more: Any) -> Any:
    """A sparse projection with nothing left open; `more` are options of the part, and of what it is built for."""
    own = {"inhibitory": 0.0, "threshold": 1.8} | more
    setting = {name: own.pop(name) for name in ("unit_norm", "seed") if name in own}
    part = features.Sparse(units=units, density=density, **own)
    return part.build(features.Setting(n_inputs, integer=exact, **setting))


CASES: dict[str, dict[str, Any]] = {
    **{name: {"rule": rule} for name, rule in RULES.items()},
    "schedule": {"rule": "mse", "learning_rate": InverseTime(0.3, 0.02)},
    "positive clamp": {"rule": "mse", "clamp": 0.05, "clamp_kind": "positive"},
    "rectified output": {"rule": "mse", "output": "relu"},
    "clipped output": {"rule": INEL(20.0), "output": "clip"},
    "one hidden layer": {"rule": "mse", "hidden": LocalError((24,))},
    "two hidden layers": {"rule": INEL(20.0), "hidden": LocalError((24, 9))},
    "few bits": {"rule": "gen", "bits": 4},
    "counting in few bits": {"rule": "mean", "bits": 3},
    "counting": {"rule": "mean", "layer": "counting"},
    "counting, windows": {"rule": "mean", "layer": "counting", "shape": (5, 8), "density": "auto", "pooling": "sum"},
    "naive Bayes": {"rule": "mean", "layer": "counting", "readout": "bayes", "prior": "counts"},
    "few bits, one hidden layer": {"rule": "mean", "bits": 8, "hidden": LocalError((24,))},
    "identity": {"rule": "mse", "features": "identity"},
    "no threshold": {"rule": "mse", "threshold": None, "inhibitory": 0.5},
    "no unit norm": {"rule": "mse", "unit_norm": False, "learning_rate": 1e-7, "clamp": 1.0},
    "scaled": {"rule": "mse", "scale": True},
    "table": {"features": "ramps", "density": "auto", "threshold": "auto"},
    "table, ridge": {"features": "ramps", "threshold": "auto", "readout": "ridge", "missing": "absent"},
    "second order": {"layer": "second-order"},
    "second order, ridge": {"layer": "second-order", "features": "identity", "readout": "ridge", "shrinkage": "auto"},
    "memory": {"features": "ramps", "threshold": "auto", "half_life": 9},
    "memory, windows": {"layer": "second-order", "shape": (5, 8), "density": "auto", "threshold": None, "half_life": 8},
    "memory, 16 bits": {
        "layer": "second-order",
        "shape": (5, 8),
        "density": "auto",
        "threshold": None,
        "half_life": 8,
        "bits": 16,
    },
    "memory, counting": {"layer": "counting", "rule": "mean", "half_life": 8},
    "second order, windows": {"layer": "second-order", "shape": (5, 8), "density": "auto", "threshold": None},
    "second order, 16 bits": {
        "layer": "second-order",
        "shape": (5, 8),
        "density": "auto",
        "threshold": None,
        "bits": 16,
    },
    "second order, 24 bits": {
        "layer": "second-order",
        "shape": (5, 8),
        "density": "auto",
        "threshold": 0.0,
        "bits": 24,
    },
    "integers": {"rule": "gen", "bits": 4, "inhibitory": 0.4, "arithmetic": "integer"},
    "integers, counting": {"rule": "mean", "shape": (5, 8), "density": "auto", "bits": 3, "arithmetic": "integer"},
    "integers, second order": {
        "layer": "second-order",
        "shape": (5, 8),
        "density": "auto",
        "threshold": 0.5,
        "bits": 16,
        "arithmetic": "integer",
    },
}


FEATURES = {name: set(options_of(part)) for name, part in features.FEATURES.items()}
LAYERS = {name: set(options_of(part)) for name, part in layers.LAYERS.items()}


def composed(**options: Any) -> dict[str, Any]:
    """Parameters of the classifier from options by their bare names, each put into the part that has it.

    Features are windows where a shape is given; the layer is the one given, plastic with a rule, else second-order.
    """
    params = {name: value for name, value in options.items() if name in OPTIONS}
    rest = {name: value for name, value in options.items() if name not in OPTIONS}
    kind = params.get("features", "auto")
    if isinstance(kind, str):
        own = {name: rest.pop(name) for name in list(rest) if any(name in known for known in FEATURES.values())}
        if kind == "auto" and own:
            kind = "windows" if params.get("shape") is not None else "sparse"
        own = {name: value for name, value in own.items() if kind in FEATURES and name in FEATURES[kind]}
        if own:
            params["features"] = features.FEATURES[kind](**own)
    if kind == "identity":
        params.pop("n_hidden", None)
    layer = params.get("layer", "auto")
    if layer == "counting":
        rule = get_rule(params.pop("rule", "mean"))
        rest = {"cap": rule.parameters["cap"], **rest}
    elif layer == "auto" and rest:
        second = "rule" not in params and rest.get("bits", 32) >= 16 and {"memory_budget", "shape"} <= params.keys()
        layer = "second-order" if second or params.get("features") == "ramps" or kind == "ramps" else "plastic"
    if isinstance(layer, str) and layer != "auto" and rest:
        params["layer"] = layers.LAYERS[layer](**rest)
    return params


def plain_spec(**options: Any) -> Any:
    """What the parts of `kenyon.reference` are made with, from options by their bare names."""
    feature = {name: options[name] for known in FEATURES.values() for name in known if name in options}
    layer = {name: options[name] for known in LAYERS.values() for name in known if name in options}
    rate, bounds = (
        options.get("learning_rate"),
        clamp_bounds(options.get("clamp"), options.get("clamp_kind", "symmetric")),
    )
    derived = {"rate": rate, "local": getattr(type(rate), "local", None), "bounds": bounds, "half_life": None}
    return SimpleNamespace(
        features=SimpleNamespace(name=options.get("features"), **feature),
        layer=SimpleNamespace(**{**derived, **layer}),
        n_inputs=options.get("n_inputs"),
        n_units=options.get("n_hidden"),
        unit_norm=options.get("unit_norm", True),
        in_bytes=options.get("in_bytes", False),
        integer=options.get("arithmetic") == "integer",
        axes=options.get("axes"),
        shape=options.get("shape"),
        scale="range" if options.get("own_range") else False,
    )


def make(case: str = "mse", **params: Any) -> KenyonClassifier:
    """A small classifier of one of the cases."""
    common = {"n_hidden": 117, "density": 7, "threshold": 1.0, "unlabelled": -1, "random_state": 3}
    return KenyonClassifier(**composed(**{**common, **CASES[case], **params}))


def stream(n: int = 90, width: int = 40, seed: int = 0, kind: str = "bytes") -> tuple[NDArray, NDArray[np.int64]]:
    """Noisy prototypes, with classes that come one after the other and every seventh label withheld."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 1 + np.arange(n) * 7 // n)
    X = np.clip(rng.integers(0, 256, (7, width))[y] + rng.normal(0, 40, (n, width)), 0, 255).astype(np.uint8)
    X[rng.random((n, width)) < 0.3] = 0
    y[6::7] = -1
    return (X, y) if kind == "bytes" else ((X / 128.0 - 0.5).astype(kind), y)


def held(classifier: KenyonClassifier) -> dict[str, bytes]:
    """Everything a classifier needs to keep learning; equal if and only if two are in the same state."""
    model, tensors = model_file.to_arrays(classifier._core)
    return {"model": model.encode(), **{name: array.tobytes() for name, array in tensors.items()}}
