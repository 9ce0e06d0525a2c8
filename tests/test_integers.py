"""`arithmetic="integer"`: integers from bytes to scores, against `kenyon.reference`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier, LocalError
from kenyon.errors import ConfigError, InputError
from kenyon.features import IdentityUnits, SparseProjection, WindowUnits
from kenyon.layers import SecondOrderLayer
from kenyon.reference import _windows
from kenyon.reference._features import Sparse
from kenyon.reference._integer_readout import IntegerReadout, solve_integers
from making import composed, held, make, plain_spec, sparse_units, stream, window_units

DIGITS, NAMES = (array.astype(np.uint8) for array in load_digits(return_X_y=True))
X, Y = stream()


# ---- the features


def active_bytes(features: Any, samples: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Active units and bytes of each sample, by blocks and one by one, which must agree."""
    workspace = features.workspace()
    found = []
    for rows in (samples, *(samples[s : s + 1] for s in range(len(samples)))):
        units, values, counts = features.activate(np.ascontiguousarray(rows), workspace)
        assert values.dtype == np.uint8
        both = zip(units[: len(rows)], values, counts, strict=False)
        found += [(u[:n].tolist(), v[:n].tolist()) for u, v, n in both]
    assert found[: len(samples)] == found[len(samples) :]
    return found[: len(samples)]


def plain_bytes(features: Any, samples: np.ndarray) -> list[tuple[list[int], list[int]]]:
    return [(units.tolist(), values.tolist()) for units, values in map(features, samples)]


@pytest.mark.parametrize("beta", [None, -1.0, 0.0, 1.3])
@pytest.mark.parametrize(("connections", "inhibitory"), [(7, 0.0), (9, 0.4), (38, 0.5), (200, 0.2)])
def test_the_projection_gives_bytes(connections: int, inhibitory: float, beta: float | None) -> None:
    features = sparse_units(230, 70, connections, inhibitory=inhibitory, threshold=beta, exact=True, seed=5)
    samples = np.random.default_rng(0).integers(0, 256, (40, 230)).astype(np.uint8)
    samples[3], samples[4] = 0, 255
    how = {"n_inputs": 230, "n_hidden": 70, "density": connections, "inhibitory": inhibitory, "threshold": beta}
    plain = Sparse(plain_spec(**how, arithmetic="integer"), seed=5)
    assert active_bytes(features, samples) == plain_bytes(plain, samples)


@pytest.mark.parametrize("beta", [0.5, 1.6])
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("pooling", ["max", "sum"])
def test_windows_have_an_integer_threshold(pooling: str, root: bool, beta: float) -> None:
    how: dict[str, Any] = {"window": 3, "shifts": 1, "pooling": pooling, "root": root, "threshold": beta}
    features = window_units((6, 7), 60, 6, **how, seed=2, activity="byte", exact=True)
    more = {"shape": (6, 7), "axes": "hw", "n_hidden": 60, "density": 6, "inhibitory": 0.5, "signs": "random"}
    plain = _windows.Windows(plain_spec(**how, **more, in_bytes=True, arithmetic="integer"), seed=2)
    samples = np.random.default_rng(1).integers(0, 256, (20, 42)).astype(np.uint8)
    assert active_bytes(features, samples) == plain_bytes(plain, samples)


# ---- the readout


def plain_readout(layer: SecondOrderLayer, shrinkage: float) -> IntegerReadout:
    views, d = layer.state.views(), layer.n_inputs
    P = np.zeros((d, d), np.int64)
    P[np.tril_indices(d)] = layer.coactivity.unpacked(views["pairs"])  # type: ignore[attr-defined]
    known = np.flatnonzero(views["class_counts"])
    return solve_integers(P + np.tril(P, -1).T, views["means"].astype(np.int64), known, shrinkage, unit=1.0)


