"""The dial: what a memory budget, a shape and nothing else become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier, LocalError, SecondOrder
from kenyon.errors import ConfigError, MemoryBudgetError
from kenyon.features import DenseProjection, IdentityUnits, SparseProjection, WindowUnits
from kenyon.lab.evaluation import RunConfig, run
from kenyon.layers import PlasticLayer, SecondOrderLayer
from kenyon.rules import GEN
from making import composed, held

X, Y = (array.astype(np.uint8) for array in load_digits(return_X_y=True))
ORDER = np.argsort(Y, kind="stable")  # class after class


def kinds(clf: KenyonClassifier) -> tuple[type, type]:
    features, layers = clf.parts()
    return type(features), type(layers[-1])


@pytest.mark.parametrize("budget", ["6KB", "20KB", "200KB"])
def test_a_budget_with_a_shape_is_spent_and_not_exceeded(budget: str) -> None:
    clf = KenyonClassifier(memory_budget=budget, shape=(8, 8), random_state=0)
    for start in range(0, len(X), 300):
        clf.partial_fit(X[ORDER[start : start + 300]], Y[ORDER[start : start + 300]])
    most = int(budget.removesuffix("KB")) * 1000
    assert kinds(clf) == (WindowUnits, SecondOrderLayer)
    assert 0.87 * most < clf.state_bytes <= most


def test_a_run_spends_a_budget_as_the_classifier_does() -> None:
    config = RunConfig("digits", options={"memory_budget": "20KB"})
    result = run(config, [0]).results[0]
    assert result.metrics.state_bytes <= 20_000 and (result.metrics.accuracy or 0) > 0.94


def test_more_bytes_are_more_accurate_class_after_class() -> None:
    train, test = ORDER[ORDER % 5 != 0], ORDER[ORDER % 5 == 0]
    scores = [
        KenyonClassifier(memory_budget=budget, shape=(8, 8), random_state=0)
        .partial_fit(X[train], Y[train])
        .score(X[test], Y[test])
        for budget in ("4KB", "20KB", "160KB")
    ]
    assert scores == sorted(scores) and scores[0] > 0.8 and scores[-1] > 0.97, scores


@pytest.mark.parametrize("budget, threshold", [("6KB", None), ("160KB", 0.3)])
def test_a_budget_without_a_shape_is_spent_on_co_activity_too(budget: str, threshold: float | None) -> None:
    train, test = ORDER[ORDER % 5 != 0], ORDER[ORDER % 5 == 0]
    clf = KenyonClassifier(memory_budget=budget, random_state=0).partial_fit(X[train], Y[train])
    assert kinds(clf) == (SparseProjection, SecondOrderLayer) and clf.spec_.features.threshold == threshold
    by_rule = KenyonClassifier(memory_budget=budget, rule="gen", random_state=0).partial_fit(X[train], Y[train])
    assert clf.score(X[test], Y[test]) > max(0.85, by_rule.score(X[test], Y[test]) + 0.02)


WINS: list[tuple[dict[str, Any], tuple[type, type]]] = [
    ({"shape": (8, 8)}, (WindowUnits, SecondOrderLayer)),
    ({"shape": (64,)}, (WindowUnits, SecondOrderLayer)),
    ({"shape": (16, 4), "axes": "tc"}, (WindowUnits, SecondOrderLayer)),
    ({"shape": (8, 8), "rule": "mse"}, (WindowUnits, PlasticLayer)),
    ({"shape": (8, 8), "rule": GEN(b2=-0.5)}, (WindowUnits, PlasticLayer)),
    ({"shape": (8, 8), "layer": "plastic"}, (WindowUnits, PlasticLayer)),
    ({"shape": (8, 8), "features": "sparse"}, (SparseProjection, PlasticLayer)),
    ({"shape": (8, 8), "features": "sparse", "layer": "second-order"}, (SparseProjection, SecondOrderLayer)),
    ({"features": "dense", "layer": "second-order"}, (DenseProjection, SecondOrderLayer)),
    ({"features": "identity", "layer": "second-order"}, (IdentityUnits, SecondOrderLayer)),
    ({}, (SparseProjection, SecondOrderLayer)),
    ({"rule": "gen"}, (SparseProjection, PlasticLayer)),
]


@pytest.mark.parametrize(("params", "wanted"), WINS)
def test_what_is_given_explicitly_wins(params: dict[str, Any], wanted: tuple[type, type]) -> None:
    clf = KenyonClassifier(memory_budget="60KB", random_state=0, **params).partial_fit(X[:600], Y[:600])
    assert kinds(clf) == wanted
    assert clf.state_bytes <= 60_000
    pieces = KenyonClassifier(memory_budget="60KB", random_state=0, **params).partial_fit(X[:1], Y[:1], range(10))
    whole = KenyonClassifier(memory_budget="60KB", random_state=0, **params).partial_fit(X[:1], Y[:1], range(10))
    whole.partial_fit(X[1:200], Y[1:200])
    for start in range(1, 200, 7):
        pieces.partial_fit(X[start : min(start + 7, 200)], Y[start : min(start + 7, 200)])
    assert held(pieces) == held(whole)
    assert np.array_equal(pieces.decision_function(X[:50]), whole.decision_function(X[:50]))


def test_a_model_of_the_dial_is_saved_and_goes_on(tmp_path: Any) -> None:
    clf = KenyonClassifier(memory_budget="20KB", shape=(8, 8), random_state=0).partial_fit(X[:500], Y[:500])
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert held(again) == held(clf)
    assert held(again.partial_fit(X[500:], Y[500:])) == held(clf.partial_fit(X[500:], Y[500:]))
    assert np.array_equal(again.predict(X), clf.predict(X))


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"shape": (9, 8)}, ConfigError, "72 entries, a sample has 64"),
    ({"shape": (8, 8), "window": 9}, ConfigError, "window is 9"),
    ({"shape": (8, 8), "axes": "hwc"}, ConfigError, "axes"),
    ({"shape": "8x8"}, ConfigError, "shape is '8x8'"),
    ({"features": "windows"}, ConfigError, "shape is None"),
    ({"shape": (8, 8), "rule": "mse", "bits": 4}, ConfigError, "cannot learn weights of few bits: expected one of gen"),
    ({"rule": "inel", "bits": 2}, ConfigError, "cannot learn weights of few bits: expected one of gen"),
    ({"rule": GEN(b1=0.1), "bits": 8}, ConfigError, "changes synapses without activity"),
    ({"shape": (8, 8), "memory_budget": 900}, MemoryBudgetError, "900"),
    ({"shape": (8, 8), "memory_budget": 60, "expected_classes": 1}, MemoryBudgetError, "60 bytes: expected at least"),
    ({"rule": "gen", "n_hidden": 500, "memory_budget": 1_000}, MemoryBudgetError, "the memory budget is 1,000"),
    ({"shape": (8, 8), "layer": "second-order", "hidden": LocalError((20,))}, ConfigError, "hidden has widths"),
]


@pytest.mark.parametrize(("params", "error", "text"), BAD)
def test_what_cannot_be_is_said_and_nothing_is_lost(params: dict[str, Any], error: type[Exception], text: str) -> None:
    clf = KenyonClassifier(**composed(**{"memory_budget": "20KB", "random_state": 0, **params}))
    before = dict(vars(clf))
    with pytest.raises(error, match=text):
        clf.partial_fit(X, Y)
    assert vars(clf) == before


def test_classes_beyond_the_budget_are_refused_and_nothing_is_lost() -> None:
    clf = KenyonClassifier(memory_budget="6KB", expected_classes=10, shape=(8, 8), random_state=0).partial_fit(X, Y)
    before = held(clf)
    with pytest.raises(MemoryBudgetError, match="100 more class"):
        clf.partial_fit(X[:100], np.arange(100) + 10)
    assert held(clf) == before


def test_sums_that_outgrow_their_bits_are_held_to_the_budget() -> None:
    """The sums are set near the end of 32 bits, as a very long stream would leave them."""
    clf = KenyonClassifier(memory_budget="20KB", layer=SecondOrder(bits=32), shape=(8, 8), random_state=0).partial_fit(
        X, Y
    )
    arrays = clf.to_arrays()
    arrays["pairs.0"][:] = 2**32 - 1_000
    clf = KenyonClassifier.from_arrays(arrays)
    before = held(clf)
    with pytest.raises(MemoryBudgetError, match="outgrown 32 bits"):
        clf.partial_fit(X, Y)
    assert held(clf) == before
