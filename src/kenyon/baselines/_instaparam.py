"""InstAParam: a controller chooses, sample by sample, which blocks of the network are used.

Each hidden layer is split into blocks of units, a gate each. For a sample x the controller gives the
probability of every gate, c(x), and

    training:   a ~ Bernoulli(q),  q = alpha c + (1 - alpha)(1 - c) - reg       (bounded, away from old habits)
    prediction: a = [c > mu], and the likeliest block of a layer in any case
    network:    h_l = ReLU(W_l h_{l-1} + b_l) * a_l / mean(a_l),  cross entropy, chosen blocks only
    controller: grad = -(R(a) - R([c > mu])) grad log q(a) - beta grad H(q)
    reward:     R(a) = [correct] * log(number of gates - gates used)           (sparse and right)
    reg       = gamma sigmoid(k (sqrt(H) / max sqrt(H) - 1/2)),  H counts the gates chosen in earlier tasks

The reward of the thresholded policy is the baseline (self-critical REINFORCE). Samples of a new task find
blocks that old tasks rarely use, and old samples keep theirs. The method is defined with the task's
classes given (task-incremental); the paper's network of convolution blocks is scaled to blocks of units.

Reference: H.-J. Chen, A.-C. Cheng, D.-C. Juan, W. Wei, M. Sun, "Mitigating forgetting in online continual
learning via instance-aware parameterization", NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.baselines._flat_adam import FlatAdam
from kenyon.baselines._networks import Network, initialise
from kenyon.baselines._trainer import Batch, Trainer, positive
from kenyon.errors import ConfigError
from kenyon.evaluation._protocol import StreamInfo

_SHARPNESS = 10.0  # k of the regulariser


class GatedMLP(Network):
    """An MLP whose hidden layers have `blocks` gates each."""

    def __init__(self, sizes: Sequence[int], blocks: int, n_classes: int) -> None:
        super().__init__()
        self.blocks = blocks
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in pairwise(sizes))
        self.head = nn.Linear(sizes[-1], n_classes)

    def features(self, x: Tensor, gates: Tensor | None = None) -> Tensor:
        """The last hidden layer under `gates`, (n, layers, blocks); all open if None."""
        for number, layer in enumerate(self.layers):
            x = F.relu(layer(x))
            if gates is not None:
                a = gates[:, number]
                a = a * (self.blocks / a.sum(1, keepdim=True).clamp(min=1.0))  # the same scale for few and many
                x = (x.reshape(len(x), self.blocks, -1) * a[:, :, None]).flatten(1)
        return x

    def gated(self, x: Tensor, gates: Tensor) -> Tensor:
        return self.head(self.features(x, gates))


class InstAParam(Trainer):
    """Instance-aware parameterization of an MLP.

    Args:
        info: the stream (task-incremental, or a single task).
        seed: of the initial weights and the sampled gates.
        lr: learning rate of the network (SGD).
        lr_controller: learning rate of the controller (Adam).
        blocks: gates in each hidden layer; every width is a multiple of it.
        controller: hidden units of the controller.
        iterations: updates on each batch.
        alpha: bounds the probability of a gate to 1 - alpha .. alpha.
        beta: weight of the entropy of the gates.
        gamma: strength of the regulariser that leads new tasks to other blocks.
        reward: of a correct answer, times the logarithm of the unused gates.
        mu: threshold of a gate when nothing is sampled.
        hidden: units of the hidden layers.
        common: the options of `Trainer`.
    """

    name = "instaparam"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.02, "lr_controller": 1e-3, "gamma": 0.1, "beta": 0.8, "reward": 3.0}
    fixed = ("network", "width")

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        lr_controller: float | None = None,
        blocks: int = 20,
        controller: int = 64,
        iterations: int = 1,
        alpha: float = 0.8,
        beta: float | None = None,
        gamma: float | None = None,
        reward: float | None = None,
        mu: float = 0.5,
        hidden: Sequence[int] = (400, 400),
        **common: Any,
    ) -> None:
        if not info.task_heads and len(info.tasks) > 1:
            raise ConfigError(
                "the stream does not give the task: instaparam is defined for 'task-incremental' and 'single-task'"
            )
        if blocks < 1 or any(n % blocks for n in hidden):
            raise ConfigError(f"hidden is {tuple(hidden)}: expected multiples of {blocks} blocks")
        if not 0.5 <= alpha < 1.0:
            raise ConfigError(f"alpha is {alpha}: expected a number from 0.5 to below 1")
        super().__init__(info, seed, hidden=hidden, network="mlp", **common)
        self.iterations = int(positive("iterations", iterations))
        self.alpha, self.mu, self.reward = alpha, mu, self.option("reward", reward)
        self.beta, self.gamma = self.option("beta", beta), self.option("gamma", gamma)
        with torch.device("meta"):
            net = GatedMLP((info.n_features, *hidden), blocks, info.n_classes)
            gates = nn.Sequential(
                nn.Linear(info.n_features, int(positive("controller", controller))),
                nn.ReLU(),
                nn.Linear(controller, len(hidden) * blocks),
                nn.Sigmoid(),
                nn.Unflatten(1, (len(hidden), blocks)),
            )
        self.net: GatedMLP = self.keep("net", net.to_empty(device="cpu"))
        self.controller = gates.to_empty(device="cpu")
        initialise(self.net, self.generator)
        initialise(self.controller, self.generator)
        self.params = list(self.net.parameters())
        rate = positive("lr_controller", self.option("lr_controller", lr_controller))
        self.optimizer = self.keep("controller", FlatAdam(self.controller, rate))
        self.used = self.keep("used", torch.zeros(len(hidden), blocks))  # in the present task
        self.history = self.keep("history", torch.zeros(len(hidden), blocks))  # in earlier ones

    def gates(self, x: Tensor) -> Tensor:
        """The gates that prediction uses, 0 or 1."""
        with torch.no_grad():
            return self._decided(self.controller(x))

    def logits(self, x: Tensor, task: int | Tensor | None) -> Tensor:
        return self.mask(self.net.gated(x, self.gates(x)), task)

    def step(self, batch: Batch) -> Tensor:
        before = None
        for _ in range(self.iterations):
            probabilities = self.controller(batch.x)
            policy = self._decided(probabilities.detach())
            q = self.alpha * probabilities + (1.0 - self.alpha) * (1.0 - probabilities) - self._regulariser()
            q = q.clamp(1e-6, 1.0 - 1e-6)
            sampled = torch.bernoulli(q.detach(), generator=self.generator)
            logits = self.mask(self.net.gated(batch.x, sampled), batch.task)
            with torch.no_grad():
                expected = self.mask(self.net.gated(batch.x, policy), batch.task)
            advantage = self._reward(logits.detach(), sampled, batch.y) - self._reward(expected, policy, batch.y)
            self._teach_controller(q, sampled, advantage)
            self.descend(F.cross_entropy(logits, batch.y))
            before = expected if before is None else before
        self.used += policy.sum(0)
        assert before is not None
        return before

    def boundary(self, last: bool) -> None:
        """The gates of this task become a habit that later tasks avoid."""
        self.history += self.used
        self.used.zero_()

    def _decided(self, probabilities: Tensor) -> Tensor:
        """Gates above the threshold; a layer that would be shut keeps its likeliest block open."""
        likeliest = probabilities.amax(2, keepdim=True)
        return ((probabilities > self.mu) | (probabilities >= likeliest)).float()

    def _regulariser(self) -> Tensor | float:
        if not self.history.any():
            return 0.0
        root = self.history.sqrt()
        return self.gamma * torch.sigmoid(_SHARPNESS * (root / root.max() - 0.5))

    def _reward(self, logits: Tensor, gates: Tensor, y: Tensor) -> Tensor:
        unused = (1.0 - gates).sum((1, 2))
        return self.reward * (logits.argmax(1) == y) * unused.clamp(min=1.0).log()

    def _teach_controller(self, q: Tensor, sampled: Tensor, advantage: Tensor) -> None:
        log_probability = torch.where(sampled > 0, q, 1.0 - q).log().sum((1, 2))
        entropy = -(q * q.log() + (1.0 - q) * (1.0 - q).log()).sum((1, 2))
        self.optimizer.step((-advantage * log_probability - self.beta * entropy).mean())
        self._updates += self.optimizer.values.numel()
