"""CN-DPM: experts are added when the data shift, and only then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from split_digits import SplitDigits, resumes, same_state

from kenyon.errors import ConfigError
from kenyon.learners.baselines._cndpm import CNDPM

pytestmark = pytest.mark.slow

QUICK: dict[str, Any] = {"hidden": (32,), "code": 8, "sleep": 150, "sleep_classifier": 50, "draws": 4,
                         "lr": 3e-3, "lr_classifier": 3e-3}  # fmt: skip


def quick(stream: SplitDigits, seed: int = 0, **options: Any) -> CNDPM:
    return CNDPM(stream.info, seed, **{**QUICK, **options})


@pytest.mark.parametrize(("scenario", "least"), [("class", 0.75), ("task", 0.9)])
def test_learns_the_split_digits(scenario: str, least: float) -> None:
    stream = SplitDigits(scenario)
    assert stream.accuracy(stream.learn(quick(stream))) >= least


def test_an_expert_is_added_when_the_data_shift() -> None:
    stream = SplitDigits("class")
    learner = quick(stream)
    experts = []
    for task, X, y in stream.episodes()[:3]:
        learner.learn(X, y, task)
        experts.append(len(learner.mixture.experts))
        learner.learn(X, y, task)  # the same data again bring no expert
        assert len(learner.mixture.experts) == experts[-1]
    assert experts == [1, 2, 3]
    # Each expert has learned its own classes.
    for expert, (_, X, y) in zip(learner.mixture.experts, stream.episodes(), strict=False):
        with torch.no_grad():
            answers = expert.d(learner.normalise(torch.from_numpy(X))).argmax(1).numpy()
        assert (answers == y).mean() > 0.9


def test_densities_tell_the_experts_apart() -> None:
    """Without a label, the expert that has seen a sample's classes finds it likelier than the other."""
    stream = SplitDigits("class")
    learner = quick(stream)
    for task, X, y in stream.episodes()[:2]:
        learner.learn(X, y, task)
    for k, classes in enumerate(stream.tasks[:2]):
        rows = np.isin(stream.y_test, classes)
        x = learner.normalise(torch.from_numpy(stream.X_test[rows]))
        assert (learner.mixture.log_densities(x).argmax(1).numpy() == k).mean() > 0.85


def test_the_short_term_memory_is_bounded_and_counted() -> None:
    stream = SplitDigits("class")
    learner = quick(stream, buffer_size=50)
    empty = learner.state_bytes
    X, y = stream.X, stream.y
    learner.learn(X[:40], y[:40])
    assert len(learner.memory) == 40 and not learner.mixture.experts
    assert learner.state_bytes >= empty + 50 * 64  # allocated whole
    learner.learn(X[40:50], y[40:50])
    assert len(learner.memory) == 0 and len(learner.mixture.experts) == 1
    assert learner.mixture.counts.tolist() == [50.0]
    weights = learner.mixture.experts[0].n_weights
    assert learner.state_bytes >= empty + 3 * 4 * weights  # values and both moments


def test_resumes_bit_for_bit_and_is_determined_by_its_seed() -> None:
    stream = SplitDigits("class")
    assert resumes(lambda: quick(stream, seed=5, sleep=20, sleep_classifier=10), stream)
    twins = [stream.learn(quick(stream, seed=5, sleep=20, sleep_classifier=10)) for _ in range(2)]
    assert same_state(*twins)
    other = stream.learn(quick(stream, seed=6, sleep=20, sleep_classifier=10))
    assert not same_state(twins[0], other)


def test_prediction_and_unlabelled_samples_change_nothing() -> None:
    stream = SplitDigits("class")
    learner = quick(stream, sleep=20, sleep_classifier=10)
    learner.learn(stream.X[:200], stream.y[:200])
    before = learner.state()
    answers = learner.predict(stream.X_test)
    learner.learn(stream.X[:30], np.full(30, -1))
    assert all(np.array_equal(before[key], value) for key, value in learner.state().items())
    one_by_one = np.concatenate([learner.predict(x[None]) for x in stream.X_test[:30]])
    assert (one_by_one == answers[:30]).mean() > 0.95


def test_bad_options_are_refused() -> None:
    info = SplitDigits("class").info
    for options in ({"chill": 0.0}, {"variance": -1.0}, {"sleep": 0}, {"hidden": (0,)}):
        with pytest.raises(ConfigError):
            CNDPM(info, 0, **options)


def test_convolutional_experts_learn_images() -> None:
    stream = SplitDigits("class")
    info = replace(stream.info, shape=(1, 8, 8))
    small = {**QUICK, "network": "cnn", "width": 4, "sleep": 60, "sleep_classifier": 60}
    learner = CNDPM(info, 0, **small)
    task, X, y = stream.episodes()[0]
    learner.learn(X, y, task)
    assert len(learner.mixture.experts) == 1 and (learner.predict(X) == y).mean() > 0.8
    x = learner.normalise(torch.from_numpy(X[:5]))
    noise = torch.zeros(1, 3, 8)
    one = learner.mixture.experts[0].g.nll(x[:1], noise)
    torch.testing.assert_close(learner.mixture.experts[0].g.nll(x, noise)[:1], one)
    with pytest.raises(ConfigError, match="multiples of 4"):
        CNDPM(replace(stream.info, shape=(1, 6, 6)), 0, **small)
