"""Scaling on the fly: the moments, what a sample is scaled by, absent and constant features, and the state they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, Plastic, Sparse
from kenyon.errors import ConfigError, InputError, ModelFileError
from kenyon.model.scale import COUNTED, FARTHEST, HELD, KNEE, Scaler
from making import held, make, stream

X, Y = stream(kind="float64")


def by_hand(values: NDArray[np.float64], labelled: NDArray[np.bool_], most: int = COUNTED) -> NDArray[np.float64]:
    """One input as the module's text says, from the samples themselves."""
    out, seen = [], []
    for value, counted in zip(values, labelled, strict=True):
        counting = seen[:most]
        deviation = np.std(counting) if counting else 0.0
        z = np.clip((value - np.mean(counting)) / deviation, -FARTHEST, FARTHEST) if deviation else 0.0
        out.append(z if abs(z) <= KNEE else np.sign(z) * (2 * np.sqrt(KNEE * abs(z)) - KNEE))
        if counted:
            seen.append(value)
    return np.array(out)


def test_a_sample_is_scaled_by_the_labelled_ones_before_it() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3, 5, 100)
    values[70] = 1e6
    labelled = rng.random(100) < 0.8
    scaled = Scaler(np.arange(1)).count(values[:, np.newaxis], labelled).ravel()
    assert np.allclose(scaled, by_hand(values, labelled), rtol=1e-5, atol=1e-6)
    assert scaled[70] > 100 and np.isfinite(scaled).all()


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_any_cut_gives_the_same_bits(cut: int) -> None:
    rng = np.random.default_rng(1)
    samples, labelled = rng.normal(0, 10.0 ** np.arange(-3, 4), (100, 7)), rng.random(100) < 0.7
    whole, pieces = Scaler(np.arange(7)), Scaler(np.arange(7))
    parts = [pieces.count(samples[i : i + cut], labelled[i : i + cut]) for i in range(0, 100, cut)]
    assert np.array_equal(np.concatenate(parts), whole.count(samples, labelled))
    assert all(np.array_equal(a, b) for a, b in zip(whole.moments, pieces.moments, strict=True))


def test_the_moments_stand_still_once_an_input_was_counted_often_enough() -> None:
    scaler = Scaler(np.arange(2))
    rng = np.random.default_rng(2)
    samples = np.stack([rng.normal(0, 1, COUNTED + 100), np.full(COUNTED + 100, 5.0)], axis=1)
    scaler.count(samples, np.ones(len(samples), bool))
    counts, means, spreads = scaler.moments
    assert counts.tolist() == [COUNTED, HELD] and spreads[1] == 0
    assert np.isclose(means[0], samples[:COUNTED, 0].mean())
    later = np.array([[1e9, 6.0], [0.0, 5.0], [0.0, 6.0]])
    first, second, third = scaler.count(later, np.ones(3, bool))
    assert first[1] == 0, "an input that never varied is zero, whatever it does now"
    assert second[1] < 0 < third[1] < 10, "it finds a scale of its own, however late it begins to vary"
    assert scaler.moments[1][0] == means[0]


def test_moments_that_move_follow_the_last_samples() -> None:
    scaler = Scaler(np.arange(1), half_life=100)
    rng = np.random.default_rng(3)
    scaler.count(rng.normal(0, 1, (1000, 1)), np.ones(1000, bool))
    scaler.count(rng.normal(50, 3, (1000, 1)), np.ones(1000, bool))
    scaled = scaler.scale(rng.normal(50, 3, (1000, 1)))
    assert abs(scaled.mean()) < 0.3 and 0.8 < scaled.std() < 1.2


def test_channels_of_a_series_share_their_moments() -> None:
    rng = np.random.default_rng(4)
    series = rng.normal([0, 100], [1, 20], (40, 30, 2)).reshape(40, 60)
    scaler = Scaler(np.tile([0, 1], 30), unit=0.25)
    scaler.count(series, np.ones(40, bool))
    scaled = scaler.scale(series).reshape(40, 30, 2)
    assert np.allclose(scaled.mean(axis=(0, 1)), 0, atol=0.02) and np.allclose(scaled.std(axis=(0, 1)), 0.25, atol=0.02)


