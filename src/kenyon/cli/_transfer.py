"""`kenyon transfer` and `kenyon distances`: run configurations elsewhere, and measure how similar data sets are."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli._options import AddressOption, DataDirOption, EngineOption, JsonOption, WorkersOption

if TYPE_CHECKING:
    from kenyon.paper.transfer import Moments, TransferResult


def transfer(
    configs: Annotated[
        list[str] | None, typer.Argument(help="Presets or files; NAME=FILE names one. [every preset]")
    ] = None,
    to: Annotated[list[str] | None, typer.Option(help="DATASET[+BACKBONE]/SCENARIO[@EPOCHS]; repeatable.")] = None,
    seeds: Annotated[str, typer.Option(help="How many (5), or which (0,3,7).")] = "5",
    out: Annotated[Path, typer.Option(help="The runs store.")] = Path("runs"),
    max_per_task: Annotated[int | None, typer.Option(help="Most training samples of a task.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw accuracy drop against transfer coefficient here.")] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Run configurations found on one stream on other streams."""
    from kenyon.cli._progress import make_display
    from kenyon.lab.evaluation import parse_seeds
    from kenyon.model.presets import preset_names
    from kenyon.paper.transfer import default_targets, load_source, parse_target
    from kenyon.paper.transfer import transfer as run_transfer

    sources = [load_source(text) for text in configs or preset_names()]
    targets = [parse_target(text) for text in to] if to else default_targets(sources)
    limits = {} if max_per_task is None else {"max_per_task": max_per_task}
    wanted = parse_seeds(seeds)
    with make_display(quiet=as_json) as watch:
        cells = run_transfer(
            sources,
            targets,
            wanted,
            out,
            data_dir=data_dir,
            watch=watch,
            workers=workers,
            engine=engine,
            address=address,
            **limits,
        )
    rows = _drop_rows(cells, data_dir)
    if as_json:
        typer.echo(json.dumps({"cells": [_plain(cell) for cell in cells], "drops": rows}, indent=2))
    else:
        _print_matrix(cells)
        _print_drops(rows)
    if plot is not None:
        from kenyon.lab.plots import save_picture
        from kenyon.paper.transfer import plot_drops

        save_picture(plot_drops(rows), plot)
        if not as_json:
            typer.echo(plot)


def distances(
    datasets: Annotated[list[str] | None, typer.Argument(help="Which ones. [mnist fashion-mnist]")] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute effective dimensions and class distances of data sets."""
    from itertools import combinations_with_replacement

    from kenyon.cli._tables import print_text_table
    from kenyon.data.streams import load_dataset
    from kenyon.paper.tables import paper_dimension, paper_distances
    from kenyon.paper.transfer import centroid_distances, moments

    found = [moments(load_dataset(name, data_dir=data_dir)) for name in datasets or ("mnist", "fashion-mnist")]
    pairs = [(a, b) for a, b in combinations_with_replacement(found, 2) if a.centroids.shape[1] == b.centroids.shape[1]]
    if as_json:
        between = [{"datasets": [a.name, b.name], "distances": centroid_distances(a, b)} for a, b in pairs]
        dimensions = {m.name: m.dimension for m in found}
        typer.echo(json.dumps({"effective_dimension": dimensions, "centroid_distances": between}, indent=2))
        return
    lines = [(m.name, f"{m.dimension:.2f}", _number(paper_dimension(m.name), ".2f")) for m in found]
    print_text_table(("data set", "effective dimension", "paper"), lines)
    typer.echo("")
    lines = []
    for a, b in pairs:
        published = paper_distances(a.name, b.name)
        low, high = centroid_distances(a, b)
        beside = "-" if published is None else f"({published[0]:g}, {published[1]:g})"
        lines.append((a.name if a is b else f"{a.name}, {b.name}", f"({low:.4f}, {high:.3f})", beside))
    print_text_table(("centroid distance", "(smallest, largest)", "paper"), lines)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _plain(cell: "TransferResult") -> dict[str, Any]:
    source = {"name": cell.source.name, "dataset": cell.source.dataset, "scenario": cell.source.scenario}
    values = {"mean": cell.mean, "std": cell.std, "paper": cell.paper}
    return {"source": source | {"rule": cell.source.rule}, "target": str(cell.target)} | values


def _print_matrix(cells: "Sequence[TransferResult]") -> None:
    from kenyon.cli._tables import print_text_table

    targets = list(dict.fromkeys(cell.target for cell in cells))
    rows = []
    for source in dict.fromkeys(cell.source.name for cell in cells):
        own = [cell for cell in cells if cell.source.name == source]
        rows.append((f"{source} ({own[0].source.rule})", *(_cell(cell) for cell in own)))
    print_text_table(("found on \\ run on", *map(str, targets)), rows, "accuracy in %, mean ± sd [paper]")


def _cell(cell: "TransferResult") -> str:
    spread = "" if cell.std is None else f" ± {100 * cell.std:.2f}"
    return f"{100 * cell.mean:.2f}{spread}" + ("" if cell.paper is None else f" [{100 * cell.paper:.2f}]")


def _drop_rows(cells: "Sequence[TransferResult]", data_dir: Path | None) -> list[dict[str, Any]]:
    """Every transfer between data sets with its drop and coefficients; None where two sets have different widths."""
    from kenyon.lab.evaluation import open_dataset
    from kenyon.paper.transfer import COEFFICIENTS, drops, moments

    known: dict[tuple[str, str | None], Moments] = {}
    where = None if data_dir is None else str(data_dir)
    rows = []
    for drop in drops(cells):
        ends = [(end.dataset, end.backbone) for end in (drop.target, drop.source)]
        for dataset, backbone in ends:
            if (dataset, backbone) not in known:
                known[dataset, backbone] = moments(open_dataset(dataset, where, backbone=backbone))
        run_on, found_on = (known[end] for end in ends)
        row: dict[str, Any] = {"source": drop.source.name, "target": str(drop.target), "drop": drop.drop}
        same_width = run_on.centroids.shape[1] == found_on.centroids.shape[1]
        for name, coefficient in COEFFICIENTS.items():
            comparable = same_width or "distance" not in name
            row[name] = coefficient(run_on, found_on) if comparable else None
        rows.append(row)
    return rows


def _print_drops(rows: Sequence[dict[str, Any]]) -> None:
    from kenyon.cli._tables import print_text_table
    from kenyon.paper.transfer import COEFFICIENTS, rank_correlation

    if not rows:
        return
    lines = [
        (f"{r['source']} on {r['target']}", f"{100 * r['drop']:.2f}", *(_number(r[n], ".3f") for n in COEFFICIENTS))
        for r in rows
    ]
    typer.echo("")
    print_text_table(("transfer", "drop", *COEFFICIENTS), lines, "accuracy drop in %, and transfer coefficients")
    for name in COEFFICIENTS:
        points = [(r[name], r["drop"]) for r in rows if r[name] is not None]
        rank = rank_correlation([x for x, _ in points], [y for _, y in points])
        shown = "too few different points" if rank is None else f"{rank:.2f}"
        typer.echo(f"rank correlation of the drop with the {name} coefficient: {shown} ({len(points)} transfers)")
