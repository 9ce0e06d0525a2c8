"""Predictions per second with 1, 2 and 4 threads on one model, alone and beside a thread that learns; then a service:
clients in processes of their own that predict, and one that learns all the time.

    python benchmarks/server.py [--seconds 2] [--clients 4]
    python benchmarks/server.py --service                  the service alone

Kernels release Python's lock, so calls on blocks of samples run side by side as far as there are processors; calls on
single samples spend more of their time in Python itself, where only one thread runs at a time. The last rows, and the
service, go through the server of `examples/predict_server.py`, HTTP and JSON included; the service prints calls a
second, their median and 99th percentile (p99), and by how much the server's memory grew.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from predict_server import Client, PredictServer, make_model

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
        client, samples = Client(server.server_port), X[:n].tolist()
        return lambda: len(client.ask("/predict", samples=samples)["labels"])

    return make_call


def client(port: int, path: str, seconds: float, start: Any, answers: Any) -> None:
    """One process: calls one after the other for `seconds`; how long each took."""
    took, number = list[float](), 0

    def call(own: Client) -> None:
        learned = {"labels": Y[number : number + 5].tolist()} if path == "/learn" else {}
        own.ask(path, samples=X[number : number + (5 if learned else 1)].tolist(), **learned)

    call(Client(port))
    start.wait()
    own = Client(port)  # the server closes a connection that waited too long
    call(own)
    end = time.monotonic() + seconds
    while (begin := time.monotonic()) < end:
        number = (number + 5) % 900
        call(own)
        took.append(time.monotonic() - begin)
    answers.put((path, took))


def service(n_clients: int, seconds: float) -> Table:
    """Clients that predict, and one that learns, in processes of their own."""
    server = PredictServer(make_model().partial_fit(X[:900].astype(np.float32), Y[:900]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    table = Table("calls", "calls a second", "median ms", "p99 ms", title=f"{n_clients} clients predict, one learns")
    paths, processes = ["/predict"] * n_clients + ["/learn"], get_context("spawn")
    start, answers = processes.Barrier(len(paths) + 1), processes.Queue()
    own = [processes.Process(target=client, args=(server.server_port, p, seconds, start, answers)) for p in paths]
    for process in own:
        process.start()
    start.wait()
    before = psutil.Process().memory_info().rss
    took = [answers.get() for _ in own]
    for process in own:
        process.join()
    for name, path in (("predict", "/predict"), ("learn 5 samples", "/learn")):
        calls = np.concatenate([seconds for own_path, seconds in took if own_path == path])
        middle, slow = np.percentile(1000 * calls, [50, 99])
        table.add_row(name, f"{len(calls) / seconds:,.0f}", f"{middle:.1f}", f"{slow:.1f}")
    grown = psutil.Process().memory_info().rss - before
    table.caption = f"the server grew by {grown / 1e6:.1f} MB, the model has {server.model.state_bytes:,} bytes"
    server.shutdown()
    server.server_close()
    return table


X, Y = load_digits(return_X_y=True)
X = X.astype(np.uint8)
MODEL = KenyonClassifier("gen", random_state=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--clients", type=int, default=4, help="that predict, of the service")
    parser.add_argument("--service", action="store_true", help="the service alone")
    given = parser.parse_args()
    if not given.service:
        threads(given.seconds)
    Console().print(service(given.clients, given.seconds))


def threads(seconds: float) -> None:
    """Threads of one process, on the model itself and through the server."""
    MODEL.partial_fit(X[:900], Y[:900])
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
