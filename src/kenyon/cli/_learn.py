"""`kenyon learn`: large files, learned in shards."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli._workers import AddressOption, EngineOption

if TYPE_CHECKING:
    from kenyon.data.shards import Shard


def learn(
    config: Annotated[Path, typer.Argument(help="TOML file: [options] of the classifier, label, seed, classes.")],
    data: Annotated[list[str], typer.Option(help="A file or a pattern such as 'part-*.parquet'; may be repeated.")],
    out: Annotated[Path, typer.Option(help="The model's file; one that is there already is added to.")],
    workers: Annotated[
        int | None,
        typer.Option(
            help="How many pieces at a time. [1; with ray every CPU]", rich_help_panel="Workers", show_default=False
        ),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    piece: Annotated[int, typer.Option(help="Rows that a worker learns at a time, at least.")] = 262_144,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout, nothing on stderr.")] = False,
) -> None:
    """Learn parquet, Arrow, CSV or npz files in shards, larger than memory, and merge what was learned.

    A call that was killed goes on where it was; a file that was learned before is not learned again. A file that cannot
    be learned is named, and the others are learned.
    """
    from kenyon.data.shards import learn_files, read_learn_config

    begin = perf_counter()
    checked = read_learn_config(config)
    watch = make_watch(as_json)
    who: Any = {"engine": engine, "workers": workers, "address": address}
    learned = learn_files(checked, data, out, piece=piece, watch=watch, **who)
    seconds = perf_counter() - begin
    if as_json:
        shards = [{"path": shard.path, "sha256": shard.sha256, "rows": shard.rows} for shard in learned.shards]
        answer = {"model": str(learned.model), "rows": learned.rows, "exact": learned.exact, "shards": shards}
        typer.echo(json.dumps({**answer, "inexact": learned.inexact, "seconds": seconds}, indent=2))
        return
    how = "equal to a single pass to the bit" if learned.exact else f"close to a single pass: {learned.inexact}"
    typer.echo(f"{learned.model}: {learned.rows:,} samples learned now, {len(learned.shards):,} shards in all, {how}")


def make_watch(quiet: bool) -> Any:
    """A watch that shows nothing, or a line for every tenth of the work."""
    from kenyon.data.shards import LearnWatch

    class Lines(LearnWatch):
        """Prints on stderr, so that stdout stays for the answer."""

        def __init__(self) -> None:
            self._pieces, self._rows, self._shown, self._begin = 0, 0, 0, perf_counter()

        def note(self, message: str) -> None:
            _say(message)

        def inspected(self, shard: Shard, done: int, total: int) -> None:
            if done == total or done % max(1, total // 10) == 0:
                _say(f"recorded {done:,} of {total:,} shards")

        def planned(self, n_shards: int, n_pieces: int, n_learned: int, rows: int) -> None:
            self._pieces, self._shown, self._begin = n_pieces, 10 * n_learned // n_pieces, perf_counter()
            gone = f"; going on after {n_learned:,}" if n_learned else ""
            _say(f"{n_shards:,} shards in {n_pieces:,} pieces, {rows:,} samples{gone}")

        def learned(self, rows: int, n_learned: int) -> None:
            self._rows += rows
            tenth = 10 * n_learned // self._pieces
            if tenth > self._shown:
                self._shown, speed = tenth, self._rows / (perf_counter() - self._begin)
                _say(f"{n_learned:,} of {self._pieces:,} pieces, {speed:,.0f} samples/s")

    return LearnWatch() if quiet else Lines()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
