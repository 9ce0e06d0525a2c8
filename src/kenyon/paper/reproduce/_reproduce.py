"""Plan the experiments, run them, and write the report of what is in the store then."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from kenyon.lab.evaluation import RunFolder
from kenyon.lab.figures import Figure, Scatter
from kenyon.lab.report import (
    REPORT_FILE,
    ReportData,
    Run,
    machine,
    run_command,
    write_markdown,
    write_page,
    write_report,
)
from kenyon.lab.tables import Result, Row, Table, Text
from kenyon.paper.reproduce._jobs import execute
from kenyon.paper.reproduce._plan import Clock, Plan, make_plan
from kenyon.paper.reproduce._setting import Setting, check_present
from kenyon.paper.reproduce._wanted import Results, Section
from kenyon.paper.reproduce.experiments import EXPERIMENTS, Experiment
from kenyon.utils.events import Watch
from kenyon.utils.parallel import Workers
from kenyon.utils.system import replace_file

TITLE = "The paper, reproduced"
PAPER = (
    "Every table and figure of “Neuromodulated Neural Architectures with Local Error Signals for Memory-Constrained "
    "Online Continual Learning” (Madireddy, Yanguas-Gil and Balaprakash, 2021), our numbers beside the paper's."
)
METRICS = ("accuracy", "forgetting", "anytime_accuracy", "prequential_accuracy", "state_bytes", "samples_per_second")


@dataclass(frozen=True)
class Reproduced:
    """How a reproduction ended.

    Attributes:
        report: the report that was written.
        path: where it was written.
        page: where the page of it was written.
        failures: the reason of each failure, by the name of the job.
    """

    report: ReportData
    path: Path
    page: Path
    failures: Mapping[str, str]


@dataclass(frozen=True)
class Reproduction:
    """Some experiments in one setting.

    Attributes:
        experiments: which experiments.
        setting: where, and how large.
        command: the command that makes the report again.
    """

    experiments: Sequence[Experiment]
    setting: Setting
    command: str = "kenyon reproduce"

    @cached_property
    def parts(self) -> dict[str, Sequence[Section]]:
        check_present(self.setting)
        return {experiment.name: experiment.parts(self.setting) for experiment in self.experiments}

    def plan(self) -> Plan:
        """What has to be done; nothing is run."""
        return make_plan(self.parts, self.setting, Clock(self.setting))

    def run(self, plan: Plan, watch: Watch | None = None) -> Reproduced:
        """Do what is left and write the report, which names the jobs that failed."""
        setting = self.setting
        n = setting.workers if setting.engine == "ray" else setting.at_a_time
        workers = Workers(n, setting.engine, setting.address, setting.gpus)
        failures = execute(plan.left, setting.store, setting.data_dir, watch or Watch(), workers)
        return self.write(failures)

    def write(self, failures: Mapping[str, str]) -> Reproduced:
        """Write `report.json` from what the store has."""
        parts = [part for own in self.parts.values() for part in own]
        results = Results(self.setting.store, dict(failures), self.setting.earlier)
        whole = len(self.experiments) == len(EXPERIMENTS)
        report = make_report(parts, results, self.setting, Words(TITLE, self._subtitle, self.command), whole)
        path = self.setting.store / REPORT_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        write_report(report, path)
        page = path.with_suffix(".html")
        write_page(report, page)
        return Reproduced(report, path, page, failures)

    @property
    def _subtitle(self) -> str:
        words = PAPER
        if len(self.experiments) < len(EXPERIMENTS):
            words += f" Of it here: {'; '.join(experiment.regenerates for experiment in self.experiments)}."
        return words


def write_results(report: ReportData, path: Path) -> tuple[Path, Path]:
    """Write the data of a report, without spaces, to `PATH.json`, and its text to `PATH.md`.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.report import ReportData
        >>> [path.name for path in write_results(ReportData("Mine"), Path("results"))]
        ['results.json', 'results.md']
    """
    data, text = path.with_suffix(".json"), path.with_suffix(".md")
    data.parent.mkdir(parents=True, exist_ok=True)
    replace_file(data, (json.dumps(report.to_dict(), allow_nan=False, separators=(",", ":")) + "\n").encode())
    write_markdown(report, text)
    return data, text


@dataclass(frozen=True)
class Words:
    """The title and subtitle of the report, and the command that makes it again."""

    title: str
    subtitle: str
    command: str


def make_report(
    parts: Sequence[Section], results: Results, setting: Setting, words: Words, whole: bool = False
) -> ReportData:
    """Draw every section and gather the runs behind them.

    Args:
        whole: whether all experiments are part of it; figures of an earlier report then stand in for missing ones.
    """
    drawn = [item for part in parts for item in part.draw(results)]
    tables = (*(item for item in drawn if isinstance(item, Table)), *_failures(results))
    figures = tuple(item for item in drawn if not isinstance(item, Table))
    if results.earlier and whole:
        figures = tuple(results.earlier.figures(figures))
    return ReportData(
        title=words.title,
        tables=tables,
        figures=figures,
        runs=_runs(results, sorted(_names(tables, figures)), setting.seeds),
        subtitle=words.subtitle,
        command=words.command,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        quick=setting.quick,
        kenyon=version("kenyon"),
        machine=machine() | _earlier_processors(results),
    )


EARLIER = "processors of earlier runs"


def _earlier_processors(results: Results) -> dict[str, str | int | float | None]:
    """The processors that runs taken from earlier reports were made on, those before the last included."""
    if results.earlier is None:
        return {}
    known = results.earlier.report.machine
    names = [*str(known.get(EARLIER, "")).split(", "), str(known.get("processor", ""))]
    return {EARLIER: ", ".join(dict.fromkeys(name for name in names if name))}


def _failures(results: Results) -> list[Table]:
    """A table of what failed and why; none where nothing failed."""
    rows = tuple(Row(name, (Text(reason),)) for name, reason in results.failures.items())
    note = "The same command tries these again; everything else stands."
    return [Table("failures", "What failed", ("Reason",), rows, note=note)] if rows else []


def _runs(results: Results, names: Sequence[str], seeds: Sequence[int]) -> dict[str, Run]:
    """Every run by name; a configuration is written out with its first run, and the other seeds refer to that one."""
    runs: dict[str, Run] = {}
    first: dict[str, str] = {}
    earlier = results.earlier.runs if results.earlier else {}
    for name in names:
        stored = name not in earlier or RunFolder(results.store / name).complete
        run = describe(results.store / name, seeds) if stored else earlier[name]
        shared = "".join(line for line in run.config.splitlines(True) if not line.startswith("seeds ="))
        home = first.setdefault(shared, name)
        runs[name] = run if home == name else replace(run, config=f"# As {home}, but for\nseeds = [{run.seed}]\n")
    return runs


def describe(path: Path, seeds: Sequence[int]) -> Run:
    """Describe a run from its folder; its command repeats all of `seeds`, among them its own."""
    folder = RunFolder(path)
    result = folder.result()
    return Run(
        config=folder.file("config.toml").read_text(encoding="utf-8"),
        command=run_command(folder.config(), seeds if result.seed in seeds else [result.seed]),
        seed=result.seed,
        accuracy=result.metrics.accuracy,
        metrics={name: getattr(result.metrics, name) for name in METRICS},
        folder=path.name,
    )


def _names(tables: Sequence[Table], figures: Sequence[Figure]) -> set[str]:
    cells = [cell for table in tables for row in table.rows for cell in row.cells]
    names = {name for cell in cells if isinstance(cell, Result) for name in cell.runs}
    for figure in figures:
        names |= {p.run for p in figure.points if p.run} if isinstance(figure, Scatter) else set(figure.runs)
    return names
