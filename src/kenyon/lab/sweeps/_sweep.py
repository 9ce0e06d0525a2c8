"""Run a sweep: its configurations and seeds in one store, on workers of this machine or a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from traceback import extract_tb
from typing import Any

from kenyon.errors import ConfigError, KenyonError
from kenyon.lab.evaluation import Ended, Report, RunConfig, RunResult, Watch, parse_seeds, read_config, run_each
from kenyon.lab.sweeps._grid import expand

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
        return cls.from_dict(read_config(Path(path)))

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


class SweepWatch:
    """Gets told about the progress of a sweep. The base class does nothing.

    Example:
        >>> class Count(SweepWatch):
        ...     def ended(self, config, ended):
        ...         print(config.learner, ended.seed)
        >>> _ = sweep(Sweep.from_dict({"learner": "ncm", "max_per_task": 20, "seeds": 2}), "runs", watch=Count())
        ncm 0
        ncm 1
    """

    def planned(self, plan: Sweep) -> None:
        """The sweep begins."""

    def begun(self, config: RunConfig, seed: int) -> None:
        """A run is given to a worker."""

    def ended(self, config: RunConfig, ended: Ended) -> None:
        """A run has ended, was found in the store (its seconds are 0), or has failed."""

    def note(self, message: str) -> None:
        """Something went wrong, described in a sentence, and the run goes on."""


def sweep(
    plan: Sweep | Mapping[str, Any] | str | Path,
    store: str | Path | None = None,
    *,
    again: bool = False,
    watch: SweepWatch | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    gpus: float = 0.0,
) -> SweepResult:
    """Run every configuration of a sweep with every seed; what the store has is not run again.

    A run that fails stops no other. A sweep that is killed goes on where it was when it is started again, each
    unfinished run from its last checkpoint.

    Args:
        plan: the sweep, the values of a sweep file, or its path.
        store: the store; by default the one that the sweep names.
        again: forget what the store has of these runs.
        watch: gets told about progress.
        workers, engine, address, gpus: see `kenyon.lab.evaluation.run`.

    Example:
        >>> result = sweep({"dataset": "digits", "learner": ["ncm", "slda"], "max_per_task": 20, "seeds": 1}, "runs")
        >>> [len(report.results) for report in result.reports]
        [1, 1]
    """
    if isinstance(plan, (str, Path)):
        plan = Sweep.read(plan)
    elif isinstance(plan, Mapping):
        plan = Sweep.from_dict(plan)
    watch, begin = watch or SweepWatch(), perf_counter()
    configs, told = plan.configs, watch
    runs = run_each(
        configs,
        plan.seeds,
        plan.out if store is None else store,
        data_dir=plan.data_dir,
        again=again,
        save_model=plan.save_model,
        log=plan.log,
        watch=_Notes(told),
        begun=lambda number, seed: told.begun(configs[number], seed),
        workers=workers,
        engine=engine,
        address=address,
        gpus=gpus,
    )
    watch.planned(plan)
    result, by_key = SweepResult(), dict[tuple[int, int], RunResult]()
    for ended in runs:
        config = configs[ended.number]
        watch.ended(config, ended)
        result.run_seconds += ended.seconds
        if ended.result is None:
            result.failures.append(Failure(config, ended.seed, why(ended.error)))
        else:
            by_key[ended.number, ended.seed] = ended.result
            result.found += ended.seconds == 0
    for number, config in enumerate(configs):
        own = [by_key[number, seed] for seed in plan.seeds if (number, seed) in by_key]
        result.reports += [Report(config.to_dict(), own)] if own else []
    result.seconds = perf_counter() - begin
    return result


class _Notes(Watch):
    def __init__(self, watch: SweepWatch) -> None:
        self._watch = watch

    def note(self, message: str) -> None:
        self._watch.note(message)


def why(error: Exception | None) -> str:
    """An error in one line, with the place where a class from outside the package raised it."""
    words = " ".join(str(error).split()) or "no message"
    if error is None or isinstance(error, (KenyonError, OSError)):
        return words
    places = list(getattr(error, "__notes__", []))  # from another process
    if not places and (frames := extract_tb(error.__traceback__)):
        places = [f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"]
    return f"{type(error).__name__}: {words}" + (f" ({'; '.join(places)})" if places else "")
