"""Options that several commands have, and how an option is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer


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