@pytest.mark.parametrize(("bits_", "shrinkage"), [(16, 0.001), (16, 0.0), (16, 3.0), (24, 0.001), (24, 1e6)])
def test_the_readout_is_as_defined(bits_: int, shrinkage: float) -> None:
    clf = make("integers, second order", bits=bits_, shrinkage=shrinkage, n_hidden=33).partial_fit(X, Y)
    layer = clf.parts()[1][-1]
    assert isinstance(layer, SecondOrderLayer)
    readout, wanted = layer.present_integers(), plain_readout(layer, shrinkage)
    assert readout.weights[:, :7].tolist() == wanted.weights.tolist()
    assert readout.offsets[:7].tolist() == wanted.offsets.tolist()
    assert readout.shifts[:7].tolist() == wanted.shifts.tolist()
    neurons = [clf.neurons()[label] for label in clf.classes_.tolist()]
    for found, (units, values) in zip(clf.decision_function(X), active_bytes(clf.parts()[0], X), strict=True):
        scores = wanted.scores((np.array(units, int), np.array(values, np.uint8)))[neurons]
        assert np.rint(found / readout.scale).tolist() == scores.tolist()


def test_a_matrix_that_is_not_positive_gives_way() -> None:
    """As few bits can make it, here by hand: two units that are more alike than themselves."""
    clf = make("integers, second order", n_hidden=20, threshold=None).partial_fit(X, Y)
    arrays = clf.to_arrays()
    arrays["pairs.0"][1] = 30_000  # units 1 and 0
    clf = KenyonClassifier.from_arrays(arrays)
    layer = clf.parts()[1][-1]
    assert isinstance(layer, SecondOrderLayer)
    P = np.zeros((20, 20))
    P[np.tril_indices(20)] = arrays["pairs.0"]
    assert np.linalg.eigvalsh(P).min() < 0  # of the lower triangle
    assert layer.present_integers().weights[:, :7].tolist() == plain_readout(layer, 0.001).weights.tolist()
    assert np.isfinite(clf.decision_function(X)).all()


def test_integers_cost_little() -> None:
    train = np.arange(len(NAMES)) % 4 != 0
    for given in (
        {"memory_budget": "20KB", "shape": (8, 8)},
        {"rule": "gen", "n_hidden": 2000, "bits": 4},
        {"rule": "mean", "n_hidden": 2000, "bits": 4},
    ):
        scores = [
            KenyonClassifier(**composed(random_state=0, arithmetic=arithmetic, **given))
            .partial_fit(DIGITS[train], NAMES[train])
            .score(DIGITS[~train], NAMES[~train])
            for arithmetic in ("float", "integer")
        ]
        assert scores[1] > scores[0] - 0.01, (given, scores)


# ---- what is chosen, and what is refused


@pytest.mark.parametrize(
    ("given", "kind", "wanted"),
    [
        ({"memory_budget": "20KB", "shape": (8, 8)}, np.uint8, "integer"),
        ({"memory_budget": "20KB", "shape": (8, 8)}, np.float32, "integer"),
        ({"memory_budget": "20KB", "shape": (8, 8), "scale": False}, np.float32, "float"),
        ({"memory_budget": "20KB", "shape": (64,), "axes": "t"}, np.float32, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "arithmetic": "float"}, np.uint8, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "readout": "ridge"}, np.uint8, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "shrinkage": "auto"}, np.uint8, "float"),
        ({"memory_budget": "2MB", "shape": (8, 8)}, np.uint8, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "bits": 16}, np.uint8, "float"),
        ({"memory_budget": "20KB"}, np.uint8, "float"),
        ({"memory_budget": "20KB", "arithmetic": "integer"}, np.uint8, "integer"),
        ({"layer": "second-order", "n_hidden": 90, "arithmetic": "integer"}, np.uint8, "integer"),
        ({"features": "identity", "arithmetic": "integer"}, np.uint8, "integer"),
    ],
)
def test_what_is_chosen(given: dict[str, Any], kind: type, wanted: str, tmp_path: Any) -> None:
    clf = KenyonClassifier(**composed(**given), random_state=0).partial_fit(DIGITS[:300].astype(kind), NAMES[:300])
    features = clf.parts()[0]
    assert isinstance(features, (IdentityUnits, SparseProjection, WindowUnits))
    assert features.exact == (wanted == "integer")
    if "memory_budget" in given:
        assert clf.state_bytes <= int(given["memory_budget"].replace("KB", "000").replace("MB", "000000"))
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert again.parts()[0].exact == features.exact  # type: ignore[attr-defined]
    assert np.array_equal(again.decision_function(DIGITS), clf.decision_function(DIGITS))
    assert held(again.partial_fit(DIGITS, NAMES)) == held(clf.partial_fit(DIGITS, NAMES))


