"""`kenyon run`: learn a stream, test, print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli import _complete
from kenyon.cli._learner_options import PANEL as LEARNER
from kenyon.cli._learner_options import with_learner_options
from kenyon.cli._workers import AddressOption, EngineOption, GpusOption, WorkersOption
from kenyon.errors import ConfigError

if TYPE_CHECKING:
    from kenyon.lab.evaluation import Report, Summary

DEFAULTS = {"dataset": "digits", "seeds": 5, "out": "runs"}
EXTRA = ("seeds", "out", "data_dir", "save_model")
STREAM, BACKBONE, PROTOCOL = "Stream", "Backbone", "Protocol"
SCENARIOS = (
    *("single-task", "task-incremental", "class-incremental", "domain-incremental", "permuted", "rotated"),
    *("task-free", "i-blurry", "si-blurry", "drift", "gradual-drift", "virtual-drift"),
)
"""Those of `kenyon.data.streams`, which this module is not to import before it runs."""


def _option(
    text: str,
    panel: str | None = None,
    metavar: str | None = None,
    name: str | None = None,
    complete: Callable[[str], list[str]] | None = None,
) -> Any:
    names = [name] if name else []
    more: dict[str, Any] = {"rich_help_panel": panel, "metavar": metavar, "autocompletion": complete}
    return typer.Option(*names, help=text, show_default=False, **more)


@with_learner_options
def run(
    dataset: Annotated[
        str | None,
        _option("Data set: a name (see `kenyon data list`) or a path. [digits]", complete=_complete.datasets),
    ] = None,
    scenario: Annotated[
        str | None,
        _option(f"How it is streamed: {', '.join(SCENARIOS)}. [class-incremental]", complete=_complete.scenarios),
    ] = None,
    learner: Annotated[
        str | None, _option("Name (see `kenyon learners`) or file.py:Class. [kenyon]", complete=_complete.learners)
    ] = None,
    preset: Annotated[
        str | None, _option("Begin with a configuration that a search found.", complete=_complete.presets)
    ] = None,
    seeds: Annotated[str | None, _option("How many (5), or which (0,3,7). [5]")] = None,
    config: Annotated[Path | None, _option("TOML file with any of these options; the command line wins.")] = None,
    out: Annotated[Path | None, _option("The runs store. [runs]")] = None,
    again: Annotated[bool, _option("Run again what the store already has.", name="--again")] = False,
    save_model: Annotated[
        bool, _option("Keep the trained model of each run, as model.safetensors in its folder.", name="--save-model")
    ] = False,
    log: Annotated[
        list[str] | None,
        _option("Log to tensorboard, mlflow, wandb or file.py:Class, several times.", complete=_complete.logs),
    ] = None,
    data_dir: Annotated[Path | None, _option("Where the data sets are. [$KENYON_DATA]")] = None,
    backbone: Annotated[
        str | None, _option("Frozen network: a name (efficientnet-lite0), an .onnx file or module:function.", BACKBONE)
    ] = None,
    backbone_weights: Annotated[str | None, _option("Its weights file, .pth.", BACKBONE, "FILE")] = None,
    backbone_sha256: Annotated[str | None, _option("What that file's SHA-256 begins with.", BACKBONE)] = None,
    resolution: Annotated[str | None, _option("Pixels per side that it sees. [its own]", BACKBONE, "INTEGER")] = None,
    interpolation: Annotated[str | None, _option("nearest, bilinear, bicubic. [bilinear]", BACKBONE)] = None,
    normalisation: Annotated[
        str | None, _option("imagenet, tensorflow, unit, none, or [[mean], [std]]. [its own]", BACKBONE)
    ] = None,
    greyscale: Annotated[str | None, _option("Grey images: refuse, repeat. [refuse]", BACKBONE)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout, nothing on stderr.")] = False,
    epochs: Annotated[str | None, _option("Passes over each task. [1.0]", STREAM, "FLOAT")] = None,
    order: Annotated[str | None, _option("Order of the samples: shuffled, published. [shuffled]", STREAM)] = None,
    class_order: Annotated[str | None, _option("sorted, shuffled, or a list such as 3,1,2,0. [sorted]", STREAM)] = None,
    n_tasks: Annotated[str | None, _option("How many tasks.", STREAM, "INTEGER")] = None,
    task_sizes: Annotated[str | None, _option("Classes in each task, such as 5,3,2.", STREAM)] = None,
    labelled: Annotated[str | None, _option("Share of samples that keep their label. [1.0]", STREAM, "FLOAT")] = None,
    label: Annotated[str | None, _option("Column of labels of a table. [label]", STREAM, "COLUMN")] = None,
    domain: Annotated[str | None, _option("Column of domains of a table, or 'folder'.", STREAM, "COLUMN")] = None,
    tasks_by: Annotated[str | None, _option("What a task is made of: classes, domains.", STREAM)] = None,
    disjoint: Annotated[str | None, _option("Blurry: share of classes in one task. [0.5]", STREAM, "FLOAT")] = None,
    blurry: Annotated[str | None, _option("Blurry: share of samples in all tasks. [0.1]", STREAM, "FLOAT")] = None,
    long_tail: Annotated[str | None, _option("Share that the last class keeps. [1.0]", STREAM, "FLOAT")] = None,
    repeats: Annotated[str | None, _option("How often the tasks come. [1]", STREAM, "INTEGER")] = None,
    delay: Annotated[str | None, _option("Samples until a label arrives. [0]", STREAM, "INTEGER")] = None,
    random_delay: Annotated[str | None, _option("Whether that is random. [false]", STREAM, "BOOLEAN")] = None,
    label_noise: Annotated[str | None, _option("Share of samples with a wrong label. [0.0]", STREAM, "FLOAT")] = None,
    blur: Annotated[str | None, _option("task-free: length of each fade. [0.5]", STREAM, "FLOAT")] = None,
    max_per_task: Annotated[str | None, _option("Most training samples of a task.", STREAM, "INTEGER")] = None,
    holdout: Annotated[
        str | None, _option("Test on this share of the training set instead. [0.0]", STREAM, "FLOAT")
    ] = None,
    tests: Annotated[str | None, _option("Which tasks are tested after each: all, seen, last. [all]", STREAM)] = None,
    test_every: Annotated[
        str | None, _option("Samples between tests, for accuracy at any time. [0]", PROTOCOL, "INTEGER")
    ] = None,
    prequential: Annotated[
        bool | None,
        typer.Option("--prequential/--no-prequential", help="Predict each sample first. [yes]", show_default=False),
    ] = None,
    compute_budget: Annotated[
        str | None, _option("Operations the stream leaves time for a sample.", PROTOCOL, "FLOAT")
    ] = None,
    rate: Annotated[str | None, _option("Samples a second; a slower learner misses some.", PROTOCOL, "FLOAT")] = None,
    label_budget: Annotated[str | None, _option("Share of labels it may ask for.", PROTOCOL, "FLOAT")] = None,
    asking: Annotated[str | None, _option("uncertainty, random, learner. [uncertainty]", PROTOCOL)] = None,
    weights_every: Annotated[
        str | None, _option("Samples between two records of the weights.", STREAM, "INTEGER")
    ] = None,
    device: Annotated[str | None, _option("PyTorch learners: cpu, cuda, cuda:1, mps. [cpu]", LEARNER)] = None,
    settings: Annotated[
        list[str] | None, _option("Any option of the learner or its rule.", LEARNER, "KEY=VALUE", "--set")
    ] = None,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus: GpusOption = 0.0,
    **flags: str | None,
) -> None:
    """Run a learner on a stream, once for every seed, and print how it did."""
    from kenyon.cli._progress import make_watch
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
    with make_watch(len(wanted), quiet=as_json) as watch:
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
    from kenyon.cli._tables import print_table, share
    from kenyon.lab.evaluation import METRICS
    from kenyon.utils.wording import size

    config, first = report.config, report.results[0]
    tested = "a held-out part of the training set" if first.tested_on == "holdout" else "the test set"
    by = f" by {config['backbone']['name']}" if config.get("backbone") else ""
    title = f"{config['learner']} on {config['dataset']}{by}, {config['scenario']}, tested on {tested}"
    rows = [
        (metric.heading, _figure(metric.unit, report.summary(name)))
        for name, metric in METRICS.items()
        if metric.heading
    ]
    if first.backbone_bytes:
        rows.append(("backbone", size(first.backbone_bytes)))
    rows.append(("seeds", ", ".join(str(result.seed) for result in report.results)))
    print_table(("", "mean ± sd" if len(report.results) > 1 else "value"), rows, title)
    if len(first.tasks) > 1:
        typer.echo("")
        columns = ("after task", *(str(j + 1) for j in range(len(first.tasks))))
        lines = [(str(i + 1), *map(share, row)) for i, row in enumerate(report.accuracy_matrix)]
        print_table(columns, lines, "accuracy on each task, %")
    if first.folder:
        typer.echo(f"\nkept in {first.folder.parent}")


def _figure(unit: str, summary: Summary) -> str:
    """A metric over the seeds, in its unit."""
    from kenyon.cli._tables import numbers, shares
    from kenyon.utils.wording import size

    if unit == "B":
        return size(summary.mean)
    return shares(summary) if unit == "%" else numbers(summary)
