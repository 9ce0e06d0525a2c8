"""`kenyon report`: the results of a store as one page, or as Markdown."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    store: Annotated[
        Path, typer.Argument(help="A runs store, one run's folder, or the report.json of `kenyon reproduce`.")
    ] = Path("runs"),
    out: Annotated[Path | None, typer.Option(help="The page. [report.html in the store]", show_default=False)] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown here instead, or as well with --out.")] = None,
) -> None:
    """Write the results of a store as one HTML page."""
    from kenyon.cli._folders import say_damaged
    from kenyon.lab.report import open_report, write_markdown, write_page

    data = open_report(store, say_damaged)
    if markdown is not None:
        write_markdown(data, markdown)
        typer.echo(markdown)
    if markdown is None or out is not None:
        page = out or (store / "report.html" if store.is_dir() else store.with_suffix(".html"))
        write_page(data, page)
        typer.echo(page)