# ---- in the classifier


@pytest.mark.parametrize("cut", [1, 13])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", ["scaled", "table", "table, ridge"])
def test_the_classifier_is_the_same_however_the_stream_is_cut(case: str, threads: int, cut: int) -> None:
    more = np.tile(X, (4, 1)), np.tile(Y, 4)
    whole, pieces = make(case, n_jobs=threads).partial_fit(*more), make(case)
    for start in range(0, len(more[1]), cut):
        pieces.partial_fit(more[0][start : start + cut], more[1][start : start + cut])
    assert held(whole) == held(pieces)
    if cut == 1:
        single = make(case).partial_fit(X[:1], Y[:1])
        for x, y in zip(more[0][1:], more[1][1:], strict=True):
            single.learn_one(x, int(y))
        assert held(single) == held(whole)


def test_predict_sees_a_sample_as_learning_would() -> None:
    one, other = KenyonClassifier(random_state=0), KenyonClassifier(random_state=0)
    one.partial_fit(X[:20], Y[:20])
    other.partial_fit(X[:20], Y[:20])
    before = held(one)
    predicted = one.predict(X[20:21])
    assert held(one) == before, "a sample that is predicted must not be counted"
    assert predicted == other.test_then_learn(X[20:21], Y[20:21])


def test_the_moments_are_part_of_the_state(tmp_path: Path) -> None:
    clf = KenyonClassifier(random_state=0).partial_fit(X, Y)
    arrays = clf.to_arrays()
    moments = [name for name in arrays if name.endswith(".scale")]
    kept = ["centres", "counts", "means", "spreads", "time", "usual", "widths"]
    assert sorted(moments) == [f"{name}.scale" for name in kept]
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert held(again) == held(clf) and again.state_bytes == clf.state_bytes
    assert held(again.partial_fit(X, Y)) == held(clf.partial_fit(X, Y))
    arrays["counts.scale"][0] = -1
    with pytest.raises(ModelFileError, match="units of the inputs"):
        KenyonClassifier.from_arrays(arrays)
    del arrays["counts.scale"]
    with pytest.raises(ModelFileError, match=r"counts\.scale"):
        KenyonClassifier.from_arrays(arrays)


