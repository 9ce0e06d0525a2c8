"""What the processes of the kill and race tests do; importable, so that another process can."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import unsynced  # noqa: F401
from kenyon.data.streams import Curriculum, load_dataset
from kenyon.lab import evaluation
from kenyon.lab.evaluation import METRICS, RunConfig, RunFolder, Store, run, run_dataset
from kenyon.utils.events import Event, Watch

MEASURED = [metric.name for metric in METRICS.values() if metric.measured]


def make_config(scenario: str = "class-incremental", **curriculum: Any) -> RunConfig:
    return RunConfig("digits", "evaluation.tiny:Tiny", Curriculum(scenario, **curriculum), weights_every=7)


def run_with_many_checkpoints(
    config: RunConfig, seed: int, store: Path, gate: Path | None = None, kill_at: int = 0
) -> int:
    """One run with a checkpoint at every pause.

    Args:
        gate: where `Tiny` waits, if anywhere.
        kill_at: the line of the evaluation's code, counted as they are executed, at which the process kills itself.

    Returns:
        Lines that were executed.
    """
    folder = Store(store).folder(config, seed)
    dataset = load_dataset("digits")
    if gate:
        os.environ["TINY_GATE"] = str(gate)
    with folder.locked(wait=True), _killed_at(kill_at) as lines:
        if not folder.complete:
            run_dataset(config, seed, dataset, folder=folder, checkpoint_seconds=0.0, checkpoint_share=math.inf)
    return lines[0]


@contextmanager
def _killed_at(line: int) -> Iterator[list[int]]:
    """Count lines of the evaluation's code and kill this process at one of them."""
    home, lines = str(Path(evaluation.__file__).parent), [0]

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(home):
            return None
        if event == "line":
            lines[0] += 1
            if lines[0] == line:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(None)


def run_seeds(config: RunConfig, seeds: list[int], store: Path, gate: Path, answers: Any) -> None:
    """All seeds, together with other processes that do the same."""

    class Started(Watch):
        def __init__(self) -> None:
            self.seeds: list[int] = []

        def opened(self, event: Event) -> None:
            assert event.seed is not None
            self.seeds.append(event.seed)

    watch = Started()
    os.environ["TINY_GATE"] = str(gate)
    report = run(config, seeds, store, watch=watch)
    answers.put((watch.seeds, [result.state_sha256 for result in report.results]))


def content(folder: RunFolder) -> dict[str, Any]:
    """Everything in a complete run's folder that must not depend on how it was run."""
    metrics = json.loads(folder.file("metrics.json").read_text())
    for name in MEASURED:
        del metrics["metrics"][name]
    files = ("config.toml", "accuracy_matrix.csv", "prequential.npy", "weights.npy")
    return {"metrics": metrics} | {name: folder.file(name).read_bytes() for name in files}


class Interrupted(Exception):
    """The run was stopped on purpose."""


def write_csv(path: Path, label: str = "label") -> None:
    """A small table of two classes."""
    path.write_text(f"a,b,{label}\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(40)))
