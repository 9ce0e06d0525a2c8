"""Squared gradients of single samples, the diagonal of the empirical Fisher information.

    F_w = mean_i (d log p(y_i | x_i) / d w)^2

The square of a batch's mean gradient is something else: gradients of different samples cancel in it. For a linear
layer with input a and output gradient d a sample's gradient is d a^T, so the squares of all samples sum to
(d^2)^T (a^2), without forming a gradient; for a convolution the gradient of each sample is formed from its patches.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.errors import ConfigError


def squared_gradients(net: nn.Module, loss: Callable[[], Tensor]) -> list[Tensor]:
    """The mean over samples of the squared gradient of every parameter of a network, in their order.

    Args:
        net: linear layers, convolutions and batch normalisations, each used once; in evaluation mode meanwhile, since
            in training mode a batch normalisation mixes the samples.
        loss: runs the network and gives the loss of each sample.
    """
    tape: list[tuple[nn.Module, Tensor, Tensor]] = []
    layers = [m for m in net.modules() if any(p.requires_grad for p in m.parameters(recurse=False))]
    for layer in layers:
        if not isinstance(layer, nn.Linear | nn.Conv2d | nn.BatchNorm2d):
            raise ConfigError(
                f"the network has a {type(layer).__name__}: expected Linear, Conv2d and BatchNorm2d alone"
            )
    hooks = [layer.register_forward_hook(lambda m, a, out: tape.append((m, a[0], out))) for layer in layers]
    training = net.training
    net.eval()
    try:
        losses = loss()
    finally:
        net.train(training)
        for hook in hooks:
            hook.remove()
    gradients = torch.autograd.grad(losses.sum(), [out for _, _, out in tape])
    found: dict[Tensor, Tensor] = {}
    with torch.no_grad():
        for (layer, a, _), d in zip(tape, gradients, strict=True):
            weight, bias = _of_layer(layer, a.detach().float(), d.float())
            found[layer.weight] = weight / len(losses)  # type: ignore[index]
            if layer.bias is not None:
                found[layer.bias] = bias / len(losses)  # type: ignore[index]
    return [found.get(p, torch.zeros_like(p)) for p in net.parameters()]


def _of_layer(layer: nn.Module, a: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """The sums over samples of the squared gradients of a layer's weight and bias; a its input, d its gradient."""
    if isinstance(layer, nn.Linear):
        return d.square().T @ a.square(), d.square().sum(0)
    bias = d.sum((2, 3)).square().sum(0)
    if isinstance(layer, nn.BatchNorm2d):
        assert layer.running_mean is not None and layer.running_var is not None
        normalised = F.batch_norm(a, layer.running_mean, layer.running_var, eps=layer.eps)
        return (d * normalised).sum((2, 3)).square().sum(0), bias
    assert isinstance(layer, nn.Conv2d)
    patches = F.unfold(a, layer.kernel_size, layer.dilation, layer.padding, layer.stride)  # type: ignore[arg-type]
    return (d.flatten(2) @ patches.transpose(1, 2)).square().sum(0).reshape(layer.weight.shape), bias
