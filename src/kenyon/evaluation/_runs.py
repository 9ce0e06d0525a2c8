"""Run configurations with their seeds: what is in the store is taken from there, the rest runs here or elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from kenyon.errors import ConfigError, DataError
from kenyon.evaluation._backbone import open_dataset, with_backbone
from kenyon.evaluation._config import RunConfig
from kenyon.evaluation._result import Report, RunResult
from kenyon.evaluation._run import run_dataset
from kenyon.evaluation._store import MODEL, RunFolder, Store
from kenyon.evaluation._watch import Watch
from kenyon.learners import learner_class
from kenyon.parallel import Pool, check_engine
from kenyon.streams import Dataset, load_dataset

Place = Path | str | None
Key = tuple[int, int]
"""The number of a configuration, and a seed."""


class Terms(NamedTuple):
    """What is asked of runs besides their configuration; see `run`."""

    store: Place
    data_dir: Place
    again: bool
    save_model: bool

    def folder(self, config: RunConfig, seed: int) -> RunFolder | None:
        return None if self.store is None else Store(Path(self.store)).folder(config, seed)

    def lacks_model(self, folder: RunFolder) -> bool:
        return self.save_model and not folder.file(MODEL).exists()

    def has_all(self, folder: RunFolder) -> bool:
        """Whether the store has everything that is asked for."""
        return folder.complete and not self.again and not self.lacks_model(folder)

    def open(self, config: RunConfig, watch: Watch) -> Dataset:
        images = load_dataset(config.dataset, data_dir=self.data_dir)
        return with_backbone(images, config.backbone, self.data_dir, watch) if config.backbone else images


def run(
    config: RunConfig,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    store: Place = None,
    *,
    data_dir: Place = None,
    again: bool = False,
    save_model: bool = False,
    watch: Watch | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
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
        workers: how many seeds run at a time; None for 1, which runs in this process, or for every CPU of a Ray
            cluster. It changes no result.
        engine: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
        address: the address of the Ray cluster; None for one on this machine.

    Example:
        >>> report = run(RunConfig("digits", "ncm"), seeds=[0, 1])
        >>> report.summary("accuracy").mean > 0.8
        True
    """
    return run_all(
        [config],
        seeds,
        store,
        data_dir=data_dir,
        again=again,
        save_model=save_model,
        watch=watch,
        workers=workers,
        engine=engine,
        address=address,
    )[0]


def run_all(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    store: Place = None,
    *,
    data_dir: Place = None,
    again: bool = False,
    save_model: bool = False,
    watch: Watch | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
) -> list[Report]:
    """Run every configuration once for every seed, shared among the workers; see `run`.

    Example:
        >>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
        >>> [report.summary("accuracy").mean > 0.8 for report in run_all(configs, seeds=[0])]
        [True, True]
    """
    check_engine(engine, workers, address)
    watch, terms = watch or Watch(), Terms(store, data_dir, again, save_model)
    if save_model:
        for config in configs:
            _check_saving(config.learner, store)
    if engine == "local" and (workers or 1) == 1:
        return [_run_here(config, seeds, terms, watch) for config in configs]
    wanted = [(number, seed) for number in range(len(configs)) for seed in dict.fromkeys(seeds)]
    results: dict[Key, RunResult] = {}
    for number, seed in wanted:
        folder = terms.folder(configs[number], seed)
        if folder and terms.has_all(folder):
            results[number, seed] = folder.result()
            watch.finished(results[number, seed])
    left = [key for key in wanted if key not in results]
    if left and engine == "local":
        # Open them here first: a missing data set must not leave a folder behind, and a backbone gets all processors.
        for number in dict.fromkeys(number for number, _ in left):
            terms.open(configs[number], watch)
    if left:
        watch.shared(len(left))
        with Pool(engine, workers, address) as pool:
            results |= _run_elsewhere(pool, configs, left, terms, watch)
    return [
        Report(config.to_dict(), [results[number, seed] for seed in seeds]) for number, config in enumerate(configs)
    ]


def _run_here(config: RunConfig, seeds: Sequence[int], terms: Terms, watch: Watch) -> Report:
    opened: list[Dataset] = []

    def dataset() -> Dataset:
        if not opened:
            opened.append(terms.open(config, watch))
        return opened[0]

    results: dict[int, RunResult] = {}
    # A seed that another process works on is left for last, so that processes share the seeds among themselves.
    for wait in (False, True):
        for seed in [seed for seed in seeds if seed not in results]:
            result = _run_seed(config, seed, terms, wait, dataset, watch)
            if result is not None:
                results[seed] = result
                watch.finished(result)
    return Report(config.to_dict(), [results[seed] for seed in seeds])


def _run_elsewhere(
    pool: Pool, configs: Sequence[RunConfig], wanted: Sequence[Key], terms: Terms, watch: Watch
) -> dict[Key, RunResult]:
    """The same in a pool; here too a seed that another process works on is left for last."""
    results: dict[Key, RunResult] = {}
    for number, seed in wanted:
        pool.submit((number, seed), run_seed, configs[number], seed, terms, False)
    for answer in pool.answers():
        number, seed = key = cast("Key", answer.key)
        result, notes = answer.result()
        for note in notes:
            watch.note(note)
        if result is None:
            pool.submit(key, run_seed, configs[number], seed, terms, True)
            continue
        if folder := terms.folder(configs[number], seed):
            if not folder.complete:
                raise DataError(
                    f"{folder.path} was run but is not here: expected a store that every node of the cluster shares "
                    "with this machine"
                )
            result = folder.result()
        results[key] = result
        watch.finished(result)
    return results


class _Notes(Watch):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def run_seed(config: RunConfig, seed: int, terms: Terms, wait: bool) -> tuple[RunResult | None, list[str]]:
    """One seed as a job of a pool: its result, and the notes on it.

    The result is None where another process works on it and we are not to wait.
    """
    watch = _Notes()

    def dataset() -> Dataset:
        return open_dataset(config.dataset, None if terms.data_dir is None else str(terms.data_dir), config.backbone)

    return _run_seed(config, seed, terms, wait, dataset, watch), watch.notes


def _run_seed(
    config: RunConfig, seed: int, terms: Terms, wait: bool, dataset: Callable[[], Dataset], watch: Watch
) -> RunResult | None:
    folder = terms.folder(config, seed)
    if folder is None:
        return run_dataset(config, seed, dataset(), watch=watch)
    if not terms.has_all(folder):
        dataset()  # a data set that is missing must not leave a folder behind
    if wait:
        watch.waiting(folder.path)
    with folder.locked(wait) as held:
        if not held:
            return None
        # If we waited, the other process has just run it, and it need not be run again.
        if terms.again and not wait:
            folder.clear()
        if not folder.complete:
            run_dataset(config, seed, dataset(), folder=folder, save_model=terms.save_model, watch=watch)
        result = folder.result()
        if terms.lacks_model(folder):
            _run_for_model(config, dataset(), result, folder, watch)
        return result


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
