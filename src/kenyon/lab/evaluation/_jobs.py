"""A run as a job: one configuration with one seed, taken from the store or run here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from kenyon.data.protocol import Learner
from kenyon.data.streams import Dataset
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation._backbone import open_dataset
from kenyon.lab.evaluation._config import RunConfig
from kenyon.lab.evaluation._result import RunResult
from kenyon.lab.evaluation._run import run_dataset, warm_up
from kenyon.lab.evaluation._store import MODEL, RunFolder, Store
from kenyon.lab.executor import BUSY
from kenyon.lab.watchers import open_watcher
from kenyon.learners import learner_class
from kenyon.utils.events import Event, Watch, Watches

Place = Path | str | None


class RunOptions(NamedTuple):
    """What is asked of runs besides their configuration; see `run`."""

    store: Place = None
    data_dir: Place = None
    again: bool = False
    save_model: bool = False
    log: tuple[str, ...] = ()
    kept: dict[tuple[str, int], Learner] | None = None
    """Where trained learners are put, by folder name and seed, if they are asked for."""

    def keep(self, config: RunConfig, seed: int) -> Callable[[Learner], None] | None:
        """Takes the trained learner of a run."""
        kept = self.kept
        return None if kept is None else lambda learner: kept.__setitem__((config.folder_name(0), seed), learner)

    def folder(self, config: RunConfig, seed: int) -> RunFolder | None:
        return None if self.store is None else Store(Path(self.store)).folder(config, seed)

    def lacks_model(self, folder: RunFolder) -> bool:
        return self.save_model and not folder.file(MODEL).exists()

    def has_all(self, folder: RunFolder) -> bool:
        """Whether the store has everything that is asked for."""
        return folder.complete and not self.again and not self.lacks_model(folder) and self.kept is None

    def open(self, config: RunConfig, watch: Watch) -> Dataset:
        if config.data is not None:
            if config.backbone:
                raise ConfigError("backbone and data are given: expected features, or images by name or path")
            return config.data
        columns = {"label": config.label, "domain": config.domain}
        return open_dataset(config.dataset, self.data_dir, backbone=config.backbone, watch=watch, **columns)

    def logs(self, config: RunConfig, seed: int, folder: RunFolder) -> list[Watch]:
        """What the run is logged to."""
        name = folder.path.name
        return [open_watcher(log, folder.path, name, config.to_dict(), seed) for log in self.log]

    def check(self, config: RunConfig) -> None:
        """Refuse what cannot be done, before anything is."""
        learner_class(config.learner)
        for what, given in (("save_model", self.save_model), ("log", self.log)):
            if given and self.store is None:
                raise ConfigError(f"{what} is given without a store: name the folder to keep the runs in")


@dataclass(frozen=True)
class RunJob:
    """One configuration with one seed.

    Attributes:
        config, seed: what to run.
        options: what is asked of it.
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
    def folder(self) -> RunFolder | None:
        return self.options.folder(self.config, self.seed)

    def do(self, watch: Watch, wait: bool) -> RunResult | str:
        """Run it in this process, or take it from the store; `BUSY` where another process works on it."""
        config, seed, options, folder = self.config, self.seed, self.options, self.folder
        dataset = cache(lambda: options.open(config, watch))
        if folder is None or not options.has_all(folder):
            warm_up(config, seed, dataset())  # what fails here must not leave a folder behind
        keep = options.keep(config, seed)
        if folder is None:
            return run_dataset(config, seed, dataset(), watch=watch, keep=keep)
        if wait:
            watch(Event("waiting", self.name, folder=folder.path))
        with folder.locked(wait) as held:
            if not held:
                return BUSY
            # If we waited, the other process has just run it, and it need not be run again.
            if options.again and not wait:
                folder.clear()
            if not folder.complete:
                logs = options.logs(config, seed, folder)
                both = Watches([watch, *logs]) if logs else watch
                save = options.save_model
                run_dataset(config, seed, dataset(), folder=folder, save_model=save, watch=both, keep=keep)
                Watches(logs)(Event("finished", self.name, seed=seed, result=folder.result()))
            elif keep:  # it was found complete: once more for the learner, the results stay as they are
                run_dataset(config, seed, dataset(), watch=watch, keep=keep)
            result = folder.result()
            if options.lacks_model(folder):
                _run_for_model(config, dataset(), result, folder, watch)
            return result


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
