"""`kenyon card`: a model card."""

from pathlib import Path
from typing import Annotated

import typer


def card(
    model: Annotated[Path, typer.Argument(help="The model's file, or the folder of a run.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="Write it to this Markdown file instead.")] = None,
) -> None:
    """Describe a model and the run that trained it, in Markdown."""
    from kenyon.classifier import KenyonClassifier
    from kenyon.export import model_card
    from kenyon.utils.system import replace_file

    path = model / "model.safetensors" if model.is_dir() else model
    text = model_card(KenyonClassifier.load(path), path, _trained(path))
    if out is None:
        typer.echo(text, nl=False)
    else:
        replace_file(out, text.encode())
        typer.echo(out)


def _trained(path: Path) -> str:
    """The run that a model lies in, in words and numbers; empty where it lies in none."""
    from kenyon.lab.evaluation import METRICS, RunFolder
    from kenyon.utils.system import read_toml
    from kenyon.utils.wording import size

    folder = RunFolder(path.parent)
    if path.name != "model.safetensors" or not folder.complete:
        return ""
    config, result = read_toml(folder.path / "config.toml"), folder.result()
    tested = "a held-out part of the training set" if result.tested_on == "holdout" else "the test set"
    lines = [
        f"{sum(result.n_train):,} samples of `{config['dataset']}`, {config['scenario']}, {len(result.tasks)} tasks, "
        f"seed {result.seed}. Tested on {tested} ({sum(result.n_test):,} samples).",
        "",
        "| metric | value |",
        "|---|---|",
    ]
    for name, metric in METRICS.items():
        value = result.metrics[name]
        if metric.heading and value is not None and not metric.measured:
            shown = f"{100 * value:.2f}" if metric.unit == "%" else f"{value:,.4g}"
            lines.append(f"| {metric.heading} | {size(value) if metric.unit == 'B' else shown} |")
    return "\n".join([*lines, "", f"The same again: `kenyon run --config {folder.path / 'config.toml'}`"])
