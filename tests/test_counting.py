"""The counting rule: means by count, synapses that saturate when they are read, and classes that are rare."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from kenyon import Counting, KenyonClassifier, SecondOrder
from kenyon.data.streams import load_dataset
from kenyon.errors import ConfigError, InputError
from kenyon.rules import INEL, MEAN, Rule, get_rule
from kenyon.testing import check_rule
from kenyon.utils.modulation import InverseTime
from making import held, make, stream


def test_a_neuron_is_what_it_has_learned_whatever_the_others_have() -> None:
    """Nothing is forgotten: the order in which the classes come changes no weight."""
    X, y = stream()
    X, y = X[y >= 0], y[y >= 0]
    mixed = make("mean").partial_fit(X, y, classes=range(7))
    order = np.argsort(-y, kind="stable")
    sorted_ = make("mean").partial_fit(X[order], y[order], classes=range(7))
    assert np.array_equal(mixed.weights_, sorted_.weights_)
    assert np.array_equal(mixed.predict(X), sorted_.predict(X))


def test_rare_digits_are_not_drowned() -> None:
    """With the odd digits at a tenth, GEN loses most of them and counting few."""
    train = load_dataset("digits").train
    X, y = np.asarray(train.X[:]), np.asarray(train.y)
    rng = np.random.default_rng(0)
    held_out = rng.random(len(y)) < 0.3
    rare = ~held_out & ((y % 2 == 0) | (rng.random(len(y)) < 0.1))
    odd = held_out & (y % 2 == 1)
    recall, score = {}, {}
    for rule in ("gen", "mean"):
        order = np.flatnonzero(rare)[np.argsort(y[rare] // 2, kind="stable")]
        clf = KenyonClassifier(rule, n_hidden=4000, random_state=0).partial_fit(X[order], y[order])
        recall[rule], score[rule] = clf.score(X[odd], y[odd]), clf.score(X[held_out], y[held_out])
    assert score["mean"] > 0.85 and score["mean"] > score["gen"] + 0.1
    assert recall["mean"] > 0.7 and recall["mean"] > recall["gen"] + 0.2


def test_the_model_file_keeps_counts_and_cap(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("mean", rule=MEAN(0.7)).partial_fit(X, y)
    clf.save(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model")
    assert loaded.rule == MEAN(0.7) and held(loaded) == held(clf)
    assert np.array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert held(loaded.partial_fit(X, y)) == held(clf.partial_fit(X, y))
    assert clf.state_bytes == sum(len(part) for part in held(clf).values()), (
        "the state is sums, counts, counters and the model's own JSON"
    )


def test_a_window_may_go_on_it() -> None:
    check_rule(INEL(3.0, MEAN()))


@dataclasses.dataclass(frozen=True)
class _Squared(Rule):
    """A rule from outside with a readout, and a step that counts too."""

    gated: ClassVar[bool] = True
    counted: ClassVar[bool] = True
    power: float = 0.5

    @staticmethod
    def delta(x_e, x_o, x_m, w, n, power):  # type: ignore[no-untyped-def,override]
        return x_m * x_e / n

    @staticmethod
    def readout(w, n, units, power):  # type: ignore[no-untyped-def,override]
        return power * w * w * n / units


@dataclasses.dataclass(frozen=True)
class _EveryNeuron(_Squared):
    """The same on the kernel that visits every neuron."""

    gated: ClassVar[bool] = False

    @staticmethod
    def delta(x_e, x_o, x_m, w, n, power):  # type: ignore[no-untyped-def,override]
        return (x_m - x_o) * x_e / n


@pytest.mark.parametrize("rule", [MEAN(), MEAN(0.05), _Squared(), _EveryNeuron()], ids=repr)
def test_readouts_are_checked_like_steps(rule: Rule) -> None:
    check_rule(rule)


@pytest.mark.parametrize(
    ("cap", "message"),
    [
        (-0.1, r"mean.cap is -0.1: expected a number, at least 1e-06"),
        (float("nan"), r"mean.cap is nan"),
        ("x", r"mean.cap is 'x'"),
        (InverseTime(0.4, 0.1), r"mean.cap is InverseTime.*: expected a number; readouts take no schedules"),
    ],
)
def test_caps_out_of_range(cap: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MEAN(cap)  # type: ignore[arg-type]


def test_lookup() -> None:
    assert get_rule("mean") == MEAN(cap=0.3)


# ---- naive Bayes


def test_naive_bayes_is_that_of_scikit_learn() -> None:
    """Log-likelihoods on samples of length 1, with 1/32 added to every sum: MultinomialNB on the same inputs."""
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (200, 30)) * (rng.random((5, 30)) < 0.5)[np.arange(200) % 5], np.arange(200) % 5
    X[:, 0] += 1
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    clf = KenyonClassifier(layer=Counting(readout="bayes", prior="counts"), features="identity")
    for start in range(0, 200, 7):
        clf.partial_fit(X[start : start + 7].astype(np.float32), y[start : start + 7])
    peer = MultinomialNB(alpha=1 / 32).fit(unit, y)
    ours, theirs = clf.decision_function(X.astype(np.float32)), peer.predict_joint_log_proba(unit)
    assert np.allclose(ours - ours.mean(axis=1, keepdims=True), theirs - theirs.mean(axis=1, keepdims=True), atol=1e-3)
    assert np.allclose(clf.weights_, peer.feature_log_prob_.T, atol=1e-3)


def test_naive_bayes_refuses_what_it_cannot_count() -> None:
    clf = KenyonClassifier(layer=Counting(readout="bayes"), features="identity")
    clf.partial_fit(np.eye(3, dtype=np.float32), [0, 1, 2])
    before = held(clf)
    for call in (clf.predict, lambda X: clf.partial_fit(X, [0])):
        with pytest.raises(InputError, match=r"negative \(-1\): expected counts, for readout='bayes'"):
            call(np.array([[0, -1, 0]], np.float32))
    assert held(clf) == before
    with pytest.raises(ConfigError, match="unknown readout 'bayes'"):
        SecondOrder(readout="bayes")
    with pytest.raises(ConfigError, match="never negative, or readout='bayes'"):
        KenyonClassifier(layer="counting", features="identity").fit(np.eye(3, dtype=np.uint8), [0, 1, 2])
    with pytest.raises(ConfigError, match="readout is 'bayes': expected another"):
        clf.narrowed(4)
