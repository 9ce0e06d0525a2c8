"""`kenyon run`: learn a stream, test, print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli import _complete
from kenyon.cli._learner_options import PANEL as LEARNER
from kenyon.cli._learner_options import with_learner_options
from kenyon.cli._options import AddressOption, EngineOption, GpusOption, WorkersOption, option
from kenyon.errors import ConfigError

if TYPE_CHECKING:
    from kenyon.lab.evaluation import Report

DEFAULTS = {"dataset": "digits", "seeds": 5, "out": "runs"}
EXTRA = ("seeds", "out", "data_dir", "save_model")
STREAM, BACKBONE, PROTOCOL = "Stream", "Backbone", "Protocol"
SCENARIOS = (
    *("single-task", "task-incremental", "class-incremental", "domain-incremental", "permuted", "rotated"),
    *("task-free", "i-blurry", "si-blurry", "drift", "gradual-drift", "virtual-drift"),
)
"""Those of `kenyon.data.streams`, which this module is not to import before it runs."""


@with_learner_options
def run(
    dataset: Annotated[
        str | None,
        option("Data set: a name (see `kenyon data list`) or a path. [digits]", complete=_complete.datasets),
    ] = None,
    scenario: Annotated[
        str | None,
        option(f"How it is streamed: {', '.join(SCENARIOS)}. [class-incremental]", complete=_complete.scenarios),
    ] = None,
    learner: Annotated[
        str | None, option("Name (see `kenyon learners`) or file.py:Class. [kenyon]", complete=_complete.learners)
    ] = None,
    preset: Annotated[
        str | None, option("Begin with a configuration that a search found.", complete=_complete.presets)
    ] = None,
    seeds: Annotated[str | None, option("How many (5), or which (0,3,7). [5]")] = None,
    config: Annotated[Path | None, option("TOML file with any of these options; the command line wins.")] = None,
    out: Annotated[Path | None, option("The runs store. [runs]")] = None,
    again: Annotated[bool, option("Run again what the store already has.", name="--again")] = False,
    save_model: Annotated[
        bool, option("Keep the trained model of each run, as model.safetensors in its folder.", name="--save-model")
    ] = False,
    log: Annotated[
        list[str] | None,
        option("Log to tensorboard, mlflow, wandb or file.py:Class, several times.", complete=_complete.logs),
    ] = None,
    data_dir: Annotated[Path | None, option("Where the data sets are. [$KENYON_DATA]")] = None,
    backbone: Annotated[
        str | None,
        option("Frozen network: a name (efficientnet-lite0), an .onnx file or module:function.", panel=BACKBONE),
    ] = None,
    backbone_weights: Annotated[str | None, option("Its weights file, .pth.", panel=BACKBONE, metavar="FILE")] = None,
    backbone_sha256: Annotated[str | None, option("What that file's SHA-256 begins with.", panel=BACKBONE)] = None,
    resolution: Annotated[
        str | None, option("Pixels per side that it sees. [its own]", panel=BACKBONE, metavar="INTEGER")
    ] = None,
    interpolation: Annotated[str | None, option("nearest, bilinear, bicubic. [bilinear]", panel=BACKBONE)] = None,
    normalisation: Annotated[
        str | None, option("imagenet, tensorflow, unit, none, or [[mean], [std]]. [its own]", panel=BACKBONE)
    ] = None,
    greyscale: Annotated[str | None, option("Grey images: refuse, repeat. [refuse]", panel=BACKBONE)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout, nothing on stderr.")] = False,
    epochs: Annotated[str | None, option("Passes over each task. [1.0]", panel=STREAM, metavar="FLOAT")] = None,
    order: Annotated[str | None, option("Order of the samples: shuffled, published. [shuffled]", panel=STREAM)] = None,
    class_order: Annotated[
        str | None, option("sorted, shuffled, or a list such as 3,1,2,0. [sorted]", panel=STREAM)
    ] = None,
    n_tasks: Annotated[str | None, option("How many tasks.", panel=STREAM, metavar="INTEGER")] = None,
    task_sizes: Annotated[str | None, option("Classes in each task, such as 5,3,2.", panel=STREAM)] = None,
    labelled: Annotated[
        str | None, option("Share of samples that keep their label. [1.0]", panel=STREAM, metavar="FLOAT")
    ] = None,
    label: Annotated[str | None, option("Column of labels of a table. [label]", panel=STREAM, metavar="COLUMN")] = None,
    domain: Annotated[
        str | None, option("Column of domains of a table, or 'folder'.", panel=STREAM, metavar="COLUMN")
    ] = None,
    tasks_by: Annotated[str | None, option("What a task is made of: classes, domains.", panel=STREAM)] = None,
    disjoint: Annotated[
        str | None, option("Blurry: share of classes in one task. [0.5]", panel=STREAM, metavar="FLOAT")
    ] = None,
    blurry: Annotated[
        str | None, option("Blurry: share of samples in all tasks. [0.1]", panel=STREAM, metavar="FLOAT")
    ] = None,
    long_tail: Annotated[
        str | None, option("Share that the last class keeps. [1.0]", panel=STREAM, metavar="FLOAT")
    ] = None,
    repeats: Annotated[str | None, option("How often the tasks come. [1]", panel=STREAM, metavar="INTEGER")] = None,
    delay: Annotated[str | None, option("Samples until a label arrives. [0]", panel=STREAM, metavar="INTEGER")] = None,
    random_delay: Annotated[
        str | None, option("Whether that is random. [false]", panel=STREAM, metavar="BOOLEAN")
    ] = None,
    label_noise: Annotated[
        str | None, option("Share of samples with a wrong label. [0.0]", panel=STREAM, metavar="FLOAT")
    ] = None,
    blur: Annotated[str | None, option("task-free: length of each fade. [0.5]", panel=STREAM, metavar="FLOAT")] = None,
    max_per_task: Annotated[
        str | None, option("Most training samples of a task.", panel=STREAM, metavar="INTEGER")
    ] = None,
    holdout: Annotated[
        str | None, option("Test on this share of the training set instead. [0.0]", panel=STREAM, metavar="FLOAT")
    ] = None,
    tests: Annotated[
        str | None, option("Which tasks are tested after each: all, seen, last. [all]", panel=STREAM)
    ] = None,
    test_every: Annotated[
        str | None, option("Samples between tests, for accuracy at any time. [0]", panel=PROTOCOL, metavar="INTEGER")
    ] = None,
    prequential: Annotated[
        bool | None,
        option("Predict each sample first. [yes]", "--prequential/--no-prequential", panel=PROTOCOL),
    ] = None,
    compute_budget: Annotated[
        str | None, option("Operations the stream leaves time for a sample.", panel=PROTOCOL, metavar="FLOAT")
    ] = None,
    rate: Annotated[
        str | None, option("Samples a second; a slower learner misses some.", panel=PROTOCOL, metavar="FLOAT")
    ] = None,
    label_budget: Annotated[
        str | None, option("Share of labels it may ask for.", panel=PROTOCOL, metavar="FLOAT")
    ] = None,
    asking: Annotated[str | None, option("uncertainty, random, learner. [uncertainty]", panel=PROTOCOL)] = None,
    weights_every: Annotated[
        str | None, option("Samples between two records of the weights.", panel=STREAM, metavar="INTEGER")
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
    """Run a learner on a stream, once for every seed, and print how it did."""
    from kenyon.cli._progress import make_display
    from kenyon.cli._values import parse_list, parse_settings, parse_value
    from kenyon.errors import unknown
    from kenyon.lab.evaluation import RunConfig, config_keys, parse_seeds, read_config
    from kenyon.lab.evaluation import run as run_config

    values = _preset(preset) if preset else {}
    values |= read_config(config) if config else {}
    for key in values:
        if key not in (*config_keys(), *EXTRA):
            raise unknown("configuration key", key, (*config_keys(), *EXTRA))
    values |= _given(dataset=dataset, scenario=scenario, learner=learner, seeds=seeds, out=out, data_dir=data_dir)
    values |= _given(order=order, tests=tests, label=label, save_model=save_model or None)
    values |= _given(domain=domain, tasks_by=tasks_by, asking=asking, prequential=prequential)
    parsed = _given(epochs=epochs, class_order=class_order, n_tasks=n_tasks, task_sizes=task_sizes, labelled=labelled)
    parsed |= _given(label_noise=label_noise, blur=blur, max_per_task=max_per_task, holdout=holdout)
    parsed |= _given(weights_every=weights_every, long_tail=long_tail, repeats=repeats, delay=delay)
    parsed |= _given(random_delay=random_delay, disjoint=disjoint, blurry=blurry, test_every=test_every)
    parsed |= _given(compute_budget=compute_budget, rate=rate, label_budget=label_budget)
    values |= {key: parse_list(text) for key, text in parsed.items()}
    shown = _given(name=backbone, weights=backbone_weights, sha256=backbone_sha256, interpolation=interpolation)
    shown |= {"resolution": parse_value(resolution)} if resolution else {}
    shown |= {"normalisation": parse_value(normalisation)} if normalisation else {}
    shown |= _given(greyscale=greyscale)
    if shown:
        values["backbone"] = _table(values.get("backbone", {})) | shown
    options = {key: parse_list(text) for key, text in _given(**flags).items()} | parse_settings(settings or [])
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
    checked = RunConfig.from_dict({"dataset": DEFAULTS["dataset"]} | values)
    wanted = parse_seeds(extra["seeds"])
    with make_display(quiet=as_json, single=True) as watch:
        report = run_config(
            checked,
            wanted,
            extra["out"],
            data_dir=extra["data_dir"],
            again=again,
            save_model=_flag(extra["save_model"]),
            log=log or (),
            watch=watch,
            workers=workers,
            engine=engine,
            address=address,
            gpus=gpus,
        )
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


def _flag(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"save_model = {value!r}: expected true or false")
    return bool(value)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _table(backbone: Any) -> dict[str, Any]:
    """A backbone given by its name alone, as a table."""
    if not isinstance(backbone, str | dict):
        raise ConfigError(f"backbone = {backbone!r}: expected a name or a table")
    return {"name": backbone} if isinstance(backbone, str) else backbone


def print_report(report: Report) -> None:
    """The closing tables: the numbers over the seeds, and the mean accuracy matrix."""
    from kenyon.cli._tables import print_table
    from kenyon.lab.evaluation import METRICS
    from kenyon.lab.tables import Cell, Empty, Result, Row, Table, Text

    config, first, n = report.config, report.results[0], len(report.results)
    tested = "a held-out part of the training set" if first.tested_on == "holdout" else "the test set"
    by = f" by {config['backbone']['name']}" if config.get("backbone") else ""
    title = f"{config['learner']} on {config['dataset']}{by}, {config['scenario']}, tested on {tested}"

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
        lines = [Row(str(i + 1), tuple(map(result, row))) for i, row in enumerate(report.accuracy_matrix)]
        columns = tuple(str(j + 1) for j in range(len(first.tasks)))
        heading = "accuracy on each task, %"
        print_table(Table("tasks", heading, columns, tuple(lines), corner="after task"))
    if first.folder:
        typer.echo(f"\nkept in {first.folder.parent}")
