"""Classes that are renamed, joined and forgotten, and samples that belong to none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from kenyon import KenyonClassifier
from kenyon.errors import ConfigError, InputError
from making import held, make, stream

X, Y = stream()
SUMS = ["second order", "second order, windows", "table"]


def test_minus_one_is_a_class_like_any_other() -> None:
    known = Y >= 0
    X_, y = X[known], Y[known] % 2
    signed = KenyonClassifier(random_state=0).partial_fit(X_, 2 * y - 1)
    plain = KenyonClassifier(random_state=0).partial_fit(X_, y)
    assert signed.classes_.tolist() == [-1, 1] and signed.n_samples_learned_ == known.sum()
    assert np.array_equal(signed.predict(X_), 2 * plain.predict(X_) - 1)
    first = KenyonClassifier(random_state=0).test_then_learn(X_[:5], np.array([-1, 1, -1, 1, 1]))
    assert first[0] is None and set(first[1:].tolist()) <= {-1, 1}


@pytest.mark.parametrize("case", ["mse", "few bits", "table"])
def test_a_renamed_class_goes_on_under_its_new_name(case: str, tmp_path: Path) -> None:
    clf = make(case).partial_fit(X, Y)
    before = clf.predict(X)
    clf.rename(3, 33).save(tmp_path / "model")
    assert np.array_equal(clf.predict(X), np.where(before == 3, 33, before))
    named = np.where(Y == 3, 33, Y)
    assert held(KenyonClassifier.load(tmp_path / "model").partial_fit(X, named)) == held(clf.partial_fit(X, named))
    with pytest.raises(InputError, match="3 is not a class: expected one of"):
        clf.rename(3, 4)
    with pytest.raises(InputError, match="4 is a class already"):
        clf.rename(33, 4)
    with pytest.raises(InputError, match="'x' is a string: expected a number"):
        clf.rename(33, "x")


@pytest.mark.parametrize("labels", [[1, 4, 2], [4, 1, 2]], ids=str)
@pytest.mark.parametrize("case", SUMS)
def test_joined_classes_are_as_if_they_had_been_one(case: str, labels: list[int]) -> None:
    # `fit`: units that change on the way re-express ramps by the classes there are
    joined = make(case).fit(X, Y).join(labels, 1)
    direct = make(case).fit(X, np.where(np.isin(Y, [1, 4, 2]), 1, Y))
    assert joined.classes_.tolist() == direct.classes_.tolist()
    assert np.mean(joined.predict(X) == direct.predict(X)) > 0.97
    order = [joined.neurons()[label] for label in direct.neurons()]
    sums, wanted = joined.parts()[1][0].state.views()["sums"][:, order], direct.parts()[1][0].state.views()["sums"]
    assert np.allclose(sums, wanted, rtol=1e-5, atol=1e-5)
    if case == "second order, windows":
        assert np.array_equal(sums, wanted), "integers are joined to the bit"
    joined.partial_fit(X, np.where(np.isin(Y, [1, 4, 2]), 1, Y))


@pytest.mark.parametrize("case", ["mse", "gen", "few bits", "mean", *SUMS, "second order, 16 bits"])
def test_a_forgotten_class_is_gone_and_the_others_are_told_apart_as_before(case: str, tmp_path: Path) -> None:
    clf = make(case).partial_fit(X, Y)
    scores, bytes_before = clf.decision_function(X), clf.state_bytes
    clf.forget(2)
    left = [0, 1, 3, 4, 5, 6]
    assert clf.classes_.tolist() == left and clf.state_bytes < bytes_before
    apart = scores[:, left] - scores[:, :1]
    now = clf.decision_function(X) - clf.decision_function(X)[:, :1]
    if case != "table":  # whose shares of classes change
        near = 0.2 if case == "second order, 16 bits" else 0.1 if case == "second order, windows" else 0.01
        assert np.abs(now - apart).max() < near * np.abs(apart).max(), "but for the rounding of integers"
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert held(again) == held(clf)
    assert clf.partial_fit(X, Y).classes_.tolist() == [0, 1, 2, 3, 4, 5, 6], "it can be learned anew"


def test_what_cannot_be_done_is_refused_and_changes_nothing() -> None:
    clf = make("mse").partial_fit(X, Y)
    before = held(clf)
    refused: list[tuple[type, str, Any]] = [
        (ConfigError, "keeps no sums", lambda: clf.join([1, 2], 1)),
        (InputError, "99 is not a class", lambda: clf.forget(99)),
        (InputError, "no label", lambda: clf.join([], 1)),
        (InputError, "5 is a class of its own", lambda: clf.join([1, 2], 5)),
        (ConfigError, "how far samples", lambda: clf.familiarity(X)),
        (InputError, "reject is 2: expected", lambda: make("table").partial_fit(X, Y).predict(X, reject=2)),
        (InputError, "share is -1: expected", lambda: clf.reject_at(X, -1)),
        (InputError, "x has 2 dimensions", lambda: clf.predict_one(X)),
    ]
    for error, message, call in refused:
        with pytest.raises(error, match=message):
            call()
    assert held(clf) == before
    with pytest.raises(ConfigError, match="hidden layers"):
        make("one hidden layer").partial_fit(X, Y).forget(2)


def test_predict_one_is_predict() -> None:
    clf = make("table").partial_fit(X, Y)
    assert [clf.predict_one(x) for x in X[:10]] == clf.predict(X[:10]).tolist()
    assert isinstance(clf.predict_one(X[0]), int)


def test_unseen_classes_are_told_from_known_ones_and_rejected_at_the_share_asked_for() -> None:
    X, y = load_digits(return_X_y=True)
    areas, shares = [], []
    for unseen in ([1, 4, 8], [0, 5, 7]):
        order = np.random.default_rng(0).permutation(len(y))
        known = ~np.isin(y, unseen)
        learned, held_out, later = np.array_split(order, 3)
        clf = KenyonClassifier(random_state=0).partial_fit(X[learned][known[learned]], y[learned][known[learned]])
        areas.append(roc_auc_score(known[later], clf.familiarity(X[later])))
        at = clf.reject_at(X[held_out][known[held_out]], 0.1)
        predicted = clf.predict(X[later], reject=at)
        shares.append(np.mean([label is None for label in predicted[known[later]]]))
        assert np.mean([label is None for label in predicted[~known[later]]]) > 0.5
    assert min(areas) > 0.8 and all(0.04 < share < 0.17 for share in shares)
