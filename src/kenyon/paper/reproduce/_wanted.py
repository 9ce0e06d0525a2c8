"""What a table or a figure needs: cells that name the jobs behind them, to be filled in from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from kenyon.lab.evaluation import Report, RunConfig, RunFolder, RunGroup, RunResult
from kenyon.lab.figures import Figure
from kenyon.lab.report import run_command
from kenyon.lab.tables import Cell, Empty, Missing, Result, Row, Table, Text, Value
from kenyon.paper.reproduce._earlier import Earlier
from kenyon.paper.reproduce._jobs import Job, StoredRun

SCALES = {"%": 100.0, "MB": 1e-6}
FAR_ABOVE = 5.0
"""Points above the paper's number from which a number wants a reason."""


@dataclass(frozen=True)
class Results:
    """What is in the store, and why the rest is missing.

    Attributes:
        store: the folder.
        failures: the reason of each failure, by the name of the job.
        earlier: a report whose runs count where the store has none.
    """

    store: Path
    failures: dict[str, str] = field(default_factory=dict)
    earlier: Earlier | None = None

    def complete(self, runs: Runs) -> list[tuple[RunFolder, RunResult]]:
        """The complete runs of a configuration; a folder of an earlier report is a name alone."""
        found = []
        for job in runs.jobs():
            folder = job.folder(self.store)
            name = self.earlier.name(job.config, job.seed) if self.earlier else None
            if folder.complete:
                found.append((folder, folder.result()))
            elif self.earlier and name:
                found.append((RunFolder(self.store / name), self.earlier.result(name)))
        return found

    def report(self, runs: Runs) -> Report | None:
        """The results of a configuration; None where there is none."""
        found = self.complete(runs)
        return Report(runs.config.to_dict(), [result for _, result in found]) if found else None

    def reason(self, job: Job) -> str | None:
        """Why a job is not done."""
        return self.failures.get(job.name)


@dataclass(frozen=True)
class Runs:
    """A cell of our results: a configuration over its seeds.

    Attributes:
        metric: the name of a metric in `Metrics`.
        unit: `"%"` for shares, `"MB"` for bytes.
        paper: the paper's number in this place.
        better: which way is better.
        stand_in: what was used in place of what.
        below: why our number may be below the paper's; it becomes a footnote where it is.
        above: why it may be far above the paper's; it becomes a footnote where it is by more than `FAR_ABOVE`.
    """

    config: RunConfig
    seeds: tuple[int, ...]
    metric: str = "accuracy"
    unit: str = "%"
    paper: Value | None = None
    better: str | None = "higher"
    stand_in: str | None = None
    below: str | None = None
    above: str | None = None

    def jobs(self) -> list[StoredRun]:
        return [StoredRun(self.config, seed) for seed in self.seeds]

    @property
    def command(self) -> str:
        return run_command(self.config.to_dict(), self.seeds)

    def fill(self, results: Results) -> Cell:
        report = results.report(self)
        summary = report.summary(self.metric) if report else None
        if report is None or summary is None or summary.mean is None:
            reasons = [reason for job in self.jobs() if (reason := results.reason(job))]
            return Missing(reasons[0] if reasons else "not run yet", self.command, self.paper)
        scale = SCALES.get(self.unit, 1.0)
        mean = scale * summary.mean
        return Result(
            mean=mean,
            std=None if summary.std is None else scale * summary.std,
            n=len(report.results),
            unit=self.unit,
            paper=self.paper,
            better=self.better,
            runs=tuple(result.folder.name for result in report.results if result.folder),
            command=run_command(self.config.to_dict(), [result.seed for result in report.results]),
            stand_in=self.stand_in,
            remark=self._remark(mean, len(report.results)),
        )

    def _remark(self, mean: float, n: int) -> str | None:
        """Why it is far from the paper's number, and how many of the seeds it is the mean of where some are missing."""
        reasons = [f"{n} of {len(self.seeds)} seeds so far."] if n < len(self.seeds) else []
        if self.paper is not None:
            below, far_above = mean < self.paper.mean, mean > self.paper.mean + FAR_ABOVE
            reasons += [reason] if (reason := self.below if below else self.above if far_above else None) else []
        return " ".join(reasons) or None


@dataclass(frozen=True)
class Gap:
    """A cell that cannot be filled here, with the reason and the command that would fill it."""

    reason: str
    command: str | None = None
    paper: Value | None = None

    def jobs(self) -> list[StoredRun]:
        return []

    def fill(self, results: Results) -> Cell:
        return Missing(self.reason, self.command, self.paper)


