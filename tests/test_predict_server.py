"""The example server: answers while it learns are of states the model was in, and its limits hold."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FILE = Path(__file__).parent.parent / "examples" / "predict_server.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("predict_server", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_answer_is_of_a_state_the_model_was_in(example: ModuleType) -> None:
    pieces = [slice(start, start + 5) for start in range(200, 275, 5)]
    answers, wrong, states = example.ask_while_learning(4, pieces)
    assert answers > 20 and wrong == 0 and states == 16


@pytest.fixture
def server(example: ModuleType) -> Iterator[Any]:
    X, y = np.random.default_rng(0).random((60, 64)), np.arange(60) % 3
    serving = example.PredictServer(example.make_model().partial_fit(X.astype(np.float32), y))
    thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield serving
    serving.shutdown()
    serving.server_close()
    thread.join()


def connect(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))  # a hang is ended by the one limit of all tests
    connection.sendall(sent)
    return connection


def status(connection: socket.socket) -> int:
    """The code of an answer; 0 where the connection was closed without one."""
    try:
        return int((connection.recv(100) or b"HTTP/1.1 0").split()[1])
    except ConnectionError:
        return 0


def request(length: int | str, path: str = "/predict", content: bytes = b"") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode() + content


@pytest.mark.parametrize(
    "sent, code",
    [
        (request((1 << 20) + 1), 413),
        (request(10**15), 413),
        (request("9" * 5000), 413),
        (request("-5"), 411),
        (request("ten"), 411),
        (request("1_0"), 411),
        (b"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (request(5, "/delete"), 404),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
        (b"POST /predict HTTP/1.1\r\n" + b"a: b\r\n" * 200, 431),
        (b"POST /" + b"p" * 70_000, 414),
        (request(5, content=b"[[[[["), 400),
        (request(100_000, content=b"[" * 100_000), 400),
        (request(21, content=b'{"samples": [[1e999]]}'), 400),
    ],
)
def test_what_is_too_large_or_no_request_is_refused(sent: bytes, code: int, server: Any, example: ModuleType) -> None:
    """Its body is not read, and the next client is answered."""
    with connect(server.server_port, sent) as connection:
        assert status(connection) == code
    assert example.Client(server.server_port).ask("/predict", samples=[[0.5] * 64])["labels"]


@pytest.mark.parametrize("sent", [b"", b"POST /pred", request(100, content=b"{"), request(100)[:-2]])
def test_a_slow_client_is_disconnected(sent: bytes, example: ModuleType, server: Any) -> None:
    """Wherever it stops, the server closes the connection and frees its thread."""
    server.seconds = 0.05
    with connect(server.server_port, sent) as connection:
        assert status(connection) == 0


def test_trickled_bytes_do_not_extend_the_deadline(example: ModuleType) -> None:
    here, there = socket.socketpair()
    with here, there:
        arriving = example.Arriving(here, seconds=0.0)
        there.sendall(b"x")
        with pytest.raises(TimeoutError):
            arriving.read(1)


def test_a_flood_of_connections_is_refused_without_threads(example: ModuleType) -> None:
    """With all connections taken, others are refused at once; when they close, clients are served again."""
    X = np.random.default_rng(0).random((60, 64)).astype(np.float32)
    model = example.make_model().partial_fit(X, np.arange(60) % 3)
    with example.PredictServer(model, connections=4) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        held = [connect(serving.server_port, request(100, content=b"{")) for _ in range(4)]
        for _ in range(100):
            with connect(serving.server_port) as connection:
                assert status(connection) in (503, 0)
        own = [one for one in threading.enumerate() if "process_request_thread" in one.name]
        assert len(own) <= 4, "a refused connection has a thread"
        for connection in held:
            connection.close()
        for _ in range(1000):  # until the server has noticed
            with suppress(RuntimeError, ConnectionError, HTTPException):
                assert example.Client(serving.server_port).ask("/predict", samples=X[:1].tolist())["labels"]
                break
        else:
            raise AssertionError("no connection was free again")
        serving.shutdown()
        thread.join()


def test_new_labels_stay_within_the_memory_budget(example: ModuleType, server: Any) -> None:
    client, sample = example.Client(server.server_port), [[0.5] * 64]
    with pytest.raises(RuntimeError, match="the memory budget"):
        for label in range(10, 1000):
            client.ask("/learn", samples=sample, labels=[label])
    assert client.ask("/predict", samples=sample)["labels"]
    assert server.model.state_bytes <= 500_000


LIMITED = """
import resource, sys, threading
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import numpy as np
from predict_server import PredictServer, make_model

