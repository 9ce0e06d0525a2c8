"""Labels of any kind to neurons and back, and samples that have none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_diabetes, load_digits

from kenyon import KenyonClassifier
from kenyon.errors import LabelWarning
from kenyon.model.labels import NO_LABEL, Labels
from making import held, make, stream

X, Y = stream()
KNOWN = Y >= 0


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c", "d", "e", "f", "g"],
        [10, 7, 300, -5, 0, 2**40, 3],
        [(0, "x"), (1, "y"), (2, "z"), (3, "q"), (4, "r"), (5, "s"), (6, "t")],
        [b"1", b"2", b"3", b"4", b"5", b"6", b"7"],
        [np.datetime64(f"2020-01-0{i}").item() for i in range(1, 8)],
        [frozenset({i}) for i in range(7)],
    ],
    ids=["strings", "numbers", "tuples", "bytes", "dates", "sets without an order"],
)
def test_labels_of_any_kind(names: list[Any]) -> None:
    as_numbers = make("mse").partial_fit(X[KNOWN], Y[KNOWN])
    clf = make("mse").partial_fit(X[KNOWN], [names[label] for label in Y[KNOWN]])
    assert np.array_equal(clf.weights_, as_numbers.weights_)
    assert set(clf.classes_.tolist()) == set(names)
    assert clf.neurons() == {names[label]: neuron for label, neuron in as_numbers.neurons().items()}
    assert clf.predict(X).tolist() == [names[label] for label in as_numbers.predict(X)]


def test_booleans() -> None:
    clf = make("mse").partial_fit(X, Y > 2)
    assert clf.classes_.dtype == bool and clf.predict(X).dtype == bool
    assert clf.decision_function(X).shape == (90,)
    assert np.array_equal(clf.predict(X), clf.decision_function(X) > 0)


@pytest.mark.parametrize(
    "labels",
    [
        Y.astype(np.int8),
        Y.astype(float),
        np.where(KNOWN, Y, np.nan),
        Y.tolist(),
        [None if label < 0 else int(label) for label in Y],
        [np.int64(label) for label in Y],
        np.array([None if label < 0 else np.int16(label) for label in Y], object),
        np.array([float("nan") if label < 0 else float(label) for label in Y], object),
        pandas.Series(Y),
        pandas.Series([pandas.NA if label < 0 else label for label in Y], dtype="Int64"),
        tuple(Y.tolist()),
    ],
    ids=["int8", "float", "NaN", "list", "None", "scalars", "objects", "NaN objects", "series", "NA", "tuple"],
)
def test_the_same_labels_in_any_container(labels: Any) -> None:
    assert held(make("mse").partial_fit(X, labels)) == held(make("mse").partial_fit(X, Y))


def test_strings_in_any_container() -> None:
    names = [None if label < 0 else f"n{label}" for label in Y]
    wanted = held(make("mse").partial_fit(X, names))
    assert held(make("mse").partial_fit(X, np.array(names, object))) == wanted
    assert held(make("mse").partial_fit(X, pandas.Series(names))) == wanted
    assert held(make("mse").partial_fit(X, pandas.Series(names, dtype="string"))) == wanted
    known = [name for name in names if name]
    assert held(make("mse").partial_fit(X[KNOWN], np.array(known))) == wanted


def test_the_mark_of_an_absent_label() -> None:
    minus_one = make("mse", unlabelled=None).partial_fit(X, Y)
    assert minus_one.classes_.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6]
    zero = make("mse", unlabelled=0).partial_fit(X, Y)
    assert 0 not in zero.classes_ and -1 in zero.classes_
    for unlabelled in (-1, None, 5):
        by_one = make("mse", unlabelled=unlabelled).partial_fit(X[:1], Y[:1])
        for x, y in zip(X[1:], Y[1:], strict=True):
            by_one.learn_one(x, y)
        assert held(by_one) == held(make("mse", unlabelled=unlabelled).partial_fit(X, Y))


def test_predictions_before_the_first_class() -> None:
    clf = make("mse")
    seen = clf.test_then_learn(X, Y)
    first = int(np.flatnonzero(KNOWN)[0])
    assert (seen[: first + 1] == -1).all() and (seen[first + 1 :] >= 0).all()
    names = np.array([None if label < 0 else f"n{label}" for label in Y], object)
    seen = make("mse").test_then_learn(X, names)
    assert seen[0] is None and isinstance(seen[-1], str)


def test_a_new_task_without_labels_predicts_nothing() -> None:
    clf = make("mse").partial_fit(X, Y, task="a")
    before = held(clf)
    assert (clf.test_then_learn(X, np.full(90, -1), task="b") == -1).all()
    assert held(clf) == before and clf.tasks_ == ["a"]


def test_a_class_is_never_predicted_before_it_came() -> None:
    order = np.sort(Y[KNOWN])
    seen = make("mse").test_then_learn(X[KNOWN], order)
    met = np.maximum.accumulate(np.append(-1, order[:-1]))
    assert (seen <= met).all()


def test_encode_and_decode() -> None:
    labels = Labels([("b", 4), ("a", 2)])
    numbers, new = labels.encode(["a", None, "c", "b", "c", "d"], None)
    assert numbers.tolist() == [1, NO_LABEL, 2, 0, 2, 3]
    assert new == [(2, "c"), (5, "d")]
    assert list(labels.neurons) == ["b", "a"], "encode entered a label"
    assert labels.decode(np.array([2, 4, NO_LABEL])).tolist() == ["a", "b", None]
    names, neurons = labels.sorted()
    assert (names.tolist(), neurons.tolist()) == (["a", "b"], [2, 4])
    assert Labels().decode(np.array([NO_LABEL])).tolist() == [-1]


@pytest.mark.parametrize("case", ["mse", "second order, windows", "counting", "memory", "memory, counting", "few bits"])
def test_a_first_call_may_begin_with_samples_that_have_no_label(case: str) -> None:
    X, y = stream()
    y = np.where(np.arange(len(y)) < 40, -1, y)
    whole, later = make(case).partial_fit(X, y), make(case).partial_fit(X[40:], y[40:])
    assert held(whole) == held(later)


# ---- labels that look continuous


def test_a_regression_target_is_learned_with_a_warning() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(LabelWarning, match=r"y has 214 different values in floats among 442 samples.*expected class"):
        KenyonClassifier(random_state=0).fit(X, y)
    clf = KenyonClassifier(random_state=0)
    with pytest.warns(LabelWarning) as caught:  # once, in any cut of the stream
        for start in range(0, 90, 7):
            clf.partial_fit(X[start : start + 7], y[start : start + 7])
    assert len(caught) == 1
    single = KenyonClassifier(random_state=0)
    with pytest.warns(LabelWarning) as caught:
        for x, label in zip(X[:60], y[:60], strict=True):
            single.learn_one(x, float(label))
    assert len(caught) == 1


def test_classes_are_learned_without_one() -> None:
    X, y = load_diabetes(return_X_y=True)
    digits, names = load_digits(return_X_y=True)
    many = np.repeat(np.arange(30.0), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KenyonClassifier().fit(X, y.astype(int))
        KenyonClassifier().fit(X, y.astype(int).astype(str))
        KenyonClassifier().fit(digits, names.astype(float))
        KenyonClassifier().fit(X[: len(many)], many)  # many classes, and a few samples of each
        KenyonClassifier().fit(X, np.where(np.arange(len(y)) % 9 == 0, np.nan, y))  # integers with gaps become floats


@pytest.mark.parametrize("layer", ["counting", "diagonal", "plastic", "second-order"])
def test_samples_without_a_label_may_come_before_the_first_class(layer: str) -> None:
    random = np.random.default_rng(0)
    samples, labels = random.random((60, 12)).astype(np.float32), np.arange(60) % 3
    labels[:20] = -1
    clf, known = (KenyonClassifier(layer=layer, scale=False, unlabelled=-1, random_state=0) for _ in range(2))
    clf.partial_fit(samples, labels)
    known.partial_fit(samples[20:], labels[20:])
    np.testing.assert_array_equal(clf.predict(samples), known.predict(samples))
