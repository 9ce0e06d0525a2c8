"""InstAParam: a controller chooses, sample by sample, which blocks of the network are used.

Each hidden layer is split into blocks of units, a gate each. For a sample x the controller gives the
probability of every gate, c(x), and

    training:   a ~ Bernoulli(q),  q = alpha c + (1 - alpha)(1 - c) - reg       (bounded, away from old habits)
    prediction: a = [c > mu], and the likeliest block of a layer in any case
    network:    h_l = ReLU(W_l h_{l-1} + b_l) * a_l / mean(a_l),  cross entropy, chosen blocks only
    controller: grad = -(R(a) - R([c > mu])) grad log q(a) - beta grad H(q)
    reward:     R(a) = [correct] * log(number of gates - gates used)           (sparse and right)
    reg       = gamma sigmoid(k (sqrt(H) / max sqrt(H) - 1/2)),  H counts the gates chosen in earlier tasks

The weights of the blocks are consolidated at a boundary (as in the authors' implementation): a quadratic
pull to their values then, by the Fisher information of the gradients under the sampled gates, which is 0 for
a block that was not chosen.

The reward of the thresholded policy is the baseline (self-critical REINFORCE). Samples of a new task find
blocks that old tasks rarely use, and old samples keep theirs. The method is defined with the task's
classes given (task-incremental); the paper's network of convolution blocks is scaled to blocks of units.

Reference: H.-J. Chen, A.-C. Cheng, D.-C. Juan, W. Wei, M. Sun, "Mitigating forgetting in online continual
learning via instance-aware parameterization", NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.baselines._anchor import Anchored
from kenyon.baselines._flat_adam import FlatAdam
from kenyon.baselines._networks import MLP, initialise
from kenyon.baselines._trainer import Batch, positive
from kenyon.errors import ConfigError
from kenyon.protocol import StreamInfo

_SHARPNESS = 10.0  # k of the regulariser
_MEMORY = 0.99  # of the running Fisher information: about 100 batches


class InstAParam(Anchored):
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
        common: the options of `Trainer`, and `strength` of the consolidation.
    """

    name = "instaparam"
    defaults: ClassVar[dict[str, float]] = {
        "lr": 0.02,
        "lr_controller": 1e-3,
        "gamma": 0.1,
        "beta": 0.8,
        "reward": 3.0,
        "strength": 1000.0,
    }
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
        self.blocks = blocks
        with torch.device("meta"):  # no draw from the global generator
            controls = nn.Sequential(
                nn.Linear(info.n_features, int(positive("controller", controller))),
                nn.ReLU(),
                nn.Linear(controller, len(hidden) * blocks),
                nn.Sigmoid(),
                nn.Unflatten(1, (len(hidden), blocks)),
            )
        controls = controls.to_empty(device="cpu")
        initialise(controls, self.generator)
        self.controller = controls.to(self.device)
        rate = positive("lr_controller", self.option("lr_controller", lr_controller))
        self.optimizer = self.keep("controller", FlatAdam(self.controller, rate))
        self.fisher = self.keep("fisher", [torch.zeros_like(p) for p in self.params])
        self.used = self.keep("used", torch.zeros(len(hidden), blocks, device=self.device))  # in the present task
        self.history = self.keep("history", torch.zeros(len(hidden), blocks, device=self.device))  # in earlier ones

    def gated(self, x: Tensor, gates: Tensor) -> Tensor:
        """The network's output under `gates`, (n, layers, blocks)."""
        net = cast(MLP, self.net)
        for number, a in enumerate(gates.unbind(1)):
            h = F.relu(net.body[2 * number](x)).reshape(len(x), self.blocks, -1)
            share = a / a.mean(1, keepdim=True).clamp(min=1.0 / self.blocks)  # the same scale for few and many
            x = (h * share[:, :, None]).flatten(1)
        return net.head(x)

    def gates(self, x: Tensor) -> Tensor:
        """The gates that prediction uses, 0 or 1."""
        with torch.no_grad():
            return self._decided(self.controller(x))

    def logits(self, x: Tensor, task: int | Tensor | None) -> Tensor:
        return self.mask(self.gated(x, self.gates(x)), task)

    def step(self, batch: Batch) -> Tensor:
        before = None
        for _ in range(self.iterations):
            probabilities = self.controller(batch.x)
            policy = self._decided(probabilities.detach())
            q = self.alpha * probabilities + (1.0 - self.alpha) * (1.0 - probabilities) - self._regulariser()
            q = q.clamp(1e-6, 1.0 - 1e-6)
            sampled = torch.bernoulli(q.detach().cpu(), generator=self.generator).to(self.device)
            logits = self.mask(self.gated(batch.x, sampled), batch.task)
            with torch.no_grad():
                expected = self.mask(self.gated(batch.x, policy), batch.task)
            advantage = self._reward(logits.detach(), sampled, batch.y) - self._reward(expected, policy, batch.y)
            self._teach_controller(q, sampled, advantage)
            gradients = self.gradient(F.cross_entropy(logits, batch.y))
            for f, g in zip(self.fisher, gradients, strict=True):
                f.mul_(_MEMORY).addcmul_(g, g, value=(1.0 - _MEMORY) * len(batch.y))
            self.apply(gradients)
            self.pull()
            before = expected if before is None else before
        self.used += policy.sum(0)
        assert before is not None
        return before

    def boundary(self, last: bool) -> None:
        """The gates of this task become a habit that later tasks avoid, its weights anchors."""
        self.history += self.used
        self.used.zero_()
        for importance, f in zip(self.importance, self.fisher, strict=True):
            importance.add_(f)
            f.zero_()
        self.set_anchor()

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
