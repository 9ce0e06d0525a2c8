"""Threads that predict while one learns: calls a second, for one to four of them.

    python benchmarks/threads.py

A table of 20 numbers and 10 classes, and bytes of 28 x 28, each with the defaults. One thread learns sample by sample;
the others predict single samples and batches of 256. `alone` is one thread that predicts while nobody learns. Calls
that predict run side by side (the core releases the GIL), one that learns excludes them.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier


def stream(kind: str, n: int = 3000) -> tuple[NDArray, NDArray[np.int64]]:
    """Normal samples around a mean of each of ten classes."""
    rng = np.random.default_rng(0)
    y, width = rng.integers(0, 10, n), 20 if kind == "table" else 784
    X = rng.normal(0, 1, (10, width))[y] + 2 * rng.normal(0, 1, (n, width))
    return (X if kind == "table" else np.clip(128 + 25 * X, 0, 255).astype(np.uint8)), y


def calls(
    asking: list[Callable[[], object]], learn: Callable[[], object] | None, seconds: float
) -> tuple[float, float]:
    """Calls a second of all that ask, and of the one that learns."""
    done, stop = [0] * (len(asking) + 1), threading.Event()

    def work(number: int, call: Callable[[], object]) -> None:
        while not stop.is_set():
            call()
            done[number] += 1

    every = [*enumerate(asking, 1), *([(0, learn)] if learn is not None else [])]
    threads = [threading.Thread(target=work, args=one) for one in every]
    before = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - before
    return sum(done[1:]) / spent, done[0] / spent


def measured(kind: str, size: int, seconds: float) -> list[dict[str, float | str]]:
    X, y = stream(kind)
    clf = KenyonClassifier(random_state=0).partial_fit(X, y)
    places = iter(range(10**9))

    def ask() -> object:
        return clf.predict_one(X[0]) if size == 1 else clf.predict(X[:size])

    def learn() -> object:
        place = next(places) % len(X)
        return clf.learn_one(X[place], int(y[place]))

    alone, _ = calls([ask], None, seconds)
    rows: list[dict[str, float | str]] = []
    for n in (1, 2, 4):
        asked, learned = calls([ask] * n, learn, seconds)
        rows.append({"kind": kind, "batch": size, "threads": n, "alone": alone, "asked": asked, "learned": learned})
        cells = f"{alone:,.0f} | {asked:,.0f} | {learned:,.0f}"
        print(f"| {kind} | {size} | {n} | {cells} |", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    chosen = parser.parse_args()
    print(f"{os.cpu_count()} cores; calls a second\n")
    print("| samples | batch | threads that predict | one alone | all of them | learned meanwhile |")
    print("|---|---|---|---|---|---|")
    rows = [row for kind in ("table", "bytes") for size in (1, 256) for row in measured(kind, size, chosen.seconds)]
    print(json.dumps({"benchmark": "threads", "cores": os.cpu_count(), "rows": rows}))


if __name__ == "__main__":
    main()
