"""pHSIC: the kernelized information bottleneck, a three-factor Hebbian rule in every layer.

Each hidden layer minimises, by itself, over the pairs i, j of a batch

    pHSIC(Z, Z) - gamma pHSIC(Z, Y),    pHSIC(A, B) = mean_ij (k_a(i, j) - mean k_a) k_b(i, j)

which gives a weight change of pre- and postsynaptic activity times one number per pair, common to the
whole layer (the third factor, M_ij):

    dW ~ sum_ij M_ij dk(z_i, z_j)/dW,   M_ij = gamma (k_y(i, j) - mean k_y) - 2 (k_z(i, j) - mean k_z)

k_y is the cosine of centred one-hot labels. k_z is Gaussian, `exp(-|u_i - u_j|^2 / (2 sigma^2))`, or the
cosine of the centred u, on the power of each group c of neurons:

    u_c = (s_c)^(1 - p),   s_c = (delta + sum_{n in c} (z_n - mean_c z)^2) / |c|

The next layer reads the activity after divisive normalisation, (z_n - mean_c z) / (s_c)^p. No gradient
crosses a layer. The readout is a softmax on the last layer's activity, learned by its own delta rule.

Reference: R. Pogodin, P. E. Latham, "Kernelized information bottleneck leads to biologically plausible
3-factor Hebbian learning in deep networks", NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, unknown
from kenyon.learners.baselines._networks import Network, drawn
from kenyon.learners.baselines._trainer import Batch, Trainer, positive

KERNELS = ("gaussian", "cosine")


class LocalNetwork(Network):
    """Linear layers without bias, leaky ReLU, grouped divisive normalisation after each; a linear readout."""

    def __init__(self, sizes: Sequence[int], n_classes: int, groups: int, power: float, delta: float) -> None:
        super().__init__()
        self.groups, self.power, self.delta = groups, power, delta
        self.layers = nn.ModuleList(nn.Linear(n, m, bias=False) for n, m in pairwise(sizes))
        self.head = nn.Linear(sizes[-1], n_classes)

    def split(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Centred activity by group, `(n, groups, size)`, and each group's power s."""
        grouped = z.reshape(len(z), self.groups, -1)
        centred = grouped - grouped.mean(2, keepdim=True)
        return centred, (centred.square().sum(2) + self.delta) / centred.shape[2]

    def layer(self, number: int, x: Tensor) -> tuple[Tensor, Tensor]:
        """What the objective sees (the groups' power), and what the next layer reads, cut off from this one."""
        centred, s = self.split(F.leaky_relu(self.layers[number](x)))
        normalised = (centred / s[:, :, None] ** self.power).flatten(1)
        return s ** (1.0 - self.power), normalised.detach()

    def standardise(self, x: Tensor) -> Tensor:
        """Each sample to mean 0 and variance 1, as if the input were one group."""
        centred = x - x.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + 1e-6).sqrt()

    def features(self, x: Tensor) -> Tensor:
        x = self.standardise(x)
        for number in range(len(self.layers)):
            x = self.layer(number, x)[1]
        return x


def kernel(name: str, u: Tensor, sigma: float = 1.0) -> Tensor:
    """Similarity of all pairs of rows."""
    if name == "gaussian":
        squares = u.square().sum(1)
        distances = (squares[:, None] + squares[None] - 2.0 * u @ u.T).clamp(min=0.0)
        return (-distances / (2.0 * sigma**2)).exp()
    unit = F.normalize(u, dim=1)
    return unit @ unit.T


def objective(kz: Tensor, ky: Tensor, gamma: float) -> Tensor:
    """`pHSIC(Z, Z) - gamma pHSIC(Z, Y)` from the two kernel matrices."""
    return ((kz - kz.mean() - gamma * (ky - ky.mean())) * kz).mean()


class PHSIC(Trainer):
    """Local learning by the pHSIC objective; defined for a single task.

    Args:
        lr: learning rate of the readout.
        lr_local: learning rate of the hidden layers.
        momentum: of both.
        hidden: units of the hidden layers; each a multiple of `groups`.
        kernel: of the activity, `"gaussian"` or `"cosine"`.
        sigma: width of the Gaussian kernel.
        gamma: weight of the labels' term.
        groups: groups of neurons that are normalised together.
        power: p, the share of the normalisation that the next layer sees.
        delta: keeps a silent group's power above 0.
        batch_size: pairs are taken within a batch, so it needs many samples (256 in the paper, for 100 epochs;
            fewer give one pass more steps).
    """

    name = "phsic"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.01, "lr_local": 0.1}
    fixed = ("network", "width")

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        lr_local: float | None = None,
        momentum: float = 0.95,
        hidden: Sequence[int] = (1000, 1000, 1000),
        kernel: str = "cosine",
        sigma: float = 5.0,
        gamma: float = 2.0,
        groups: int = 25,
        power: float = 0.2,
        delta: float = 1.0,
        batch_size: int = 64,
        **common: Any,
    ) -> None:
        if len(info.tasks) > 1:
            raise ConfigError(f"the stream has {len(info.tasks)} tasks: phsic is defined for one, 'single-task'")
        if kernel not in KERNELS:
            raise unknown("kernel", kernel, KERNELS)
        if any(n % groups or n == groups for n in hidden):
            raise ConfigError(f"hidden is {tuple(hidden)}: expected multiples of {groups} groups, two units per group")
        super().__init__(info, seed, hidden=hidden, batch_size=batch_size, network="mlp", **common)
        self.lr_local = positive("lr_local", self.option("lr_local", lr_local))
        self.momentum, self.kernel, self.sigma, self.gamma = momentum, kernel, positive("sigma", sigma), gamma
        sizes = (info.n_features, *hidden), info.n_classes, groups, power, positive("delta", delta)
        net = drawn(lambda: LocalNetwork(*sizes), self.generator)
        self.net: LocalNetwork = self.keep("net", net.to(self.device))
        self.velocity = self.keep("velocity", [torch.zeros_like(p) for p in self.net.parameters()])

    def step(self, batch: Batch) -> Tensor:
        labels = F.one_hot(batch.y, self.info.n_classes).float()
        ky = kernel("cosine", labels - labels.mean(1, keepdim=True))
        x = self.net.standardise(batch.x)
        for number, weight in enumerate(list(self.net.parameters())[: len(self.net.layers)]):
            u, following = self.net.layer(number, x)
            if self.kernel == "cosine":
                u = u - u.mean(1, keepdim=True)
            if len(x) > 1:  # one sample makes no pair
                loss = objective(kernel(self.kernel, u, self.sigma), ky, self.gamma)
                self._step(self.gradient(loss, [weight]), number, self.lr_local)
            x = following
        logits = self.net.head(x)
        gradients = self.gradient(F.cross_entropy(logits, batch.y), list(self.net.head.parameters()))
        self._step(gradients, len(self.net.layers), self.lr)
        return logits

    def _step(self, gradients: Sequence[Tensor], first: int, rate: float) -> None:
        """SGD with momentum on the parameters from number `first` on."""
        parameters = list(self.net.parameters())[first:]
        with torch.no_grad():
            for p, v, g in zip(parameters, self.velocity[first:], gradients, strict=False):
                v.mul_(self.momentum).add_(g)
                p.sub_(v, alpha=rate)
                self._updates += p.numel()
