"""From a configuration to its results: open the stream, build the learner, drive the loop, keep the store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from kenyon.errors import ConfigError, DataError
from kenyon.evaluation._backbone import backbone_bytes, with_backbone
from kenyon.evaluation._checkpoint import Timer, state_hash
from kenyon.evaluation._config import RunConfig
from kenyon.evaluation._loop import drive, n_records, weights_stride
from kenyon.evaluation._metrics import FinishedRun, Metrics
from kenyon.evaluation._recorder import FolderRecorder, NoRecorder
from kenyon.evaluation._result import Report, RunResult
from kenyon.evaluation._store import MODEL, RunFolder, Store
from kenyon.evaluation._tally import Tally
from kenyon.evaluation._watch import Watch
from kenyon.learners import learner_class, make_learner
from kenyon.protocol import Learner
from kenyon.streams import Dataset, Stream, load_dataset

CHECKPOINT_SECONDS = 10.0
CHECKPOINT_SHARE = 0.01


def run(
    config: RunConfig,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    store: Path | str | None = None,
    *,
    data_dir: Path | str | None = None,
    again: bool = False,
    save_model: bool = False,
    watch: Watch | None = None,
) -> Report:
    """Run a configuration once for every seed.

    Args:
        config: what to run.
        seeds: each sets the stream and the learner.
        store: a folder to keep the runs in; a run found there complete is not run again, one found
            incomplete goes on from its checkpoint. None keeps nothing.
        data_dir: where the data sets are; None for the usual place.
        again: forget what the store has of these runs.
        save_model: keep the trained model of each run in its folder, as `model.safetensors`. A run found complete
            without it is run once more for the model; its results stay as they are.
        watch: gets told about progress.
    """
    watch = watch or Watch()
    if save_model:
        _check_saving(config.learner, store)
    opened: list[Dataset] = []

    def dataset() -> Dataset:
        if not opened:
            images = load_dataset(config.dataset, data_dir=data_dir)
            opened.append(with_backbone(images, config.backbone, data_dir, watch) if config.backbone else images)
        return opened[0]

    results: dict[int, RunResult] = {}
    # A seed that another process works on is left for last, so that processes share the seeds out among themselves.
    for wait in (False, True):
        for seed in [seed for seed in seeds if seed not in results]:
            if store is None:
                results[seed] = run_dataset(config, seed, dataset(), watch=watch)
            else:
                folder = Store(Path(store)).folder(config, seed)
                model_is_missing = save_model and not folder.file(MODEL).exists()
                if again or model_is_missing or not folder.complete:
                    dataset()  # a data set that is missing must not leave a folder behind
                if wait:
                    watch.waiting(folder.path)
                with folder.locked(wait) as held:
                    if not held:
                        continue
                    # Waited for: the other process has just run it, which is as good as running it again.
                    if again and not wait:
                        folder.clear()
                    if not folder.complete:
                        run_dataset(config, seed, dataset(), folder=folder, save_model=save_model, watch=watch)
                    results[seed] = folder.result()
                    if save_model and not folder.file(MODEL).exists():
                        _run_for_model(config, dataset(), results[seed], folder, watch)
            watch.finished(results[seed])
    return Report(config.to_dict(), [results[seed] for seed in seeds])


def _check_saving(learner: str, store: Path | str | None) -> None:
    if not hasattr(learner_class(learner), "save"):
        raise ConfigError(f"the learner {learner!r} has no model file: its class has no save(path)")
    if store is None:
        raise ConfigError("save_model is given without a store: name the folder to keep the models in")


def _run_for_model(config: RunConfig, dataset: Dataset, kept: RunResult, folder: RunFolder, watch: Watch) -> None:
    """Run a complete run once more, in a folder within its own, and keep the model alone."""
    inner = RunFolder(folder.path / ".again")
    inner.path.mkdir(exist_ok=True)
    result = run_dataset(config, kept.seed, dataset, folder=inner, save_model=True, watch=watch)
    if result.accuracy_matrix == kept.accuracy_matrix:
        os.replace(inner.file(MODEL), folder.file(MODEL))
    shutil.rmtree(inner.path)
    if result.accuracy_matrix != kept.accuracy_matrix:
        raise DataError(f"{folder.path} has other results than a run would have now: run again with --again")


def run_dataset(
    config: RunConfig,
    seed: int,
    dataset: Dataset,
    *,
    folder: RunFolder | None = None,
    save_model: bool = False,
    watch: Watch | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    checkpoint_share: float = CHECKPOINT_SHARE,
) -> RunResult:
    """Run one seed on an open data set.

    Args:
        folder: where to keep it; its lock must be held. None keeps nothing.
        save_model: keep the trained model in the folder too.
        checkpoint_seconds: how often to checkpoint within a task; at task ends ten times as often.
        checkpoint_share: the largest share of the time that checkpoints may take.
    """
    watch = watch or Watch()
    curriculum = replace(config.curriculum, seed=seed)
    stream = curriculum.open(dataset)
    run_ids = config.run_ids(seed) if folder else (config.run_id(seed),)
    make = partial(make_learner, config.learner, stream.info, seed, curriculum.scenario, **config.options)
    learner = make()
    stride = weights_stride(learner, stream.info.n_train, config.weights_every)
    recorder: NoRecorder | FolderRecorder = NoRecorder(len(stream.episodes))
    if folder:
        folder.begin(config, seed)
        sizes = (stream.info.n_train, n_records(stream, stride), stream.info.n_classes)
        more = (sizes, len(stream.episodes), Timer(checkpoint_seconds, checkpoint_share), watch)
        try:
            recorder = FolderRecorder(folder, run_ids, learner, *more)
        except DataError as error:
            watch.note(f"{error}: the run starts over")
            folder.file("checkpoint.safetensors").unlink()
            learner = make()
            recorder = FolderRecorder(folder, run_ids, learner, *more)
    tally = recorder.tally
    n_test = [episode.n_test for episode in stream.episodes]
    watch.started(seed, stream.info, n_test, tally)
    boundaries = curriculum.scenario != "task-free"
    drive(stream, learner, tally, recorder, watch, stride=stride, tests=config.tests, boundaries=boundaries)
    result = _result(config, seed, run_ids[0], stream, learner, tally, stride)
    if folder and save_model:
        folder.save_model(learner)
    recorder.finish(result)
    return result


def _result(
    config: RunConfig, seed: int, run_id: str, stream: Stream, learner: Learner, tally: Tally, stride: int
) -> RunResult:
    n_test = np.array([episode.n_test for episode in stream.episodes], dtype=np.int64)
    rows = [[None if np.isnan(a) else float(a) for a in row] for row in tally.accuracies(n_test)]
    return RunResult(
        seed=seed,
        tested_on="holdout" if config.curriculum.holdout else "test",
        tasks=tuple(tuple(int(c) for c in task) for task in stream.info.tasks),
        n_train=tuple(episode.n_train for episode in stream.episodes),
        n_test=tuple(n_test.tolist()),
        metrics=Metrics.of(FinishedRun.of(tally, learner, stream)),
        accuracy_matrix=rows[1:],
        accuracy_before=rows[0],
        weights_stride=stride,
        state_sha256=state_hash(learner.state()),
        backbone_bytes=backbone_bytes(stream.dataset),
        options=dict(getattr(learner, "options", {})),
        run=run_id,
    )
