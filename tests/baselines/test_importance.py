"""The importance of weights in closed form: the Fisher information of single samples, and SI's path integral."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from torch import nn
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._networks import CNN, ResNet18
from kenyon.learners.baselines._online_ewc import OnlineEWC
from kenyon.learners.baselines._si import SI
from kenyon.learners.baselines._squares import squared_gradients

pytestmark = pytest.mark.slow

INFO = StreamInfo((3,), 2, ((0, 1), (0, 1)), n_train=8, task_heads=False, value_range=(0.0, 1.0))
X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.25], [0.5, 0.5, 1.0], [0.25, 1.0, 0.0]], np.float32)
Y = np.array([0, 1, 1, 0])


def softmax_model(cls: type, **options: object) -> tuple[object, np.ndarray, np.ndarray]:
    """A learner without hidden layers, and its weights and biases before it learns."""
    learner = cls(INFO, 0, hidden=(), batch_size=4, **options)
    return learner, learner.net.head.weight.detach().numpy().copy(), learner.net.head.bias.detach().numpy().copy()


def errors(weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Softmax minus one-hot labels: the gradient of each sample's loss in its logits."""
    logits = X @ weight.T + bias
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return p - np.eye(2)[Y]


def test_the_fisher_information_is_the_mean_of_squared_gradients_of_single_samples() -> None:
    learner, weight, bias = softmax_model(OnlineEWC, lr=0.1, strength=1.0, decay=0.0)
    e = errors(weight, bias)
    learner.learn(X, Y)
    learner.end_task(False)
    expected = np.einsum("ic,if->cf", e**2, X**2) / 4
    np.testing.assert_allclose(learner.importance[0].numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(learner.importance[1].numpy(), (e**2).mean(0), rtol=1e-5)
    of_the_mean = 4 * (e.T @ X / 4) ** 2
    assert not np.allclose(expected, of_the_mean, rtol=0.1), "gradients of different samples cancel in their mean"


def test_old_fisher_information_fades_by_gamma() -> None:
    learner, *_ = softmax_model(OnlineEWC, lr=0.1, strength=1.0, decay=0.0, gamma=0.5)
    learner.learn(X, Y)
    first = [f.clone() for f in learner.fisher]
    learner.end_task(False)
    learner.learn(X, Y)
    second = [f.clone() for f in learner.fisher]
    learner.end_task(True)
    for importance, a, b in zip(learner.importance, first, second, strict=True):
        torch.testing.assert_close(importance, 0.5 * a + b)


def test_importance_of_synaptic_intelligence() -> None:
    """One step each of two tasks: omega = lr g^2, and the distance is lr g."""
    learner, weight, _ = softmax_model(SI, lr=0.5, strength=0.0, xi=0.1)
    total = np.zeros_like(weight)
    for _ in range(2):
        w, b = learner.net.head.weight.detach().numpy().copy(), learner.net.head.bias.detach().numpy().copy()
        g = errors(w, b).T @ X / 4
        learner.learn(X, Y)
        learner.end_task(False)
        total += 0.5 * g**2 / ((0.5 * g) ** 2 + 0.1)
    np.testing.assert_allclose(learner.importance[0].numpy(), total, rtol=1e-4)


def test_a_task_can_lower_importance_but_not_below_zero() -> None:
    learner, *_ = softmax_model(SI, lr=0.5, strength=0.0, xi=0.1)
    learner.importance[0].fill_(1.0)
    learner.credit[0].copy_(torch.tensor([[-0.05, -0.2, 0.1], [0.0, 0.0, 0.0]]))
    learner.boundary(False)
    torch.testing.assert_close(learner.importance[0][0], torch.tensor([0.5, 0.0, 2.0]))


@pytest.mark.parametrize("net", [CNN((3, 8, 8), 4, 3), ResNet18((1, 8, 8), 2, 3)], ids=["cnn", "resnet18"])
def test_squares_of_convolutions_are_those_of_single_backward_passes(net: nn.Module) -> None:
    torch.manual_seed(0)
    x, y = torch.rand(5, int(np.prod(net.shape))), torch.tensor([0, 1, 2, 0, 1])
    found = squared_gradients(net, lambda: F.cross_entropy(net(x), y, reduction="none"))
    assert net.training
    net.eval()
    slow = [torch.zeros_like(p) for p in net.parameters()]
    for i in range(5):
        one = torch.autograd.grad(F.cross_entropy(net(x[i : i + 1]), y[i : i + 1]), list(net.parameters()))
        for total, g in zip(slow, one, strict=True):
            total += g**2 / 5
    for a, b in zip(found, slow, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-7)


def test_a_layer_it_cannot_square_is_named() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))
    with pytest.raises(ConfigError, match="LayerNorm: expected Linear"):
        squared_gradients(net, lambda: net(torch.rand(2, 3)).sum(1))
