"""The classifier against `kenyon.reference`, bit by bit: features, layers and samples, by pairs of their options."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, LocalError
from kenyon.reference import Learner
from kenyon.rules import GEN, INEL, MEAN, MSE, OJA, Rule
from kenyon.utils.modulation import Exponential, InverseTime, OverCount, Schedule, Step
from making import NUMPY_2, composed

pytestmark = NUMPY_2

Params = dict[str, Any]
Axes = Mapping[str, Mapping[str, Params]]
"""Options to combine: for each axis what it may be, in words and as parameters. All combinations are valid."""

SMALL: Params = {"n_hidden": 33, "density": 7, "threshold": 0.5, "random_state": 3, "unlabelled": -1}

IMAGE: Params = {"features": "windows", "shape": (5, 8), "window": 3, "density": 5}
SERIES: Params = {"features": "windows", "shape": (20, 2), "axes": "tc", "window": 6, "shifts": 2}
FEATURES: Mapping[str, Params] = {
    "sparse": {"features": "sparse"},
    "sparse, inhibitory": {"features": "sparse", "inhibitory": 0.4},
    "best window": {**IMAGE, "pooling": "max", "shifts": 1, "signs": "oriented"},
    "sum of windows": {**IMAGE, "pooling": "sum", "shifts": 2, "signs": "random"},
    "root of windows": {**IMAGE, "pooling": "sum", "shifts": 1, "root": True, "axes": "hw"},
    "series": {**SERIES, "signs": "oriented"},
    "channels first": {**SERIES, "shape": (2, 20), "axes": "ct", "inhibitory": 0.2, "shifts": 0},
    "colours": {**IMAGE, "shape": (4, 5, 2), "window": 2, "shifts": 1},
}
IDENTITY: Mapping[str, Params] = {
    "identity": {"features": "identity"},
    "identity, root": {"features": "identity", "root": True},
}
DENSE: Mapping[str, Params] = {
    "dense": {"features": "dense"},
    "dense, root": {"features": "dense", "root": True},
}
RAMPS: Mapping[str, Params] = {
    "ramps": {"features": "ramps", "density": "auto", "n_hidden": 90},
    "ramps of few": {"features": "ramps", "density": 3, "inhibitory": 0.3},
}
KINDS: Mapping[str, Params] = {kind: {"kind": kind} for kind in ("bytes", "float32", "float64")}
BYTES: Mapping[str, Params] = {"bytes": {"kind": "bytes"}}
THRESHOLDS: Mapping[str, Params] = {"threshold": {}, "none": {"threshold": None}, "low": {"threshold": -0.3}}
SCALES: Mapping[str, Params] = {"as they are": {"scale": False}, "scaled": {"scale": True}}
MEMORIES: Mapping[str, Params] = {"all": {}, "half-life": {"half_life": 8}}
TASKS: Mapping[str, Params] = {"one": {}, "two": {"tasks": 2}}
CLAMPS: Mapping[str, Params] = {
    "clamp": {},
    "wide": {"clamp": 0.5},
    "positive": {"clamp": 0.05, "clamp_kind": "positive"},
}
RATES: Mapping[str, Params] = {"rate": {}, "decay": {"learning_rate": InverseTime(0.2, 0.02)}}
MEAN_RULES: Mapping[str, Params] = {"mean": {"rule": "mean"}, "mean, low cap": {"rule": MEAN(0.05)}}
LENGTHS: Mapping[str, Params] = {
    "length 1": {},
    "any length": {"unit_norm": False, "learning_rate": 1e-9, "scale": False},
}

GROUPS: dict[str, Axes] = {
    "plastic": {
        "features": {**FEATURES, **IDENTITY},
        "kind": KINDS,
        "rule": {
            "mse": {"rule": "mse"},
            "gen": {"rule": "gen"},
            "gen, dense": {"rule": GEN(b1=0.01)},
            "gen, moving": {"rule": GEN(b1=Exponential(0.02, 0.1), b2=Step(-1.0, 0.9, 7))},
            "oja": {"rule": "oja"},
            "oja, event-driven": {"rule": OJA(b1=0.0)},
            **MEAN_RULES,
            "inel": {"rule": INEL(30.0)},
            "inel, gen": {"rule": INEL(20.0, GEN())},
            "inel, oja": {"rule": INEL(InverseTime(50.0, 0.01), OJA())},
        },
        "rate": RATES,
        "clamp": CLAMPS,
        "output": {name: {"output": name} for name in ("linear", "relu", "clip")},
        "threshold": THRESHOLDS,
        "scale": SCALES,
        "tasks": TASKS,
        "length": LENGTHS,
    },
    "hidden layers": {
        "features": {**FEATURES, **IDENTITY},
        "kind": KINDS,
        "rule": {
            "mse": {"rule": "mse"},
            "oja": {"rule": "oja"},
            "mean": {"rule": "mean"},
            "inel": {"rule": INEL(20.0)},
        },
        "layers": {"one": {"hidden": LocalError((9,))}, "two": {"hidden": LocalError((12, 5))}},
    },
    "hidden layers of few bits": {
        "features": FEATURES,
        "kind": KINDS,
        "bits": {"8": {"bits": 8}, "3": {"bits": 3}},
        "rest": {"mean": {"rule": "mean", "hidden": LocalError((9,))}},
    },
    "few bits": {
        "features": {**FEATURES, **IDENTITY},
        "kind": KINDS,
        "rule": {"gen": {"rule": "gen"}, **MEAN_RULES},
        "rate": RATES,
        "clamp": CLAMPS,
        "bits": {str(bits): {"bits": bits} for bits in (8, 4, 3, 2)},
        "scale": SCALES,
        "tasks": TASKS,
    },
    "few bits in integers": {
        "features": {**FEATURES, "identity": IDENTITY["identity"]},
        "kind": BYTES,
        "rule": {"gen": {"rule": "gen"}, "gen, downhill": {"rule": GEN(b2=0.5)}, **MEAN_RULES},
        "clamp": CLAMPS,
        "bits": {str(bits): {"bits": bits} for bits in (8, 4, 3, 2)},
        "threshold": THRESHOLDS,
        "arithmetic": {"integer": {"arithmetic": "integer"}},
    },
    "counting": {
        "features": FEATURES,
        "kind": KINDS,
        "rule": MEAN_RULES,
        "memory": MEMORIES,
        "threshold": THRESHOLDS,
        "scale": SCALES,
        "tasks": TASKS,
        "layer": {"counting": {"layer": "counting"}},
    },
    "second order": {
        "features": {**FEATURES, **IDENTITY, **DENSE, **RAMPS},
        "kind": KINDS,
        "readout": {"discriminant": {}, "ridge": {"readout": "ridge"}},
        "shrinkage": {"default": {}, "strong": {"shrinkage": 0.3}, "auto": {"shrinkage": "auto"}},
        "prior": {"equal": {"prior": "equal"}, "counts": {"prior": "counts"}},
        "memory": MEMORIES,
        "scale": SCALES,
        "tasks": TASKS,
        "layer": {"second-order": {"layer": "second-order"}},
    },
    "second order in few bits": {
        "features": {name: FEATURES[name] for name in list(FEATURES)[2:]} | dict(DENSE),
        "kind": KINDS,
        "bits": {"16": {"bits": 16}, "24": {"bits": 24}},
        "readout": {"discriminant": {}, "ridge": {"readout": "ridge", "shrinkage": "auto"}},
        "memory": MEMORIES,
        "threshold": THRESHOLDS,
        "layer": {"second-order": {"layer": "second-order"}},
    },
    "second order in integers": {
        "features": {**FEATURES, "identity": IDENTITY["identity"]},
        "kind": BYTES,
        "bits": {"16": {"bits": 16}, "24": {"bits": 24}},
        "shrinkage": {"default": {}, "none": {"shrinkage": 0.0}, "strong": {"shrinkage": 3.0}},
        "threshold": THRESHOLDS,
        "tasks": TASKS,
        "layer": {"second-order": {"layer": "second-order", "arithmetic": "integer"}},
    },
}


def pairs(axes: Axes) -> Iterator[dict[str, str]]:
    """Combinations that hold every pair of values of two axes, each chosen greedily for the pairs it adds."""
    open_pairs = {
        frozenset(((a, x), (b, y))) for a, b in itertools.combinations(axes, 2) for x in axes[a] for y in axes[b]
    }
    while open_pairs:
        row: dict[str, str] = dict(min(open_pairs, key=sorted))
        for axis in (axis for axis in axes if axis not in row):
            others = list(row.items())
            gains = {x: sum(frozenset(((axis, x), one)) in open_pairs for one in others) for x in axes[axis]}
            row[axis] = max(gains, key=lambda x: gains[x])
        open_pairs -= {frozenset(pair) for pair in itertools.combinations(row.items(), 2)}
        yield row


def cases() -> Iterator[Any]:
    for name, axes in GROUPS.items():
        for row in pairs(axes):
            params: Params = {key: value for axis in axes for key, value in axes[axis][row[axis]].items()}
            words = ", ".join(row[axis] for axis in axes if len(axes[axis]) > 1)
            yield pytest.param(SMALL | params, id=f"{name}: {words}")


def stream(n: int, kind: str, seed: int = 0) -> tuple[NDArray, NDArray[np.int64]]:
    """Noisy prototypes of five classes that come one after the other, every seventh without a label."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 1 + np.arange(n) * 5 // n)
    X = np.clip(rng.integers(0, 256, (5, 40))[y] + rng.normal(0, 40, (n, 40)), 0, 255).astype(np.uint8)
    X[rng.random(X.shape) < 0.3] = 0
    X[3] = 0
    y[6::7] = -1
    return (X if kind == "bytes" else (X / 101.0 - 0.6).astype(kind)), y


