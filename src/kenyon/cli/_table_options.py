"""The options of every command that prints a table of configurations, and the printing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kenyon.lab.tables import Table

_FORMAT = "Format"
WhereOption = Annotated[
    list[str] | None,
    typer.Option(help="Only what meets this, such as 'n_hidden>=500' or learner=ncm; may be given several times."),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.", rich_help_panel=_FORMAT)]
LatexOption = Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.", rich_help_panel=_FORMAT)]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.", rich_help_panel=_FORMAT)]


def print_as(table: Table, *, csv: bool, latex: bool, markdown: bool) -> None:
    """Print a table in the one form that was asked for, or for a person."""
    from kenyon.cli._tables import print_table
    from kenyon.errors import ConfigError
    from kenyon.lab.table_formats import write_table

    wanted = [form for form, given in (("csv", csv), ("latex", latex), ("markdown", markdown)) if given]
    if len(wanted) > 1:
        raise ConfigError(f"--{wanted[0]} and --{wanted[1]} are given: expected one of them")
    if wanted:
        typer.echo(write_table(table, wanted[0]), nl=False)
    else:
        print_table(table, wide=True)
