"""Second-order layers that are merged, unlearned, undone, saved and resumed."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier, Sparse
from kenyon.errors import MergeError, ModelFileError
from kenyon.layers import Samples
from second_order import BETA, KINDS, activity, held, make, predictions, samples, teach

# ---- merging and unlearning


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_merged_states_equal_the_state_of_one_pass(data: st.DataObject) -> None:
    """Any split, classes split as well, in any order of merging, each part with neurons in an order of its own."""
    X, y = samples(data.draw(st.integers(0, 200)), 11, seed=data.draw(st.integers(0, 9)))
    part_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))), int)
    merged = make(11)
    for part in data.draw(st.permutations(range(4))):
        own = part_of == part
        classes = [*dict.fromkeys(y[own & (y >= 0)].tolist())]
        layer = make(11, len(classes))
        labels = np.array([classes.index(c) if c >= 0 else -1 for c in y[own].tolist()], np.int64)
        teach(layer, X[own], labels)
        merged.merge(layer.state, np.array(classes, np.int64))
    assert held(merged) == held(teach(make(11), X, y))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_unlearned_samples_leave_the_state_as_if_they_had_never_come(data: st.DataObject) -> None:
    X, y = samples(data.draw(st.integers(1, 200)), 11, seed=data.draw(st.integers(0, 9)), density=0.7)
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    layer = teach(make(11), X, y)
    layer.subtract(teach(layer.emptied(), X[gone], y[gone]).state, np.arange(5))
    assert held(layer) == held(teach(make(11), X[~gone], y[~gone]))


@pytest.mark.parametrize(
    "what, change",
    [
        ("class_counts", lambda X, y: (np.repeat(X[:1], 300, axis=0), np.repeat(y[:1], 300))),
        ("sums", lambda X, y: (X[:1], (y[:1] + 1) % 5)),
        ("pairs", lambda X, y: (X[:1] * 0 + np.uint8(255), y[:1])),
        ("a class without samples", lambda X, y: (X[y == y[0]] // 2, y[y == y[0]])),
    ],
)
def test_what_was_never_learned_is_not_unlearned(what: str, change: Any) -> None:
    X, y = samples(60, density=0.1)
    X[y != y[0]] = 0
    layer = teach(make(), X, y)
    before, scores = held(layer), layer.forward(activity(X), 0, 60)
    others, labels = change(X, y)
    gone = teach(make(), others, labels).state
    with pytest.raises(MergeError, match=r"expected samples that were learned"):
        layer.subtract(gone, np.arange(5))
    assert held(layer) == before and np.array_equal(layer.forward(activity(X), 0, 60), scores)


def test_what_does_not_add_up_is_not_merged() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    before = held(layer)
    huge = make()
    huge.state.arrays["pairs"][0] = 2**32 - 1
    huge.merge(copy.deepcopy(huge.state), np.arange(5))
    huge.state.arrays["pairs"][0] = np.uint64(2**64 - 1)
    for other, neurons, match in (
        (make(22), np.arange(5), "22 units: expected 23"),
        (make(in_bytes=False), np.arange(5), r"pairs \(float32\).*expected pairs \(uint32\)"),
        (make(bits=16), np.arange(5), r"means \(uint16\).*expected pairs \(uint32\)"),
        (make(), np.arange(4), "expected 5 different ones below 5"),
        (make(), np.array([0, 1, 2, 3, 3]), "expected 5 different ones below 5"),
        (make(), np.array([0, 1, 2, 3, 5]), "expected 5 different ones below 5"),
        (huge, np.arange(5), "expected sums of samples that were learned"),
    ):
        with pytest.raises(MergeError, match=match):
            layer.merge(other.state, neurons)
        assert held(layer) == before
    for kind in ("16 bits", "24 bits", "floats"):
        other = make(**KINDS[kind])
        with pytest.raises(MergeError, match="nothing can be taken out again"):
            other.subtract(other.state, np.arange(5))


# ---- undoing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("density", [0.05, 1.0])
@pytest.mark.parametrize("asked", [False, True])
def test_a_call_is_undone_whatever_it_did(kind: str, density: float, asked: bool) -> None:
    """Few samples and many, with classes that fit the padding and classes beyond it, undone once and twice."""
    X, y = samples(300, 60, n_classes=7, density=density)
    layer = make(60, 7, **KINDS[kind])
    predictions(layer, X[:100], y[:100])
    values = X if KINDS[kind].get("in_bytes", True) else X.astype(np.float32)
    queries = activity(values)
    wanted, scores = held(layer), layer.forward(queries, 0, 9)
    following = predictions(copy.deepcopy(layer), X[100:], y[100:])
    singles = [(s, s + 1) for s in range(100, 120)]
    for blocks, n_new in (
        ([(100, 101)], 0),
        (singles[:5], 0),
        (singles, 0),
        ([*singles[:3], (103, 105), (105, 300)], 0),
        ([(100, 110), (110, 300)], 1),
        (singles[:2], 1),
        ([(100, 300)], 4),
    ):
        undo = layer.mark()
        for number, (a, b) in enumerate(blocks):
            for _ in range(n_new):
                layer.add_class()
            undo.note(queries, a, b)
            room = np.empty((b - a, layer.width), np.float32) if asked else None
            labels = np.full(300, 6 + n_new) if number else y
            layer.learn(Samples(queries, a, b, labels, None, BETA), room)
        assert held(layer) != wanted
        for _ in range(2):
            undo.undo()
            assert held(layer) == wanted and layer.n_classes == layer.n_neurons == 7
            assert np.array_equal(layer.forward(queries, 0, 9), scores)
    assert np.array_equal(predictions(layer, X[100:], y[100:]), following)


@pytest.mark.parametrize("array", ["pairs", "sums", "class_counts"])
def test_widening_is_undone(array: str) -> None:
    X, y = samples(200)
    layer = make()
    layer.state.arrays[array].flat[0] = layer.state.arrays["class_counts"][0] = 2**32 - 1
    before = held(layer)
    undo = layer.mark()
    for a in range(0, 200, 40):
        undo.note(activity(X), a, a + 40)
        layer.learn(Samples(activity(X), a, a + 40, np.zeros_like(y), None, BETA))
    assert layer.state.views()[array].dtype == np.uint64
    undo.undo()
    assert held(layer) == before
    teach(layer, X[:1], np.zeros(1, np.int64))
    assert layer.state.views()[array].dtype == np.uint64


@pytest.mark.parametrize("kind", KINDS)
def test_copies_go_on_alike(kind: str) -> None:
    X, y = samples()
    layer = make(**KINDS[kind])
    predictions(layer, X[:150], y[:150])
    layer.mark()
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert np.array_equal(predictions(other, X[150:], y[150:]), predictions(copy.deepcopy(layer), X[150:], y[150:]))


# ---- in the classifier


def classifier(**params: Any) -> KenyonClassifier:
    features = Sparse(units=150, density=8, threshold=0.5)
    return KenyonClassifier(features=features, layer="second-order", random_state=0, **params)


def digits() -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Samples to learn, one class after the other, and others."""
    X, y = load_digits(return_X_y=True)
    X = (X * 15).astype(np.uint8)
    order = np.argsort(y[:1200], kind="stable")
    return X[order], y[order], X[1200:], y[1200:]


