"""Images in numbers other than bytes: every dtype and range is learned as bytes are, in any cut of the stream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from kenyon.export import export_model
from kenyon.features import as_bytes
from making import composed, held, make, stream

DIGITS, NAMES = load_digits(return_X_y=True)
BYTES = np.rint(DIGITS * 255 / DIGITS.max(axis=1, keepdims=True)).astype(np.uint8)

RANGES: dict[str, Callable[[NDArray[np.uint8]], NDArray]] = {
    "int64": lambda X: X.astype(np.int64),
    "uint16": lambda X: X.astype(np.uint16) * 257,
    "int16": lambda X: (X.astype(np.int32) * 257 - 32768).astype(np.int16),
    "0 to 255": lambda X: X.astype(np.float64),
    "0 to 1": lambda X: X / 255,
    "0 to 1, float32": lambda X: X.astype(np.float32) / np.float32(255),
    "-1 to 1": lambda X: X / 127.5 - 1,
    "0 to 16": lambda X: X * (16 / 255),
    "0 to 4095": lambda X: np.rint(X * (4095 / 255)).astype(np.int32),
    "standardised": lambda X: (X / 255 - 0.13) / 0.31,
    "far from zero": lambda X: X / 255 + 290,
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("budget", ["20KB", "1MB"])
def test_every_range_is_learned_as_bytes_are(name: str, budget: str) -> None:
    """Digits whose brightest pixel is 255: in whatever numbers they come, the state is the same to the bit."""
    X, more = RANGES[name](BYTES[:300]), {"memory_budget": budget, "shape": (8, 8), "random_state": 0}
    clf = KenyonClassifier(**composed(**more)).partial_fit(X, NAMES[:300])
    wanted = KenyonClassifier(**composed(**more)).partial_fit(BYTES[:300], NAMES[:300])
    assert held(clf) == held(wanted)
    assert np.array_equal(clf.decision_function(RANGES[name](BYTES[300:])), wanted.decision_function(BYTES[300:]))
    pieces = KenyonClassifier(**composed(**more))
    for start in range(0, 300, 37):
        pieces.partial_fit(X[start : start + 37], NAMES[:300][start : start + 37])
    assert held(pieces) == held(wanted)


def test_digits_from_0_to_16_are_learned_as_well_as_bytes() -> None:
    """As scikit-learn has them: not every digit has a pixel of 16."""
    X, order = (DIGITS * 15.9375).round().astype(np.uint8), np.random.default_rng(0).permutation(len(NAMES))
    train, test = order[:1200], order[1200:]

    def score(X: NDArray) -> float:
        clf = KenyonClassifier(memory_budget="20KB", shape=(8, 8), random_state=0)
        return clf.partial_fit(X[train], NAMES[train]).score(X[test], NAMES[test])

    assert score(DIGITS) >= score(X) - 0.002 and score(DIGITS.astype(np.int64)) == score(DIGITS)


def test_a_sample_is_converted_by_its_own_range_alone() -> None:
    X = np.array([[0.0, 1.0, 4.0], [0.0, 1.0, 1e4], [5.0, 5.0, 5.0], [-3.0, 0.0, 3.0]])
    assert as_bytes(X).tolist() == [[0, 64, 255], [0, 0, 255], [0, 0, 0], [0, 128, 255]]
    assert as_bytes(X[:1]).tolist() == as_bytes(X)[:1].tolist()
    assert as_bytes(np.array([[60.0, 120.0], [61.0, 120.0]])).tolist() == [[128, 255], [0, 255]]
    assert as_bytes(BYTES) is BYTES


def test_numbers_are_taken_as_they_are_where_asked_for() -> None:
    X, y = stream(kind="float64")
    own, plain = make("second order, windows").partial_fit(X, y), make("second order, windows", scale=False)
    assert held(own) == held(make("second order, windows").partial_fit(3 * X, y))
    assert held(plain.partial_fit(X, y)) != held(make("second order, windows", scale=False).partial_fit(3 * X, y))


def test_a_saved_and_an_exported_model_convert_the_same(tmp_path: Path) -> None:
    X = RANGES["-1 to 1"](BYTES)
    clf = KenyonClassifier(memory_budget="1MB", shape=(8, 8), random_state=0).partial_fit(X[:300], NAMES[:300])
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert np.array_equal(again.decision_function(X[300:400]), clf.decision_function(X[300:400]))
    export_model(clf, "numpy", tmp_path / "out")
    exported = run_path(str(tmp_path / "out" / "predict.py"))
    assert np.array_equal(exported["predict"](X[300:400]), clf.predict(X[300:400]))
