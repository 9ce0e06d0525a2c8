"""Jobs: a run, a measurement of a data set, a search. Each knows its name and whether it is done.

Their results are in the store: each run in a folder of its own, the others in `measures/` and `searches/`.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kenyon.lab.evaluation import RunConfig, RunFolder, Store
from kenyon.lab.executor import Executor
from kenyon.learners import what_learns
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import Workers
from kenyon.utils.system import replace_json
from kenyon.utils.wording import slug


class Job(Protocol):
    """A piece of work whose result is kept in the store."""

    @property
    def name(self) -> str:
        """The name in the plan; different jobs have different names."""
        ...

    @property
    def speed_key(self) -> str:
        """Jobs with the same key take about the same time."""
        ...

    def done(self, store: Path) -> bool: ...

    def started(self, store: Path) -> bool:
        """Whether a part of it is done already and can be continued."""
        ...

    def do(self, store: Path, data_dir: Path | None) -> str:
        """Do it, or what is left of it; returns a message on how it went."""
        ...


@dataclass(frozen=True)
class StoredRun:
    """One configuration with one seed."""

    config: RunConfig
    seed: int

    @property
    def name(self) -> str:
        return self.config.folder_name(self.seed)

    @property
    def speed_key(self) -> str:
        return speed_key(self.config.to_dict())

    def folder(self, store: Path) -> RunFolder:
        return Store(store).folder(self.config, self.seed)

    def done(self, store: Path) -> bool:
        return self.folder(store).complete

    def started(self, store: Path) -> bool:
        return self.folder(store).file("checkpoint.safetensors").exists()

    def do(self, store: Path, data_dir: Path | None) -> str:
        from kenyon.lab.evaluation import run

        accuracy = run(self.config, [self.seed], store, data_dir=data_dir).results[0].metrics.accuracy
        return "" if accuracy is None else f"{100 * accuracy:.2f} %"


def speed_key(config: Mapping[str, Any]) -> str:
    """Learner, rule, data set, backbone, width of the network and scenario of a run: these decide how fast it is."""
    options = config["options"]
    words = [config["learner"], what_learns(options), Path(config["dataset"]).stem]
    words += [
        "features" if config.get("backbone") else None,
        f"width-{options['width']}" if "width" in options else None,
    ]
    words.append(config["scenario"])
    return "/".join(word for word in words if word)


@dataclass(frozen=True)
class MeasureJob:
    """Effective dimension and class centroids of a data set, of its pixels or of a backbone's features."""

    dataset: str
    backbone: str | None = None

    @property
    def name(self) -> str:
        return f"measures/{slug(Path(self.dataset).stem, self.backbone or 'pixels')}.json"

    @property
    def speed_key(self) -> str:
        return self.name

    def done(self, store: Path) -> bool:
        return (store / self.name).exists()

    def started(self, store: Path) -> bool:
        return False

    def do(self, store: Path, data_dir: Path | None) -> str:
        from kenyon.lab.evaluation import open_dataset
        from kenyon.paper.transfer import moments

        found = moments(open_dataset(self.dataset, data_dir, backbone=self.backbone))
        path = store / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_json(path, {"dimension": found.dimension, "centroids": found.centroids.tolist()})
        return f"effective dimension {found.dimension:.2f}"

    def moments(self, store: Path) -> Any:
        """Read what was measured."""
        import numpy as np

        from kenyon.paper.transfer import Moments

        values = json.loads((store / self.name).read_text(encoding="utf-8"))
        return Moments(Path(self.dataset).stem, values["dimension"], np.array(values["centroids"]))


@dataclass(frozen=True)
class SearchJob:
    """A search for a configuration.

    Attributes:
        dataset, scenario: the stream.
        evals: how many evaluations in total.
        workers: how many evaluations at a time.
        max_per_task: the most training samples of a task; None for all.
        engine, address: where they run.
        kappa: weight of the surrogate's uncertainty; None for the usual one.
        one_forest: whether the surrogate is one forest over the whole space, as in the paper.
    """

    dataset: str
    scenario: str
    evals: int
    workers: int
    max_per_task: int | None = None
    engine: str = "local"
    address: str | None = None
    kappa: float | None = None
    one_forest: bool = False

    @property
    def name(self) -> str:
        words = [Path(self.dataset).stem, self.scenario, "ambs", "s0"]
        words += [] if self.kappa is None else [f"kappa{self.kappa:g}"]
        return "searches/" + "-".join([*words, *(["one-forest"] if self.one_forest else [])])

    @property
    def speed_key(self) -> str:
        return f"search/{Path(self.dataset).stem}/{self.scenario}"

    @property
    def command(self) -> str:
        limit = "" if self.max_per_task is None else f" --max-per-task {self.max_per_task}"
        what = f"kenyon search --dataset {self.dataset} --scenario {self.scenario}"
        how = "" if self.kappa is None else f" --kappa {self.kappa:g}"
        how += " --forests one" if self.one_forest else ""
        return f"{what} --evals {self.evals} --workers {self.workers}{limit}{how}"

    def done(self, store: Path) -> bool:
        return self._ended(store) >= self.evals

    def started(self, store: Path) -> bool:
        return self._ended(store) > 0

    def _ended(self, store: Path) -> int:
        path = store / self.name / "evaluations.csv"
        return max(0, path.read_bytes().count(b"\n") - 1) if path.exists() else 0

    def do(self, store: Path, data_dir: Path | None) -> str:
        from kenyon.lab.search import make_objective, search

        limit: dict[str, Any] = {} if self.max_per_task is None else {"max_per_task": self.max_per_task}
        how: dict[str, Any] = {} if self.kappa is None else {"kappa": self.kappa}
        where = None if data_dir is None else str(data_dir)
        objective = make_objective(self.dataset, self.scenario, data_dir=where, **limit)
        folder = store / self.name
        result = search(
            objective,
            folder,
            evals=self.evals,
            workers=self.workers,
            engine=self.engine,
            address=self.address,
            command=self.command,
            forests="one" if self.one_forest else "rules",
            **how,
        )
        return "" if result.best is None else f"best {100 * result.best.outcome.score:.2f} % held out"


@dataclass(frozen=True)
class StoreJob:
    """A job with the folders that it works in, as the executor takes it."""

    job: Job
    store: Path
    data_dir: Path | None

    @property
    def name(self) -> str:
        return self.job.name

    @property
    def group(self) -> str:
        return self.job.speed_key

    def do(self, watch: Watch, wait: bool) -> str:
        gc.collect()  # releases the data sets that earlier jobs had mapped
        return self.job.do(self.store, self.data_dir)


def execute(
    jobs: Sequence[Job], store: Path, data_dir: Path | None, watch: Watch, workers: Workers | None = None
) -> dict[str, str]:
    """Do the jobs, several at a time; returns the reason of each failure, by the name of the job.

    A job that fails does not stop the others. A search shares its evaluations among the workers itself, so searches
    come last, one after the other.
    """
    failures: dict[str, str] = {}
    unique = {job.name: StoreJob(job, store, data_dir) for job in jobs}.values()
    watch(Event("planned", total=len(unique), message="jobs"))
    searches = [job for job in unique if isinstance(job.job, SearchJob)]
    others = [job for job in unique if not isinstance(job.job, SearchJob)]
    for batch, where in ((others, workers or Workers(1)), (searches, Workers(1))):
        if batch:
            with Executor(where, watch) as executor:
                for job in batch:
                    executor.submit(job)
                for done in executor.results():
                    if done.error is not None:
                        failures[done.job.name] = f"{type(done.error).__name__}: {done.error}"
                    watch(done.event(message=done.value or ""))
    return failures
