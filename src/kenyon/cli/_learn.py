"""`kenyon learn`: learn large files in shards."""

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from kenyon.cli._options import AddressOption, EngineOption, JsonOption


def learn(
    config: Annotated[Path, typer.Argument(help="TOML file: [options] of the classifier, label, seed, classes.")],
    data: Annotated[list[str], typer.Option(help="A file or a pattern such as 'part-*.parquet'; repeatable.")],
    out: Annotated[Path, typer.Option(help="The model file; an existing one is continued.")],
    workers: Annotated[
        int | None,
        typer.Option(
            help="How many pieces at a time. [1; with ray every CPU]", rich_help_panel="Workers", show_default=False
        ),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    piece: Annotated[
        int, typer.Option(help="Rows that a worker learns at a time, at least.", rich_help_panel="Workers")
    ] = 262_144,
    as_json: JsonOption = False,
) -> None:
    """Learn files larger than memory in shards, and merge the result.

    Files are Parquet, Arrow, CSV or npz. A command that was stopped resumes, and no file is learned twice.
    """
    from kenyon.cli._progress import make_display
    from kenyon.data.shards import learn_files, read_learn_config

    begin = perf_counter()
    checked = read_learn_config(config)
    who: Any = {"engine": engine, "workers": workers, "address": address}
    with make_display(quiet=as_json) as watch:
        learned = learn_files(checked, data, out, piece=piece, watch=watch, **who)
    seconds = perf_counter() - begin
    if as_json:
        shards = [{"path": shard.path, "sha256": shard.sha256, "rows": shard.rows} for shard in learned.shards]
        answer = {"model": str(learned.model), "rows": learned.rows, "exact": learned.exact, "shards": shards}
        typer.echo(json.dumps({**answer, "inexact": learned.inexact, "seconds": seconds}, indent=2))
        return
    how = "equal to a single pass to the bit" if learned.exact else f"close to a single pass: {learned.inexact}"
    typer.echo(f"{learned.model}: {learned.rows:,} samples learned now, {len(learned.shards):,} shards in all, {how}")
