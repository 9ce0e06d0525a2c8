"""Run configurations with their seeds: what is in the store is taken from there, the rest runs here or elsewhere.

A run is a job: one configuration with one seed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from kenyon.data.protocol import Learner
from kenyon.data.streams import Dataset
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation._config import RunConfig, labels
from kenyon.lab.evaluation._result import Report, RunResult
from kenyon.lab.evaluation._run import run_dataset, warm_up
from kenyon.lab.evaluation._store import MODEL, RunFolder, Store
from kenyon.lab.executor import BUSY, Done, Executor, WorkerArguments
from kenyon.lab.watchers import check_watcher, open_watcher, usual_watch
from kenyon.learners import learner_class
from kenyon.utils.events import Event, Watch, Watches
from kenyon.utils.parallel import Workers

Place = Path | str | None


class RunArguments(WorkerArguments, total=False):
    """The arguments of `run`, `run_all` and `run_each` that say how runs are made, and where.

    Example:
        >>> how: RunArguments = {"workers": 1, "save_model": True}
        >>> run(RunConfig("digits", "ncm"), [0], "runs", **how).results[0].seed
        0
    """

    data_dir: Place
    again: bool
    save_model: bool
    log: Sequence[str]


def run(
    config: RunConfig,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    store: Place = None,
    *,
    watch: Watch | None = None,
    keep_learners: bool = False,
    **how: Unpack[RunArguments],
) -> Report:
    """Run a configuration once for every seed.

    Args:
        config: what to run.
        seeds: each sets the stream and the learner.
        store: a folder to keep the runs in; a run found there complete is not run again, one found
            incomplete continues from its checkpoint. None keeps nothing.
        watch: receives the events; None for a bar in a notebook, and for nothing elsewhere.
        keep_learners: whether the report has the trained learners, in this process and with one worker. A run found
            complete is run once more for its learner; its results stay as they are.
        how: any of

            - `data_dir`: where the data sets are; None for the usual place.
            - `again`: discard what the store has of these runs.
            - `save_model`: keep the trained model of each run in its folder, as `model.safetensors`. A run found
              complete without it is run once more for the model; its results stay as they are.
            - `log`: programs that the runs are logged to (`kenyon.lab.watchers.WATCHERS`), or `module:Class` of your
              own.
            - `workers`: how many seeds run at a time; None for 1, which runs in this process, or for every CPU of a
              Ray cluster. It changes no result.
            - `engine`: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
            - `address`: the address of the Ray cluster; None for one on this machine.
            - `gpus`: how much of a GPU each run takes in a Ray cluster; 0.5 lets two share one.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from kenyon.data.streams import Curriculum
        >>> iris = load_iris(return_X_y=True)
        >>> report = run(RunConfig(iris, curriculum=Curriculum("single-task")), [0])
        >>> report.summary("accuracy").mean > 0.8
        True
        >>> report = run(RunConfig("digits", "ncm"), seeds=[0, 1])
        >>> report.summary("accuracy").mean > 0.8
        True
        >>> run(RunConfig("digits", "ncm"), seeds=[3], keep_learners=True).learners[0].synaptic_updates > 0
        True
    """
    return run_all([config], seeds, store, watch=watch, keep_learners=keep_learners, **how)[0]


def run_all(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    store: Place = None,
    *,
    watch: Watch | None = None,
    keep_learners: bool = False,
    **how: Unpack[RunArguments],
) -> list[Report]:
    """Run every configuration once for every seed, shared among the workers; see `run`.

    Example:
        >>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
        >>> [report.summary("accuracy").mean > 0.8 for report in run_all(configs, seeds=[0])]
        [True, True]
    """
    kept: dict[tuple[int, int], Learner] | None = {} if keep_learners else None
    ended = _run_each(configs, seeds, store, watch, kept, **how)
    results: dict[tuple[int, int], RunResult] = {(run.job.number, run.job.seed): run.result() for run in ended}
    return [
        Report(
            config.to_dict(),
            [results[number, seed] for seed in seeds],
            [kept[number, seed] for seed in seeds] if kept is not None else [],
        )
        for number, config in enumerate(configs)
    ]


def run_each(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    store: Place = None,
    watch: Watch | None = None,
    **how: Unpack[RunArguments],
) -> Iterator[Done]:
    """Run every configuration once for every seed and yield each run as it ends; one that fails stops no other.

    See `run` for the arguments.

    Example:
        >>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
        >>> [(done.job.config.learner, done.job.seed) for done in run_each(configs, seeds=[0, 1])]
        [('ncm', 0), ('ncm', 1), ('slda', 0), ('slda', 1)]
    """
    return _run_each(configs, seeds, store, watch, None, **how)


class RunOptions(NamedTuple):
    """How runs are made; see `run`."""

    store: Place = None
    data_dir: Place = None
    again: bool = False
    save_model: bool = False
    log: tuple[str, ...] = ()
    kept: dict[tuple[int, int], Learner] | None = None
    """Where trained learners are put, by number of the configuration and seed, if they are asked for."""

    def lacks_model(self, folder: RunFolder) -> bool:
        return self.save_model and not folder.file(MODEL).exists()

    def has_all(self, folder: RunFolder) -> bool:
        """Whether the store has everything that is asked for."""
        return folder.complete and not self.again and not self.lacks_model(folder) and self.kept is None


@dataclass(frozen=True)
class RunJob:
    """One configuration with one seed.

    Attributes:
        config, seed: what to run.
        options: how it is run.
        number: of its configuration among those of the call.
        name: unique among the runs of the call.
    """

    config: RunConfig
    seed: int
    options: RunOptions
    number: int
    name: str

    @property
    def group(self) -> str:
        return self.config.learner

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The identity of the configuration, computed once: a file that is edited meanwhile changes nothing."""
        return self.config.identity

    @cached_property
    def folder(self) -> RunFolder | None:
        store = self.options.store
        return None if store is None else Store(store).folder(self.config, self.seed, self.identity)

    def open(self, watch: Watch) -> Dataset:
        """The data set."""
        return self.config.open(self.options.data_dir, watch, self.identity)

    def do(self, watch: Watch, wait: bool) -> RunResult | str:
        """Run it in this process, or take it from the store; `BUSY` where another process works on it."""
        options, folder, dataset = self.options, self.folder, cache(lambda: self.open(watch))
        if folder is None or not options.has_all(folder):
            warm_up(self.config, self.seed, dataset(), self.identity)  # what fails here leaves no folder behind
        if folder is None:
            return self._run(dataset(), watch, self._keep)
        if wait:
            watch(Event("waiting", self.name, folder=folder.path))
        with folder.locked(wait) as held:
            if not held:
                return BUSY
            # If we waited, the other process has just run it, and it need not be run again.
            if options.again and not wait:
                folder.clear()
            if not folder.complete:
                config = self.config.to_dict()
                logs = [open_watcher(log, folder.path, folder.path.name, config, self.seed) for log in options.log]
                both = Watches([watch, *logs]) if logs else watch
                self._run(dataset(), both, self._keep, folder, options.save_model)
                Watches(logs)(Event("finished", self.name, seed=self.seed, result=folder.result()))
            elif self._keep:  # it was found complete: once more for the learner, the results stay as they are
                self._run(dataset(), watch, self._keep)
            result = folder.result()
            if options.lacks_model(folder):
                self._run_for_model(dataset(), result, folder, watch)
            return result

    def _run(
        self,
        dataset: Dataset,
        watch: Watch,
        keep: Callable[[Learner], None] | None = None,
        folder: RunFolder | None = None,
        save_model: bool = False,
    ) -> RunResult:
        more: dict[str, Any] = {"folder": folder, "save_model": save_model, "identity": self.identity}
        return run_dataset(self.config, self.seed, dataset, watch=watch, keep=keep, **more)

    @property
    def _keep(self) -> Callable[[Learner], None] | None:
        """Takes the trained learner, where it is asked for."""
        kept = self.options.kept
        return None if kept is None else lambda learner: kept.__setitem__((self.number, self.seed), learner)

    def _run_for_model(self, dataset: Dataset, kept: RunResult, folder: RunFolder, watch: Watch) -> None:
        """Run a complete run once more, in a folder within its own, and keep the model alone."""
        inner = RunFolder(folder.path / ".again")
        inner.path.mkdir(exist_ok=True)
        result = self._run(dataset, watch, None, inner, True)
        if result.accuracy_matrix == kept.accuracy_matrix:
            os.replace(inner.file(MODEL), folder.file(MODEL))
        shutil.rmtree(inner.path)
        if result.accuracy_matrix != kept.accuracy_matrix:
            raise DataError(f"{folder.path} has other results than a run would have now: run again with --again")


