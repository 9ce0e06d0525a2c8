"""The example of a server: clients that ask while one teaches get answers of states that the model was in."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
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
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    yield serving
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_it_predicts_learns_and_refuses(example: ModuleType, server: Any) -> None:
    client = example.Client(server)
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
        example.Client(server).ask("/delete")
    assert client.ask("/learn", samples=sample, labels=[7]) == {"learned": 62}, "what was refused taught something"
