"""InstAParam: a controller chooses, sample by sample, which blocks of the network are used.

Each hidden layer is split into blocks of units, a gate each. For a sample x the controller gives the
probability of every gate, c(x), and

    training:   a ~ Bernoulli(q),  q = alpha c + (1 - alpha)(1 - c) - reg       (bounded, away from old habits)
    prediction: a = [c >= mu]
    network:    cross entropy, chosen blocks only
    controller: grad = -(R(a) - R([c >= mu])) grad log q(a) - beta grad H(q)
    reward:     R(a) = reward * [correct] * log(number of gates - gates used)  (sparse and right)
    reg       = gamma sigmoid(k (sqrt(H) / max sqrt(H) - 1/2)),  H counts the gates chosen in earlier tasks

A batch is learned ten times over. With a strength, the weights are consolidated after every batch, as in the
authors' implementation:

    F <- F + g^2,  theta* <- theta,      from the second task on:  L = CE + (strength / 2) sum F (theta - theta*)^2

g is the gradient of the batch's mean loss, the network's own answers taken for labels, under the sampled gates; it is
0 for a block that was not chosen. Their default strength is 0.

The reward of the thresholded policy is the baseline (self-critical REINFORCE). Samples of a new task find
blocks that old tasks rarely use, and old samples keep theirs. The method is defined with the task's
classes given (task-incremental), and published for images: a ResNet of nested kernels. For flat samples the blocks
are units of an MLP, and a layer that would be shut keeps its likeliest block open.

Reference: H.-J. Chen, A.-C. Cheng, D.-C. Juan, W. Wei, M. Sun, "Mitigating forgetting in online continual
learning via instance-aware parameterization", NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._anchor import Anchored
from kenyon.learners.baselines._flat_adam import FlatAdam
from kenyon.learners.baselines._instaparam_networks import GatedMLP, GatedResNet, controller_network
from kenyon.learners.baselines._networks import convolutional, drawn
from kenyon.learners.baselines._trainer import Batch, positive

_SHARPNESS = 10.0  # k of the regulariser


class InstAParam(Anchored):
    """Instance-aware parameterization.

    Args:
        lr: learning rate of the network (SGD).
        lr_controller: learning rate of the controller (Adam).
        blocks: gates in each hidden layer of the MLP; every width is a multiple of it.
        controller: hidden units of the controller.
        iterations: updates on each batch.
        alpha: bounds the probability of a gate to 1 - alpha .. alpha.
        beta: weight of the entropy of the gates.
        gamma: strength of the regulariser that leads new tasks to other blocks.
        reward: of a correct answer, times the logarithm of the unused gates.
        mu: threshold of a gate when nothing is sampled.
        network: `"mlp"`, `"cnn"`, or `"auto"`: the gated ResNet for three-channel images.
        hidden: units of the MLP's hidden layers.
        width: filters of the ResNet's first stage, a multiple of 4; 64 in the original.
    """

    name = "instaparam"
    defaults: ClassVar[dict[str, float]] = {
        "lr": 0.02,
        "lr_controller": 1e-3,
        "gamma": 0.1,
        "beta": 0.8,
        "reward": 30.0,
        "strength": 0.0,
    }

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        lr_controller: float | None = None,
        blocks: int = 20,
        controller: int = 64,
        iterations: int = 10,
        alpha: float = 0.8,
        beta: float | None = None,
        gamma: float | None = None,
        reward: float | None = None,
        mu: float = 0.5,
        network: str = "auto",
        hidden: Sequence[int] = (400, 400),
        width: int = 64,
        **common: Any,
    ) -> None:
        if not info.task_heads and len(info.tasks) > 1:
            raise ConfigError(
                "the stream does not give the task: instaparam is defined for 'task-incremental' and 'single-task'"
            )
        images = convolutional(network, info)
        if not images and (blocks < 1 or any(n % blocks for n in hidden)):
            raise ConfigError(f"hidden is {tuple(hidden)}: expected multiples of {blocks} blocks")
        if images and (width < 4 or width % 4):
            raise ConfigError(f"width is {width}: expected a multiple of 4")
        if not 0.5 <= alpha < 1.0:
            raise ConfigError(f"alpha is {alpha}: expected a number from 0.5 to below 1")
        self._sizes = images, tuple(hidden), width, blocks
        super().__init__(info, seed, hidden=hidden, width=width, **common)
        self.net: GatedMLP | GatedResNet
        self.iterations = int(positive("iterations", iterations))
        self.alpha, self.mu, self.reward = alpha, mu, self.option("reward", reward)
        self.beta, self.gamma = self.option("beta", beta), self.option("gamma", gamma)
        shape, units = info.shape if images else (), int(positive("controller", controller))
        controls = drawn(lambda: controller_network(info.n_features, shape, units, self.net.gates), self.generator)
        self.controller = controls.to(self.device)
        rate = positive("lr_controller", self.option("lr_controller", lr_controller))
        self.optimizer = self.keep("controller", FlatAdam(self.controller, rate))
        self.used = self.keep("used", torch.zeros(self.net.gates, device=self.device))  # in the present task
        self.history = self.keep("history", torch.zeros(self.net.gates, device=self.device))  # in earlier ones
        self.tasks_done = self.keep("tasks_done", torch.zeros(1, dtype=torch.int64))

    def build(self) -> Any:
        (images, hidden, width, blocks), info = self._sizes, self.info
        if images:
            return drawn(lambda: GatedResNet(info.shape, width, info.n_classes), self.generator)
        return drawn(lambda: GatedMLP(info.n_features, hidden, info.n_classes, blocks), self.generator)

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
            sampled = torch.bernoulli(q.detach().cpu(), generator=self.generator).to(self.device)
            logits = self.mask(self.net.gated(batch.x, sampled), batch.task)
            with torch.no_grad():
                expected = self.mask(self.net.gated(batch.x, policy), batch.task)
            advantage = self._reward(logits.detach(), sampled, batch.y) - self._reward(expected, policy, batch.y)
            self._teach_controller(q, sampled, advantage)
            self.apply(self.gradient(F.cross_entropy(logits, batch.y)))
            if self.strength and int(self.tasks_done):
                self.pull()
            before = expected if before is None else before
        self.used += policy.sum(0)
        if self.strength:
            self._consolidate(batch, sampled)
        assert before is not None
        return before

    def boundary(self, last: bool) -> None:
        """The gates of this task become a habit that later tasks avoid."""
        self.history += self.used
        self.used.zero_()
        self.tasks_done += 1

    def _consolidate(self, batch: Batch, sampled: Tensor) -> None:
        """The weights as they are become the anchors; squared gradients of the batch add to the importance."""
        logits = self.mask(self.net.gated(batch.x, sampled), batch.task)
        gradients = self.gradient(F.cross_entropy(logits, logits.argmax(1)))
        for importance, g in zip(self.importance, gradients, strict=True):
            importance.addcmul_(g, g)
        self.set_anchor()

    def _decided(self, probabilities: Tensor) -> Tensor:
        """Gates at the threshold or above; a layer of the MLP that would be shut keeps its likeliest block open."""
        open_gates = probabilities >= self.mu
        if isinstance(self.net, GatedMLP):
            open_gates |= probabilities >= probabilities.amax(2, keepdim=True)
        return open_gates.float()

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
