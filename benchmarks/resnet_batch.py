"""How long a batch takes ResNet-18 at full and at reduced width: forward, backward, SGD; one thread.

    python benchmarks/resnet_batch.py

Prints processor time, the median of several batches, and what a pass over the 50,000 images of CIFAR-10 would take at
that pace. Widths, precisions and the two orders of the weights in memory take turns, so that a busy machine is busy for
all of them.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines import Trainer

INFO = StreamInfo((3, 32, 32), 10, (tuple(range(10)),), n_train=50_000, task_heads=False)
BATCH, ROUNDS, IMAGES = 10, 15, 50_000


class Plain(Trainer):
    """SGD on the batches as they come."""

    name = "fine-tune"


KINDS = [
    (width, words) for width in (64, 20) for words in ("float32", "float32, channels not last in memory", "bfloat16")
]


def made(width: int, words: str) -> Plain:
    """The learner of a row; `build_network` puts the channels last."""
    learner = Plain(INFO, 0, lr=0.05, width=width, mixed_precision=words == "bfloat16")
    if words.endswith("memory"):
        for weights in learner.params:
            weights.data = weights.data.contiguous()
    return learner


def main() -> None:
    X = np.random.default_rng(0).integers(0, 256, (BATCH, 3072), dtype=np.uint8)
    y = np.arange(BATCH)
    learners = {kind: made(*kind) for kind in KINDS}
    seconds: dict[tuple[int, str], list[float]] = {kind: [] for kind in KINDS}
    for turn in range(ROUNDS + 1):
        for kind, learner in learners.items():
            begin = time.process_time()
            learner.learn(X, y)
            if turn:  # the first batch warms up
                seconds[kind].append(time.process_time() - begin)
    print("| filters of the first stage | arithmetic | ms for a batch of 10 | a pass over 50,000 images |")
    print("|---|---|---|---|")
    for (width, words), times in seconds.items():
        batch = median(times)
        print(f"| {width} | {words} | {1e3 * batch:.0f} | {batch * IMAGES / BATCH / 60:.0f} min |")


if __name__ == "__main__":
    main()