def learned(
    params: Params, X: NDArray, y: NDArray[np.int64], tasks: int, equal: bool
) -> tuple[KenyonClassifier, Learner]:
    """Both models after the same stream; if `equal`, they must predict the same while they learn the end of it."""
    fast, plain = KenyonClassifier(**composed(**params)), Learner(**composed(**params))
    for task in range(tasks):
        name = None if tasks == 1 else f"task {task}"
        (first, last), (labels, last_labels) = (np.split(array[task::tasks], [-4]) for array in (X, y))
        fast.partial_fit(first, labels, task=name)
        plain.partial_fit(first, labels, task=name)
        predicted = fast.test_then_learn(last, last_labels, task=name).tolist()
        wanted = plain.test_then_learn(last, last_labels, task=name)
        assert predicted == wanted or not equal
    return fast, plain


def check_same(fast: KenyonClassifier, plain: Learner, X: NDArray, task: str | None, solved: bool, faded: bool) -> None:
    """The same state and the same scores, to the bit.

    Args:
        solved: the readout is solved in float64: scores are within 1e-4 of their spread.
        faded: sums were scaled in float64: they are within 1e-5 of the largest, or one apart where they are integers,
            and scores are what a readout makes of that.
    """
    arrays = plain.to_arrays()
    found = {name: array for name, array in fast.to_arrays().items() if name != "model"}
    found = {name: array for name, array in found.items() if not name.endswith(".calibration")}  # of no score
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (array.dtype, array.shape) == (found[name].dtype, found[name].shape), name
        if faded and name in ("pairs.0", "sums.0"):
            slack = max(1e-5 * np.abs(array).max(), float(array.dtype.kind == "u"))
            np.testing.assert_allclose(found[name].astype(float), array.astype(float), rtol=0, atol=slack)
        else:
            assert array.tobytes() == found[name].tobytes(), name
    if faded:
        return
    scores, wanted = fast.decision_function(X, task=task), plain.decision_function(X, task=task)
    if solved:
        np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-4 * np.ptp(wanted))
    else:
        assert np.array_equal(scores, wanted)


