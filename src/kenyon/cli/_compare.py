"""`kenyon compare`: paired differences between configurations, and their ranks over data sets."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kenyon.cli import _complete
from kenyon.cli._options import CsvOption, JsonOption, LatexOption, MarkdownOption, WhereOption

if TYPE_CHECKING:
    from kenyon.lab.comparison import Comparison, Ranks
    from kenyon.lab.tables import Table


def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Such as ncm, or kenyon,rule=gen. [every learner]"),
    ] = None,
    store: Annotated[Path, typer.Option(help="The runs store.")] = Path("runs"),
    metric: Annotated[str, typer.Option(help="What is compared.", autocompletion=_complete.metrics)] = "accuracy",
    where: WhereOption = None,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals.")] = 0.95,
    test: Annotated[str, typer.Option(help="t (paired), or permutation (of signs).")] = "t",
    csv: CsvOption = False,
    latex: LatexOption = False,
    markdown: MarkdownOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare configurations seed by seed, with intervals and tests."""
    from kenyon.cli._folders import open_groups
    from kenyon.cli._tables import print_as
    from kenyon.lab.comparison import compare as compare_groups

    found = compare_groups(open_groups(store, where), names or (), metric=metric, level=level, test=test)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, allow_nan=False))
        return
    print_as(_pairs(found), csv=csv, latex=latex, markdown=markdown)
    if not (csv or latex or markdown):
        kind = "paired t-test" if test == "t" else "test by permutation of signs"
        typer.echo(f"\n{metric}, first minus second; {level:.0%} interval by Student's t; p by the {kind}")
        if len(found.pairs) > 1:
            typer.echo("p (Holm) allows for the number of pairs")
    if found.ranks:
        typer.echo("")
        print_as(_ranks(found.ranks), csv=csv, latex=latex, markdown=markdown)
        if not (csv or latex or markdown):
            typer.echo(f"\n{_verdict(found.ranks)}")


def _pairs(found: "Comparison") -> "Table":
    from kenyon.lab.tables import Table

    several = len(found.pairs) > 1
    streams = len({pair.stream for pair in found.pairs}) > 1
    heads = ["first", "second", "difference", f"{found.level:.0%} interval", "p"]
    heads += [*["p (Holm)"] * several, "seeds", *["stream"] * streams]
    rows = []
    for pair in found.pairs:
        interval = (
            "-" if pair.interval is None else f"{_said(found, pair.interval[0])} to {_said(found, pair.interval[1])}"
        )
        cells = [pair.first, pair.second, _said(found, pair.difference), interval, _p(pair.p)]
        cells += [*[_p(pair.p_holm)] * several, f"{len(pair.seeds)}", *[pair.stream] * streams]
        rows.append(cells)
    return Table.of_text(heads, rows, note="" if streams else found.pairs[0].stream)


def _said(found: "Comparison", value: float) -> str:
    from kenyon.lab.evaluation import METRICS

    return f"{100 * value:+.2f}" if METRICS[found.metric].unit == "%" else f"{value:+.4g}"


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _ranks(ranks: "Ranks") -> "Table":
    from kenyon.lab.tables import Table

    rows = [(name, f"{mean:.2f}") for name, mean in zip(ranks.names, ranks.means, strict=True)]
    return Table.of_text(("configuration", f"mean rank on {ranks.streams} streams"), rows)


def _verdict(ranks: "Ranks") -> str:
    words = [f"ranks that lie further apart than {ranks.critical:.2f} differ (Nemenyi)"]
    if ranks.p is not None:
        words.insert(0, f"Friedman's test that all are equal: p = {_p(ranks.p)}")
    return "; ".join(words)
