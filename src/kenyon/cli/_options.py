"""Options that several commands have, how an option is declared, and how its value is read."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kenyon.errors import ConfigError
from kenyon.utils.system import parse_value

FILES = "Files"
"""The heading of options that say what is read, kept and printed."""


def option(
    text: str,
    name: str | None = None,
    *,
    panel: str | None = None,
    metavar: str | None = None,
    complete: Callable[[str], list[str]] | None = None,
) -> Any:
    """An option; its help states the default in brackets."""
    more: dict[str, Any] = {"rich_help_panel": panel, "metavar": metavar, "autocompletion": complete}
    return typer.Option(*([name] if name else []), help=text, show_default=False, **more)


def _worker(text: str) -> Any:
    return option(text, panel="Workers")


WorkersOption = Annotated[int | None, _worker("How many runs or evaluations at a time. [1; with ray every CPU]")]
ManyWorkersOption = Annotated[int | None, _worker("How many runs at a time. [one per processor; with ray every CPU]")]
EngineOption = Annotated[str, _worker("local: processes on this machine; ray: a Ray cluster. [local]")]
AddressOption = Annotated[str | None, _worker("ray: address of the cluster. [one of its own on this machine]")]
GpusOption = Annotated[float, _worker("ray: how much of a GPU each run takes; 0.5 lets two share one. [0]")]
DataDirOption = Annotated[Path | None, option("Where the data sets are. [$KENYON_DATA]", panel=FILES)]
JsonOption = Annotated[bool, option("Print JSON alone on stdout, nothing on stderr.", "--json", panel=FILES)]
WhereOption = Annotated[
    list[str] | None,
    option("Only what meets this: 'n_hidden>=500', learner=ncm; repeatable."),
]
CsvOption = Annotated[bool, option("Print comma-separated values.", "--csv", panel="Format")]
LatexOption = Annotated[bool, option("Print a LaTeX table.", "--latex", panel="Format")]
MarkdownOption = Annotated[bool, option("Print Markdown.", "--markdown", panel="Format")]


def parse_list(text: str) -> Any:
    """Read a list such as `5,3,2`; anything else is read by `parse_value`."""
    parts = [part.strip() for part in text.split(",")]
    return [parse_value(part) for part in parts] if len(parts) > 1 else parse_value(text)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read settings of the form `key=value`."""
    values = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {setting!r}: expected key=value, such as --set learning_rate=0.02")
        values[key.strip()] = parse_value(text.strip())
    return values