X = np.random.default_rng(0).random((60, 64)).astype(np.float32)
model = make_model().partial_fit(X, np.arange(60) % 3)
model.predict(X)
server = PredictServer(model, seconds=5.0)
threading.stack_size(1 << 20)
data = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()  # what may be written to
limit = data + (300 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="this limit of memory is Linux's")
def test_four_clients_and_one_that_learns_under_a_limit_of_memory(example: ModuleType) -> None:
    """Beside large bodies, half requests and answers that nobody reads; the process may grow by 300 MB."""
    words = [sys.executable, "-c", LIMITED, str(FILE.parent)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    port, wrong = int(process.stdout.readline()), list[str]()
    body = b'{"samples": [' + b",".join([b"[" + b",".join([b"0.5"] * 64) + b"]"] * 200) + b"]}"

    def predict() -> None:
        client = example.Client(port)
        for _ in range(20):
            if client.ask("/predict", samples=[[0.5] * 64])["labels"][0] not in range(10):
                wrong.append("another label")

    def learn() -> None:
        client = example.Client(port)
        for number in range(20):
            client.ask("/learn", samples=[[number / 20] * 64], labels=[number % 10])

    def attack() -> None:
        half = []
        for _ in range(40):
            with suppress(OSError):
                for sent in (request(10**9), request(len(body), "/scores", body), request(1 << 20)):
                    half.append(connect(port, sent))
            while len(half) > 20:
                half.pop(0).close()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            wrong.append(repr(error))

    attackers = [threading.Thread(target=attack) for _ in range(2)]
    clients = [threading.Thread(target=guarded, args=(work,)) for work in (*[predict] * 4, learn)]
    try:
        for thread in (*clients, *attackers):
            thread.start()
        for thread in (*clients, *attackers):
            thread.join()
        assert process.poll() is None and wrong == []
        answer = example.Client(port).ask("/learn", samples=[[0.5] * 64], labels=[1])
        assert answer == {"learned": 81}, "a sample was lost, or learned twice"
    finally:
        process.kill()
        said = process.stderr.read()
        process.wait()
        process.stdout.close()
        process.stderr.close()
    assert "Error" not in said, said


def test_it_predicts_learns_and_refuses(example: ModuleType, server: Any) -> None:
    client = example.Client(server.server_port)
    sample = [[0.5] * 64]
    assert client.ask("/predict", samples=sample)["labels"][0] in (0, 1, 2)
    assert client.ask("/learn", samples=sample, labels=[7]) == {"learned": 61}
    assert len(client.ask("/scores", samples=sample)["scores"][0]) == 4
    for path, request, reason in (
        ("/predict", {}, "KeyError"),
        ("/predict", {"samples": [[1.0]]}, "1 features"),
        ("/predict", {"samples": "x"}, "ValueError"),
        ("/learn", {"samples": sample, "labels": ["a"]}, "is a string"),
        ("/learn", {"samples": sample, "labels": []}, "one label"),
        ("/learn", {"samples": [[float("nan")] * 64], "labels": [1]}, "NaN"),
    ):
        with pytest.raises(RuntimeError, match=reason):
            client.ask(path, **request)
    with pytest.raises(RuntimeError, match="POST /predict"):
        example.Client(server.server_port).ask("/delete")
    assert client.ask("/learn", samples=sample, labels=[7]) == {"learned": 62}, "a refused request was learned"