@dataclass(frozen=True)
class Fixed:
    """A cell that needs no work."""

    cell: Cell

    def jobs(self) -> list[StoredRun]:
        return []

    def fill(self, results: Results) -> Cell:
        return self.cell


@dataclass(frozen=True)
class Computed:
    """A cell computed from the store once its jobs are done."""

    needs: tuple[Job, ...]
    compute: Callable[[Path], Cell]
    command: str
    paper: Value | None = None

    def jobs(self) -> list[Job]:
        return list(self.needs)

    def fill(self, results: Results) -> Cell:
        absent = [job for job in self.needs if not job.done(results.store)]
        if absent:
            return Missing(results.reason(absent[0]) or "not measured yet", self.command, self.paper)
        return self.compute(results.store)


Wanted = Runs | Gap | Fixed | Computed
EMPTY = Fixed(Empty())


@dataclass(frozen=True)
class Line:
    """A row. One that is `outside` (an upper bound, or in a table that is not a contest) is never marked as best."""

    label: str
    cells: tuple[Wanted, ...]
    group: str | None = None
    outside: bool = False


class Section(Protocol):
    """A table or a group of figures of the report."""

    def jobs(self) -> Sequence[Job]: ...

    def draw(self, results: Results) -> list[Table | Figure]: ...


@dataclass(frozen=True)
class Sheet:
    """A table to be filled.

    Attributes:
        needed: columns of which a row must have a number in one at least, or it is left out; none: rows stay.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    source: str = ""
    note: str = ""
    needed: tuple[int, ...] = ()

    def jobs(self) -> Sequence[Job]:
        return [job for line in self.lines for cell in line.cells for job in cell.jobs()]

    def draw(self, results: Results) -> list[Table | Figure]:
        filled = [
            [self._fill(results, line, column, cell) for column, cell in zip(self.columns, line.cells, strict=True)]
            for line in self.lines
        ]
        for column in range(len(self.columns)):
            rivals = [
                (cell.mean if cell.better == "higher" else -cell.mean, row)
                for row, (line, cells) in enumerate(zip(self.lines, filled, strict=True))
                if isinstance(cell := cells[column], Result) and cell.better and not line.outside
            ]
            if len(rivals) > 1:
                best = max(rivals)[1]
                cell = filled[best][column]
                assert isinstance(cell, Result)
                filled[best][column] = replace(cell, best=True)
        shown = [
            (line, cells)
            for line, cells in zip(self.lines, filled, strict=True)
            if not self.needed or any(isinstance(cells[column], (Result, Text)) for column in self.needed)
        ]
        if not shown:
            return []
        rows = tuple(Row(line.label, tuple(cells), line.group) for line, cells in shown)
        return [Table(self.id, self.title, self.columns, rows, self.source, self.note)]

    def _fill(self, results: Results, line: Line, column: str, wanted: Wanted) -> Cell:
        """What the store has; of what was computed for the earlier report, what it has in the same place."""
        cell = wanted.fill(results)
        if isinstance(cell, Missing) and isinstance(wanted, Computed) and results.earlier:
            old = results.earlier.cell(self.id, line.group, line.label, column, wanted.command) or cell
            return replace(old, best=False) if isinstance(old, Result) else old
        return cell


@dataclass(frozen=True)
class Plot:
    """Figures to be drawn from what is in the store; `make` may return none."""

    needs: tuple[Job, ...]
    make: Callable[[Results], Sequence[Figure]]

    def jobs(self) -> Sequence[Job]:
        return self.needs

    def draw(self, results: Results) -> list[Table | Figure]:
        return list(self.make(results))


def paper_value(numbers: tuple[float, ...] | None) -> Value | None:
    """The numbers of a cell of the paper's tables as a `Value`."""
    return None if numbers is None else Value(numbers[0], numbers[1] if len(numbers) > 1 else None)


def groups(results: Results, cells: Mapping[str, Wanted]) -> list[RunGroup]:
    """The complete runs of some cells, by name."""
    found = []
    for name, cell in cells.items():
        if isinstance(cell, Runs) and (complete := results.complete(cell)):
            found.append(RunGroup(cell.config.to_dict(), complete, label=name))
    return found


def jobs_of(cells: Iterable[Wanted]) -> tuple[Job, ...]:
    """The jobs of some cells."""
    return tuple(job for cell in cells for job in cell.jobs())
