"""iCaRL as the implementation has it that the published figures come from, step by step.

    python benchmarks/icarl_published.py [--seeds 2]

Class-incremental Split-MNIST, test set, one pass, batches of 10, 500 exemplars: `icarl` as it is, and what the
implementation of Buzzega et al., 2020 (Mammoth) does differently, one thing after the other. Its loss is a mean over
the ten outputs where ours is their sum, so that its rate of 0.1 is 0.01 here; an exemplar is learned once in a task,
as one of its samples, where ours replays ten with every batch; the mean of a class is that of its exemplars and of
their mirror images, which for digits are no digits; and the network is an MLP 100-100.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run
from kenyon.learners import learner_class

ICaRL: Any = learner_class("icarl")


class Published(ICaRL):
    """`icarl` with the published implementation's ways.

    Args:
        info: what is known of the stream.
        seed: of weights and draws.
        once: whether an exemplar is learned once in a task, with the probability that it is next in a shuffled task.
        mirrored: whether the mean of a class counts mirror images as well.
        common: the options of `icarl`.
    """

    name = "icarl"

    def __init__(
        self, info: StreamInfo, seed: int, *, once: bool = False, mirrored: bool = False, **common: Any
    ) -> None:
        super().__init__(info, seed, **common)
        self.once, self.mirrored = once, mirrored

    def step(self, batch: Any) -> Tensor:
        if self.once:
            share = len(self.buffer) * len(self.info.tasks) / self.info.n_train
            draws = torch.rand(len(batch.y), generator=self.generator) < share
            self.replay_size = int(draws.sum())
        return super().step(batch)

    def means(self) -> Tensor:
        means = super().means()
        if not self.mirrored:
            return means
        plain, self.embed = self.embed, self._mirrored
        try:
            return F.normalize(means + super().means())
        finally:
            self.embed = plain

    def _mirrored(self, raw: Tensor) -> Tensor:
        images = raw.reshape(len(raw), *self.info.shape).flip(-1)
        return type(self).embed(self, images.reshape(len(raw), -1))


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("as it is, lr 0.3", {}),
    ("a rate of 0.1 as a mean over outputs", {"lr": 0.01}),
    ("... and exemplars learned once in a task", {"lr": 0.01, "once": True}),
    ("... and means with mirror images", {"lr": 0.01, "once": True, "mirrored": True}),
    ("... and an MLP 100-100", {"lr": 0.01, "once": True, "mirrored": True, "hidden": [100, 100]}),
    ("mirror images alone, lr 0.3", {"mirrored": True}),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    print("| | accuracy, % |\n|---|---|", flush=True)
    for label, options in STEPS:
        config = RunConfig("mnist", f"{__file__}:Published", Curriculum("class-incremental"), options, 0, tests="last")
        found = run(config, range(args.seeds), None).summary("accuracy")
        print(f"| {label} | {100 * (found.mean or 0.0):.1f} |", flush=True)


if __name__ == "__main__":
    main()
