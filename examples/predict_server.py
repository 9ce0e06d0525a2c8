"""A server that predicts while it learns, from the standard library and Kenyon alone.

    python examples/predict_server.py                      serve on http://127.0.0.1:8000 until Ctrl-C
    python examples/predict_server.py --check 60           four clients predict while one learns, with answers checked

    curl -d '{"samples": [[0, 0, 5, ...]]}' http://127.0.0.1:8000/predict                     {"labels": [3]}
    curl -d '{"samples": [[0, 0, 5, ...]]}' http://127.0.0.1:8000/scores                      {"scores": [[0.1, ...]]}
    curl -d '{"samples": [[0, 0, 5, ...]], "labels": [3]}' http://127.0.0.1:8000/learn        {"learned": 901}

Each request has a thread of its own. Any number of them may predict at once; one that learns waits for those that are
under way and excludes all others, so every answer is of a state that the model was in between two calls.

Limits (the constants below): bytes of a request, seconds until it is complete, open connections, requests that are
computed at once; and the classes that clients can add, by the model's memory budget. The rest is refused, so the
server's memory and threads are bounded. There is no authentication: it listens on this machine only.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from kenyon.errors import KenyonError

LARGEST = 1 << 20
"""Bytes of a request."""
SECONDS = 10.0
"""From the answer before (or the connection) until a request is complete; and until its answer is fetched."""
CONNECTIONS = 64
"""Open connections; one more is answered by 503 and closed."""
AT_ONCE = 8
"""Requests that are parsed and computed at the same time; the others wait, holding their bytes only."""


class PredictServer(ThreadingHTTPServer):
    """Serves one model within fixed limits.

    Args:
        model: give it a memory budget; without one, every new label adds a class.
        address: where to listen.
        seconds: see `SECONDS`.
        connections: see `CONNECTIONS`.
    """

    daemon_threads = True
    request_queue_size = 128  # with the usual 5, a connection beside a few others waits a second to be tried again

    def __init__(
        self,
        model: KenyonClassifier,
        address: tuple[str, int] = ("127.0.0.1", 0),
        seconds: float = SECONDS,
        connections: int = CONNECTIONS,
    ) -> None:
        super().__init__(address, Handler)
        self.model, self.seconds = model, seconds
        self._free, self.turn = threading.Semaphore(connections), threading.Semaphore(AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a thread, or refuse it."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.settimeout(0)  # a refusal never blocks
            request.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print errors, except for clients that disconnected."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def answer(self, path: str, content: bytes) -> dict[str, Any]:
        with self.turn:
            request = json.loads(content)
            samples = np.array(request["samples"], np.float32)
            if path == "/predict":
                return {"labels": self.model.predict(samples).tolist()}
            if path == "/scores":
                return {"scores": self.model.decision_function(samples).tolist()}
            self.model.partial_fit(samples, request["labels"])
            return {"learned": self.model.n_samples_learned_}


class Arriving(io.RawIOBase):
    """What a client sends, with one deadline for a whole request: sending a byte now and then does not extend it."""

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds
        self.begin()

    def begin(self) -> None:
        """Start the deadline of the next request."""
        self._end = time.monotonic() + self._seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    """One connection; a client may send many requests over it."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes out as a whole, and at once: in two parts it waits for the client's receipt
    disable_nagle_algorithm = True
    server: PredictServer

    def setup(self) -> None:
        super().setup()
        self._arriving = Arriving(self.connection, self.server.seconds)
        self.rfile = io.BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        self._arriving.begin()
        super().handle_one_request()

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path not in ("/predict", "/scores", "/learn"):
            self._refuse(404, "POST /predict, /scores or /learn")
        elif not (length.isascii() and length.isdigit()):  # a body in pieces does not say how long it is
            self._refuse(411, f"Content-Length is {length!r}: expected a number of bytes")
        elif len(length) > 12 or int(length) > LARGEST:
            self._refuse(413, f"Content-Length is {length}: expected at most {LARGEST} bytes")
        else:
            try:
                content = self.rfile.read(int(length))
                self._send(200, self.server.answer(self.path, content))
            except (KenyonError, ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
                self._send(400, {"error": f"{type(error).__name__}: {error}"[:1000]})
            except MemoryError:
                self._refuse(503, "there is no memory for it now")

    def _refuse(self, code: int, reason: str) -> None:
        """Answer without reading the body, and close the connection."""
        self.close_connection = True
        self._send(code, {"error": reason})

    def _send(self, code: int, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.connection.settimeout(self.server.seconds)  # for all of it
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Client:
    """A connection to a server."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, path: str, **request: Any) -> dict[str, Any]:
        self._connection.request("POST", path, json.dumps(request))
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {content.decode()}")
        return json.loads(content)


def make_model() -> KenyonClassifier:
    return KenyonClassifier("mse", n_hidden=2000, memory_budget="500KB", random_state=0)


def ask_while_learning(n_clients: int, pieces: Iterable[slice]) -> tuple[int, int, int]:
    """Clients ask for scores while one learns; every answer has to be of a state that the model was in.

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
        client = Client(server.server_port)
        while not done.is_set():
            seen.append(json.dumps(client.ask("/scores", samples=probe)["scores"]))

    clients = [threading.Thread(target=ask) for _ in range(n_clients)]
    for thread in clients:
        thread.start()
    learning = Client(server.server_port)
    for piece in pieces:
        alone.partial_fit(X[piece], y[piece])
        states.add(state())  # before the server can be in it
        learning.ask("/learn", samples=X[piece].tolist(), labels=y[piece].tolist())
    done.set()
    for thread in clients:
        thread.join()
    server.shutdown()
    server.server_close()
    return len(seen), sum(answer not in states for answer in seen), len(states)


def pieces_for(seconds: float, size: int = 5) -> Iterable[slice]:
    """Pieces of the digits, over and over, for this many seconds."""
    end, start = time.monotonic() + seconds, 200
    while time.monotonic() < end:
        yield slice(start, start + size)
        start = 200 if start + 2 * size > 1797 else start + size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--check", type=float, metavar="SECONDS", help="check answers for this long, then exit")
    parser.add_argument("--clients", type=int, default=4)
    given = parser.parse_args()
    if given.check is not None:
        answers, wrong, states = ask_while_learning(given.clients, pieces_for(given.check))
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