def sensors(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Six classes, twelve features on scales from 0.001 to 10,000, none of them around zero."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(6), 100)
    return (rng.normal(0, 1.5, (6, 12))[y] + rng.normal(0, 1, (600, 12)) + 20) * 10.0 ** np.linspace(-3, 4, 12), y


def test_sensors_class_by_class_with_the_defaults() -> None:
    X, y = sensors()
    test = np.arange(600) % 4 == 0
    clf = KenyonClassifier(random_state=0).partial_fit(X[~test], y[~test])
    assert clf.score(X[test], y[test]) > 0.95


@pytest.mark.parametrize("value", [0.0, 1e30, -7.0])
def test_constant_and_huge_features_are_harmless(value: float) -> None:
    X, y = sensors()
    plain = KenyonClassifier(random_state=0).partial_fit(X[1::2], y[1::2]).score(X[::2], y[::2])
    X[:, 3] = value
    with_constant = KenyonClassifier(random_state=0).partial_fit(X[1::2], y[1::2]).score(X[::2], y[::2])
    X[7, 5] = 1e30
    with_outlier = KenyonClassifier(random_state=0).partial_fit(X[1::2], y[1::2]).score(X[::2], y[::2])
    assert min(with_constant, with_outlier) > plain - 0.06


def test_nan_is_an_error_unless_it_is_absent() -> None:
    X, y = sensors()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    with pytest.raises(InputError, match="contains NaN"):
        KenyonClassifier().partial_fit(X, y)
    clf = KenyonClassifier(missing="absent", random_state=0).partial_fit(X[1::2], y[1::2])
    assert clf.score(X[::2], y[::2]) > 0.9
    at_mean = np.where(np.isnan(X), clf._core.engine.scaler.centres, X)
    assert np.allclose(clf.decision_function(X), clf.decision_function(at_mean), atol=1e-3)
    X[0, 0] = np.inf
    with pytest.raises(InputError, match="contains infinity"):
        clf.predict(X)
    with pytest.raises(ConfigError, match="missing is 'absent' and inputs are not scaled: expected scale=True"):
        KenyonClassifier(missing="absent", scale=False).partial_fit(X[1:], y[1:])


@pytest.mark.parametrize(
    ("params", "dtype", "scaled", "features", "layer"),
    [
        ({}, "float64", True, "RampUnits", "SecondOrderLayer"),
        ({}, "float32", True, "RampUnits", "SecondOrderLayer"),
        ({}, "int64", True, "RampUnits", "SecondOrderLayer"),
        ({}, "uint8", False, "SparseProjection", "PlasticLayer"),
        ({"scale": False}, "float64", False, "RampUnits", "SecondOrderLayer"),
        ({"rule": "mse"}, "float64", True, "SparseProjection", "PlasticLayer"),
        ({"layer": Plastic(learning_rate=0.1)}, "float64", True, "SparseProjection", "PlasticLayer"),
        ({"features": Sparse(threshold=1.0)}, "float64", False, "SparseProjection", "PlasticLayer"),
        ({"features": Sparse(threshold=1.0), "scale": True}, "float64", True, "SparseProjection", "PlasticLayer"),
        ({"layer": "second-order"}, "float64", True, "RampUnits", "SecondOrderLayer"),
        ({"features": "identity"}, "float64", False, "IdentityUnits", "PlasticLayer"),
        ({"shape": (5, 8)}, "float64", False, "WindowUnits", "PlasticLayer"),
        ({"shape": (8, 5), "axes": "tc"}, "float64", True, "WindowUnits", "PlasticLayer"),
        ({"shape": (8, 5), "axes": "tc"}, "uint8", False, "WindowUnits", "PlasticLayer"),
    ],
)
def test_defaults_by_kind_of_data(
    params: dict[str, Any], dtype: str, scaled: bool, features: str, layer: str, tmp_path: Path
) -> None:
    samples = (X * 100 + 100).astype(dtype)
    clf = KenyonClassifier(random_state=0, unlabelled=-1, **params).partial_fit(samples, Y)
    parts = clf.parts()
    assert (type(parts[0]).__name__, type(parts[1][0]).__name__) == (features, layer)
    assert (clf._core.engine.scaler is not None) == scaled
    clf.save(tmp_path / "model")
    assert held(KenyonClassifier.load(tmp_path / "model")) == held(clf)


def test_a_memory_budget_holds_the_moments_too() -> None:
    clf = KenyonClassifier(memory_budget="20KB", expected_classes=6, random_state=0).partial_fit(*sensors())
    assert 15_000 < clf.state_bytes <= 20_000


def test_a_learner_that_is_silent_says_so() -> None:
    X, y = np.zeros((150, 40)), np.arange(150) % 3
    with pytest.warns(UserWarning, match="no unit was active for the last 150 samples.*Lower threshold"):
        KenyonClassifier(features=Sparse(threshold=1.0), n_hidden=50).partial_fit(X, y)
    clf = KenyonClassifier(features=Sparse(threshold=1.0), n_hidden=50, random_state=0).partial_fit(X[:50], y[:50])
    with pytest.warns(UserWarning, match="last 100 samples"):
        for x, label in zip(X[:50].astype(np.uint8), y, strict=False):
            clf.learn_one(x, int(label))


def test_ramps_refuse_what_they_cannot_learn_with() -> None:
    with pytest.raises(ConfigError, match="features is 'ramps' and layer is 'plastic': expected layer='second-order'"):
        KenyonClassifier(features="ramps", layer="plastic").partial_fit(X, Y)
