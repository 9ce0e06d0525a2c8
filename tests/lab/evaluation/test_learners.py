"""The table of learners, and the checks that come with the package."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import all_pairs
from evaluation.tiny import Tiny
from kenyon.data.streams import SCENARIOS, Curriculum, load_dataset
from kenyon.errors import ConfigError
from kenyon.learners import LEARNERS, find_learner, learner_class, learner_options, make_learner
from kenyon.testing import CHECKS, check_learner


@pytest.mark.parametrize("name", LEARNERS)
def test_every_row_of_the_table_is_a_learner(name: str) -> None:
    spec = find_learner(name)
    assert spec.name == name
    assert set(spec.scenarios) <= set(SCENARIOS)
    assert spec.summary and spec.memory and spec.reference
    options = learner_options(name)
    assert "info" not in options and "seed" not in options
    info = Curriculum(spec.scenarios[0]).open(load_dataset("digits")).info
    learner = make_learner(name, info, 0, spec.scenarios[0])
    assert learner.batch_size >= 1
    assert learner.state_bytes >= 0


def test_unknown_options_are_refused_by_name() -> None:
    info = Curriculum().open(load_dataset("digits")).info
    with pytest.raises(ConfigError, match=r"unknown option of the learner .*'ratte'.*did you mean 'rate'"):
        make_learner("evaluation.tiny:Tiny", info, 0, "class-incremental", ratte=3)


def test_a_sound_learner_passes_every_check() -> None:
    check_learner(Tiny)
    check_learner(Tiny, "task-incremental")
    with pytest.raises(ConfigError, match=r"'learn'.*did you mean 'learns'"):
        check_learner(Tiny, skip=["learn"])


@all_pairs(name=list(CHECKS), rule=["gen", "oja", "mse", "inel"], scenario=["class-incremental", "task-incremental"])
def test_our_learner_passes_every_check(name: str, rule: str, scenario: str) -> None:
    CHECKS[name](partial(learner_class("kenyon"), rule=rule, n_hidden=500), scenario)


class ForgetsItsGenerator(Tiny):
    def restore(self, state: dict[str, NDArray]) -> None:
        super().restore(state)
        self.rng = np.random.default_rng(99)


class PredictLearns(Tiny):
    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        self.W = self.W * 0.999
        return super().predict(X, task)


class SeedIgnored(Tiny):
    def __init__(self, info: Any, seed: int) -> None:
        super().__init__(info, np.random.SeedSequence().entropy % 2**32)  # type: ignore[operator]


class CutMatters(Tiny):
    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        self.W *= 1.0 - 1e-6
        return super().test_then_learn(X, y, task)


class LearnsFromUnlabelled(Tiny):
    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        predicted = super().test_then_learn(X, y, task)
        super().test_then_learn(X[y < 0], np.full((y < 0).sum(), 7), task)
        return predicted


class HidesItsBuffer(Tiny):
    @property
    def state_bytes(self) -> int:
        return 1

    def state(self) -> dict[str, NDArray]:
        return super().state() | {"buffer": np.zeros(100_000)}


class DoesNotLearn(Tiny):
    def __init__(self, info: Any, seed: int) -> None:
        super().__init__(info, seed, rate=0.0)


class IgnoresTask(Tiny):
    def _scores(self, x: NDArray, task: int | None) -> NDArray:
        return super()._scores(x, None)


class LearnDiffers(Tiny):
    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        self.test_then_learn(X[:-1], y[:-1], task)


FAULTS = {
    "restore_goes_on": ForgetsItsGenerator,
    "predict_changes_nothing": PredictLearns,
    "same_seed_same_bits": SeedIgnored,
    "cut_changes_nothing": CutMatters,
    "unlabelled_teach_nothing": LearnsFromUnlabelled,
    "state_bytes": HidesItsBuffer,
    "learns": DoesNotLearn,
    "task_heads": IgnoresTask,
    "learn_is_test_then_learn": LearnDiffers,
}


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_finds_its_fault(name: str) -> None:
    with pytest.raises(AssertionError):
        CHECKS[name](FAULTS[name], "class-incremental")
