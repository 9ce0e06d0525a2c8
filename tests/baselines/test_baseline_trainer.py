"""The shared trainer: heads, batches, determinism, honest bytes; the networks and the reservoir."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from safetensors.numpy import load_file, save_file
from split_digits import SplitDigits, resumes, same_state

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, InputError
from kenyon.learners import make_learner
from kenyon.learners.baselines import Trainer
from kenyon.learners.baselines._buffer import ReplayBuffer
from kenyon.learners.baselines._derpp import DERpp
from kenyon.learners.baselines._er import ER
from kenyon.learners.baselines._fine_tune import FineTune
from kenyon.learners.baselines._iid_offline import IIDOffline
from kenyon.learners.baselines._networks import build_network
from kenyon.learners.baselines._online_ewc import OnlineEWC

pytestmark = pytest.mark.slow

COLOUR = StreamInfo((3, 8, 8), 4, ((0, 1), (2, 3)), 100, True)


def test_fine_tuning_is_plain_sgd() -> None:
    stream = SplitDigits("class")
    learner = FineTune(stream.info, 0, lr=0.1, hidden=(30,))
    layers = [learner.net.body[0], torch.nn.ReLU(), learner.net.head]
    twin = torch.nn.Sequential(torch.nn.Linear(64, 30), torch.nn.ReLU(), torch.nn.Linear(30, 10))
    for ours, theirs in zip(layers, twin, strict=True):
        theirs.load_state_dict(ours.state_dict())
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    X, y = stream.X[:55], stream.y[:55]
    predicted = []
    for start in range(0, 55, 10):
        x = torch.from_numpy(X[start : start + 10]).float() / 16
        logits = twin(x)
        predicted += logits.argmax(1).tolist()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(y[start : start + 10])).backward()
        optimizer.step()
    assert learner.test_then_learn(X, y).tolist() == predicted
    torch.testing.assert_close(learner.net.head.weight, twin[2].weight)
    assert learner.synaptic_updates == 6 * sum(p.numel() for p in twin.parameters())


def test_a_task_has_its_own_head() -> None:
    stream = SplitDigits("task")
    learner = FineTune(stream.info, 0, lr=0.1)
    before = learner.net.head.weight.detach().clone()
    task, X, y = stream.episodes()[1]
    predicted = learner.test_then_learn(X, y, task)
    assert set(predicted.tolist()) <= {2, 3}
    changed = (learner.net.head.weight != before).any(1)
    assert changed.tolist() == [c in (2, 3) for c in range(10)]
    assert set(learner.predict(X, 4).tolist()) <= {8, 9}
    with pytest.raises(InputError, match="from 0 to 4"):
        learner.predict(X)
    with pytest.raises(InputError, match="5"):
        learner.learn(X, y, 5)


def test_the_global_generator_and_thread_count_are_left_alone() -> None:
    stream = SplitDigits("class")
    torch.manual_seed(1)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        learner = stream.learn(ER(stream.info, 0, lr=0.1))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)  # and it does not matter either
    again = stream.learn(ER(stream.info, 0, lr=0.1))
    assert same_state(learner, again)


def test_seeds_differ() -> None:
    info = SplitDigits("class").info
    assert not torch.equal(FineTune(info, 0).params[0], FineTune(info, 1).params[0])


def test_bytes_are_those_of_what_is_kept() -> None:
    stream = SplitDigits("class")
    weights = sum(p.numel() for p in FineTune(stream.info, 0).params) * 4
    generator = torch.Generator().get_state().numel()
    counter = 8
    assert FineTune(stream.info, 0).state_bytes == weights + generator + counter
    ewc = stream.learn(OnlineEWC(stream.info, 0, lr=0.1, strength=1.0))
    assert ewc.state_bytes == 4 * weights + generator + counter  # weights, anchor, importance, running Fisher
    er = stream.learn(ER(stream.info, 0, lr=0.1, buffer_size=100))
    buffer = 100 * (64 + 8) + 16  # uint8 pixels, int64 labels, two counters
    assert er.state_bytes == weights + generator + counter + buffer
    der = stream.learn(DERpp(stream.info, 0, lr=0.1, buffer_size=100))
    assert der.state_bytes == er.state_bytes + 100 * 10 * 4


def test_inherited_options_are_shown_and_fixed_ones_hidden() -> None:
    def names(cls: type[Trainer]) -> list[str]:
        return list(inspect.signature(cls).parameters)

    assert names(FineTune)[:3] == ["info", "seed", "lr"]
    assert {"alpha", "beta", "buffer_size", "replay_size", "hidden"} <= set(names(DERpp))
    assert "epochs" in names(IIDOffline) and "buffer_size" not in names(IIDOffline)


@pytest.mark.parametrize(
    "options",
    [{"lr": 0.0}, {"lr": -1.0}, {"batch_size": 0}, {"network": "vgg"}, {"hidden": (0,)}, {"buffer_size": 0}],
)
def test_options_out_of_range_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        ER(SplitDigits("class").info, 0, **options)


def test_samples_of_another_width_and_missing_labels_are_refused() -> None:
    learner = FineTune(SplitDigits("class").info, 0)
    with pytest.raises(InputError, match=r"\(n, 64\)"):
        learner.predict(np.zeros((3, 63), np.uint8))
    with pytest.raises(InputError, match="3 samples came with 2 labels"):
        learner.learn(np.zeros((3, 64), np.uint8), np.zeros(2, np.int64))


def test_read_only_samples_are_fine() -> None:
    stream = SplitDigits("class")
    X = stream.X[:20].copy()
    X.flags.writeable = False
    learner = ER(stream.info, 0, lr=0.1)
    learner.learn(X, stream.y[:20])
    assert len(learner.predict(X)) == 20


def test_float_samples_are_scaled_and_not_changed() -> None:
    info = StreamInfo((4,), 2, ((0, 1),), 10, False, (-1.0, 3.0))
    learner = FineTune(info, 0)
    X = np.array([[-1.0, 3.0, 1.0, 0.0]], np.float32)
    assert learner.normalise(torch.from_numpy(X)).tolist() == [[0.0, 1.0, 0.5, 0.25]]
    info = StreamInfo((4,), 2, ((0, 1),), 10, False, (0.0, 2.0))
    assert FineTune(info, 0).normalise(torch.from_numpy(X)).tolist() == [[-0.5, 1.5, 0.5, 0.0]]
    assert X.tolist() == [[-1.0, 3.0, 1.0, 0.0]]


def test_every_bit_of_a_resnet_survives_a_restart() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (60, 192), dtype=np.uint8), rng.integers(0, 2, 60)

    def make() -> DERpp:
        return DERpp(COLOUR, 0, lr=0.05, width=4, buffer_size=20)

    whole, first, second = make(), make(), make()
    whole.learn(X, y, 0)
    first.learn(X[:30], y[:30], 0)
    state = first.state()
    second.restore(state)
    assert any("running_mean" in key for key in state)
    second.learn(X[30:], y[30:], 0)
    assert all(np.array_equal(a, b) for a, b in zip(whole.state().values(), second.state().values(), strict=True))
    before = whole.state()
    whole.predict(X, 1)
    assert all(np.array_equal(a, b) for a, b in zip(before.values(), whole.state().values(), strict=True))


@pytest.mark.parametrize("scenario", ["class", "task"])
def test_resumes_within_later_tasks(scenario: str) -> None:
    stream = SplitDigits(scenario)
    assert resumes(lambda: DERpp(stream.info, 0, lr=0.1, hidden=(50,)), stream)


# Networks


def test_the_networks_are_those_of_the_literature() -> None:
    generator = torch.Generator().manual_seed(0)
    mnist = StreamInfo((28, 28), 10, (tuple(range(10)),), 1, False)
    cifar = StreamInfo((3, 32, 32), 10, (tuple(range(10)),), 1, False)
    mlp = build_network("auto", mnist, generator, hidden=(400, 400), width=64)
    assert sum(p.numel() for p in mlp.parameters()) == 784 * 400 + 400 + 400 * 400 + 400 + 400 * 10 + 10
    resnet = build_network("auto", cifar, generator, hidden=(400, 400), width=64)
    assert sum(p.numel() for p in resnet.parameters()) == 11_173_962
    assert resnet.eval()(torch.zeros(2, 3072)).shape == (2, 10)


def test_a_grey_image_can_go_through_the_resnet_and_a_vector_cannot() -> None:
    generator = torch.Generator().manual_seed(0)
    grey = StreamInfo((8, 8), 10, (tuple(range(10)),), 1, False)
    assert build_network("resnet18", grey, generator, hidden=(), width=2)(torch.zeros(2, 64)).shape == (2, 10)
    vector = StreamInfo((64,), 10, (tuple(range(10)),), 1, False)
    with pytest.raises(ConfigError, match="needs images"):
        build_network("resnet18", vector, generator, hidden=(), width=2)


@pytest.mark.parametrize("name", ["er", "lwf", "si"])
def test_a_resnet_goes_on_from_a_file(name: str, tmp_path: Path) -> None:
    """Its weights do not lie in memory in the order of their axes; a file has them in that order."""
    draw = np.random.default_rng(0)
    X, y = draw.integers(0, 256, (80, 192), dtype=np.uint8), np.repeat([0, 1, 2, 3], 20)
    info = StreamInfo((3, 8, 8), 4, ((0, 1), (2, 3)), 80, False, (0.0, 255.0))
    first, second = (make_learner(name, info, seed, "class-incremental", width=2) for seed in (0, 1))
    first.learn(X[:40], y[:40])
    first.end_task(False)
    save_file(first.state(), tmp_path / "state.safetensors")
    second.restore(load_file(tmp_path / "state.safetensors"))
    for learner in (first, second):
        learner.learn(X[40:], y[40:])
    ours, theirs = first.state(), second.state()
    assert all(np.array_equal(ours[key], theirs[key]) for key in ours) and set(ours) == set(theirs)


def test_the_small_convolutional_network_has_the_weights_it_says() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape, places in (((28, 28), 9), ((14, 14), 4), ((3, 32, 32), 16), ((4, 4), 1)):
        info = StreamInfo(shape, 10, (tuple(range(10)),), 1, False)
        net = build_network("cnn", info, generator, hidden=(), width=3)
        channels = shape[0] if len(shape) == 3 else 1
        weights = 3 * (25 * channels + 1) + 6 * (9 * 3 + 1) + 10 * (6 * places + 1)
        assert sum(p.numel() for p in net.parameters()) == weights
        assert net(torch.zeros(2, info.n_features)).shape == (2, 10)
    with pytest.raises(ConfigError, match="network 'cnn' needs images"):
        build_network("cnn", StreamInfo((64,), 10, (tuple(range(10)),), 1, False), generator, hidden=(), width=2)


# The reservoir


def filled(seed: int, n: int, cuts: int, capacity: int = 20) -> ReplayBuffer:
    buffer = ReplayBuffer(capacity, torch.Generator().manual_seed(seed))
    for part in torch.arange(n).split(cuts):
        buffer.add(x=part)
    return buffer


def test_a_reservoir_is_full_and_fair() -> None:
    counts = np.zeros(100)
    for seed in range(400):
        held = filled(seed, 100, 10)["x"].tolist()
        assert len(held) == len(set(held)) == 20
        counts[held] += 1
    # Each sample is held with probability 0.2: 80 of 400, sd 8.
    assert abs(counts[:50].mean() - 80) < 4 and abs(counts[50:].mean() - 80) < 4
    assert counts.min() > 80 - 5 * 8 and counts.max() < 80 + 5 * 8


def test_the_cut_into_calls_does_not_change_the_reservoir() -> None:
    assert torch.equal(filled(0, 97, 1)["x"], filled(0, 97, 97)["x"])


def test_a_buffer_that_is_not_full_keeps_everything_in_order() -> None:
    buffer = filled(0, 15, 4)
    assert buffer["x"].tolist() == list(range(15))
    assert sorted(buffer.draw(100).tolist()) == list(range(15))
    assert len(set(buffer.draw(7).tolist())) == 7
    buffer.replace(x=torch.tensor([5, 6]))
    assert buffer["x"].tolist() == [5, 6]
