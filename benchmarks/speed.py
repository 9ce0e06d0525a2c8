"""How fast the learner is: against PyTorch, against the machine's limit, one by one, and as things grow.

    python benchmarks/speed.py [--data-dir DIR]

Everything on one thread and on MNIST's bytes: 11,000 units, density .04, threshold 1.257. Every
figure is a ratio of times taken in this run. Each row is printed with what it is compared with.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from kenyon import KenyonClassifier, Plastic, Sparse
from kenyon.data.streams import load_dataset
from kenyon.features import BLOCK, Setting
from kenyon.rules import INEL, MSE

UNITS, DENSITY, THRESHOLD, RATE = 11_000, 0.04, 1.257, 0.15
RULES = {"mse": MSE(), "inel": INEL(beta=30.0)}


def make(rule: str, threshold: float = THRESHOLD) -> KenyonClassifier:
    return KenyonClassifier(
        RULES[rule],
        n_hidden=UNITS,
        features=Sparse(density=DENSITY, threshold=threshold),
        layer=Plastic(learning_rate=RATE),
        random_state=0,
    )


def best(run, repeats: int = 3) -> float:
    """Seconds of the quickest of a few runs."""
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        run()
        times.append(perf_counter() - begin)
    return min(times)


def ours(rule: str, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds a sample, features included."""
    return best(lambda: make(rule).partial_fit(X, y)) / len(y)


class Peer:
    """The same algorithm in PyTorch, sample by sample; `W_e` dense or in compressed rows."""

    def __init__(self, rule: str, sparse: bool, n_inputs: int) -> None:
        generator = np.random.default_rng(0)
        k = round(DENSITY * n_inputs)
        inputs = np.stack([generator.choice(n_inputs, k, replace=False) for _ in range(UNITS)])
        projection = torch.zeros(UNITS, n_inputs).scatter_(1, torch.from_numpy(inputs), 1.0)
        self.projection = projection.to_sparse_csr() if sparse else projection
        self.weights = torch.zeros(UNITS, 10)
        self.rule = rule

    def learn(self, sample: np.ndarray, label: int) -> None:
        projected = self.projection @ torch.from_numpy(sample).float()
        x_e = torch.relu(projected - projected.mean() - THRESHOLD * projected.std(correction=0))
        x_e /= x_e.norm()
        error = -(x_e @ self.weights)
        error[label] += 1
        if self.rule == "mse":
            self.weights.addr_(x_e, error, alpha=RATE)
        else:
            window = (self.weights - self.weights.mean(0)).abs_().mul_(30.0) <= 1
            self.weights.add_(torch.outer(x_e, error).mul_(window), alpha=RATE)

    def seconds(self, X: np.ndarray, y: np.ndarray) -> float:
        def run() -> None:
            for sample, label in zip(X, y.tolist(), strict=True):
                self.learn(sample, label)

        run()
        return best(run) / len(y)


def limit(n_inputs: int) -> float:
    """Seconds a sample that the sums of the projection take when every operand is in the nearest cache."""
    k = round(DENSITY * n_inputs)
    features = Sparse(units=UNITS, density=k, inhibitory=0.0, threshold=100.0).build(Setting(k))  # no unit passes that
    samples, workspace = np.ones((BLOCK, k), np.uint8), features.workspace()
    return best(lambda: features.activate(samples, workspace), 20) / BLOCK


