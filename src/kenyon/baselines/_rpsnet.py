"""RPS-Net: a random path through parallel modules for each new task; the modules of old paths are frozen.

A layer has M modules. With A_l the modules of layer l that any path so far has used,

    h_l = sum_{m in A_l} ReLU(W_lm h_{l-1} + b_lm)  (+ h_{l-1} where the widths agree)

Every J tasks a new path, one random module per layer, joins A. Only its modules that no earlier path used
are trained, with the output layer, on the new samples and as many from a buffer of exemplars:

    L = CE + phi T^2 KL(softmax(f_old / T) || softmax(f / T)) over the old classes

f_old is the network at the last task's end. phi = 1 until all modules can be in use (k_sat = J M tasks)
and (k - k_sat) gamma afterwards. Of N random candidates the path with the lowest loss after one trial step
on the task's first batch is taken; the paper trains all N on the whole task, which one pass does not allow.

Reference: J. Rajasegaran, M. Hayat, S. Khan, F. S. Khan, L. Shao, "Random path selection for incremental
learning", NeurIPS 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.baselines._networks import Network, initialise
from kenyon.baselines._replay import Replay
from kenyon.baselines._trainer import Batch, positive
from kenyon.protocol import StreamInfo


class PathNetwork(Network):
    """Layers of parallel modules; `active[l, m]` says which are summed (all, before the first path)."""

    active: Tensor

    def __init__(self, sizes: Sequence[int], modules: int, n_classes: int) -> None:
        super().__init__()
        layers = [[nn.Linear(n, m) for _ in range(modules)] for n, m in pairwise(sizes)]
        self.modules_of_layer = nn.ModuleList(nn.ModuleList(layer) for layer in layers)
        self.head = nn.Linear(sizes[-1], n_classes)
        self.register_buffer("active", torch.ones(len(layers), modules, dtype=torch.bool))

    def module(self, layer: int, number: int) -> nn.Module:
        return self.get_submodule(f"modules_of_layer.{layer}.{number}")

    def features(self, x: Tensor) -> Tensor:
        for layer, used in enumerate(self.active.tolist()):
            outputs = [F.relu(self.module(layer, number)(x)) for number, on in enumerate(used) if on]
            total = torch.stack(outputs).sum(0)
            x = total + x if total.shape == x.shape else total
        return x


class RPSNet(Replay):
    """Random path selection with exemplars and distillation.

    Args:
        info: the stream.
        seed: of the initial weights, the paths and the buffer.
        modules: M, parallel modules in a layer.
        tasks_per_path: J, tasks that share a path.
        candidates: N, random paths tried for a new one.
        temperature: T of the distillation.
        distill: weight of the distillation (times phi).
        gamma: growth of phi after saturation.
        hidden: width of the modules of each layer.
        common: the options of `Replay`.
    """

    name = "rpsnet"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.05, "distill": 1.0}
    fixed = ("network", "width")

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        modules: int = 8,
        tasks_per_path: int = 1,
        candidates: int = 4,
        temperature: float = 2.0,
        distill: float | None = None,
        gamma: float = 2.5,
        hidden: Sequence[int] = (200, 200),
        **common: Any,
    ) -> None:
        super().__init__(info, seed, hidden=hidden, network="mlp", **common)
        self.modules = int(positive("modules", modules))
        self.tasks_per_path = int(positive("tasks_per_path", tasks_per_path))
        self.candidates = int(positive("candidates", candidates))
        self.temperature, self.gamma = positive("temperature", temperature), positive("gamma", gamma)
        self.distill = self.option("distill", distill)
        net = self._built(hidden)
        initialise(net, self.generator)
        self.net: PathNetwork = self.keep("net", net.to(self.device))
        self.teacher: PathNetwork = self.keep("teacher", self._built(hidden).to(self.device))
        self.path = self.keep(
            "path", torch.zeros(len(hidden), modules, dtype=torch.bool, device=self.device)
        )  # of the present task
        self.frozen = self.keep("frozen", torch.zeros_like(self.path))  # on any earlier path
        self.met = self.keep("met", torch.zeros(info.n_classes, dtype=torch.bool, device=self.device))
        self.old = self.keep("old", torch.zeros_like(self.met))  # met before the present task
        self.tasks_done = self.keep("tasks_done", torch.zeros(1, dtype=torch.int64))

    def trainable(self, path: Tensor) -> list[nn.Parameter]:
        """The output layer, and the modules of the path that no earlier path has used."""
        fresh = [self.net.module(*place) for place in torch.nonzero(path & ~self.frozen).tolist()]
        return [p for part in [self.net.head, *fresh] for p in part.parameters()]

    def step(self, batch: Batch) -> Tensor:
        past = self.recall(self.buffer.draw(self.replay_size)) if len(self.buffer) else None
        batches = [batch] if past is None else [batch, past]
        x, y = torch.cat([b.x for b in batches]), torch.cat([b.y for b in batches])
        if not self.path.any():
            self._choose_path(batch)
        logits = self.joint(*batches)
        trained = self.trainable(self.path)
        loss = F.cross_entropy(logits, y) + self._distillation(x)
        self.apply(self.gradient(loss, trained), trained)
        self.met[batch.y] = True
        self.remember(batch)
        return logits[: len(batch.y)]

    def boundary(self, last: bool) -> None:
        """The present network becomes the teacher; after J tasks its path is frozen and a new one is due."""
        self.tasks_done += 1
        self.old.copy_(self.met)
        self.teacher.load_state_dict(self.net.state_dict())
        if int(self.tasks_done) % self.tasks_per_path == 0:
            self.frozen |= self.path
            self.path.zero_()

    def _built(self, hidden: Sequence[int]) -> PathNetwork:
        with torch.device("meta"):  # no draw from the global generator
            net = PathNetwork((self.info.n_features, *hidden), self.modules, self.info.n_classes)
        net = net.to_empty(device="cpu")
        net.active.fill_(True)
        for p in net.parameters():
            nn.init.zeros_(p)
        return net

    def _distillation(self, x: Tensor) -> Tensor:
        """How far the outputs of old classes have moved from the teacher's; 0 in the first task."""
        if not self.old.any() or not self.distill:
            return x.new_zeros(())
        saturated = int(self.tasks_done) - self.tasks_per_path * self.modules
        phi = self.distill * (saturated * self.gamma if saturated > 0 else 1.0)
        with torch.no_grad():
            target = F.log_softmax(self.teacher(x)[:, self.old] / self.temperature, dim=1)
        now = F.log_softmax(self.net(x)[:, self.old] / self.temperature, dim=1)
        return phi * self.temperature**2 * F.kl_div(now, target, reduction="batchmean", log_target=True)

    def _choose_path(self, batch: Batch) -> None:
        """The best of N random paths by the loss after one trial step on this batch, undone afterwards."""
        lowest, layers = float("inf"), torch.arange(len(self.path))
        for _ in range(self.candidates):
            path = torch.zeros_like(self.path)
            path[layers, torch.randint(self.modules, (len(layers),), generator=self.generator)] = True
            self.net.active.copy_(path | self.frozen)
            trained = self.trainable(path)
            before = [p.detach().clone() for p in trained]
            gradients = self.gradient(F.cross_entropy(self.logits(batch.x, batch.task), batch.y), trained)
            with torch.no_grad():
                for p, g in zip(trained, gradients, strict=True):
                    p.sub_(g, alpha=self.lr)
                loss = F.cross_entropy(self.logits(batch.x, batch.task), batch.y).item()
                for p, value in zip(trained, before, strict=True):
                    p.copy_(value)
            if loss < lowest:
                lowest = loss
                self.path.copy_(path)
        self.net.active.copy_(self.path | self.frozen)
