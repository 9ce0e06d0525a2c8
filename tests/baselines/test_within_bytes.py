"""The baselines of the frontier stay within their bytes, and learn in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, run

pytestmark = pytest.mark.slow

pytest.importorskip("torch", reason="needs the extra 'baselines'")
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in ("within_bytes", "frontier", "frontier_baselines"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "er", "network": "mlp", "inputs": 8, "replay_size": 30},
        {"method": "der++", "network": "mlp", "inputs": 4},
        {"method": "icarl", "network": "linear", "inputs": 8},
        {"method": "ncm", "network": "linear", "inputs": 8},
    ],
    ids=lambda options: options["method"],
)
def test_a_method_learns_within_its_bytes(options: dict[str, Any]) -> None:
    config = RunConfig(
        "digits", "within_bytes:WithinBytes", Curriculum(), {"memory_budget": 12_000, **options}, 0, "last"
    )
    metrics = run(config, seeds=[0]).results[0].metrics
    assert metrics.state_bytes <= 12_000
    assert metrics.state_bytes > 11_500 or options["method"] == "ncm"
    assert metrics.accuracy > 0.4


def info(shape: tuple[int, ...], n_classes: int) -> StreamInfo:
    tasks = tuple((c, c + 1) for c in range(0, n_classes, 2))
    return StreamInfo(shape, n_classes, tasks, 60_000, False, (0.0, 6.0) if len(shape) == 1 else (0.0, 255.0))


@pytest.mark.parametrize("budget", [20_000, 160_000, 1_000_000])
@pytest.mark.parametrize("shape", [(28, 28), (3, 32, 32), (1280,)])
@pytest.mark.parametrize("method", ["er", "der++", "icarl"])
def test_what_is_counted_is_what_is_kept(method: str, shape: tuple[int, ...], budget: int) -> None:
    from within_bytes import WithinBytes

    network = {"network": "cnn", "inputs": shape[-1] // 2} if len(shape) > 1 else {"network": "mlp", "inputs": 64}
    learner = WithinBytes(info(shape, 10), 0, method=method, memory_budget=budget, **network)
    X = np.random.default_rng(0).random((400, int(np.prod(shape)))).astype(np.float32)
    X = (255 * X).astype(np.uint8) if len(shape) > 1 else X
    learner.learn(X, np.arange(400) % 2)
    learner.end_task(last=False)  # iCaRL chooses what it remembers at the end of a task
    state = learner.state()
    rows = sum(len(array) for name, array in state.items() if name.endswith("column.y"))
    assert learner.state_bytes == sum(array.nbytes for array in state.values()) - 7 * rows - 5_056 + 8
    assert 0.95 * budget < learner.state_bytes <= budget
    assert all(array.dtype == np.uint8 for name, array in state.items() if name.endswith("column.x"))


def test_what_has_no_room_says_so() -> None:
    from within_bytes import WithinBytes

    for shape, more in (
        ((28, 28), {"network": "mlp"}),
        ((1280,), {"network": "linear"}),
        ((28, 28), {"method": "ncm"}),
    ):
        with pytest.raises(ConfigError, match="no room for"):
            WithinBytes(info(shape, 10), 0, memory_budget=500, **more)
    with pytest.raises(ConfigError, match="a side that divides 28"):
        WithinBytes(info((28, 28), 10), 0, inputs=9)


def test_each_step_of_the_tuning_goes_from_the_best_so_far(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import frontier_baselines

    tried: list[dict[str, Any]] = []

    class Results:
        def __init__(self, accuracy: float) -> None:
            self.results = [self]
            self.metrics = self
            self.accuracy = accuracy

    def score(config: RunConfig, seeds: list[int], store: Path) -> Results:
        assert config.curriculum.holdout == 0.1 and seeds == [frontier_baselines.TUNING_SEED]
        tried.append(dict(config.options))
        o = config.options
        return Results((o["network"] == "mlp") + 0.1 * (o["lr"] == 0.03) + 0.01 * o["share"] + 1e-4 * o["replay_size"])

    monkeypatch.setattr(frontier_baselines, "run", score)
    for size, wanted in (("20KB", {"share": 0.75, "replay_size": 30}), ("5MB", {"share": 0.9, "replay_size": 60})):
        tried.clear()
        stream = frontier_baselines.STREAMS[0]
        best, _, n = frontier_baselines.tune("er", stream, size, tmp_path)
        assert n == len(tried) == 8
        assert best["network"] == "mlp" and best["lr"] == 0.03
        assert {key: best[key] for key in wanted} == wanted
