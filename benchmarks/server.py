"""Predictions per second with 1, 2 and 4 threads on one model, alone and beside a thread that learns.

    python benchmarks/server.py [--seconds 2]

Kernels release Python's lock, so calls on blocks of samples run side by side as far as there are processors; calls on
single samples spend more of their time in Python itself, where only one thread runs at a time. The last rows go through
the server of `examples/predict_server.py`, HTTP and JSON included.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from predict_server import Client, PredictServer

THREADS = (1, 2, 4)


def per_second(make_call: Callable[[], Callable[[], int]], n_threads: int, seconds: float, learn: bool) -> float:
    """Samples predicted per second by threads that each make calls of their own."""
    counts, stop = [0] * n_threads, threading.Event()

    def work(number: int) -> None:
        call = make_call()
        while not stop.is_set():
            counts[number] += call()

    def teach() -> None:
        start = 900
        while not stop.is_set():
            MODEL.partial_fit(X[start : start + 5], Y[start : start + 5])
            start = 900 if start > 1700 else start + 5
            time.sleep(0.005)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    threads += [threading.Thread(target=teach)] if learn else []
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def in_process(n: int) -> Callable[[], Callable[[], int]]:
    def make_call() -> Callable[[], int]:
        return lambda: len(MODEL.predict(X[:n]))

    return make_call


def over_http(server: PredictServer, n: int) -> Callable[[], Callable[[], int]]:
    def make_call() -> Callable[[], int]:
        client, samples = Client(server), X[:n].tolist()
        return lambda: len(client.ask("/predict", samples=samples)["labels"])

    return make_call


X, Y = load_digits(return_X_y=True)
X = X.astype(np.uint8)
MODEL = KenyonClassifier("gen", random_state=0).partial_fit(X[:900], Y[:900])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    seconds = parser.parse_args().seconds
    server = PredictServer(MODEL)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ways = {
        "predict, 1 sample": in_process(1),
        "predict, 256 samples": in_process(256),
        "server, 1 sample": over_http(server, 1),
        "server, 64 samples": over_http(server, 64),
    }
    table = Table("calls", "beside learning", *(f"{n} threads" for n in THREADS), title="samples predicted per second")
    for name, make_call in ways.items():
        for learn in (False, True):
            per_second(make_call, 1, 0.2, learn)  # connected, warm
            rates = [per_second(make_call, n, seconds, learn) for n in THREADS]
            cells = [f"{rate:,.0f} ({rate / rates[0]:.2f})" for rate in rates]
            table.add_row(name, "yes" if learn else "no", *cells)
    Console().print(table)
    print(f"{os.cpu_count()} processors; in brackets: times one thread's")
    server.shutdown()


if __name__ == "__main__":
    main()
