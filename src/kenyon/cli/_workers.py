"""The options of every command that shares its work out among workers."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def _option(text: str) -> Any:
    return typer.Option(help=text, rich_help_panel="Workers", show_default=False)


WorkersOption = Annotated[int | None, _option("How many runs or evaluations at a time. [1; with ray every CPU]")]
ManyWorkersOption = Annotated[int | None, _option("How many runs at a time. [one per processor; with ray every CPU]")]
EngineOption = Annotated[str, _option("local: processes on this machine; ray: a Ray cluster. [local]")]
AddressOption = Annotated[str | None, _option("ray: address of the cluster. [one of its own on this machine]")]
GpusOption = Annotated[float, _option("ray: how much of a GPU each run takes; 0.5 lets two share one. [0]")]
