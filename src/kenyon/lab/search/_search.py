"""The search: suggest, evaluate and record until enough evaluations have ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from kenyon.errors import ConfigError
from kenyon.lab.executor import Done, Executor
from kenyon.lab.search._log import Evaluation, Log, SearchFolder, best_of
from kenyon.lab.search._objective import FAILED, Objective, Outcome, describe, evaluate
from kenyon.lab.search._space import Point, default_space, parse_space
from kenyon.lab.search._suggest import make_suggester
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import Workers

KAPPA = 2.5
N_INITIAL = 24


@dataclass(frozen=True)
class EvaluationJob:
    """The evaluation of one point of the space.

    Attributes:
        number: counted from 0 in the order of the suggestions.
        group: the rule, or whatever the space begins with a choice of.
    """

    number: int
    group: str
    point: Point
    objective: Objective
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"evaluation {self.number} ({self.group})"

    def do(self, watch: Watch, wait: bool) -> Outcome:
        return evaluate(self.objective, self.options)


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
    watch: Watch | None = None,
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
        watch: receives the events; that an evaluation finished is sent once it is on the disk.
    """
    if evals < 1:
        raise ConfigError(f"evals is {evals}: expected at least 1")
    where = Workers(workers, engine, address)
    watch, text = watch or Watch(), default_space() if space is None else space
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
        best = max((e.outcome.score for e in log.evaluations), default=None)
        watch(Event("planned", total=evals, done=len(log.evaluations), message="evaluations", score=best))
        try:
            if len(log.evaluations) < evals:
                suggester.tell([(e.point, e.outcome.score) for e in log.evaluations])
                with Executor(where, watch, apart=True) as executor:  # what crashes must not end the search
                    session.run(executor, suggester, evals)
        finally:
            log.close()
    found = best_of(log.evaluations)
    return SearchResult(folder.path, log.evaluations, found, session.seconds, session.overhead, session.new)


class _Session:
    """The part of a search that one process does."""

    def __init__(self, objective: Objective, folder: SearchFolder, log: Log, watch: Watch, command: str) -> None:
        self._objective, self._folder, self._log, self._watch = objective, folder, log, watch
        self._command = command
        self._before = max((e.finished for e in log.evaluations), default=0.0)
        self._begin = perf_counter()
        self.seconds, self.overhead, self.new = 0.0, 0.0, 0

    def run(self, executor: Executor, suggester: Any, evals: int) -> None:
        log = self._log
        best = best_of(log.evaluations)
        number = max((e.number for e in log.evaluations), default=-1) + 1
        while len(log.evaluations) < evals:
            begin = perf_counter()
            free = min(executor.capacity - executor.left, evals - len(log.evaluations) - executor.left)
            for point in suggester.ask(number, free) if free > 0 else ():
                options = log.space.options(point)
                executor.submit(EvaluationJob(number, str(next(iter(point.values()))), point, self._objective, options))
                number += 1
            self.overhead += perf_counter() - begin
            ended = executor.collect(timeout=5.0)
            begin = perf_counter()
            for done in ended:
                finished = self._before + perf_counter() - self._begin
                job, outcome = done.job, _outcome(done)
                evaluation = Evaluation(job.number, job.point, outcome, finished, self._objective.protocol)
                log.append(evaluation)
                suggester.tell([(evaluation.point, outcome.score)])
                if best is None or best_of([best, evaluation]) is evaluation:
                    best = best_of([evaluation])
                    if best:
                        self._folder.write_best(best, self._objective, self._command)
                self.new += 1
                self._watch(done.event(result=evaluation, score=outcome.accuracy, message=outcome.reason))
            self.overhead += perf_counter() - begin
        self.seconds = perf_counter() - self._begin


def _outcome(done: Done) -> Outcome:
    """What an evaluation returned; one whose worker died, or that raised what it should not, has failed."""
    if done.error is not None:
        return Outcome(FAILED, None, f"{type(done.error).__name__}: {done.error}", done.seconds)
    return done.value
