"""`kenyon data`: list, verify and download data sets."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from kenyon.cli._help import FAILURE, HelpCommand, HelpGroup
from kenyon.cli._options import DataDirOption, JsonOption

data = typer.Typer(name="data", cls=HelpGroup, help="List, verify and download data sets.", no_args_is_help=True)


@data.command("list", cls=HelpCommand)
def list_(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the data sets that Kenyon knows by name, and which are present."""
    from kenyon.cli._tables import print_text_table
    from kenyon.data.streams import list_datasets
    from kenyon.utils.wording import size

    statuses = list_datasets(data_dir)
    if as_json:
        typer.echo(json.dumps([asdict(status) for status in statuses], indent=2, default=str))
        return
    rows = [
        (
            s.name,
            "yes" if s.present else "no",
            f"{s.n_train:,}",
            f"{s.n_test:,}",
            str(s.n_classes),
            size(s.size),
            s.version,
            s.licence,
            s.page,
        )
        for s in statuses
    ]
    print_text_table(("name", "here", "train", "test", "classes", "size", "version", "licence", "published at"), rows)
    missing = [s for s in statuses if not s.present]
    if missing:
        typer.echo(f"\n{missing[0].name} belongs in {missing[0].folder}; `kenyon data download NAME` fetches a set")


@data.command(cls=HelpCommand)
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Which ones; by default all that are there.")] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare data sets with their published checksums. The exit code is 1 where one differs."""
    from kenyon.data.streams import list_datasets, verify_dataset

    names = names or [status.name for status in list_datasets(data_dir) if status.present]
    checks = {name: verify_dataset(name, data_dir) for name in names}
    if as_json:
        typer.echo(json.dumps({name: [asdict(check) for check in found] for name, found in checks.items()}, indent=2))
    else:
        for name, found in checks.items():
            for check in found:
                typer.echo(f"{name}: {check.what}: {'ok' if check.ok else 'WRONG'}, {check.detail}")
    if not all(check.ok for found in checks.values() for check in found):
        raise typer.Exit(FAILURE)


@data.command(cls=HelpCommand)
def download(
    names: Annotated[list[str], typer.Argument(help="Which ones.")],
    data_dir: DataDirOption = None,
    version: Annotated[str | None, typer.Option(help="CIFAR: binary or python.")] = None,
    mirror: Annotated[str | None, typer.Option(help="Fetch from this address instead of the publisher's.")] = None,
) -> None:
    """Download data sets and verify their checksums."""
    from kenyon.data.streams import download_dataset

    for name in names:
        for path in download_dataset(name, data_dir, version=version, mirror=mirror):
            typer.echo(path)
