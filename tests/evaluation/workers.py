"""What the processes of the kill and race tests do; importable, so that another process can."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from kenyon.evaluation import METRICS, RunConfig, RunFolder, Store, Watch, run, run_dataset
from kenyon.streams import Curriculum, load_dataset

MEASURED = [metric.name for metric in METRICS.values() if metric.measured]


def make_config(scenario: str = "class-incremental", delay: float = 0.0, **curriculum: Any) -> RunConfig:
    options = {"delay": delay}
    return RunConfig("digits", "evaluation.tiny:Tiny", Curriculum(scenario, **curriculum), options, weights_every=7)


def run_with_many_checkpoints(config: RunConfig, seed: int, store: Path, ready: Any) -> None:
    """One run with a checkpoint at every pause, so that a kill finds every kind of moment."""
    folder = Store(store).folder(config, seed)
    dataset = load_dataset("digits")
    ready.set()
    with folder.locked(wait=True):
        if not folder.complete:
            run_dataset(config, seed, dataset, folder=folder, checkpoint_seconds=0.0, checkpoint_share=math.inf)


def run_seeds(config: RunConfig, seeds: list[int], store: Path, barrier: Any, answers: Any) -> None:
    """All seeds, together with other processes that do the same."""

    class Started(Watch):
        def __init__(self) -> None:
            self.seeds: list[int] = []

        def started(self, seed: int, *_: object) -> None:
            self.seeds.append(seed)

    watch = Started()
    barrier.wait()
    report = run(config, seeds, store, watch=watch)
    answers.put((watch.seeds, [result.state_sha256 for result in report.results]))


def content(folder: RunFolder) -> dict[str, Any]:
    """Everything in a complete run's folder that must not depend on how it was run."""
    metrics = json.loads(folder.file("metrics.json").read_text())
    for name in MEASURED:
        del metrics["metrics"][name]
    files = ("config.toml", "accuracy_matrix.csv", "prequential.npy", "weights.npy")
    return {"metrics": metrics} | {name: folder.file(name).read_bytes() for name in files}
