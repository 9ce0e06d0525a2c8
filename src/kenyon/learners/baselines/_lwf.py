"""Learning without forgetting (LwF). Li & Hoiem, "Learning without Forgetting", ECCV 2016.

    L = CE(f(x), y) + alpha * T^2 * sum_h KL( softmax(f_old(x)_h / T) || softmax(f(x)_h / T) )

f_old is the network as the last task left it, x the new task's samples only. h runs over the old tasks' heads; where
there is one head for all, over one group: the classes met before this task.

The original first trains the new task's output units alone, to convergence, and then all weights (its warm-up step).
One pass has no samples to spare for that; `warm_up` spends the first batches of each later task on it.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._trainer import Batch, Trainer, positive


class LwF(Trainer):
    """Distils from a frozen copy of the network.

    Args:
        alpha: weight of the distillation.
        temperature: T.
        warm_up: batches at the beginning of each task but the first that train the output layer's new classes alone.
    """

    name = "lwf"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.03, "alpha": 1.0}

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        alpha: float | None = None,
        temperature: float = 2.0,
        warm_up: int = 0,
        **common: Any,
    ) -> None:
        if type(warm_up) is not int or warm_up < 0:
            raise ConfigError(f"warm_up is {warm_up!r}: expected an integer, 0 or more")
        super().__init__(info, seed, **common)
        self.alpha = self.option("alpha", alpha)
        self.temperature = positive("temperature", temperature)
        self.teacher = self.keep("teacher", freeze(self.net))
        self.met = self.keep("met", torch.zeros(info.n_classes, dtype=torch.bool, device=self.device))
        self.old = self.keep("old", torch.zeros(info.n_classes, dtype=torch.bool, device=self.device))
        self.warm_up = warm_up
        self.batches = torch.zeros(1, dtype=torch.int64)  # of the present task
        if warm_up:
            self.keep("batches", self.batches)
        self._groups: list[Tensor] | None = None  # of `old`, computed when first needed after a boundary

    def step(self, batch: Batch) -> Tensor:
        output = self.forward(batch.x)
        logits = self.mask(output, batch.task)
        if self.old.any() and int(self.batches) < self.warm_up:
            self._warm(F.cross_entropy(logits, batch.y))
        else:
            self.descend(F.cross_entropy(logits, batch.y) + self.alpha * self.distil(batch.x, output))
        self.batches += 1
        self.met[batch.y] = True
        return logits

    def _warm(self, loss: Tensor) -> None:
        """A step of the output layer's rows of new classes alone."""
        head = list(self.net.head.parameters())
        gradients = self.gradient(loss, head)
        for g in gradients:
            g[self.old] = 0
        self.apply(gradients, head)

    def boundary(self, last: bool) -> None:
        self.batches.zero_()
        self.teacher.load_state_dict(self.net.state_dict())
        self.old |= self.met
        self._groups = None

    def distil(self, x: Tensor, output: Tensor) -> Tensor:
        """The teacher's part of the loss: zero before the first boundary."""
        loss = output.new_zeros(())
        if self._groups is None:
            self._groups = self.groups()
        if not self._groups:
            return loss
        with torch.no_grad():
            wanted = self.teacher(x) / self.temperature
        for group in self._groups:
            new = F.log_softmax(output[:, group] / self.temperature, 1)
            old = F.log_softmax(wanted[:, group], 1)
            loss = loss + self.temperature**2 * F.kl_div(new, old, reduction="batchmean", log_target=True)
        return loss

    def groups(self) -> list[Tensor]:
        """The old classes of each head that has any."""
        heads = self.info.tasks if self.info.task_heads else (range(self.info.n_classes),)
        old = [[c for c in classes if self.old[c]] for classes in heads]
        return [torch.tensor(classes, device=self.device) for classes in old if classes]

    def restore(self, state: dict[str, NDArray]) -> None:
        super().restore(state)
        self._groups = None


def freeze(net: nn.Module) -> nn.Module:
    """A copy that never learns, in evaluation mode."""
    return deepcopy(net).eval().requires_grad_(False)
