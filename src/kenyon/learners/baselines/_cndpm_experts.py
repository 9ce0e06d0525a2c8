"""The experts of CN-DPM: each a classifier p(y | x, k) and a variational autoencoder for p(x | k).

    -log p(x | k) <= ||x - dec(z)||^2 / (2 sigma^2) + KL(q(z | x) || N(0, I)),   z ~ q(z | x)

(the constant of the Gaussian is the same for every expert and left out).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.learners.baselines._flat_adam import FlatAdam
from kenyon.learners.baselines._networks import CNN, drawn


@dataclass(frozen=True)
class ExpertSizes:
    """What every expert of a mixture has in common."""

    n_in: int
    n_classes: int
    hidden: tuple[int, ...]
    code: int
    variance: float
    rate_g: float
    rate_d: float
    shape: tuple[int, ...] = ()
    """Of the images that convolutional experts are for; `()` for layers of `hidden` units."""
    width: int = 32
    """Filters of a convolutional expert's first layer."""


def mlp(sizes: Sequence[int]) -> nn.Sequential:
    """Linear layers of the sizes given with a ReLU between them."""
    layers = [layer for n, m in pairwise(sizes) for layer in (nn.Linear(n, m), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


class Autoencoder(nn.Module):
    """x - hidden - z - hidden - x with a Gaussian code and Gaussian pixels."""

    def __init__(self, sizes: ExpertSizes) -> None:
        super().__init__()
        self.variance = sizes.variance
        self.encoder = mlp([sizes.n_in, *sizes.hidden, 2 * sizes.code])
        self.decoder = mlp([sizes.code, *reversed(sizes.hidden), sizes.n_in])

    def nll(self, x: Tensor, noise: Tensor) -> Tensor:
        """The bound on `-log p(x)` of each sample.

        `noise` is `(n, 1, code)`, fresh for training, or `(1, draws, code)`, the same for every sample, so
        that a density depends on nothing but the sample.
        """
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        z = mean[:, None] + noise * (0.5 * log_variance).exp()[:, None]
        error = (torch.sigmoid(self.decode(z)) - x[:, None]).square().sum(2).mean(1) / (2.0 * self.variance)
        divergence = 0.5 * (log_variance.exp() + mean.square() - 1.0 - log_variance).sum(1)
        return error + divergence

    def decode(self, z: Tensor) -> Tensor:
        """The pixels of codes `(n, draws, code)`, before the sigmoid."""
        return self.decoder(z)


class ConvAutoencoder(Autoencoder):
    """The same for images whose sides are multiples of four: two convolutions with stride 2, and back."""

    def __init__(self, sizes: ExpertSizes) -> None:
        nn.Module.__init__(self)
        self.variance = sizes.variance
        w, (channels, height, width) = sizes.width, sizes.shape
        inner = (2 * w, height // 4, width // 4)
        self.encoder = nn.Sequential(
            nn.Unflatten(1, sizes.shape),
            *(nn.Conv2d(channels, w, 4, 2, 1), nn.ReLU()),
            *(nn.Conv2d(w, 2 * w, 4, 2, 1), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(math.prod(inner), 2 * sizes.code)),
        )
        self.decoder = nn.Sequential(
            *(nn.Linear(sizes.code, math.prod(inner)), nn.ReLU(), nn.Unflatten(1, inner)),
            *(nn.ConvTranspose2d(2 * w, w, 4, 2, 1), nn.ReLU()),
            *(nn.ConvTranspose2d(w, channels, 4, 2, 1), nn.Flatten()),
        )

    def decode(self, z: Tensor) -> Tensor:
        return self.decoder(z.flatten(0, 1)).unflatten(0, z.shape[:2])


class Expert:
    """A density `g` and a classifier `d`, each with its optimizer; weights drawn from the generator."""

    def __init__(self, sizes: ExpertSizes, generator: torch.Generator, device: torch.device) -> None:
        self.code = sizes.code
        self.g = drawn(lambda: (ConvAutoencoder if sizes.shape else Autoencoder)(sizes), generator).to(device)
        self.d = drawn(lambda: _classifier(sizes), generator).to(device)
        self.optimizer_g = FlatAdam(self.g, sizes.rate_g, clip=0.5, decay=1e-5)
        self.optimizer_d = FlatAdam(self.d, sizes.rate_d, clip=0.5, decay=1e-5)

    def learn_g(self, x: Tensor, weight: Tensor, generator: torch.Generator) -> None:
        noise = torch.randn(len(x), 1, self.code, generator=generator).to(x.device)
        self.optimizer_g.step((weight * self.g.nll(x, noise)).mean())

    def learn_d(self, x: Tensor, y: Tensor, weight: Tensor) -> None:
        self.optimizer_d.step((weight * F.cross_entropy(self.d(x), y, reduction="none")).mean())

    @property
    def n_weights(self) -> int:
        return self.optimizer_g.values.numel() + self.optimizer_d.values.numel()


def _classifier(sizes: ExpertSizes) -> nn.Module:
    if sizes.shape:
        return CNN(sizes.shape, sizes.width, sizes.n_classes)
    return mlp([sizes.n_in, *sizes.hidden, sizes.n_classes])


class Mixture:
    """The experts so far and how many samples each has had, as a part of a learner's state."""

    def __init__(self, sizes: ExpertSizes, noise: Tensor) -> None:
        self.sizes, self.noise = sizes, noise
        self.experts: list[Expert] = []
        self.counts = np.zeros(0)

    def add(self, generator: torch.Generator, count: int) -> Expert:
        self.experts.append(Expert(self.sizes, generator, self.noise.device))
        self.counts = np.append(self.counts, float(count))
        return self.experts[-1]

    @torch.no_grad()
    def log_densities(self, x: Tensor) -> Tensor:
        """`log N_k + log p(x | k)`, (n, K)."""
        densities = torch.stack([-expert.g.nll(x, self.noise) for expert in self.experts], dim=1)
        return densities + torch.from_numpy(np.log(self.counts)).float().to(x.device)

    @torch.no_grad()
    def log_classes(self, x: Tensor) -> Tensor:
        """`log p(y | x, k)`, (n, K, classes)."""
        return torch.stack([F.log_softmax(expert.d(x), dim=1) for expert in self.experts], dim=1)

    def arrays(self) -> dict[str, NDArray]:
        views = {"counts": self.counts}
        for k, expert in enumerate(self.experts):
            views |= expert.optimizer_g.arrays(f"{k}.g.") | expert.optimizer_d.arrays(f"{k}.d.")
        return views

    def load(self, arrays: Mapping[str, NDArray]) -> None:
        self.counts = arrays["counts"].copy()
        blank = torch.Generator()
        self.experts = [Expert(self.sizes, blank, self.noise.device) for _ in self.counts]
        for k, expert in enumerate(self.experts):
            expert.optimizer_g.load(arrays, f"{k}.g.")
            expert.optimizer_d.load(arrays, f"{k}.d.")
