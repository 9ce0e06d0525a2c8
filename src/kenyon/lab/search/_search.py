"""The search: suggest, evaluate and record until enough evaluations have ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from kenyon.errors import ConfigError
from kenyon.lab.search._log import Evaluation, Log, SearchFolder, best_of
from kenyon.lab.search._objective import FAILED, Objective, Outcome, describe, evaluate
from kenyon.lab.search._space import Point, default_space, parse_space
from kenyon.lab.search._suggest import make_suggester
from kenyon.utils.parallel import Answer, Pool, check_engine

KAPPA = 2.5
N_INITIAL = 24


class SearchWatch:
    """Gets told about the progress of a search. The base class does nothing.

    Example:
        >>> class Count(SearchWatch):
        ...     def ended(self, evaluation, running):
        ...         print(evaluation.number, evaluation.outcome.status)
    """

    def started(self, evaluations: list[Evaluation], wanted: int) -> None:
        """The search starts, or continues after `evaluations`."""

    def ended(self, evaluation: Evaluation, running: int) -> None:
        """An evaluation has ended and is on the disk."""


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        folder: where it is.
        evaluations: all evaluations, in the order in which they ended.
        best: the best one; None where none succeeded.
        seconds: how long this session took.
        overhead_seconds: how much of that was spent on suggesting and recording, while workers may have waited.
        new: evaluations of this session.
    """

    folder: Path
    evaluations: list[Evaluation]
    best: Evaluation | None
    seconds: float
    overhead_seconds: float
    new: int

    @property
    def overhead(self) -> float:
        """Share of the session spent on suggesting and recording."""
        return self.overhead_seconds / self.seconds if self.seconds else 0.0


def search(
    objective: Objective,
    out: Path | str,
    *,
    evals: int = 200,
    method: str = "ambs",
    seed: int = 0,
    space: str | None = None,
    kappa: float = KAPPA,
    n_initial: int = N_INITIAL,
    forests: str = "rules",
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    command: str = "kenyon search",
    watch: SearchWatch | None = None,
) -> SearchResult:
    """Search until `evals` evaluations have ended; a search that was interrupted is continued.

    Args:
        objective: what to maximise.
        out: the search's folder.
        evals: how many evaluations in total, including those of earlier sessions.
        method: `"ambs"` or `"random"`.
        seed: the seed of the suggestions.
        space: the text of the space (TOML); None for the one that comes with the package.
        kappa, n_initial: parameters of AMBS.
        forests: of AMBS: `"rules"` for a forest over the whole space and one per rule, `"one"` for the first alone.
        engine: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
        workers: evaluations at a time; None for 1, or for every CPU of a Ray cluster.
        address: of the Ray cluster; None for one on this machine.
        command: the command that is named as the origin of the best configuration.
        watch: gets told about progress.
    """
    if evals < 1:
        raise ConfigError(f"evals is {evals}: expected at least 1")
    check_engine(engine, workers, address)
    watch, text = watch or SearchWatch(), default_space() if space is None else space
    parsed = parse_space(text)
    suggester = make_suggester(method, parsed, seed, kappa, n_initial, forests)
    folder = SearchFolder(Path(out))
    description: dict[str, Any] = {"method": method, "seed": seed, "objective": describe(objective)}
    if method == "ambs":
        description |= {"kappa": kappa, "n_initial": n_initial} | ({"forests": forests} if forests != "rules" else {})
    with folder.locked():
        folder.begin(description, text)
        log = Log(folder.log_path, parsed)
        session = _Session(objective, folder, log, watch, command)
        watch.started(list(log.evaluations), evals)
        try:
            if len(log.evaluations) < evals:
                suggester.tell([(e.point, e.outcome.score) for e in log.evaluations])
                with Pool(engine, workers, address) as pool:
                    session.run(pool, suggester, evals)
        finally:
            log.close()
    best = best_of(log.evaluations)
    return SearchResult(folder.path, log.evaluations, best, session.seconds, session.overhead, session.new)


class _Session:
    """The part of a search that one process does."""

    def __init__(self, objective: Objective, folder: SearchFolder, log: Log, watch: SearchWatch, command: str) -> None:
        self._objective, self._folder, self._log, self._watch = objective, folder, log, watch
        self._command = command
        self._before = max((e.finished for e in log.evaluations), default=0.0)
        self._begin = perf_counter()
        self.seconds, self.overhead, self.new = 0.0, 0.0, 0

    def run(self, pool: Pool, suggester: Any, evals: int) -> None:
        log, running = self._log, dict[int, Point]()
        best = best_of(log.evaluations)
        number = max((e.number for e in log.evaluations), default=-1) + 1
        while len(log.evaluations) < evals:
            begin = perf_counter()
            free = min(pool.capacity - len(running), evals - len(log.evaluations) - len(running))
            for point in suggester.ask(number, free) if free > 0 else ():
                running[number] = point
                pool.submit(number, evaluate, self._objective, log.space.options(point))
                number += 1
            self.overhead += perf_counter() - begin
            ended = pool.collect(timeout=5.0)
            begin = perf_counter()
            for answer in ended:
                finished = self._before + perf_counter() - self._begin
                done, outcome = cast("int", answer.key), _outcome(answer)
                evaluation = Evaluation(done, running.pop(done), outcome, finished, self._objective.protocol)
                log.append(evaluation)
                suggester.tell([(evaluation.point, outcome.score)])
                if best is None or best_of([best, evaluation]) is evaluation:
                    best = best_of([evaluation])
                    if best:
                        self._folder.write_best(best, self._objective, self._command)
                self.new += 1
                self._watch.ended(evaluation, len(running))
            self.overhead += perf_counter() - begin
        self.seconds = perf_counter() - self._begin


def _outcome(answer: Answer) -> Outcome:
    """What an evaluation returned; one whose worker died, or that raised what it should not, has failed."""
    if answer.error is not None:
        return Outcome(FAILED, None, f"{type(answer.error).__name__}: {answer.error}", answer.seconds)
    return answer.value
