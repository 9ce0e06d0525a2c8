"""`kenyon show`: list and compare the runs of a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kenyon.evaluation import RunFolder

ALWAYS = ("dataset", "scenario", "learner")


def show(
    path: Annotated[Path, typer.Argument(help="A runs store, or one run's folder.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone.")] = False,
) -> None:
    """List the runs of a store side by side, best first, or show one run."""
    from kenyon.cli._folders import open_runs
    from kenyon.cli._run import print_report
    from kenyon.cli._tables import numbers, print_table, shares, size

    groups = _grouped(open_runs(path))
    if as_json:
        typer.echo(json.dumps([_as_json(*group) for group in groups], indent=2, allow_nan=False))
        return
    if (path / "config.toml").exists() and groups[0][1]:
        print_report(_report(*groups[0][:2]))
        return
    differing = _differing([config for config, _, _ in groups])
    rows = []
    for config, complete, incomplete in groups:
        cells = [_cell(_flat(config).get(key)) for key in differing]
        state = f"{len(complete)}" + (f" + {len(incomplete)} {_standing(incomplete)}" if incomplete else "")
        report = _report(config, complete) if complete else None
        figures = ["-"] * 4
        if report:
            figures = [shares(report.summary("accuracy")), shares(report.summary("forgetting"))]
            figures += [size(report.summary("state_bytes").mean), numbers(report.summary("samples_per_second"))]
        rows.append([*cells, state, *figures])
    print_table((*differing, "seeds", "accuracy, %", "forgetting, %", "state", "samples/s"), rows)


def _grouped(runs: list[RunFolder]) -> list[tuple[dict[str, Any], list[RunFolder], list[RunFolder]]]:
    """Configurations with their complete and incomplete runs, the most accurate first."""
    groups: dict[str, tuple[dict[str, Any], list[RunFolder], list[RunFolder]]] = {}
    for run in runs:
        config = run.config()
        config.pop("seeds", None)
        group = groups.setdefault(json.dumps(config, sort_keys=True), (config, [], []))
        (group[1] if run.complete else group[2]).append(run)

    def rank(group: tuple[dict[str, Any], list[RunFolder], list[RunFolder]]) -> float:
        return -(_report(*group[:2]).summary("accuracy").mean or 0.0) if group[1] else 1.0

    return sorted(groups.values(), key=rank)


def _report(config: dict[str, Any], complete: list[RunFolder]) -> Any:
    from kenyon.evaluation import Report

    return Report(config, sorted((run.result() for run in complete), key=lambda result: result.seed))


def _standing(incomplete: list[RunFolder]) -> str:
    return "running" if any(run.busy for run in incomplete) else "stopped"


def _as_json(config: dict[str, Any], complete: list[RunFolder], incomplete: list[RunFolder]) -> dict[str, Any]:
    values = _report(config, complete).to_dict() if complete else {"config": config}
    return values | {"incomplete": [str(run.path) for run in incomplete]}


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in config.items() if k != "options"} | config.get("options", {})


def _differing(configs: list[dict[str, Any]]) -> list[str]:
    """The keys to compare by: what always identifies a run, and whatever is not the same in all."""
    flat = [_flat(config) for config in configs]
    keys = dict.fromkeys(key for config in flat for key in config)
    return [key for key in keys if key in ALWAYS or any(config.get(key) != flat[0].get(key) for config in flat)]


def _cell(value: Any) -> str:
    return "-" if value is None else str(value)