def one_by_one(rule: str, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """p50 and p99 of `learn_one`, seconds."""
    classifier = make(rule).partial_fit(X[:200], y[:200])
    times = []
    for sample, label in zip(X, y.tolist(), strict=True):
        begin = perf_counter()
        classifier.learn_one(sample, label)
        times.append(perf_counter() - begin)
    return float(np.percentile(times, 50)), float(np.percentile(times, 99))


_MEMORY = """
import sys
import numpy as np
from kenyon import KenyonClassifier, Sparse
from kenyon.rules import MSE
from kenyon.data.streams import load_dataset
train = load_dataset("mnist", data_dir=sys.argv[1] or None).train
X, y = np.array(train.X), np.array(train.y)
KenyonClassifier(MSE(), features=Sparse(density=.04, threshold=1.257), random_state=0).partial_fit(X[:64], y[:64])
status = lambda key: int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1])
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = status("VmRSS")
KenyonClassifier(MSE(), features=Sparse(density=.04, threshold=1.257), random_state=0).partial_fit(X, y)
print((status("VmHWM") - before) * 1024)
"""


def peak_bytes(data_dir: str | None) -> int:
    """Growth of resident memory while 60,000 samples are learned in one call, the data not counted."""
    done = subprocess.run([sys.executable, "-c", _MEMORY, data_dir or ""], check=True, capture_output=True, text=True)
    return int(done.stdout)


def growth_in_samples(X: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """(time of 16,000 samples / 4 x time of 4,000, bytes by which the state grew)."""
    times, states = [], []
    for n in (4_000, 16_000):
        times.append(best(lambda n=n: make("mse").partial_fit(X[:n], y[:n])))
        states.append(make("mse").partial_fit(X[:n], y[:n]).state_bytes)
    return times[1] / (4 * times[0]), states[1] - states[0]


def growth_in_activity(X: np.ndarray, y: np.ndarray) -> tuple[list[float], list[float], float]:
    """Active units, microseconds a sample, and how well a straight line explains the times (R squared)."""
    active, times = [], []
    for threshold in (2.5, 2.0, 1.5, 1.0, 0.5, 0.0):
        classifier = make("mse", threshold).partial_fit(X[:100], y[:100])
        before = classifier.synaptic_updates_
        times.append(best(lambda c=classifier: c.partial_fit(X, y)) / len(y) * 1e6)
        active.append((classifier.synaptic_updates_ - before) / (3 * len(y)) / len(classifier.classes_))
    fit = np.poly1d(np.polyfit(active, times, 1))
    residual = np.array(times) - fit(active)
    return active, times, 1 - residual.var() / np.var(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    data_dir = parser.parse_args().data_dir
    warnings.filterwarnings("ignore", message="Sparse CSR")
    torch.set_num_threads(1)
    train = load_dataset("mnist", data_dir=data_dir).train
    X, y = np.array(train.X[:20_000]), np.array(train.y[:20_000])

    def row(name: str, text: str, ok: bool, **values: float) -> None:
        print(f"{'ok  ' if ok else 'MISS'} {name:<22} {text}")
        print(json.dumps({"benchmark": name, "ok": bool(ok), **values}))

    bound = limit(X.shape[1])
    for rule in RULES:
        seconds = ours(rule, X[:8_000], y[:8_000])
        dense = Peer(rule, False, X.shape[1]).seconds(X[:200], y[:200])
        csr = Peer(rule, True, X.shape[1]).seconds(X[:200], y[:200])
        row(
            f"learn, {rule}",
            f"{seconds * 1e6:.1f} us a sample: {dense / seconds:.0f}x dense PyTorch ({dense * 1e6:.0f} us; wanted 40x),"
            f" {csr / seconds:.0f}x CSR PyTorch ({csr * 1e6:.0f} us; wanted 12x); {bound / seconds:.0%} of the limit "
            f"set by the projection's additions alone ({bound * 1e6:.1f} us)",
            dense / seconds >= 40 and csr / seconds >= 12,
            us=seconds * 1e6,
            dense=dense / seconds,
            csr=csr / seconds,
            limit_share=bound / seconds,
        )
        p50, p99 = one_by_one(rule, X[:4_000], y[:4_000])
        row(
            f"learn_one, {rule}",
            f"p50 {p50 * 1e6:.0f} us, p99 {p99 * 1e6:.0f} us: p50 is {p50 / seconds:.1f}x the blocked time (wanted 4x)",
            p50 / seconds <= 4,
            p50_us=p50 * 1e6,
            p99_us=p99 * 1e6,
            ratio=p50 / seconds,
        )
    peak = peak_bytes(data_dir)
    row("peak memory", f"{peak / 1e6:.1f} MB beyond the data for 60,000 samples (wanted 64)", peak < 64e6, bytes=peak)
    ratio, grown = growth_in_samples(X, y)
    row(
        "growth in samples",
        f"4x the samples take {4 * ratio:.2f}x the time; the state grew by {grown} bytes",
        0.8 < ratio < 1.25 and grown == 0,
        ratio=ratio,
        state_growth=grown,
    )
    active, times, fit = growth_in_activity(X[:4_000], y[:4_000])
    pairs = ", ".join(f"{a:.0f}: {t:.1f}" for a, t in zip(active, times, strict=True))
    row("growth in activity", f"us a sample by active units: {pairs}; R^2 of a line {fit:.3f}", fit > 0.95, r2=fit)


if __name__ == "__main__":
    main()