def test_a_classifier_learns_saves_and_loads(tmp_path: Path) -> None:
    X, y, more, labels = digits()
    clf = classifier().partial_fit(X, y)
    assert clf.score(more, labels) > 0.85
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert again.state_bytes == clf.state_bytes
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))
    for model in (clf, again):
        model.partial_fit(more, labels)
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_checkpoint_goes_on_with_the_same_predictions(n_jobs: int) -> None:
    X, y, *_ = digits()
    whole = classifier()
    wanted = whole.test_then_learn(X, y)
    assert (wanted == y).mean() > 0.8
    clf = classifier(n_jobs=n_jobs)
    found = [clf.test_then_learn(X[:333], y[:333])]
    arrays = clf.to_arrays(working=True)
    assert set(clf.to_arrays()) == set(arrays)  # a readout in floats is solved again
    clf = KenyonClassifier.from_arrays(arrays)
    assert set(clf.to_arrays(working=True)) == set(arrays)
    found += [clf.test_then_learn(X[333:900], y[333:900]), clf.test_then_learn(X[900:], y[900:])]
    assert np.array_equal(np.concatenate(found), wanted)
    assert clf.state_bytes == whole.state_bytes
    for extra, match in (("working.1.readout", "no such layer"), ("working.0.readout", "nothing beside the state")):
        with pytest.raises(ModelFileError, match=match):
            KenyonClassifier.from_arrays({**arrays, extra: np.zeros(3, np.float32)})
