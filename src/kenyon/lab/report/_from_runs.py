"""Open the report at a path: its `report.json` where there is one, else a report made from the runs of the store."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kenyon.errors import DataError
from kenyon.lab.evaluation import RunFolder, RunGroup, Store, by_stream, environment, group_runs
from kenyon.lab.report._command import config_command, run_command
from kenyon.lab.report._data import REPORT_FILE, ReportData, Run, read_report
from kenyon.lab.report._run_figures import figures_of
from kenyon.lab.search import SearchFolder, by_choice, search_figures
from kenyon.lab.tables import Cell, Missing, Result, Row, Table, unique
from kenyon.utils.wording import slug

COLUMNS = {
    "accuracy": ("accuracy", 100.0, "%", "higher"),
    "forgetting": ("forgetting", 100.0, "%", "lower"),
    "state_bytes": ("state", 1.0, "B", "lower"),
    "samples_per_second": ("samples/s", 1.0, "", "higher"),
}
"""The columns by metric: heading, factor, unit, and which way is better."""


Damaged = Callable[[RunFolder, str], None]
"""Called with a run that cannot be read, and the reason."""


def open_report(path: Path, damaged: Damaged | None = None) -> ReportData:
    """The report of a store, of one run, of a search, or in a JSON file.

    Args:
        path: the folder or the file.
        damaged: called with every run that is left out because it cannot be read.

    Example:
        >>> from pathlib import Path
        >>> write_report(ReportData("Mine"), Path("report.json"))
        >>> open_report(Path("report.json")).title
        'Mine'
    """
    if path.is_file():
        return read_report(path)
    if not path.is_dir():
        raise DataError(f"there is no store {path}: name a folder that `kenyon run` or `kenyon reproduce` wrote to")
    if (path / "search.toml").exists():
        return report_of_search(path)
    return read_report(path / REPORT_FILE) if (path / REPORT_FILE).exists() else report_of_runs(path, damaged)


def report_of_search(path: Path) -> ReportData:
    """The figures of a search, and its evaluations by rule, or by whatever its space begins with a choice of."""
    folder = SearchFolder(path)
    heads, rows = by_choice(folder.evaluations())
    return ReportData(
        title=f"Search in {path.resolve().name}",
        tables=(replace(Table.of_text(heads, rows, "Evaluations"), id="evaluations"),),
        figures=tuple(search_figures(folder).values()),
        **_made(path),
    )


def report_of_runs(path: Path, damaged: Damaged | None = None) -> ReportData:
    """Make a report of the runs of a store: one table for each data set and scenario, and figures.

    Runs that are not complete, or that another version of their learner made, are named and left out of the numbers.

    Args:
        path: the folder of the store, or of one run.
        damaged: called with every run that is left out because it cannot be read.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, run
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], store="runs")
        >>> report = report_of_runs(Path("runs"))
        >>> [table.title for table in report.tables], open_report(Path("runs")).tables == report.tables
        (['digits, class-incremental'], True)
    """
    one = (path / "config.toml").exists()
    store, runs = (path.parent, [RunFolder(path)]) if one else (path, Store(path).runs())
    if not runs:
        raise DataError(f"{path} holds no run: name a store that `kenyon run` wrote to")
    groups, unreadable = group_runs(runs, arrays=True)
    if not groups:
        raise DataError(unreadable[0][1] if len(unreadable) == 1 else f"{path}: all {len(unreadable)} runs are damaged")
    if not any(group.complete for group in groups):
        raise DataError(f"{path} holds no complete run: `kenyon run` with the same options resumes where it stopped")
    if damaged is not None:
        for folder, reason in unreadable:
            damaged(folder, reason)
    streams = by_stream(groups)
    tables = unique([_table(stream, members, store) for stream, members in streams.items()])
    counts = {
        "complete run": sum(len(group.complete) for group in groups),
        "incomplete run": sum(len(group.incomplete) for group in groups),
        "damaged run": len(unreadable),
    }
    words = [_count(n, what) for what, n in counts.items() if n]
    words[0] += f" on {_count(len(streams), 'stream')}"
    listed = [group for members in streams.values() for group in members]
    return ReportData(
        title=path.name if one else f"Runs in {path.resolve().name}",
        subtitle=", ".join(words),
        tables=tables,
        figures=unique(figures_of(streams), taken=[table.id for table in tables]),
        runs={name: run for group in listed for name, run in _runs(group, store).items()},
        **_made(path),
    )


def _made(path: Path) -> dict[str, Any]:
    """How a report was made, and where."""
    try:
        own = version("kenyon")
    except PackageNotFoundError:
        own = ""
    made, command = datetime.now(UTC).isoformat(timespec="seconds"), shlex.join(["kenyon", "report", str(path)])
    return {"command": command, "made": made, "kenyon": own, "machine": machine()}


def machine() -> dict[str, str | int | float | None]:
    """Facts about this machine, as the page shows them.

    Example:
        >>> "cores" in machine()
        True
    """
    here = environment()
    own = {key: here[key] for key in ("processor", "cores", "python")}
    return own | {name: here["packages"][name] for name in ("numpy", "torch")}


def _table(stream: tuple[str, str], groups: Sequence[RunGroup], store: Path) -> Table:
    reports = [group.report for group in groups if group.complete and not group.outdated]
    accuracies = [report.summary("accuracy").mean or 0.0 for report in reports]
    best = max(accuracies) if len(accuracies) > 1 else None
    defined = [metric for metric in COLUMNS if any(report.summary(metric).mean is not None for report in reports)]
    rows = tuple(Row(group.label, _cells(group, defined, best, store)) for group in groups)
    left_out = [f"{run.path.name} ({_standing(run)})" for group in groups for run in group.incomplete]
    held_out = any(result.tested_on == "holdout" for group in groups for _, result in group.complete)
    note = "Mean and standard deviation over seeds. State is what must be kept to keep learning."
    note += " Tested on a held-out part of the training set." if held_out else ""
    note += f" Incomplete, left out of the numbers: {', '.join(left_out)}." if left_out else ""
    columns = (*(COLUMNS[metric][0] for metric in defined), "seeds")
    return Table(slug(*stream), ", ".join(stream), columns, rows, note=note)


def _cells(group: RunGroup, metrics: Sequence[str], best: float | None, store: Path) -> tuple[Cell, ...]:
    if group.outdated or not group.complete:
        run = group.complete[0][0] if group.complete else group.incomplete[0]
        reason = group.outdated or f"{run.path.name} is not complete ({_standing(run)})"
        return (Missing(reason, config_command(store / run.path.name / "config.toml")),) * (len(metrics) + 1)
    cells: list[Cell] = []
    seeds = [result.seed for _, result in group.complete]
    command = run_command(group.config, seeds)
    for metric in metrics:
        _, factor, unit, better = COLUMNS[metric]
        summary = group.report.summary(metric)
        if summary.mean is None:
            cells.append(Missing("not measured in these runs"))
            continue
        std = None if summary.std is None else factor * summary.std
        std = None if std == 0 and unit == "B" else std  # the bytes are the same for every seed
        value = Result(factor * summary.mean, std, len(seeds), unit, runs=group.names, command=command)
        cells.append(replace(value, better=better, best=metric == "accuracy" and summary.mean == best))
    return (*cells, Result(float(len(seeds)), None, len(seeds), runs=group.names, command=command))


def _standing(run: RunFolder) -> str:
    return "running" if run.busy else "stopped"


def _runs(group: RunGroup, store: Path) -> dict[str, Run]:
    return {
        folder.path.name: Run(
            config=folder.file("config.toml").read_text(encoding="utf-8"),
            command=config_command(store / folder.path.name / "config.toml"),
            seed=result.seed,
            accuracy=result.metrics.accuracy,
            metrics={key: value for key, value in result.to_dict()["metrics"].items()},
            folder=folder.path.name,
        )
        for folder, result in group.complete
    }


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")
