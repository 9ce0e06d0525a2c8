"""Run a sweep: its configurations and seeds in one store, on workers of this machine or a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

from kenyon.errors import ConfigError
from kenyon.lab.evaluation import Report, RunArguments, RunConfig, RunResult, parse_seeds, run_each
from kenyon.lab.executor import WorkerArguments, reason
from kenyon.lab.sweeps._grid import expand
from kenyon.utils.events import Watch
from kenyon.utils.system import read_toml

_EXTRA = ("seeds", "out", "data_dir", "save_model", "log")


@dataclass(frozen=True)
class Sweep:
    """What is run.

    Attributes:
        configs: the configurations.
        seeds: the seeds of each.
        out: the store.
        data_dir: where the data sets are; None for the usual place.
        save_model: whether the trained model of each run is kept.
        log: programs that the runs are logged to.

    Example:
        >>> Sweep.from_dict({"learner": ["ncm", "slda"], "seeds": 3}).n_runs
        6
    """

    configs: Sequence[RunConfig]
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    out: Path = Path("runs")
    data_dir: Path | None = None
    save_model: bool = False
    log: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Sweep:
        """From the keys of a sweep file: those of `expand`, and `seeds`, `out`, `data_dir`, `save_model`, `log`."""
        extra = {key: values[key] for key in _EXTRA if key in values}
        configs = expand({key: value for key, value in values.items() if key not in _EXTRA})
        if not isinstance(extra.get("save_model", False), bool):
            raise ConfigError(f"save_model = {extra['save_model']!r}: expected true or false")
        for key in ("out", "data_dir"):
            if not isinstance(extra.get(key, ""), str):
                raise ConfigError(f"{key} = {extra[key]!r}: expected the name of a folder")
        log = extra.get("log", [])
        names = [log] if isinstance(log, str) else log
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ConfigError(f"log = {log!r}: expected a name or a list of names")
        return cls(
            configs,
            parse_seeds(extra.get("seeds", 5)),
            Path(extra.get("out", "runs")),
            Path(extra["data_dir"]) if "data_dir" in extra else None,
            extra.get("save_model", False),
            tuple(names),
        )

    @classmethod
    def read(cls, path: str | Path) -> Sweep:
        r"""From a file.

        Example:
            >>> from pathlib import Path
            >>> _ = Path("sweep.toml").write_text('learner = ["ncm", "slda"]\nmax_per_task = [20, 40]\n')
            >>> len(Sweep.read("sweep.toml").configs)
            4
        """
        return cls.from_dict(read_toml(Path(path)))

    @property
    def n_runs(self) -> int:
        """How many runs there are in all."""
        return len(self.configs) * len(self.seeds)


@dataclass(frozen=True)
class Failure:
    """A run that failed.

    Example:
        >>> from kenyon.lab.evaluation import RunConfig
        >>> Failure(RunConfig("digits", "ncm"), 3, "it ran out of memory").seed
        3
    """

    config: RunConfig
    seed: int
    reason: str


@dataclass
class SweepResult:
    """How a sweep ended.

    Attributes:
        reports: for every configuration, the results of the seeds that ended well.
        failures: the runs that failed.
        found: how many runs the store had already.
        run_seconds: seconds of the runs, added up.
        seconds: seconds of the sweep.

    Example:
        >>> SweepResult([], [], found=4).found
        4
    """

    reports: list[Report] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    found: int = 0
    run_seconds: float = 0.0
    seconds: float = 0.0


def sweep(
    plan: Sweep | Mapping[str, Any] | str | Path,
    store: str | Path | None = None,
    *,
    again: bool = False,
    watch: Watch | None = None,
    **where: Unpack[WorkerArguments],
) -> SweepResult:
    """Run every configuration of a sweep with every seed; what the store has is not run again.

    A run that fails stops no other. A sweep that is killed resumes where it stopped when it is started again, each
    unfinished run from its last checkpoint.

    Args:
        plan: the sweep, the values of a sweep file, or its path.
        store: the store; by default the one that the sweep names.
        again: discard what the store has of these runs.
        watch: receives the events.
        where: `workers`, `engine`, `address`, `gpus`; see `kenyon.lab.evaluation.run`.

    Example:
        >>> result = sweep({"dataset": "digits", "learner": ["ncm", "slda"], "max_per_task": 20, "seeds": 1}, "runs")
        >>> [len(report.results) for report in result.reports]
        [1, 1]
    """
    if isinstance(plan, (str, Path)):
        plan = Sweep.read(plan)
    elif isinstance(plan, Mapping):
        plan = Sweep.from_dict(plan)
    begin, result, found = perf_counter(), SweepResult(), dict[tuple[int, int], RunResult]()
    how: RunArguments = {
        **where,
        "data_dir": plan.data_dir,
        "again": again,
        "log": plan.log,
        "save_model": plan.save_model,
    }
    out = plan.out if store is None else store
    for done in run_each(plan.configs, plan.seeds, out, watch, **how):
        job = done.job
        result.run_seconds += done.seconds
        if done.error is not None:
            result.failures.append(Failure(job.config, job.seed, reason(done.error)))
        else:
            found[job.number, job.seed] = done.value
            result.found += done.seconds == 0
    for number, config in enumerate(plan.configs):
        own = [found[number, seed] for seed in plan.seeds if (number, seed) in found]
        result.reports += [Report(config.to_dict(), own)] if own else []
    result.seconds = perf_counter() - begin
    return result
