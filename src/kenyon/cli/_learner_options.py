"""The options of our own learner as options of a command, read off their table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kenyon.cli import _complete
from kenyon.model.options import OPTIONS
from kenyon.utils.options import Option

PANEL = "Learner"
_METAVARS = {"integer": "INTEGER", "number": "FLOAT", "share": "FLOAT", "moving": "FLOAT", "flag": "BOOLEAN"}


def with_learner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that ends in `**flags` an option for each entry of the table that a run may set."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    flags = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_flag(entry))
        for name, entry in OPTIONS.items()
        if entry.of_run
    ]
    command.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in [*own, *flags]}
    return command


def _flag(entry: Option) -> Any:
    metavar = "|".join(entry.choices) or _METAVARS.get(entry.kind)
    default = "off" if entry.default is None else entry.default
    text = f"{entry.meaning} [{default}]" if not isinstance(default, tuple) else entry.meaning
    complete = _complete.rules if entry.name == "rule" else _complete.among(entry.choices)
    more: dict[str, Any] = {"rich_help_panel": PANEL, "metavar": metavar, "autocompletion": complete}
    return Annotated[str | None, typer.Option(help=text, show_default=False, **more)]