@pytest.mark.parametrize("params", list(cases()))
def test_the_classifier_is_the_reference(params: Params) -> None:
    params = dict(params)
    kind, tasks = params.pop("kind"), params.pop("tasks", 1)
    X, y = stream(28, kind)
    second = params.get("layer") == "second-order"
    solved = second and params.get("arithmetic") != "integer"
    faded = second and "half_life" in params and "bits" not in params
    fast, plain = learned(params, X, y, tasks, equal=not faded)
    check_same(fast, plain, X[:5], None if tasks == 1 else "task 0", solved, faded)


@dataclass(frozen=True)
class OfWeight(Schedule):
    """value (|W| + x_e x_m + x_o)."""

    local = staticmethod(lambda x_e, x_o, x_m, w, n: abs(w) + x_e * x_m + x_o)
    value: float = 0.5

    def __call__(self, t: int) -> float:
        return self.value


LONG: dict[str, Params] = {
    "co-activity is halved": {"layer": "second-order", "features": "identity", "bits": 16, "arithmetic": "integer"},
    "weights are halved": {"rule": "mean", "bits": 2, "arithmetic": "integer"},
    "moments stand still": {"rule": "mse", "scale": True, "kind": "float64"},
    "moments move": {"layer": "second-order", "features": "ramps", "half_life": 40, "scale": True, "kind": "float64"},
    "absent values": {"layer": "second-order", "features": "ramps", "missing": "absent", "kind": "float64"},
    "tables": {"layer": "second-order", "features": "ramps", "density": "auto", "kind": "float64", "n_hidden": 40},
    "naive Bayes": {"rule": "mean", "layer": "counting", "readout": "bayes", "prior": "counts"},
    "rate of a neuron": {"rule": "mse", "learning_rate": OverCount(0.5)},
    "parameter of a synapse": {"rule": OJA(b1=OfWeight())},
    "window of a synapse": {"rule": INEL(beta=OfWeight(30.0))},
    "rate of a neuron in few bits": {"rule": "gen", "bits": 4, "learning_rate": OverCount(0.5)},
    "a memory budget": {"memory_budget": "3KB", "shape": (3, 4), "n_hidden": "auto", "density": "auto"},
    "defaults for bytes": {"density": "auto", "threshold": "auto", "n_hidden": 60},
    "defaults for tables": {"density": "auto", "threshold": "auto", "n_hidden": 30, "kind": "float32"},
}


