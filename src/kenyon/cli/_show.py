"""`kenyon show`: list and compare the runs of a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kenyon.evaluation import RunFolder, RunGroup

ALWAYS = ("dataset", "scenario", "learner")


def show(
    path: Annotated[Path, typer.Argument(help="A runs store, or one run's folder.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone.")] = False,
) -> None:
    """List the runs of a store side by side, best first, or show one run."""
    from kenyon.cli._folders import open_runs, say_damaged
    from kenyon.cli._run import print_report
    from kenyon.errors import DataError
    from kenyon.evaluation import group_runs

    groups, damaged = group_runs(open_runs(path))
    if not groups:
        raise DataError(damaged[0][1] if len(damaged) == 1 else f"{path}: all {len(damaged)} runs are damaged")
    for folder, reason in damaged:
        say_damaged(folder, reason)
    groups.sort(key=lambda group: group.rank)
    if as_json:
        typer.echo(json.dumps([_as_json(group) for group in groups], indent=2, allow_nan=False))
        return
    if (path / "config.toml").exists() and groups[0].complete:
        print_report(groups[0].report)
        if groups[0].outdated:
            typer.echo(f"\nNot the numbers of the code as it is: {groups[0].outdated}")
        return
    _print(groups)


def _print(groups: list[RunGroup]) -> None:
    from kenyon.cli._tables import numbers, print_table, shares, size
    from kenyon.evaluation import distinguishing

    keys = [*ALWAYS, *distinguishing(groups)]
    columns = [*keys, "seeds", "accuracy, %", "forgetting, %", "state", "samples/s"]
    rows = []
    for group in groups:
        figures = ["-"] * 4
        if group.complete and not group.outdated:
            summary = group.report.summary
            figures = [shares(summary("accuracy")), shares(summary("forgetting"))]
            figures += [size(summary("state_bytes").mean), numbers(summary("samples_per_second"))]
        rows.append([*(_cell(group.value(key)) for key in keys), _seeds(group), *figures])
    if any(group.outdated for group in groups):
        columns.append("note")
        rows = [[*row, group.outdated] for row, group in zip(rows, groups, strict=True)]
    print_table(columns, rows)


def _seeds(group: RunGroup) -> str:
    incomplete = group.incomplete
    return f"{len(group.complete)}" + (f" + {len(incomplete)} {_standing(incomplete)}" if incomplete else "")


def _standing(incomplete: list[RunFolder]) -> str:
    return "running" if any(run.busy for run in incomplete) else "stopped"


def _as_json(group: RunGroup) -> dict[str, Any]:
    from kenyon.evaluation import json_safe

    values = group.report.to_dict() if group.complete else {"config": json_safe(group.config)}
    return values | {"incomplete": [str(run.path) for run in group.incomplete], "outdated": group.outdated}


def _cell(value: Any) -> str:
    return "-" if value is None else str(value)
