"""The command line: parse, call, print. A command imports what it needs when it runs."""

from typing import Annotated

import typer

from kenyon.cli._card import card
from kenyon.cli._compare import compare
from kenyon.cli._data import data
from kenyon.cli._device import device
from kenyon.cli._export import export
from kenyon.cli._help import FIRST, HelpCommand, RootCommand
from kenyon.cli._learn import learn
from kenyon.cli._learners import learners
from kenyon.cli._new import new
from kenyon.cli._plot import plot
from kenyon.cli._report import report
from kenyon.cli._reproduce import reproduce
from kenyon.cli._run import run
from kenyon.cli._search import search
from kenyon.cli._show import show
from kenyon.cli._sweep import sweep
from kenyon.cli._teach import teach
from kenyon.cli._transfer import distances, transfer

__all__ = ["app", "main"]

app = typer.Typer(
    name="kenyon",
    cls=RootCommand,
    help="Learn continuously from a stream without storing it.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
"""The commands, as a Typer application."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"kenyon {version('kenyon')}")
        except PackageNotFoundError:
            typer.echo("kenyon (not installed as a package)")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(FIRST)


COMMANDS = (
    run,
    sweep,
    learn,
    show,
    compare,
    plot,
    report,
    learners,
    new,
    export,
    card,
    teach,
    search,
    transfer,
    distances,
    reproduce,
)
for command in COMMANDS:
    app.command(cls=HelpCommand)(command)
app.add_typer(data)
app.add_typer(device)


def main() -> None:
    """The `kenyon` command."""
    app()
