"""All of Split-MNIST, one seed: our learner through the loop against a bare PyTorch fine-tuning loop.

    python benchmarks/split_mnist.py [--data-dir DIR]

Ours: features, 60,000 samples learned strictly online, 10,000 tested after every task, accuracy
matrix and prequential curve kept; 9,000 units of 16 inputs, threshold 2.5, GEN. The peer: an MLP 400-400 with SGD at
batch 10, the same samples and tests, nothing else. Both are timed with one thread and with all, and the quicker
setting of each counts. Wanted: an eighth of the peer's time; and less than it with a memory budget of 20 KB in place of
these options.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn

from kenyon.data.streams import Curriculum, Dataset, Stream, load_dataset
from kenyon.lab.evaluation import RunConfig, run_dataset

FAST = {"n_hidden": 9_000, "features__density": 16, "features__threshold": 2.5}
SMALL = {"memory_budget": "20KB"}
WANTED = {"split-mnist": (FAST, 8.0), "split-mnist in 20 KB": (SMALL, 1.0)}


def ours(dataset: Dataset, chosen: dict[str, Any]) -> tuple[float, float]:
    """(seconds, accuracy) of one seed, after a short run that compiles."""
    times = []
    for n_jobs in sorted({1, os.cpu_count() or 1}):
        options = {**chosen, "n_jobs": n_jobs}
        run_dataset(RunConfig("mnist", "kenyon", Curriculum(max_per_task=100), options=options), 0, dataset)
        for _ in range(3):
            begin = perf_counter()
            result = run_dataset(RunConfig("mnist", "kenyon", Curriculum(), options=options), 0, dataset)
            times.append(perf_counter() - begin)
    return min(times), result.metrics.accuracy


def peer(stream: Stream, n_threads: int) -> tuple[float, float]:
    """(seconds, accuracy) of plain fine-tuning."""
    torch.set_num_threads(n_threads)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(784, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03)
    tests = [episode.test(0, episode.n_test) for episode in stream.episodes]
    begin = perf_counter()
    for episode in stream.episodes:
        X, y = episode.train(0, episode.n_train)
        samples, labels = torch.from_numpy(X).float().div_(255), torch.from_numpy(y)
        for first in range(0, len(labels), 10):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(samples[first : first + 10]), labels[first : first + 10])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            hits = [float((net(torch.from_numpy(a).float().div_(255)).argmax(1).numpy() == b).mean()) for a, b in tests]
    return perf_counter() - begin, float(np.mean(hits))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    dataset = load_dataset("mnist", data_dir=parser.parse_args().data_dir)
    stream = Curriculum().open(dataset)
    peer_seconds, peer_accuracy = min(peer(stream, n) for n in {1, torch.get_num_threads()})
    missed = 0
    for name, (options, wanted) in WANTED.items():
        seconds, accuracy = ours(dataset, options)
        ratio = peer_seconds / seconds
        missed += ratio < wanted
        print(
            f"{'ok  ' if ratio >= wanted else 'MISS'} {name}, one seed: {seconds:.2f} s ({100 * accuracy:.1f} %) "
            f"against {peer_seconds:.2f} s ({100 * peer_accuracy:.1f} %) of plain fine-tuning: {ratio:.1f}x "
            f"(wanted {wanted:g}x)"
        )
        result = {"seconds": seconds, "peer_seconds": peer_seconds, "ratio": ratio}
        print(json.dumps({"benchmark": name, **result}), flush=True)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
