"""InstAParam: the gates depend on the sample, and only chosen blocks learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from split_digits import SplitDigits, resumes, same_state, stays_as_it_is
from torch.nn import functional as F

from kenyon.errors import ConfigError
from kenyon.learners.baselines._instaparam import InstAParam
from kenyon.learners.baselines._instaparam_networks import GatedResNet, NestedBlock

pytestmark = pytest.mark.slow


def quick(stream: SplitDigits, seed: int = 0, **options: Any) -> InstAParam:
    small = {"hidden": (64, 64), "blocks": 8, "controller": 32, "iterations": 1}
    small |= {"lr": 0.1, "reward": 3.0, "strength": 100.0}
    return InstAParam(stream.info, seed, **{**small, **options})


@pytest.mark.parametrize(("scenario", "least"), [("task", 0.75), ("single", 0.5)])
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
    first, _, second = learner.gradient(learner.net.gated(x, gates).sum())[:3]
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


def test_weights_are_consolidated_after_every_batch() -> None:
    stream = SplitDigits("task")
    learner = quick(stream, strength=100.0, batch_size=50)
    task, X, y = stream.episodes()[0]
    totals = []
    for start in (0, 50):
        learner.learn(X[start : start + 50], y[start : start + 50], task)
        totals.append(sum(float(i.sum()) for i in learner.importance))
        assert learner.penalty() == 0.0, "the anchors move with every batch"
    assert totals[1] > totals[0] > 0.0
    free = quick(stream, strength=0.0)
    free.learn(X, y, task)
    assert all(not i.any() for i in free.importance), "as published, nothing is held unless a strength is given"


def test_a_strength_holds_weights_from_the_second_task_on() -> None:
    stream = SplitDigits("task")
    (_, X, y), (_, X2, y2) = stream.episodes()[:2]

    def moved(strength: float) -> float:
        learner = quick(stream, strength=strength)
        learner.learn(X, y, 0)
        learner.end_task(False)
        before = [p.detach().clone() for p in learner.params]
        learner.learn(X2, y2, 1)
        return float(sum((p - b).square().sum() for p, b in zip(learner.params, before, strict=True)))

    assert moved(1e6) < 0.5 * moved(1e-9)


def test_a_batch_is_learned_ten_times_over_unless_told() -> None:
    assert InstAParam(SplitDigits("task").info, 0).iterations == 10


def test_the_gated_resnet_learns_images() -> None:
    stream = SplitDigits("single")
    info = replace(stream.info, shape=(1, 8, 8))
    learner = InstAParam(info, 0, network="cnn", width=4, controller=16, iterations=2, lr=0.1)
    assert isinstance(learner.net, GatedResNet) and learner.gates(torch.zeros(2, 64)).shape == (2, 8, 4)
    chosen = np.flatnonzero(stream.y < 2)[:200]
    x, y = learner.normalise(torch.from_numpy(stream.X[chosen])), torch.from_numpy(stream.y[chosen])
    draws = [torch.bernoulli(torch.full((200, 8, 4), 0.5)) for _ in range(3)]

    def loss() -> float:
        with torch.no_grad():
            return sum(F.cross_entropy(learner.net.gated(x, gates), y).item() for gates in draws)

    before = loss()
    learner.learn(stream.X[chosen], stream.y[chosen])
    assert loss() < 0.7 * before


def test_kernels_are_nested_and_a_shut_block_lets_the_sample_pass() -> None:
    torch.manual_seed(0)
    block, x = NestedBlock(4, 4, 1), torch.rand(2, 4, 6, 6)
    block.norm1, block.norm2 = torch.nn.Identity(), torch.nn.Identity()
    with torch.no_grad():
        for conv in (block.conv1, block.conv2):
            rim = conv.weight.clone()
            rim[:, :, 2:5, 2:5] = 0
            conv.weight -= rim  # nothing outside the middle 3x3
        torch.testing.assert_close(block.action(x, 0), block.action(x, 2))
        assert not torch.allclose(block.action(x, 2), block.action(x, 3))
        gates = torch.tensor([[0.0, 0, 0, 0], [1, 0, 0, 1]])
        out = block(x, gates)
        torch.testing.assert_close(out[0], x[0])
        torch.testing.assert_close(out[1], (block.action(x, 0) + block.action(x, 3))[1])


def test_class_incremental_is_refused() -> None:
    with pytest.raises(ConfigError, match="task-incremental"):
        quick(SplitDigits("class"))


def test_resumes_and_counts_network_controller_and_its_optimizer() -> None:
    stream = SplitDigits("task")
    assert resumes(lambda: quick(stream, seed=4), stream)
    learner = stream.learn(quick(stream, seed=4))
    assert same_state(learner, stream.learn(quick(stream, seed=4)))
    network = sum(p.numel() for p in learner.net.parameters())
    # the network, its anchors and importance; the controller and its moments
    assert learner.state_bytes >= 3 * 4 * network + 3 * 4 * learner.optimizer.values.numel()
    assert stays_as_it_is(learner, stream, 0)


def test_bad_options_are_refused() -> None:
    info = SplitDigits("task").info
    for options in ({"blocks": 7}, {"network": "mlpp"}, {"alpha": 0.2}, {"iterations": 0}, {"lr_controller": 0.0}):
        with pytest.raises(ConfigError):
            InstAParam(info, 0, **options)