@pytest.mark.parametrize("case", ["integers", "integers, counting", "integers, second order"])
def test_floats_are_refused_and_nothing_is_lost(case: str) -> None:
    clf = make(case, **({} if case == "integers" else {"scale": False})).partial_fit(X, Y)
    before = held(clf)
    for wrong in (X.astype(np.float32), X.astype(np.int64), X / 255):
        for call in (clf.partial_fit, clf.test_then_learn, lambda X, _: clf.predict(X)):
            with pytest.raises(InputError, match=r"type float32: expected bytes \(uint8\).*arithmetic='integer'"):
                call(wrong, Y)
        with pytest.raises(InputError, match="expected bytes"):
            clf.learn_one(wrong[0], 0)
    assert held(clf) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "mse"}, r"rule is MSE\(\), which cannot"),
        ({"rule": "gen", "bits": 32}, r"bits is 32 and arithmetic is 'integer': expected bits=8, 4, 3 or 2"),
        ({"layer": "second-order", "bits": 32}, r"bits is 32 and arithmetic is 'integer': expected bits=16 or bits=24"),
        ({"layer": "second-order", "readout": "ridge"}, r"readout is 'ridge': expected 'discriminant'"),
        ({"layer": "second-order", "shrinkage": "auto"}, r"shrinkage is 'auto': expected a number"),
        ({"layer": "second-order", "features": "dense"}, r"features is 'dense' and arithmetic is 'integer'"),
        ({"features": "identity", "root": True}, r"root is True: expected False"),
        ({"rule": "gen", "unit_norm": False}, r"unit_norm is False"),
        ({"rule": "mean", "hidden": LocalError((9,))}, r"hidden has widths of \(9,\): expected None"),
        (
            {"features": "windows", "shape": (40,), "window": 40, "density": 40, "shifts": 20, "pooling": "sum",
             "n_hidden": 20_000},
            r"20,000 units that answer with up to 209,100: expected at most 10,270",
        ),
    ],
)  # fmt: skip
def test_options_without_integer_arithmetic_are_refused(given: dict[str, Any], message: str) -> None:
    clf = KenyonClassifier(**composed(**{"arithmetic": "integer", "random_state": 0, "n_hidden": 50, **given}))
    with pytest.raises(ConfigError, match=message):
        clf.partial_fit(X, Y)
    assert not clf.__sklearn_is_fitted__()


def test_long_streams_count_beyond_what_floats_hold() -> None:
    """A class that has learned 2^33 samples still moves its mean by chance, in integers."""
    clf = make("integers, second order").partial_fit(X, Y)
    arrays = clf.to_arrays()
    arrays["class_counts.0"] = np.full(7, 2**33, np.uint64)
    clf = KenyonClassifier.from_arrays(arrays)
    before = clf.to_arrays()["means.0"].astype(int)
    clf.partial_fit(X, Y)
    after = clf.to_arrays()
    assert np.abs(after["means.0"].astype(int) - before).max() <= 1
    assert after["class_counts.0"].sum() == 7 * 2**33 + np.count_nonzero(Y >= 0)
