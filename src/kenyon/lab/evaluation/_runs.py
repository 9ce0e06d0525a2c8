"""Run configurations with their seeds: what is in the store is taken from there, the rest runs here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kenyon.data.protocol import Learner
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation._config import RunConfig, labels
from kenyon.lab.evaluation._jobs import Place, RunJob, RunOptions
from kenyon.lab.evaluation._result import Report, RunResult
from kenyon.lab.evaluation._store import RunFolder
from kenyon.lab.executor import Done, Executor, Workers
from kenyon.lab.watchers import check_watcher
from kenyon.utils.events import Event, Watch


def run(
    config: RunConfig,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    store: Place = None,
    *,
    data_dir: Place = None,
    again: bool = False,
    save_model: bool = False,
    log: Sequence[str] = (),
    watch: Watch | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    gpus: float = 0.0,
    keep_learners: bool = False,
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
        log: programs that the runs are logged to (`kenyon.lab.watchers.WATCHERS`), or `module:Class` of your own.
        watch: receives the events.
        workers: how many seeds run at a time; None for 1, which runs in this process, or for every CPU of a Ray
            cluster. It changes no result.
        engine: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
        address: the address of the Ray cluster; None for one on this machine.
        gpus: how much of a GPU each run takes in a Ray cluster; 0.5 lets two share one.
        keep_learners: whether the report has the trained learners, in this process and with one worker. A run found
            complete is run once more for its learner; its results stay as they are.

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
    return run_all(
        [config],
        seeds,
        store,
        data_dir=data_dir,
        again=again,
        save_model=save_model,
        log=log,
        watch=watch,
        workers=workers,
        engine=engine,
        address=address,
        gpus=gpus,
        keep_learners=keep_learners,
    )[0]


def run_all(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    store: Place = None,
    *,
    data_dir: Place = None,
    again: bool = False,
    save_model: bool = False,
    log: Sequence[str] = (),
    watch: Watch | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    gpus: float = 0.0,
    keep_learners: bool = False,
) -> list[Report]:
    """Run every configuration once for every seed, shared among the workers; see `run`.

    Example:
        >>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
        >>> [report.summary("accuracy").mean > 0.8 for report in run_all(configs, seeds=[0])]
        [True, True]
    """
    kept: dict[tuple[str, int], Learner] | None = {} if keep_learners else None
    options = RunOptions(store, data_dir, again, save_model, tuple(log), kept)
    ended = execute_runs(configs, seeds, options, Workers(workers, engine, address, gpus), watch)
    results: dict[tuple[int, int], RunResult] = {(run.job.number, run.job.seed): run.result() for run in ended}
    reports = []
    for number, config in enumerate(configs):
        learners = [kept[config.folder_name(0), seed] for seed in seeds] if kept is not None else []
        reports.append(Report(config.to_dict(), [results[number, seed] for seed in seeds], learners))
    return reports


def run_each(
    configs: Sequence[RunConfig], seeds: Sequence[int], store: Place = None, watch: Watch | None = None, **options: Any
) -> Iterator[Done]:
    """Run every configuration once for every seed and yield each run as it ends; one that fails stops no other.

    Args:
        configs, seeds, store, watch: see `run`.
        options: `data_dir`, `again`, `save_model`, `log`, `workers`, `engine`, `address`, `gpus`, as in `run`.

    Example:
        >>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
        >>> [(done.job.config.learner, done.job.seed) for done in run_each(configs, seeds=[0, 1])]
        [('ncm', 0), ('ncm', 1), ('slda', 0), ('slda', 1)]
    """
    where = {name: options.pop(name) for name in ("workers", "engine", "address", "gpus") if name in options}
    options["log"] = tuple(options.get("log", ()))
    return execute_runs(configs, seeds, RunOptions(store, **options), Workers(**where), watch)


def execute_runs(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    options: RunOptions,
    workers: Workers,
    watch: Watch | None = None,
) -> Iterator[Done]:
    """Check what is asked for, then yield the runs as they end: those in the store first."""
    if options.kept is not None and not workers.in_process:
        raise ConfigError("learners are asked for from several workers: expected one, in this process")
    for name in options.log:
        check_watcher(name)
    for config in configs:
        options.check(config)
    names = labels(configs) if len(configs) > 1 else [""] * len(configs)
    jobs = [
        RunJob(config, seed, options, number, f"{name}, seed {seed}" if name else f"seed {seed}")
        for number, (config, name) in enumerate(zip(configs, names, strict=True))
        for seed in dict.fromkeys(seeds)
    ]
    return _execute(jobs, workers, watch or Watch())


def _execute(jobs: Sequence[RunJob], workers: Workers, watch: Watch) -> Iterator[Done]:
    complete = {job.name: folder for job in jobs if (folder := job.folder) and job.options.has_all(folder)}
    watch(Event("planned", total=len(jobs), done=len(complete), message="runs"))
    left = []
    for job in jobs:
        if job.name in complete:
            yield _sent(_found(job, complete[job.name]), watch)
        else:
            left.append(job)
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
        job.options.open(job.config, watch)
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
    return done._replace(value=folder.result())
