"""Many runs, one by one as they end: in this process, in others, or in a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import NamedTuple, cast

from kenyon.data.protocol import Learner
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation._config import RunConfig
from kenyon.lab.evaluation._result import RunResult
from kenyon.lab.evaluation._store import RunFolder
from kenyon.lab.evaluation._terms import Place, Terms, run_elsewhere, run_seed
from kenyon.lab.watchers import Watch, check_watcher
from kenyon.utils.parallel import Answer, Pool, check_engine

Key = tuple[int, int]
"""The number of a configuration, and a seed."""


class Ended(NamedTuple):
    """How one of many runs ended.

    Attributes:
        number: of its configuration among those given.
        seed: its seed.
        result: None where it failed.
        error: why it failed.
        seconds: how long it took here; 0 where it was found in the store.

    Example:
        >>> next(run_each([RunConfig("digits", "ncm")], seeds=[3])).seed
        3
    """

    number: int
    seed: int
    result: RunResult | None
    error: Exception | None = None
    seconds: float = 0.0

    def value(self) -> RunResult:
        """The result, or the error raised."""
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


def run_each(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    store: Place = None,
    *,
    data_dir: Place = None,
    again: bool = False,
    save_model: bool = False,
    log: Sequence[str] = (),
    watch: Watch | None = None,
    begun: Callable[[int, int], None] | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    gpus: float = 0.0,
    kept: dict[tuple[str, int], Learner] | None = None,
) -> Iterator[Ended]:
    """Run every configuration once for every seed, and give each run as it ends; one that fails stops no other.

    Args:
        configs, seeds, store, data_dir, again, save_model, log, watch, workers, engine, address, gpus: see `run`.
        begun: called with the number of a configuration and a seed when that run is begun.
        kept: gets the trained learners, by the configuration's `folder_name(0)` and the seed. They stay in the
            process that made them, so there has to be one worker.

    Example:
        >>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
        >>> [(ended.number, ended.seed) for ended in run_each(configs, seeds=[0, 1])]
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    check_engine(engine, workers, address, gpus)
    watch, terms = watch or Watch(), Terms(store, data_dir, again, save_model, tuple(log), kept)
    if kept is not None and (engine != "local" or (workers or 1) > 1):
        raise ConfigError("learners are asked for from several workers: expected one, in this process")
    for name in log:
        check_watcher(name)
    for config in configs:
        terms.check(config)
    return _each(configs, list(dict.fromkeys(seeds)), terms, watch, begun, (engine, workers, address, gpus))


def _each(
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    terms: Terms,
    watch: Watch,
    begun: Callable[[int, int], None] | None,
    where: tuple[str, int | None, str | None, float],
) -> Iterator[Ended]:
    begun = begun or (lambda number, seed: None)
    left: list[Key] = []
    for number, seed in ((number, seed) for number in range(len(configs)) for seed in seeds):
        folder = terms.folder(configs[number], seed)
        if folder and terms.has_all(folder):
            yield _found(number, seed, folder, watch)
        else:
            left.append((number, seed))
    engine, workers, _, _ = where
    if engine == "local" and (workers or 1) == 1:
        yield from _each_here(configs, left, terms, watch, begun)
        return
    if engine == "local":
        # Open them here first: a missing data set is missing for every seed, and a backbone gets all processors.
        errors = {number: _cannot_open(configs[number], terms, watch) for number in {number for number, _ in left}}
        yield from (Ended(number, seed, None, errors[number]) for number, seed in left if errors[number])
        left = [(number, seed) for number, seed in left if errors[number] is None]
    if left:
        watch.shared(len(left))
        with Pool(*where) as pool:
            yield from _each_elsewhere(pool, configs, left, terms, watch, begun)


def _found(number: int, seed: int, folder: RunFolder, watch: Watch) -> Ended:
    try:
        with folder.locked(wait=False):  # clears away what a killed process left there
            result = folder.result()
    except Exception as error:
        return Ended(number, seed, None, error)
    watch.finished(result)
    return Ended(number, seed, result)


def _cannot_open(config: RunConfig, terms: Terms, watch: Watch) -> Exception | None:
    """Why the data set of a configuration cannot be opened; None where it can."""
    try:
        terms.open(config, watch)
    except Exception as error:
        return error
    return None


def _each_here(
    configs: Sequence[RunConfig],
    left: Sequence[Key],
    terms: Terms,
    watch: Watch,
    begun: Callable[[int, int], None],
) -> Iterator[Ended]:
    # A seed that another process works on is left for last, so that processes share the seeds among themselves.
    for wait in (False, True):
        later = []
        for number, seed in left:
            config, begin = configs[number], perf_counter()
            begun(number, seed)
            try:
                result = run_seed(config, seed, terms, wait, watch)
            except Exception as error:
                yield Ended(number, seed, None, error, perf_counter() - begin)
                continue
            if result is None:
                later.append((number, seed))
                continue
            watch.finished(result)
            yield Ended(number, seed, result, None, perf_counter() - begin)
        left = later


def _each_elsewhere(
    pool: Pool,
    configs: Sequence[RunConfig],
    left: Sequence[Key],
    terms: Terms,
    watch: Watch,
    begun: Callable[[int, int], None],
) -> Iterator[Ended]:
    """The same in a pool; here too a seed that another process works on is left for last."""
    known: set[Key] = set()
    for number, seed in left:
        pool.submit((number, seed), run_elsewhere, configs[number], seed, terms, False)
    _tell(pool, known, begun)
    for answer in pool.answers():
        _tell(pool, known, begun)
        number, seed = cast("Key", answer.key)
        if answer.error is None and answer.value[0] is None:
            pool.submit((number, seed), run_elsewhere, configs[number], seed, terms, True)
            continue
        yield _ended(answer, configs[number], terms, watch)


def _tell(pool: Pool, known: set[Key], begun: Callable[[int, int], None]) -> None:
    for number, seed in cast("list[Key]", pool.running):
        if (number, seed) not in known:
            known.add((number, seed))
            begun(number, seed)


def _ended(answer: Answer, config: RunConfig, terms: Terms, watch: Watch) -> Ended:
    number, seed = cast("Key", answer.key)
    if answer.error is not None:
        return Ended(number, seed, None, answer.error, answer.seconds)
    result, notes = answer.value
    for note in notes:
        watch.note(note)
    if folder := terms.folder(config, seed):
        if not folder.complete:
            reason = "expected a store that every node of the cluster shares with this machine"
            return Ended(number, seed, None, DataError(f"{folder.path} was run but is not here: {reason}"))
        result = folder.result()
    watch.finished(result)
    return Ended(number, seed, result, None, answer.seconds)
