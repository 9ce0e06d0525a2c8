"""pHSIC: every layer learns from its own objective, and nothing crosses a layer."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from split_digits import SplitDigits, resumes, same_state, stays_as_it_is
from torch.nn import functional as F

from kenyon.errors import ConfigError
from kenyon.learners.baselines._phsic import PHSIC, kernel, objective

pytestmark = pytest.mark.slow


def quick(stream: SplitDigits, seed: int = 0, **options: Any) -> PHSIC:
    defaults = {"hidden": (128, 128), "groups": 16, "batch_size": 32, "lr": 0.01, "lr_local": 0.3}
    return PHSIC(stream.info, seed, **{**defaults, **options})


@pytest.mark.parametrize("name", ["gaussian", "cosine"])
def test_learns_the_digits_better_than_its_random_layers_would(name: str) -> None:
    stream = SplitDigits("single")
    learned = stream.accuracy(stream.learn(quick(stream, kernel=name, sigma=1.0), epochs=4))
    random = stream.accuracy(stream.learn(quick(stream, kernel=name, sigma=1.0, lr_local=1e-12), epochs=4))
    assert learned > 0.85
    assert learned > random + 0.03


def test_no_gradient_crosses_a_layer() -> None:
    stream = SplitDigits("single")
    learner = quick(stream)
    x = learner.net.standardise(learner.normalise(torch.from_numpy(stream.X[:32])))
    first, second = learner.net.parameters().__next__(), list(learner.net.parameters())[1]
    u, following = learner.net.layer(0, x)
    assert u.requires_grad and not following.requires_grad
    u2, last = learner.net.layer(1, following)
    (own, other) = torch.autograd.grad(u2.sum(), [second, first], allow_unused=True)
    assert own is not None and other is None
    logits = learner.net.head(last)
    loss = F.cross_entropy(logits, torch.from_numpy(stream.y[:32]))
    assert torch.autograd.grad(loss, [first, second], allow_unused=True) == (None, None)


def test_a_later_layer_and_the_readout_do_not_change_what_an_earlier_one_learns() -> None:
    """The signature of locality: the first layer's weights come out the same whatever stands above it."""
    stream = SplitDigits("single")
    a, b = quick(stream), quick(stream, lr=0.3)
    with torch.no_grad():
        b.net.head.weight.mul_(-3.0)
        list(b.net.parameters())[1].mul_(0.5)
    for learner in (a, b):
        learner.learn(stream.X[:320], stream.y[:320])
    (a1, a2), (b1, b2) = list(a.net.parameters())[:2], list(b.net.parameters())[:2]
    assert torch.equal(a1, b1) and not torch.equal(a2, b2)


def test_gradient_is_the_three_factor_rule() -> None:
    """`dW = sum_ij M_ij dk_ij/dW / n^2` with M of the docstring, against the gradient of the objective."""
    torch.manual_seed(0)
    W = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    x, y = torch.randn(8, 5, dtype=torch.float64), torch.eye(2, dtype=torch.float64)[torch.arange(8) % 2]
    kz, ky = kernel("gaussian", torch.tanh(x @ W), 2.0), kernel("cosine", y - y.mean(1, keepdim=True))
    (full,) = torch.autograd.grad(objective(kz, ky, 2.0), W, retain_graph=True)
    third = (2.0 * (ky - ky.mean()) - 2.0 * (kz - kz.mean())).detach()
    (rule,) = torch.autograd.grad((third * kz).mean(), W)
    torch.testing.assert_close(-full, rule)


def test_objective_is_phsic_as_defined() -> None:
    torch.manual_seed(1)
    u, v = torch.randn(10, 3), torch.randn(10, 3)
    kz, ky = kernel("gaussian", u, 1.5), kernel("cosine", v)
    direct = torch.exp(-torch.cdist(u, u).square() / (2 * 1.5**2))
    torch.testing.assert_close(kz, direct, atol=1e-5, rtol=1e-4)
    phsic = lambda a, b: ((a - a.mean()) * (b - b.mean())).mean()  # noqa: E731
    torch.testing.assert_close(objective(kz, ky, 2.0), phsic(kz, kz) - 2.0 * phsic(kz, ky), atol=1e-6, rtol=1e-4)


def test_groups_are_centred_and_normalised() -> None:
    stream = SplitDigits("single")
    learner = quick(stream, power=0.5, delta=1e-6)
    x = learner.net.standardise(learner.normalise(torch.from_numpy(stream.X[:9])))
    following = learner.net.layer(0, x)[1].reshape(9, 16, 8)
    torch.testing.assert_close(following.mean(2), torch.zeros(9, 16), atol=1e-5, rtol=0)
    torch.testing.assert_close(following.square().mean(2), torch.ones(9, 16), atol=1e-3, rtol=0)


def test_more_than_one_task_is_refused() -> None:
    for scenario in ("class", "task"):
        with pytest.raises(ConfigError, match="single-task"):
            quick(SplitDigits(scenario))


def test_resumes_and_counts_weights_and_momentum() -> None:
    stream = SplitDigits("single")
    assert resumes(lambda: quick(stream, seed=3), stream)
    learner = stream.learn(quick(stream, seed=3))
    assert same_state(learner, stream.learn(quick(stream, seed=3)))
    assert learner.state_bytes >= 2 * 4 * sum(p.numel() for p in learner.net.parameters())
    assert stays_as_it_is(learner, stream)


def test_bad_options_are_refused() -> None:
    info = SplitDigits("single").info
    for options in ({"hidden": (100,), "groups": 32}, {"hidden": (32,), "groups": 32}, {"kernel": "gauss"}):
        with pytest.raises(ConfigError):
            PHSIC(info, 0, **options)
