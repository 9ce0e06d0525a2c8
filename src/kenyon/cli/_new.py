"""`kenyon new`: start a learner or a rule of your own."""

from pathlib import Path
from typing import Annotated

import typer

from kenyon.cli import _complete

KINDS = ("learner", "rule", "torch-learner")


def new(
    kind: Annotated[
        str,
        typer.Argument(
            help="learner, torch-learner or rule.", show_default=False, autocompletion=_complete.among(KINDS)
        ),
    ],
    name: Annotated[str, typer.Argument(help="What it is called, such as my_learner.", show_default=False)],
    folder: Annotated[Path, typer.Option(help="Where the file goes.")] = Path(),
) -> None:
    """Write a learner or a rule to start from."""
    from kenyon.cli.templates import write_template

    path = write_template(kind, name, folder)
    typer.echo(path)
    typer.echo(f"`python {path}` checks it; the first lines say how to run it")
