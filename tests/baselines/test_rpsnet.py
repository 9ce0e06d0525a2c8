"""RPS-Net: a new path for a new task, and what an old path learned stays as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from split_digits import SplitDigits, resumes, same_state, stays_as_it_is

from kenyon.errors import ConfigError
from kenyon.learners.baselines._fine_tune import FineTune
from kenyon.learners.baselines._rpsnet import RPSNet

pytestmark = pytest.mark.slow


def quick(stream: SplitDigits, seed: int = 0, **options: Any) -> RPSNet:
    return RPSNet(stream.info, seed, **{"hidden": (48, 48), "lr": 0.1, "buffer_size": 200, **options})


def path(learner: RPSNet) -> torch.Tensor:
    """The path of the present task that has done best."""
    return learner.paths[learner.best()].clone()


def modules(learner: RPSNet) -> list[list[torch.Tensor]]:
    learner.settle()
    return [
        [next(learner.net.module(layer, m).parameters()).detach().clone() for m in range(learner.modules)]
        for layer in range(learner.paths.shape[1])
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
        before, frozen = modules(learner), learner.net.frozen.clone()
        learner.learn(X, y, task)
        assert (path(learner).sum(1) == 1).all()  # one module per layer
        after, fresh = modules(learner), path(learner) & ~frozen
        for layer, row in enumerate(fresh.tolist()):
            for m, trained in enumerate(row):
                assert torch.equal(before[layer][m], after[layer][m]) != trained
        active = learner.net.active.clone()
        learner.end_task(number == 4)
        assert torch.equal(learner.net.frozen, frozen | active) or number == 0
    assert learner.net.frozen.sum() >= 4


def test_rivals_learn_side_by_side_and_the_best_is_kept() -> None:
    stream = SplitDigits("class")
    learner = quick(stream, candidates=3)
    (_, X, y), (_, X2, y2) = stream.episodes()[:2]
    learner.learn(X, y)
    assert learner._used() == [0], "before the first task all paths are alike"
    learner.end_task(False)
    before = learner.test_then_learn(X2, y2)
    assert learner._used() == [0, 1, 2] and (learner.right > 0).all()
    heads = [rival.head.weight for rival in learner.rivals]
    assert not torch.equal(heads[0], heads[1]) and int(learner.right.max()) <= len(y2)
    assert abs(int((before == y2).sum()) - int(learner.right.max())) < 0.2 * len(y2)
    best = learner.rivals[learner.best()]
    learner.right[(learner.best() + 1) % 3] += 10_000  # another one becomes the best
    learner._settled = False
    learner.end_task(False)
    assert not torch.equal(learner.net.head.weight, best.head.weight)


def test_the_convolutional_network_learns_images() -> None:
    stream = SplitDigits("task")
    info = replace(stream.info, shape=(1, 8, 8))
    learner = RPSNet(info, 1, network="cnn", width=4, modules=3, candidates=2, lr=0.1, buffer_size=50)
    statistics = learner.net.state_dict()
    assert len(learner.net.layers) == 9 and learner.net.head.in_features == 32
    for number, (task, X, y) in enumerate(stream.episodes()[:2]):
        learner.learn(X, y, task)
        assert (learner.predict(X, task) == y).mean() > 0.65
        learner.end_task(False)
        place = torch.nonzero(learner.net.frozen)[0].tolist()
        key = f"layers.{place[0]}.{place[1]}.1.running_mean"
        if number:
            assert torch.equal(statistics[key], learner.net.state_dict()[key]), "a frozen module moves in nothing"
        statistics = {name: value.clone() for name, value in learner.net.state_dict().items()}


def test_a_path_can_serve_several_tasks() -> None:
    stream = SplitDigits("task")
    learner = quick(stream, tasks_per_path=2)
    paths = []
    for number, (task, X, y) in enumerate(stream.episodes()[:4]):
        learner.learn(X, y, task)
        paths.append(path(learner))
        learner.end_task(number == 4)
    assert torch.equal(paths[0], paths[1]) and torch.equal(paths[2], paths[3])
    assert not torch.equal(paths[0], paths[2])


def test_distillation_starts_with_the_second_task_and_its_teacher_stands_still() -> None:
    stream = SplitDigits("class")
    learner = quick(stream)
    (task, X, y), (_, X2, y2) = stream.episodes()[:2]
    x = learner.normalise(torch.from_numpy(X))

    def moved() -> float:
        learner.settle()
        return learner._distillation(learner.net(x), learner._wanted(x)).item()

    learner.learn(X, y, task)
    assert moved() == 0.0
    learner.end_task(False)
    teacher = {key: value.clone() for key, value in learner.teacher.state_dict().items()}
    assert moved() == pytest.approx(0.0, abs=1e-6)  # still the same network
    learner.learn(X2, y2, task)
    assert moved() > 1e-4
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
    with pytest.raises(ConfigError, match="'cnn' needs images"):
        RPSNet(info, 0, network="cnn")
