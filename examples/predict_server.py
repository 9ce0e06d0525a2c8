"""A server that predicts while it learns, from the standard library and Kenyon alone.

    python examples/predict_server.py                      serve on http://127.0.0.1:8000 until Ctrl-C
    python examples/predict_server.py --check 60           four clients ask while one teaches; checked

    curl -d '{"samples": [[0, 0, 5, ...]]}' http://127.0.0.1:8000/predict                     {"labels": [3]}
    curl -d '{"samples": [[0, 0, 5, ...]]}' http://127.0.0.1:8000/scores                      {"scores": [[0.1, ...]]}
    curl -d '{"samples": [[0, 0, 5, ...]], "labels": [3]}' http://127.0.0.1:8000/learn        {"learned": 901}

Each request has a thread of its own. Any number of them may predict at once; one that learns waits for those that are
under way and excludes all others, so every answer is of a state that the model was in between two lessons.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Iterable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from kenyon.errors import KenyonError

LARGEST = 16 << 20
"""Bytes of a request."""


class PredictServer(ThreadingHTTPServer):
    """Serves one model."""

    daemon_threads = True

    def __init__(self, model: KenyonClassifier, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(address, Handler)
        self.model = model

    def answer(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        samples = np.array(request["samples"], np.float32)
        if path == "/predict":
            return {"labels": self.model.predict(samples).tolist()}
        if path == "/scores":
            return {"scores": self.model.decision_function(samples).tolist()}
        self.model.partial_fit(samples, request["labels"])
        return {"learned": self.model.n_samples_learned_}


class Handler(BaseHTTPRequestHandler):
    """One connection; a client may send many requests over it."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # an answer goes out as a whole, and at once: in two parts it waits for the client's receipt
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length", 0))
            if self.path not in ("/predict", "/scores", "/learn") or not 0 <= length <= LARGEST:
                self.close_connection = True
                self._send(404, {"error": f"POST /predict, /scores or /learn, with up to {LARGEST} bytes"})
                return
            request = json.loads(self.rfile.read(length))
            self._send(200, self.server.answer(self.path, request))  # type: ignore[attr-defined]
        except (KenyonError, ValueError, TypeError, KeyError, RecursionError) as error:
            self._send(400, {"error": f"{type(error).__name__}: {error}"})

    def _send(self, code: int, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Client:
    """A connection to a server."""

    def __init__(self, server: PredictServer) -> None:
        self._connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)

    def ask(self, path: str, **request: Any) -> dict[str, Any]:
        self._connection.request("POST", path, json.dumps(request))
        answer = self._connection.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(content["error"])
        return content


def make_model() -> KenyonClassifier:
    return KenyonClassifier("gen", n_hidden=2000, random_state=0)


def ask_while_learning(n_clients: int, lessons: Iterable[slice]) -> tuple[int, int, int]:
    """Clients ask for scores while one teaches; every answer has to be of a state that the model was in.

    Returns:
        How many answers came, how many of them were of no state, and in how many states the model was.
    """
    X, y = load_digits(return_X_y=True)
    X, probe = X.astype(np.float32), X[:8].tolist()
    model, alone = make_model().partial_fit(X[:200], y[:200]), make_model().partial_fit(X[:200], y[:200])

    def state() -> str:
        return json.dumps(alone.decision_function(np.array(probe, np.float32)).tolist())

    states, seen, done = {state()}, list[str](), threading.Event()
    server = PredictServer(model)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()

    def ask() -> None:
        client = Client(server)
        while not done.is_set():
            seen.append(json.dumps(client.ask("/scores", samples=probe)["scores"]))

    clients = [threading.Thread(target=ask) for _ in range(n_clients)]
    for thread in clients:
        thread.start()
    teacher = Client(server)
    for piece in lessons:
        alone.partial_fit(X[piece], y[piece])
        states.add(state())  # before the server can be in it
        teacher.ask("/learn", samples=X[piece].tolist(), labels=y[piece].tolist())
    done.set()
    for thread in clients:
        thread.join()
    server.shutdown()
    server.server_close()
    return len(seen), sum(answer not in states for answer in seen), len(states)


def lessons_for(seconds: float, size: int = 5) -> Iterable[slice]:
    """Pieces of the digits, again and again, for so long."""
    end, start = time.monotonic() + seconds, 200
    while time.monotonic() < end:
        yield slice(start, start + size)
        start = 200 if start + 2 * size > 1797 else start + size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--check", type=float, metavar="SECONDS", help="check every answer for so long, and leave")
    parser.add_argument("--clients", type=int, default=4)
    given = parser.parse_args()
    if given.check is not None:
        answers, wrong, states = ask_while_learning(given.clients, lessons_for(given.check))
        print(f"{answers:,} answers to {given.clients} clients in {given.check:g} s, while the model went through")
        print(f"{states:,} states: {wrong} answers of no state that it was in")
        raise SystemExit(wrong > 0)
    X, y = load_digits(return_X_y=True)
    server = PredictServer(make_model().partial_fit(X[:900].astype(np.float32), y[:900]), ("127.0.0.1", given.port))
    print(f"serving on http://127.0.0.1:{server.server_port}, stop with Ctrl-C")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
