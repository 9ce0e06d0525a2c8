"""From a filled store to the report's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from kenyon.evaluation import RunFolder
from kenyon.report._cells import Result, Row, Table, Text
from kenyon.report._command import run_command
from kenyon.report._data import ReportData, Run
from kenyon.report._figures import Figure, Scatter
from kenyon.report._from_runs import machine
from kenyon.reproduce._setting import Setting
from kenyon.reproduce._wanted import Part, Results

METRICS = ("accuracy", "forgetting", "anytime_accuracy", "prequential_accuracy", "state_bytes", "samples_per_second")


@dataclass(frozen=True)
class Words:
    """What stands above the report, and the command that makes it again."""

    title: str
    subtitle: str
    command: str


def make_report(parts: Sequence[Part], results: Results, setting: Setting, words: Words) -> ReportData:
    """Draw every part and gather the runs behind them."""
    drawn = [item for part in parts for item in part.draw(results)]
    tables = (*(item for item in drawn if isinstance(item, Table)), *_failures(results))
    figures = tuple(item for item in drawn if not isinstance(item, Table))
    return ReportData(
        title=words.title,
        tables=tables,
        figures=figures,
        runs=_runs(results.store, sorted(_names(tables, figures)), setting.seeds),
        subtitle=words.subtitle,
        command=words.command,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        quick=setting.quick,
        kenyon=version("kenyon"),
        machine=machine(),
    )


def _failures(results: Results) -> list[Table]:
    """What failed and why, where something did."""
    rows = tuple(Row(name, (Text(reason),)) for name, reason in results.failures.items())
    note = "The same command tries these again; everything else stands."
    return [Table("failures", "What failed", ("Reason",), rows, note=note)] if rows else []


def _runs(store: Path, names: Sequence[str], seeds: Sequence[int]) -> dict[str, Run]:
    """Every run by name; a configuration stands with its first run, and the other seeds refer to it."""
    runs: dict[str, Run] = {}
    first: dict[str, str] = {}
    for name in names:
        run = describe(store / name, seeds)
        shared = "".join(line for line in run.config.splitlines(True) if not line.startswith("seeds ="))
        home = first.setdefault(shared, name)
        runs[name] = run if home == name else replace(run, config=f"# As {home}, but for\nseeds = [{run.seed}]\n")
    return runs


def describe(path: Path, seeds: Sequence[int]) -> Run:
    """A run behind the numbers, from its folder; its command repeats all of `seeds`, of which its own is one."""
    folder = RunFolder(path)
    result = folder.result()
    return Run(
        config=folder.file("config.toml").read_text(encoding="utf-8"),
        command=run_command(folder.config(), seeds if result.seed in seeds else range(result.seed + 1)),
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
