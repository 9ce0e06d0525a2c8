"""One seed: open the stream, build the learner, drive the loop, keep the results; and its trained learner, loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kenyon.data.protocol import Learner
from kenyon.data.streams import Dataset, Stream
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation._asking import Asking
from kenyon.lab.evaluation._backbone import backbone_bytes
from kenyon.lab.evaluation._checkpoint import FolderRecorder, Recorder, Timer, read_checkpoint, state_hash
from kenyon.lab.evaluation._config import RunConfig, parse_seeds
from kenyon.lab.evaluation._identity import id_of
from kenyon.lab.evaluation._loop import Loop, n_records, weights_stride
from kenyon.lab.evaluation._metrics import FinishedRun
from kenyon.lab.evaluation._operations import is_counted, operations_of, operations_so_far
from kenyon.lab.evaluation._pace import Paced
from kenyon.lab.evaluation._result import Metrics, RunResult
from kenyon.lab.evaluation._store import MODEL, RunFolder
from kenyon.lab.evaluation._tally import Tally
from kenyon.lab.evaluation._wrapped import Wrapped
from kenyon.learners import make_learner
from kenyon.utils.events import Event, Watch

TRIAL_SAMPLES = 32
"""Of the trial before a run."""
_warm: set[str] = set()
CHECKPOINT_SECONDS = 10.0
CHECKPOINT_SHARE = 0.01


def run_dataset(
    config: RunConfig,
    seed: int,
    dataset: Dataset,
    *,
    folder: RunFolder | None = None,
    save_model: bool = False,
    watch: Watch | None = None,
    keep: Callable[[Learner], None] | None = None,
    identity: Mapping[str, Any] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    checkpoint_share: float = CHECKPOINT_SHARE,
) -> RunResult:
    """Run one seed on an open data set.

    Args:
        folder: where to keep it; its lock must be held. None keeps nothing.
        save_model: keep the trained model in the folder too.
        keep: gets the trained learner.
        identity: `config.identity`, where it is known already.
        checkpoint_seconds: how often to checkpoint within a task; at task ends ten times as often.
        checkpoint_share: the largest share of the time that checkpoints may take.

    Example:
        >>> from kenyon.data.streams import load_dataset
        >>> result = run_dataset(RunConfig("digits", "ncm"), 0, load_dataset("digits"))
        >>> result.tasks
        ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
    """
    watch = watch or Watch()
    curriculum = replace(config.curriculum, seed=seed)
    stream = curriculum.open(dataset)
    identity = config.identity if identity is None else identity
    run_id = id_of(identity, seed)
    plain = partial(make_learner, config.learner, stream.info, seed, curriculum.scenario, **config.options)
    make = wrap(config, seed, plain, stream)
    learner = make()
    stride = weights_stride(learner, stream.info.n_train, config.weights_every)
    trial = None if is_counted(_inner(learner)) else operations_of(plain, stream)
    n_points = -(-stream.info.n_train // config.test_every) if config.test_every else 0
    empty = Tally.empty(len(stream.episodes), stream.info.n_classes, n_points)
    recorder = Recorder(empty)
    if folder:
        folder.begin(config, seed, identity)
        n_train = [episode.n_train for episode in stream.episodes]
        sizes = (n_train, n_records(stream, stride), stream.info.n_classes)
        more = (sizes, Timer(checkpoint_seconds, checkpoint_share), watch, empty)
        try:
            recorder = FolderRecorder(folder, run_id, learner, *more)
        except DataError as error:
            watch(Event("note", message=f"{error}: the run starts over"))
            folder.file("checkpoint.safetensors").unlink()
            learner = make()
            recorder = FolderRecorder(folder, run_id, learner, *more)
    tally = recorder.tally
    n_test = [episode.n_test for episode in stream.episodes]
    watch(Event("opened", seed=seed, config=config, info=stream.info, n_test=n_test, tally=tally))
    boundaries = curriculum.scenario != "task-free"
    protocol = (config.tests, boundaries, config.prequential, config.test_every)
    Loop(stream, learner, recorder, watch, stride, *protocol).run()
    if trial is None:
        trial = operations_so_far(_inner(learner), tally.learned)
    result = _result(config, seed, run_id, stream, learner, tally, stride, trial)
    if folder and save_model:
        folder.save_model(_inner(learner), result.run)
    recorder.finish(result)
    if keep:
        keep(_inner(learner))
    return result


def _result(
    config: RunConfig,
    seed: int,
    run_id: str,
    stream: Stream,
    learner: Learner,
    tally: Tally,
    stride: int,
    operations: float | None,
) -> RunResult:
    n_test = np.array([episode.n_test for episode in stream.episodes], dtype=np.int64)
    rows = [[None if np.isnan(a) else float(a) for a in row] for row in tally.accuracies(n_test)]
    finished = FinishedRun.of(tally, learner, stream, operations)
    recalls = [] if finished.recalls is None else finished.recalls.tolist()
    return RunResult(
        seed=seed,
        tested_on="holdout" if config.curriculum.holdout else "test",
        tasks=tuple(tuple(int(c) for c in task) for task in stream.info.tasks),
        n_train=tuple(episode.n_train for episode in stream.episodes),
        n_test=tuple(n_test.tolist()),
        metrics=Metrics.of(finished),
        accuracy_matrix=rows[1:],
        accuracy_before=rows[0],
        recalls=tuple(None if np.isnan(recall) else recall for recall in recalls),
        weights_stride=stride,
        state_sha256=state_hash(learner.state()),
        backbone_bytes=backbone_bytes(stream.dataset),
        options=dict(getattr(learner, "options", {})),
        run=run_id,
        learned=str(getattr(_inner(learner), "what_learned", "")),
        curve=tuple((int(row[0]), int(row[1]) / max(int(row[2]), 1)) for row in tally.tests),
        recall_curve=tuple(
            tuple(None if n == 0 else right / n for right, n in zip(*row[3:].reshape(2, -1).tolist(), strict=True))
            for row in tally.tests
        ),
    )


def _inner(learner: Learner) -> Learner:
    """The learner without the budgets around it."""
    return learner.innermost if isinstance(learner, Wrapped) else learner


def warm_up(config: RunConfig, seed: int, dataset: Dataset, identity: Mapping[str, Any]) -> None:
    """Let a new learner learn and predict a few samples and discard it, so that wrong options are known before a run.

    Once per configuration and process.
    """
    key = id_of(identity, 0)
    if key in _warm:
        return
    curriculum = replace(config.curriculum, seed=seed)
    stream = curriculum.open(dataset)
    learner = make_learner(config.learner, stream.info, seed, curriculum.scenario, **config.options)
    episode = stream.episodes[0]
    task = episode.task if stream.info.task_heads else None
    X, y = episode.train(0, min(TRIAL_SAMPLES, episode.n_train))
    learner.predict(X, task)
    learner.test_then_learn(X, y, task)
    learner.predict(X, task)
    _warm.add(key)


def wrap(config: RunConfig, seed: int, plain: Callable[[], Learner], stream: Stream) -> Callable[[], Learner]:
    """What makes the learner, with the budgets of the configuration around it."""
    cost = None
    if config.compute_budget is not None:
        operations = operations_of(plain, stream)
        if operations is None:
            raise ConfigError(
                f"compute_budget is {config.compute_budget:g} and the learner {config.learner!r} counts no operations: "
                "expected one with feature_operations and synaptic_updates, or a network of PyTorch"
            )
        cost = operations / config.compute_budget

    def make() -> Learner:
        learner = plain()
        if config.label_budget is not None:
            learner = Asking(learner, config.label_budget, config.asking, seed)
        if cost is not None or config.rate is not None:
            learner = Paced(learner, cost, config.rate)
        return learner

    return make


def load_learner(folder: str | Path | RunFolder, data_dir: str | Path | None = None) -> Learner:
    """The learner of a run that was made with `save_model`, as it was at the end of its stream, ready to continue.

    A run of our own learner has a model file that `KenyonClassifier.load` reads, too.

    Args:
        folder: the run's folder.
        data_dir: where the data sets are; None for the usual place.

    Example:
        >>> report = run(RunConfig("digits", "ncm"), seeds=[0], store="runs", save_model=True)
        >>> learner = load_learner(report.results[0].folder)
        >>> state_hash(learner.state()) == report.results[0].state_sha256
        True
    """
    run = folder if isinstance(folder, RunFolder) else RunFolder(Path(folder))
    path = run.file(MODEL)
    if not path.exists():
        raise DataError(f"{path} is not there: a run keeps its model where --save-model is given")
    values = run.config()
    seed = parse_seeds(values.pop("seeds", [0]))[0]
    config = RunConfig.from_dict(values)
    curriculum = replace(config.curriculum, seed=seed)
    info = curriculum.open(config.open(data_dir)).info
    learner = make_learner(config.learner, info, seed, curriculum.scenario, **config.options)
    if hasattr(learner, "save"):
        if not hasattr(learner, "load"):
            raise DataError(f"{path} cannot be read: the learner {config.learner!r} has a save(path) but no load(path)")
        learner.load(path)
        return learner
    found = read_checkpoint(path, config.run_id(seed))
    assert found is not None
    learner.restore(found[0])
    return learner