@pytest.mark.parametrize("case", LONG)
def test_long_streams_of_small_samples(case: str) -> None:
    params: Params = {**SMALL, "n_hidden": 20, "density": 4} | LONG[case]
    X, y = stream(300, params.pop("kind", "bytes"))
    X = np.ascontiguousarray(X[:, :12])
    if case == "tables":  # the first samples in other units, so that inputs begin again
        X[:80, :4], X[:80, 4:6] = X[:80, :4] * 1e3, X[:80, 4:6] * 1e-3
    if "missing" in params:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    fast, plain = (
        KenyonClassifier(**composed(**params)).partial_fit(X, y),
        Learner(**composed(**params)).partial_fit(X, y),
    )
    second = "class_counts.0" in plain.to_arrays()
    check_same(fast, plain, X[-20:], None, solved=second and "arithmetic" not in params, faded="half_life" in params)
    if case == "co-activity is halved":
        assert plain.to_arrays()["halvings.0"] > 0


@pytest.mark.parametrize("rule", [GEN(), MSE(), MEAN(), INEL(beta=3.0)], ids=str)
def test_the_modulatory_signal_is_graded(rule: Rule) -> None:
    X, y = stream(120, "bytes")
    signal = np.random.default_rng(0).random(120, np.float32)
    params = {**SMALL, "rule": rule, "n_hidden": 20}
    fast, plain = (
        made(**composed(**params)).partial_fit(X, y, modulation=signal) for made in (KenyonClassifier, Learner)
    )
    check_same(fast, plain, X[-20:], None, solved=False, faded=False)
    parts = KenyonClassifier(**composed(**params))
    for start in range(0, 120, 50):
        part = slice(start, start + 50)
        parts.partial_fit(X[part], y[part], modulation=signal[part])
    ones = KenyonClassifier(**composed(**params)).partial_fit(X, y, modulation=1)
    without = KenyonClassifier(**composed(**params)).partial_fit(X, y)
    states = [{name: a.tobytes() for name, a in one.to_arrays().items()} for one in (fast, parts, ones, without)]
    assert states[0] == states[1] != states[2] == states[3]


def test_inputs_lead_where_classes_are_parted_by_a_plane() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = (X @ rng.normal(size=8) > 0).astype(int)
    fast, plain = (made(n_hidden=200, random_state=0).partial_fit(X, y) for made in (KenyonClassifier, Learner))
    assert plain.race.layer.first == 8
    check_same(fast, plain, X[-20:], None, solved=True, faded=False)


MERGED: dict[str, Params] = {
    "sums in floats": {"rule": "mean"},
    "sums in floats, clamp": {"rule": "mean", "clamp": 2.0},
    "few bits": {"rule": "mean", "bits": 3},
    "few bits in integers": {"rule": "mean", "bits": 8, "arithmetic": "integer"},
    "counting": {"rule": "mean", "layer": "counting"},
    "second order": {**IMAGE, "layer": "second-order"},
    "second order in floats": {"layer": "second-order"},
    "second order in 16 bits": {**IMAGE, "layer": "second-order", "bits": 16},
    "second order in 24 bits": {**IMAGE, "layer": "second-order", "bits": 24, "arithmetic": "integer"},
    "scaled": {"rule": "mean", "scale": True},
}


@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
@pytest.mark.parametrize("case", MERGED)
def test_merging(case: str) -> None:
    """Two models that share some classes, the second of which knows one that the first does not."""
    params = SMALL | MERGED[case]
    parts = [stream(n, "bytes", seed) for n, seed in ((40, 0), (61, 1))]
    parts[1][1][:] = np.where(parts[1][1] >= 0, parts[1][1] + 2, -1)
    fast = [KenyonClassifier(**composed(**params)).partial_fit(*part) for part in parts]
    plain = [Learner(**composed(**params)).partial_fit(*part) for part in parts]
    fast[0].merge(fast[1])
    plain[0].merge(plain[1])
    solved = params.get("layer") == "second-order" and "arithmetic" not in params
    check_same(fast[0], plain[0], parts[1][0][:10], None, solved, faded=False)
