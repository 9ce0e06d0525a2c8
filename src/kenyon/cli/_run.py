"""`kenyon run`: run a learner on a stream and print the results."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli import _complete
from kenyon.cli._config_options import LEARNER, config_values, with_config_options
from kenyon.cli._options import (
    FILES,
    AddressOption,
    DataDirOption,
    EngineOption,
    GpusOption,
    JsonOption,
    WorkersOption,
    option,
    parse_settings,
)
from kenyon.errors import ConfigError

if TYPE_CHECKING:
    from kenyon.lab.evaluation import Report

Matrix = Sequence[Sequence[float | None]]
MOST_TASKS = 9
"""Tasks whose accuracy matrix fits into 80 columns."""
MOST_ROWS = 25
"""Tasks that have a row each; of more, several neighbours share one."""
DEFAULTS = {"dataset": "digits", "seeds": 5, "out": "runs"}
EXTRA = ("seeds", "out", "data_dir", "save_model")
SCENARIOS = (
    *("single-task", "task-incremental", "class-incremental", "domain-incremental", "permuted", "rotated"),
    *("task-free", "i-blurry", "si-blurry", "drift", "gradual-drift", "virtual-drift"),
)
"""Those of `kenyon.data.streams`, which this module is not to import before it runs."""


@with_config_options
def run(
    dataset: Annotated[
        str | None,
        option("A name of `kenyon data list`, or a path. [digits]", complete=_complete.datasets),
    ] = None,
    scenario: Annotated[
        str | None,
        option(
            f"How classes arrive. [class-incremental]\nOne of {', '.join(SCENARIOS)}.", complete=_complete.scenarios
        ),
    ] = None,
    learner: Annotated[
        str | None, option("A name of `kenyon learners`, or file.py:Class. [kenyon]", complete=_complete.learners)
    ] = None,
    preset: Annotated[
        str | None, option("Start from a configuration that a search found.", panel=LEARNER, complete=_complete.presets)
    ] = None,
    seeds: Annotated[str | None, option("How many (5), or which (0,3,7). [5]")] = None,
    config: Annotated[Path | None, option("TOML file; the command line takes precedence.")] = None,
    out: Annotated[Path | None, option("The runs store. [runs]")] = None,
    again: Annotated[bool, option("Run again what the store already has.", "--again", panel=FILES)] = False,
    save_model: Annotated[
        bool, option("Keep the trained model of each run, in its folder.", "--save-model", panel=FILES)
    ] = False,
    log: Annotated[
        list[str] | None,
        option("Log to tensorboard, mlflow, wandb or file.py:Class; repeatable.", panel=FILES, complete=_complete.logs),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
    prequential: Annotated[
        bool | None,
        option("Predict each sample first. [yes]", "--prequential/--no-prequential", panel="Protocol"),
    ] = None,
    device: Annotated[str | None, option("PyTorch learners: cpu, cuda, cuda:1, mps. [cpu]", panel=LEARNER)] = None,
    settings: Annotated[
        list[str] | None,
        option("Any option of the learner or its rule.", panel=LEARNER, metavar="KEY=VALUE", name="--set"),
    ] = None,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus: GpusOption = 0.0,
    **flags: str | None,
) -> None:
    """Run a learner on a stream, once for every seed."""
    from kenyon.cli._progress import make_display
    from kenyon.errors import unknown
    from kenyon.lab.evaluation import RunArguments, RunConfig, config_keys, parse_seeds
    from kenyon.lab.evaluation import run as run_config
    from kenyon.utils.system import read_toml

    values = _preset(preset) if preset else {}
    values |= read_toml(config) if config else {}
    for key in values:
        if key not in (*config_keys(), *EXTRA):
            raise unknown("configuration key", key, (*config_keys(), *EXTRA))
    values |= _given(dataset=dataset, scenario=scenario, learner=learner, seeds=seeds, out=out, data_dir=data_dir)
    values |= _given(save_model=save_model or None, prequential=prequential)
    keys, options = config_values(flags, values.get("backbone", {}))
    values |= keys
    options |= parse_settings(settings or [])
    options |= _device(device, values.get("learner", "kenyon")) if device else {}
    if options:
        own = values.get("options", {})
        if not isinstance(own, dict):
            raise ConfigError(f"options = {own!r}: expected a table of the learner's options")
        values["options"] = own | options
    extra = {key: values.pop(key, DEFAULTS.get(key)) for key in EXTRA}
    for key in ("out", "data_dir"):
        if extra[key] is not None and not isinstance(extra[key], str | Path):
            raise ConfigError(f"{key} = {extra[key]!r}: expected the path of a folder")
    if not isinstance(extra["save_model"], bool | None):
        raise ConfigError(f"save_model = {extra['save_model']!r}: expected true or false")
    checked = RunConfig.from_dict({"dataset": DEFAULTS["dataset"]} | values)
    wanted = parse_seeds(extra["seeds"])
    how: RunArguments = {"workers": workers, "engine": engine, "address": address, "gpus": gpus, "again": again}
    how |= {"data_dir": extra["data_dir"], "save_model": bool(extra["save_model"]), "log": log or ()}
    with make_display(quiet=as_json, single=True) as watch:
        report = run_config(checked, wanted, extra["out"], watch=watch, **how)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=2, allow_nan=False))
    else:
        print_report(report)


def _preset(name: str) -> dict[str, Any]:
    """The keys of a configuration file that a preset stands for."""
    from kenyon.model.presets import load_preset

    found = load_preset(name)
    keys = {"dataset": found.dataset, "scenario": found.scenario, "epochs": found.epochs, "backbone": found.backbone}
    return _given(**keys) | {"options": dict(found.options)}


def _device(device: str, learner: str) -> dict[str, str]:
    from kenyon.learners import learner_options

    if "device" not in learner_options(learner):
        raise ConfigError(
            f"--device is {device!r}, but the learner {learner!r} has no such option: it does not use PyTorch"
        )
    return {"device": device}


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def print_report(report: "Report") -> None:
    """The closing tables: the numbers over the seeds, and the mean accuracy matrix."""
    from kenyon.cli._tables import print_table
    from kenyon.lab.evaluation import METRICS
    from kenyon.lab.tables import Cell, Empty, Result, Row, Table, Text

    config, first, n = report.config, report.results[0], len(report.results)
    tested = "a held-out part of the training set" if first.tested_on == "holdout" else "the test set"
    by = f" by {config['backbone']['name']}" if config.get("backbone") else ""
    what = " ".join([config["learner"], *([first.learned] if first.learned else [])])
    title = f"{what} on {config['dataset']}{by}, {config['scenario']}, tested on {tested}"

    def result(value: float | None, std: float | None = None, unit: str = "%") -> Cell:
        factor = 100.0 if unit == "%" else 1.0
        return Empty() if value is None else Result(factor * value, std and factor * std, n, unit)

    rows = []
    for name, metric in METRICS.items():
        if metric.heading:
            summary, unit = report.summary(name), metric.unit
            rows.append((metric.heading, result(summary.mean, None if unit == "B" else summary.std, unit)))
    if first.backbone_bytes:
        rows.append(("backbone", result(first.backbone_bytes, unit="B")))
    rows.append(("seeds", Text(", ".join(str(result.seed) for result in report.results))))
    made = tuple(Row(label, (cell,)) for label, cell in rows)
    print_table(Table("metrics", title, ("mean ± sd" if n > 1 else "value",), made))
    if len(first.tasks) > 1:
        typer.echo("")
        corner, columns, shown = task_rows(report.accuracy_matrix)
        names, shown = grouped_rows(shown)
        lines = [Row(name, tuple(map(result, row))) for name, row in zip(names, shown, strict=True)]
        print_table(Table("tasks", "accuracy on each task, %", columns, tuple(lines), corner=corner))
        if len(lines) < len(first.tasks):
            typer.echo("a row has the means of several tasks; --json has every task")
    if first.folder:
        typer.echo(f"\nkept in {first.folder.parent}")


def task_rows(matrix: Matrix) -> tuple[str, tuple[str, ...], Matrix]:
    """The accuracy matrix for at most 80 columns; for many tasks, a summary of each.

    Example:
        >>> task_rows([[0.9, 0.1], [0.8, 0.7]])
        ('after task', ('1', '2'), [[0.9, 0.1], [0.8, 0.7]])
        >>> task_rows([[0.5] * 20] * 20)[:2]
        ('task', ('right after it', 'at the end', 'best', 'seen tasks then'))
    """
    if len(matrix) <= MOST_TASKS:
        return "after task", tuple(str(j + 1) for j in range(len(matrix))), matrix
    rows = []
    for i, row in enumerate(matrix):
        column = [value for later in matrix[i:] if (value := later[i]) is not None]
        seen = [value for value in row[: i + 1] if value is not None]
        mean = sum(seen) / len(seen) if seen else None
        rows.append([row[i], matrix[-1][i], max(column) if column else None, mean])
    return "task", ("right after it", "at the end", "best", "seen tasks then"), rows


def grouped_rows(rows: Matrix) -> tuple[list[str], Matrix]:
    """The names of the rows, and the rows; of many rows the means of as many neighbours as make a screen.

    Example:
        >>> grouped_rows([[0.1, None], [0.3, 0.2]])[0]
        ['1', '2']
        >>> names, shown = grouped_rows([[i / 100] for i in range(100)])
        >>> names[:2], [round(value, 3) for value in shown[0]]
        (['1-4', '5-8'], [0.015])
    """
    size = -(-len(rows) // MOST_ROWS)
    if size == 1:
        return [str(i + 1) for i in range(len(rows))], rows
    names, means = [], []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        columns = [[value for value in column if value is not None] for column in zip(*group, strict=True)]
        names.append(f"{start + 1}-{start + len(group)}")
        means.append([sum(column) / len(column) if column else None for column in columns])
    return names, means
