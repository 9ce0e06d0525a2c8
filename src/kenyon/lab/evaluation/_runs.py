"""Run configurations with their seeds: what is in the store is taken from there, the rest runs here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from kenyon.data.protocol import Learner
from kenyon.lab.evaluation._config import RunConfig
from kenyon.lab.evaluation._each import Key, run_each
from kenyon.lab.evaluation._result import Report, RunResult
from kenyon.lab.evaluation._terms import Place
from kenyon.lab.watchers import Watch


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
        watch: gets told about progress.
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
    results: dict[Key, RunResult] = {}
    kept: dict[tuple[str, int], Learner] | None = {} if keep_learners else None
    ended = run_each(
        configs,
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
        kept=kept,
    )
    for run in ended:
        results[run.number, run.seed] = run.value()
    reports = []
    for number, config in enumerate(configs):
        learners = [kept[config.folder_name(0), seed] for seed in seeds] if kept is not None else []
        reports.append(Report(config.to_dict(), [results[number, seed] for seed in seeds], learners))
    return reports
