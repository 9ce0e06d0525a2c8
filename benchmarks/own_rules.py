"""What a rule of your own costs: in NumPy, where it begins, and compiled, beside GEN inside the core.

    python benchmarks/own_rules.py

Processor time. Digits, one sample after the other through one layer of 2,000 units; every number is the best of five.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from kenyon.rules import GEN, Rule, kernels_of

N = 500


@dataclass(frozen=True)
class Leaky(Rule):
    """dW = l x_m x_e (1 - leak w)."""

    gated = True
    leak: float = 0.5

    @staticmethod
    def delta(x_e, x_o, x_m, w, leak):  # type: ignore[no-untyped-def,override]
        return x_m * x_e * (1 - leak * w)


def seconds(action: Callable[[], Any]) -> float:
    """Processor time of a call and of what it starts."""
    before = os.times()
    start = before.user + before.system + before.children_user + before.children_system
    action()
    after = os.times()
    return after.user + after.system + after.children_user + after.children_system - start


def learning(rule: Rule) -> float:
    """Microseconds to learn a sample."""
    X, y = load_digits(return_X_y=True)
    samples, labels = X.astype(np.uint8)[:N], y[:N]
    model = KenyonClassifier(rule=rule, n_hidden=2000, random_state=0, n_jobs=1).partial_fit(samples, labels)
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        model.partial_fit(samples, labels)
        best = min(best, time.process_time() - start)
    return 1e6 * best / N


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KENYON_CACHE"] = folder
        kernels: Any = kernels_of(Leaky())
        source, kernels._source = kernels._source, None  # stay in NumPy for as long as it takes
        print(f"in NumPy            {learning(Leaky()):8.1f} us a sample")
        kernels._source = source
        spent = seconds(kernels.compile)
        if kernels.how != "compiled":
            sys.exit("there is no C compiler: expected cc, gcc, clang or the package ziglang")
        print(f"compiling, once     {spent:8.1f} s")
        print(f"compiled            {learning(Leaky()):8.1f} us a sample")
        print(f"GEN, inside         {learning(GEN()):8.1f} us a sample")


if __name__ == "__main__":
    main()
