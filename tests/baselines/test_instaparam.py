"""InstAParam: the gates depend on the sample, and only chosen blocks learn."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from split_digits import SplitDigits, resumes, same_state, stays_as_it_is

from kenyon.baselines._instaparam import InstAParam
from kenyon.errors import ConfigError


def quick(stream: SplitDigits, seed: int = 0, **options: Any) -> InstAParam:
    return InstAParam(stream.info, seed, **{"hidden": (64, 64), "blocks": 8, "lr": 0.1, "controller": 32, **options})


@pytest.mark.parametrize(("scenario", "least"), [("task", 0.85), ("single", 0.5)])
def test_learns_the_digits(scenario: str, least: float) -> None:
    stream = SplitDigits(scenario)
    assert stream.accuracy(stream.learn(quick(stream), epochs=3)) >= least


def test_gates_depend_on_the_sample() -> None:
    stream = SplitDigits("task")
    learner = stream.learn(quick(stream), epochs=3)
    gates = learner.gates(learner.normalise(torch.from_numpy(stream.X_test)))
    assert set(gates.unique().tolist()) == {0.0, 1.0}
    assert len(gates.flatten(1).unique(dim=0)) > 5
    # Samples of one class agree more than samples of different classes.
    share = torch.stack([gates[torch.from_numpy(stream.y_test == c)].mean(0) for c in range(10)])
    within = torch.stack([2 * p * (1 - p) for p in share]).mean()
    overall = gates.mean(0)
    assert within < 0.9 * (2 * overall * (1 - overall)).mean()


def test_only_chosen_blocks_get_a_gradient() -> None:
    stream = SplitDigits("task")
    learner = quick(stream)
    gates = torch.zeros(1, 2, 8)
    gates[0, :, 3] = 1.0
    x = learner.normalise(torch.from_numpy(stream.X[:1]))
    first, _, second = learner.gradient(learner.gated(x, gates).sum())[:3]
    for gradient in (first, second):
        by_block = gradient.reshape(8, -1).abs().sum(1)
        assert by_block[3] > 0 and by_block.sum() == by_block[3]


def test_controller_learns_from_reward_alone() -> None:
    """With a good network given, gates that keep the answer right and few others open are reinforced."""
    stream = SplitDigits("single")
    learner = quick(stream, beta=0.0, lr=1e-9, lr_controller=0.01)
    before = learner.optimizer.values.clone()
    learner.learn(stream.X[:200], stream.y[:200])
    assert not torch.equal(before, learner.optimizer.values)


def test_new_tasks_are_led_away_from_old_habits() -> None:
    stream = SplitDigits("task")
    learner = quick(stream, gamma=0.3)
    assert learner._regulariser() == 0.0
    learner.learn(*stream.episodes()[0][1:], 0)
    assert learner._regulariser() == 0.0  # within the first task there is no history
    learner.end_task(False)
    reg = learner._regulariser()
    assert isinstance(reg, torch.Tensor) and 0.0 < reg.max() <= 0.3
    most, least = learner.history.argmax(), learner.history.argmin()
    assert reg.flatten()[most] > reg.flatten()[least]


def test_chosen_blocks_are_consolidated_at_a_boundary() -> None:
    stream = SplitDigits("task")
    learner = quick(stream)
    learner.learn(*stream.episodes()[0][1:], 0)
    assert learner.penalty() == 0.0
    learner.end_task(False)
    assert sum(float(i.sum()) for i in learner.importance) > 0.0
    assert learner.penalty() == 0.0
    learner.learn(*stream.episodes()[1][1:], 1)
    held = learner.penalty() / learner.strength
    free = quick(stream, strength=1e-6)
    for task, X, y in stream.episodes()[:2]:
        free.learn(X, y, task)
        if task == 0:
            free.end_task(False)
    assert 0.0 < held < free.penalty() / free.strength


def test_class_incremental_is_refused() -> None:
    with pytest.raises(ConfigError, match="task-incremental"):
        quick(SplitDigits("class"))


def test_resumes_and_counts_network_controller_and_its_optimizer() -> None:
    stream = SplitDigits("task")
    assert resumes(lambda: quick(stream, seed=4), stream)
    learner = stream.learn(quick(stream, seed=4))
    assert same_state(learner, stream.learn(quick(stream, seed=4)))
    network = sum(p.numel() for p in learner.net.parameters())
    # the network, its anchors, importance and running Fisher information; the controller and its moments
    assert learner.state_bytes >= 4 * 4 * network + 3 * 4 * learner.optimizer.values.numel()
    assert stays_as_it_is(learner, stream, 0)


def test_bad_options_are_refused() -> None:
    info = SplitDigits("task").info
    for options in ({"blocks": 7}, {"alpha": 0.2}, {"iterations": 0}, {"lr_controller": 0.0}):
        with pytest.raises(ConfigError):
            InstAParam(info, 0, **options)