def _run_each(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    store: Place,
    watch: Watch | None,
    kept: dict[tuple[int, int], Learner] | None,
    **how: Any,
) -> Iterator[Done]:
    """Check what is asked for, then yield the runs as they end: those in the store first."""
    where = Workers(**{name: how.pop(name) for name in WorkerArguments.__annotations__ if name in how})
    options = RunOptions(store, kept=kept, **how | {"log": tuple(how.get("log", ()))})
    if kept is not None and not where.in_process:
        raise ConfigError("learners are asked for from several workers: expected one, in this process")
    for name in options.log:
        check_watcher(name)
    for config in configs:
        learner_class(config.learner)
    for what, given in (("save_model", options.save_model), ("log", options.log)):
        if given and store is None:
            raise ConfigError(f"{what} is given without a store: name the folder to keep the runs in")
    names = labels(configs) if len(configs) > 1 else [""] * len(configs)
    jobs = [
        RunJob(config, seed, options, number, f"{name}, seed {seed}" if name else f"seed {seed}")
        for number, (config, name) in enumerate(zip(configs, names, strict=True))
        for seed in dict.fromkeys(seeds)
    ]
    return _execute(jobs, where, watch or usual_watch())


def _execute(jobs: Sequence[RunJob], workers: Workers, watch: Watch) -> Iterator[Done]:
    complete = {job.name: folder for job in jobs if (folder := job.folder) and job.options.has_all(folder)}
    watch(Event("planned", total=len(jobs), done=len(complete), message="runs"))
    left = [job for job in jobs if job.name not in complete]
    for job in jobs:
        if job.name in complete:
            yield _sent(_found(job, complete[job.name]), watch)
    if workers.engine == "local" and not workers.in_process:
        # Open them here first: a missing data set is missing for every seed, and a backbone gets all processors.
        errors = {number: _cannot_open(job, watch) for number, job in {job.number: job for job in left}.items()}
        for job in left:
            if error := errors[job.number]:
                yield _sent(Done(job, None, error), watch)
        left = [job for job in left if errors[job.number] is None]
    if left:
        with Executor(workers, watch) as executor:
            for job in left:
                executor.submit(job)
            for done in executor.results():
                yield _sent(done if workers.in_process else _read(done), watch)


def _sent(done: Done, watch: Watch) -> Done:
    """Send the event of a run that has ended."""
    watch(done.event(score=None if done.value is None else done.value.metrics.accuracy))
    return done


def _found(job: RunJob, folder: RunFolder) -> Done:
    try:
        with folder.locked(wait=False):  # clears away what a killed process left there
            return Done(job, folder.result())
    except Exception as error:
        return Done(job, None, error)


def _cannot_open(job: RunJob, watch: Watch) -> Exception | None:
    """Why the data set of a run cannot be opened; None where it can."""
    try:
        job.open(watch)
    except Exception as error:
        return error
    return None


def _read(done: Done) -> Done:
    """A run of another process: its result as the store has it."""
    folder = done.job.folder
    if folder is None or done.error is not None:
        return done
    if not folder.complete:
        wanted = "expected a store that every node of the cluster shares with this machine"
        return Done(done.job, None, DataError(f"{folder.path} was run but is not here: {wanted}"))
    return replace(done, value=folder.result())
