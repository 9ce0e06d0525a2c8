"""`kenyon export`: a model for use elsewhere."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    model: Annotated[Path | None, typer.Argument(help="The model's file.", show_default=False)] = None,
    to: Annotated[str | None, typer.Option(help="The format, or module:function.", show_default=False)] = None,
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("export"),
    tables: Annotated[
        str | None, typer.Option(help="For C: the units' inputs as a table in flash, or none.", show_default=False)
    ] = None,
    classes: Annotated[
        int | None, typer.Option(help="For C: the largest number of classes.", show_default=False)
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(help="For C: a library for arduino, platformio, esp-idf, zephyr or cmake.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any option of the export.")
    ] = None,
) -> None:
    """Export a trained model. Without arguments, list the formats."""
    from kenyon.classifier import KenyonClassifier
    from kenyon.cli._options import parse_settings
    from kenyon.cli._tables import print_text_table
    from kenyon.errors import ConfigError
    from kenyon.export import EXPORTS, device_costs, export_model, load_model, rows_of

    if model is None:
        print_text_table(("name", "what it writes"), [(row.name, row.summary) for row in EXPORTS.values()])
        return
    if to is None:
        raise ConfigError(f"--to is missing: expected one of {', '.join(EXPORTS)}, or module:function")
    options = (("tables", tables), ("classes", classes), ("package", package))
    given = {name: value for name, value in options if value is not None}
    learned = load_model(model)
    for path in export_model(learned, to, out, **given, **parse_settings(settings or [])):
        typer.echo(f"{path.stat().st_size:>12,} bytes  {path}")
    if to == "c" and isinstance(learned, KenyonClassifier):
        costs = device_costs(learned, classes)
        print_text_table(("on the device", *(f"tables {name}" for name in costs)), rows_of(costs))
        if not getattr(learned.parts()[0], "exact", False):
            typer.echo("The model learned with arithmetic='float': on the device it predicts only.")
