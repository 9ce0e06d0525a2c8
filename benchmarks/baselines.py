"""What the shared trainer costs: fine-tuning through it against the same network in a bare PyTorch loop.

    python benchmarks/baselines.py [--batches 600] [--rounds 7]

Both learn the same random MNIST-shaped bytes (MLP 400-400, batch 10, SGD, one thread), in turns, and the fastest round
of each counts. The bare loop is the one from a tutorial: bytes to float, forward, `zero_grad`, `backward`,
`torch.optim.SGD.step`. The trainer is measured as the evaluation loop calls it: predictions included.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._fine_tune import FineTune

BATCH, LR, LIMIT = 10, 0.03, 1.25


def bare_loop(net: nn.Module, X: NDArray[np.uint8], y: NDArray[np.int64]) -> None:
    optimizer = torch.optim.SGD(net.parameters(), lr=LR)
    loss_of = nn.CrossEntropyLoss()
    for start in range(0, len(X), BATCH):
        x = torch.from_numpy(X[start : start + BATCH]).float() / 255
        t = torch.from_numpy(y[start : start + BATCH])
        optimizer.zero_grad()
        loss_of(net(x), t).backward()
        optimizer.step()


def measure(batches: int, rounds: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (batches * BATCH, 784), dtype=np.uint8)
    y = rng.integers(0, 10, batches * BATCH)
    info = StreamInfo((28, 28), 10, (tuple(range(10)),), len(X), False)
    net = nn.Sequential(
        nn.Linear(784, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 10)
    )  # fmt: skip
    learner = FineTune(info, 0, lr=LR)
    torch.set_num_threads(1)
    bare, ours = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        bare_loop(net, X, y)
        middle = time.perf_counter()
        learner.test_then_learn(X, y)
        bare.append(middle - start)
        ours.append(time.perf_counter() - middle)
    per_batch = 1e6 / batches
    return {
        "bare_us_per_batch": min(bare) * per_batch,
        "trainer_us_per_batch": min(ours) * per_batch,
        "ratio": min(ours) / min(bare),
        "limit": LIMIT,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = measure(args.batches, args.rounds)
    if args.json:
        print(json.dumps(result))
        return
    print(f"bare PyTorch loop  {result['bare_us_per_batch']:8.0f} us a batch")
    print(f"shared trainer     {result['trainer_us_per_batch']:8.0f} us a batch")
    print(f"ratio              {result['ratio']:8.2f}    (at most {LIMIT})")


if __name__ == "__main__":
    main()
