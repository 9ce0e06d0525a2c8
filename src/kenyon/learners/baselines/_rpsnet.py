"""RPS-Net: a random path through parallel modules for each new task; the modules of old paths are frozen.

A layer has M modules. With A_l the modules of layer l that any path so far has used,

    h_l = ReLU( sum_{m in A_l} module_lm(h_{l-1})  + h_{l-1} where the shapes agree )

Every J tasks a new path, one random module per layer, joins A. Only its modules that no earlier path used
are trained, with the output layer, on the new samples and as many from a buffer of exemplars:

    L = CE + phi T^2 KL(softmax(f_old / T) || softmax(f / T)) over the old classes

f_old is the network at the last task's end. phi = 1 until all modules can be in use (k_sat = J M tasks)
and (k - k_sat) gamma afterwards. N random paths are trained side by side on the whole task, each with weights of
its own, and the best is kept; the first task has one path, since before it all are the same. The original compares
them on held-out samples after several epochs; here each batch is predicted before it is learned, and the path with
the most right answers is the best.

Reference: J. Rajasegaran, M. Hayat, S. Khan, F. S. Khan, L. Shao, "Random path selection for incremental
learning", NeurIPS 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._networks import convolutional, initialise
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._rpsnet_network import PathNetwork, conv_paths, mlp_paths
from kenyon.learners.baselines._trainer import Batch, positive


class RPSNet(Replay):
    """Random path selection with exemplars and distillation.

    Args:
        modules: M, parallel modules in a layer.
        tasks_per_path: J, tasks that share a path.
        candidates: N, random paths trained side by side for a new one.
        temperature: T of the distillation.
        distill: weight of the distillation (times phi).
        gamma: growth of phi after saturation.
        network: `"mlp"`, `"cnn"`, or `"auto"`: the convolutional one for three-channel images.
        hidden: width of the MLP's modules of each layer.
        width: filters of the convolutional network's first layer; 64 in the original.
    """

    name = "rpsnet"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.05, "distill": 1.0}

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
        network: str = "auto",
        hidden: Sequence[int] = (200, 200),
        width: int = 64,
        **common: Any,
    ) -> None:
        self.modules = int(positive("modules", modules))
        self.tasks_per_path = int(positive("tasks_per_path", tasks_per_path))
        self._sizes = hidden, width, convolutional(network, info)
        super().__init__(info, seed, hidden=hidden, width=width, **common)
        self.temperature, self.gamma = positive("temperature", temperature), positive("gamma", gamma)
        self.distill = self.option("distill", distill)
        self.net: PathNetwork
        self.teacher = self.keep("teacher", self.blank().to(self.device))
        names = [f"rival{i}" for i in range(int(positive("candidates", candidates)))]
        self.rivals = [self.keep(name, self.blank().to(self.device)) for name in names]
        size = (len(names), *self.net.active.shape)
        # of the rivals; none: new ones are due
        self.paths = self.keep("paths", torch.zeros(size, dtype=torch.bool, device=self.device))
        self.frozen = self.keep("frozen", torch.zeros_like(self.paths[0]))  # on any earlier path
        self.right = self.keep("right", torch.zeros(len(names), dtype=torch.int64))  # answers before learning
        self.met = self.keep("met", torch.zeros(info.n_classes, dtype=torch.bool, device=self.device))
        self.old = self.keep("old", torch.zeros_like(self.met))  # met before the present task
        self.tasks_done = self.keep("tasks_done", torch.zeros(1, dtype=torch.int64))
        self._settled = True  # whether `net` is the best rival as it stands

    def build(self) -> PathNetwork:
        net = self.blank()
        initialise(net, self.generator)
        return net

    def blank(self) -> PathNetwork:
        """A network whose weights are zero, made without a draw from the global generator."""
        hidden, width, images = self._sizes
        with torch.device("meta"):
            net = (
                conv_paths(self.info.shape, width, self.modules, self.info.n_classes)
                if images
                else mlp_paths(self.info.n_features, hidden, self.modules, self.info.n_classes)
            )
        net = net.to_empty(device="cpu")
        for value in net.state_dict().values():
            value.zero_()
        net.active.fill_(True)
        return net

    def trainable(self, net: PathNetwork, path: Tensor) -> list[nn.Parameter]:
        """The output layer, and the modules of the path that no earlier path has used."""
        fresh = [net.module(*place) for place in torch.nonzero(path & ~self.frozen).tolist()]
        return [p for part in [net.head, *fresh] for p in part.parameters()]

    def step(self, batch: Batch) -> Tensor:
        if not self.paths.any():
            self._draw_paths()
        past = self.recall(self.buffer.draw(self.replay_size)) if len(self.buffer) else None
        batches = [batch] if past is None else [batch, past]
        x, y = torch.cat([b.x for b in batches]), torch.cat([b.y for b in batches])
        wanted = self._wanted(x)
        best, chosen = self.best(), batch.x
        for i in self._used():
            output = self.rivals[i](x)
            logits = self.headed(output, *batches)
            if i == best:
                chosen = logits[: len(batch.y)].detach()
            self.right[i] += int((logits[: len(batch.y)].argmax(1) == batch.y).sum())
            trained = self.trainable(self.rivals[i], self.paths[i])
            loss = F.cross_entropy(logits, y) + self._distillation(output, wanted)
            self.apply(self.gradient(loss, trained), trained)
        self._settled = False
        self.met[batch.y] = True
        self.remember(batch)
        return chosen

    def boundary(self, last: bool) -> None:
        """The best network becomes the teacher; after J tasks its path is frozen and a new one is due."""
        self.settle()
        best = self.best()
        self.tasks_done += 1
        self.old.copy_(self.met)
        self.teacher.load_state_dict(self.net.state_dict())
        self.teacher.eval()
        path = self.paths[best].clone()
        self.paths.zero_()
        self.right.zero_()
        if int(self.tasks_done) % self.tasks_per_path == 0:
            self.frozen |= path
            self.net.frozen.copy_(self.frozen)
        else:  # the next task goes on with the same path, and has no rivals
            self.rivals[0].load_state_dict(self.net.state_dict())
            self.paths[0] = path
        self.net.train()

    def evaluate(self, raw: Tensor, task: int | Tensor | None) -> Tensor:
        self.settle()
        return super().evaluate(raw, task)

    def best(self) -> int:
        """The rival with the most right answers in this task; the first of several."""
        return int(self.right.argmax())

    def settle(self) -> None:
        """`net` becomes a copy of the best rival."""
        if not self._settled:
            self.net.load_state_dict(self.rivals[self.best()].state_dict())
            self._settled = True

    def _views(self) -> dict[str, NDArray]:
        self.settle()
        return super()._views()

    def restore(self, state: dict[str, NDArray]) -> None:
        super().restore(state)
        self._settled = True
        for net in (self.net, *self.rivals):
            net.train()

    def _used(self) -> list[int]:
        return [i for i, path in enumerate(self.paths) if path.any()]

    def _draw_paths(self) -> None:
        """New random paths, a rival for each, all with the weights as they are."""
        rivals, layers, modules = self.paths.shape
        for i in range(rivals if self.frozen.any() else 1):
            numbers = torch.randint(modules, (layers,), generator=self.generator)
            self.paths[i, torch.arange(layers), numbers] = True
            self.rivals[i].load_state_dict(self.net.state_dict())
            self.rivals[i].active.copy_(self.paths[i] | self.frozen)
            self.rivals[i].train()

    def _wanted(self, x: Tensor) -> Tensor | None:
        """The teacher's answers for the old classes; None in the first task."""
        if not self.old.any() or not self.distill:
            return None
        with torch.no_grad():
            return F.log_softmax(self.teacher(x)[:, self.old] / self.temperature, dim=1)

    def _distillation(self, output: Tensor, wanted: Tensor | None) -> Tensor:
        """How far the outputs of old classes have moved from the teacher's."""
        if wanted is None:
            return output.new_zeros(())
        saturated = int(self.tasks_done) - self.tasks_per_path * self.modules
        phi = self.distill * (saturated * self.gamma if saturated > 0 else 1.0)
        now = F.log_softmax(output[:, self.old] / self.temperature, dim=1)
        return phi * self.temperature**2 * F.kl_div(now, wanted, reduction="batchmean", log_target=True)
