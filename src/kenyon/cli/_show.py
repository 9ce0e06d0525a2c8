"""`kenyon show`: list and compare the runs of a store."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli import _complete
from kenyon.cli._options import CsvOption, JsonOption, LatexOption, MarkdownOption, WhereOption

if TYPE_CHECKING:
    from kenyon.lab.evaluation import RunGroup


def show(
    path: Annotated[Path, typer.Argument(help="A runs store, or one run's folder.")] = Path("runs"),
    sort: Annotated[
        str, typer.Option(help="A metric (best first) or any other column.", autocompletion=_complete.metrics)
    ] = "accuracy",
    reverse: Annotated[bool, typer.Option("--reverse", help="Reverse the order.")] = False,
    where: WhereOption = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Columns, such as learner,accuracy,n_hidden."),
    ] = None,
    csv: CsvOption = False,
    latex: LatexOption = False,
    markdown: MarkdownOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the configurations of a store, best first, or show one run."""
    from kenyon.cli._folders import open_groups
    from kenyon.cli._run import print_report
    from kenyon.cli._tables import print_as
    from kenyon.lab.comparison import sort_groups, tabulate

    groups = sort_groups(open_groups(path, where), sort, reverse)
    if as_json:
        typer.echo(json.dumps([_as_json(group) for group in groups], indent=2, allow_nan=False))
        return
    form = csv or latex or markdown or columns
    if not form and (path / "config.toml").exists() and groups and groups[0].complete:
        print_report(groups[0].report)
        if groups[0].outdated:
            typer.echo(f"\nNot the numbers of the code as it is: {groups[0].outdated}")
        return
    keys = None if columns is None else [key.strip() for key in columns.split(",")]
    print_as(tabulate(groups, keys), csv=csv, latex=latex, markdown=markdown)


def _as_json(group: "RunGroup") -> dict[str, Any]:
    from kenyon.lab.evaluation import json_safe

    values = group.report.to_dict() if group.complete else {"config": json_safe(group.config)}
    return values | {"incomplete": [str(run.path) for run in group.incomplete], "outdated": group.outdated}
