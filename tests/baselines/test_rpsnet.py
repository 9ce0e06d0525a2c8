"""RPS-Net: a new path for a new task, and what an old path learned stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from split_digits import SplitDigits, resumes, same_state, stays_as_it_is

from kenyon.baselines._fine_tune import FineTune
from kenyon.baselines._rpsnet import RPSNet
from kenyon.errors import ConfigError


def quick(stream: SplitDigits, seed: int = 0, **options: Any) -> RPSNet:
    return RPSNet(stream.info, seed, **{"hidden": (48, 48), "lr": 0.1, "buffer_size": 200, **options})


def modules(learner: RPSNet) -> list[list[torch.Tensor]]:
    return [
        [learner.net.module(layer, m).weight.detach().clone() for m in range(learner.modules)]  # type: ignore[operator]
        for layer in range(len(learner.path))
    ]


def test_beats_fine_tuning_class_by_class() -> None:
    stream = SplitDigits("class")
    ours = stream.accuracy(stream.learn(quick(stream), epochs=3))
    plain = stream.accuracy(stream.learn(FineTune(stream.info, 0, lr=0.1, hidden=(48, 48)), epochs=3))
    assert ours > 0.6 > plain + 0.2


def test_learns_task_by_task() -> None:
    stream = SplitDigits("task")
    assert stream.accuracy(stream.learn(quick(stream), epochs=3)) > 0.92


def test_modules_of_earlier_paths_are_frozen_and_idle_ones_untouched() -> None:
    stream = SplitDigits("task")
    learner = quick(stream)
    for number, (task, X, y) in enumerate(stream.episodes()):
        before, frozen = modules(learner), learner.frozen.clone()
        learner.learn(X, y, task)
        assert (learner.path.sum(1) == 1).all()  # one module a layer
        after, fresh = modules(learner), learner.path & ~frozen
        for layer, row in enumerate(fresh.tolist()):
            for m, trained in enumerate(row):
                assert torch.equal(before[layer][m], after[layer][m]) != trained
        learner.end_task(number == 4)
        assert torch.equal(learner.frozen, frozen | learner.net.active)
    assert learner.frozen.sum() >= 4


def test_a_path_can_serve_several_tasks() -> None:
    stream = SplitDigits("task")
    learner = quick(stream, tasks_per_path=2)
    paths = []
    for number, (task, X, y) in enumerate(stream.episodes()[:4]):
        learner.learn(X, y, task)
        paths.append(learner.path.clone())
        learner.end_task(number == 4)
    assert torch.equal(paths[0], paths[1]) and torch.equal(paths[2], paths[3])
    assert not torch.equal(paths[0], paths[2])


def test_distillation_starts_with_the_second_task_and_its_teacher_stands_still() -> None:
    stream = SplitDigits("class")
    learner = quick(stream)
    (task, X, y), (_, X2, y2) = stream.episodes()[:2]
    x = learner.normalise(torch.from_numpy(X))
    learner.learn(X, y, task)
    assert learner._distillation(x).item() == 0.0
    learner.end_task(False)
    teacher = {key: value.clone() for key, value in learner.teacher.state_dict().items()}
    assert learner._distillation(x).item() == pytest.approx(0.0, abs=1e-6)  # still the same network
    learner.learn(X2, y2, task)
    assert learner._distillation(x).item() > 1e-4
    assert all(torch.equal(teacher[key], value) for key, value in learner.teacher.state_dict().items())


def test_resumes_and_counts_modules_teacher_and_exemplars() -> None:
    stream = SplitDigits("task")
    assert resumes(lambda: quick(stream, seed=2), stream)
    learner = stream.learn(quick(stream, seed=2))
    assert same_state(learner, stream.learn(quick(stream, seed=2)))
    weights = sum(p.numel() for p in learner.net.parameters())
    assert learner.state_bytes >= 2 * 4 * weights + 200 * 64
    assert stays_as_it_is(learner, stream, 0)


def test_bad_options_are_refused() -> None:
    info = SplitDigits("class").info
    for options in ({"modules": 0}, {"candidates": 0}, {"temperature": 0.0}, {"tasks_per_path": 0}):
        with pytest.raises(ConfigError):
            RPSNet(info, 0, **options)
