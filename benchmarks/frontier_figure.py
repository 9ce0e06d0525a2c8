"""Draw accuracy against bytes, and write the tables of docs/results/ (bytes.md, colour.md) from docs/frontier.json.

    python benchmarks/frontier.py --test
    python benchmarks/frontier_baselines.py
    python benchmarks/colour_rivals.py --test --kept rivals.jsonl
    python benchmarks/frontier_figure.py

A learner's place is the bytes it must keep, its height the mean accuracy over its seeds, bars the standard deviation.
The test of the documents holds the pages to the data.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "frontier.json"
FIGURE = ROOT / "docs" / "figures" / "frontier.svg"
PAGES = (ROOT / "docs" / "results" / "bytes.md",)
MARKS = ("<!-- comparison: written by benchmarks/frontier_figure.py -->", "<!-- end of comparison -->")
STREAMS = (
    "Split-MNIST",
    "Split-Fashion-MNIST",
    "Split-CIFAR-10, features",
    "Split-CIFAR-100, features",
)
SIZES = {"20KB": 20_000, "160KB": 160_000, "1MB": 1_000_000, "5MB": 5_000_000}
LEARNERS = {"Kenyon": "C3", "ER": "C0", "DER++": "C1", "iCaRL": "C2", "NCM": "0.45"}
COLOUR_PAGE = ROOT / "docs" / "results" / "colour.md"
COLOUR_STREAMS = ("Split-CIFAR-10, pixels", "Split-CIFAR-100, pixels")
COLOUR_SIZES = ("160KB", "1MB", "5MB", "32MB")
COLOUR_LEARNERS = {
    "Kenyon": "C3",
    "Kenyon, filters of samples": "C2",
    "SLDA on patches": "C4",
    "RanDumb on patches": "C5",
    "FlyModel on patches": "C6",
    "SLDA": "C7",
    "RanDumb": "C8",
    "FlyModel": "C9",
    "ER": "C0",
    "DER++": "C1",
}


def read(path: Path = RESULTS) -> list[dict[str, Any]]:
    return json.loads(path.read_text())


def within(rows: list[dict[str, Any]], stream: str, learner: str, size: int) -> dict[str, Any] | None:
    """The row of a learner with the most bytes that fit into a size, if they are more than a fifth of it.

    NCM keeps class means alone, and has the same ones for every larger size.
    """
    found = [row for row in rows if row["stream"] == stream and row["learner"] == learner]
    found = [row for row in found if row["state_bytes"] <= size]
    best = max(found, key=lambda row: (row["state_bytes"], row["budget"]), default=None)
    return best if best is None or learner == "NCM" or best["state_bytes"] > size / 5 else None


def table(rows: list[dict[str, Any]]) -> str:
    """Every learner at every size; the best of a line is bold, and every one within its own deviation of it."""
    lines = [f"| | at most | {' | '.join(LEARNERS)} |", f"|---|---|{'---|' * len(LEARNERS)}"]
    for stream in STREAMS:
        for name, size in SIZES.items():
            cells = [within(rows, stream, learner, size) for learner in LEARNERS]
            best = max((float(np.mean(cell["accuracy"])) for cell in cells if cell), default=0.0)
            words = [_cell(cell, best) for cell in cells]
            lines.append(f"| {stream} | {name[:-2]} {name[-2:]} | {' | '.join(words)} |")
    return "\n".join(lines)


def colour_table(rows: list[dict[str, Any]]) -> str:
    """Every learner on images in colour, with its number of seeds; those that were not run are left out."""
    lines = [f"| | | {' | '.join(f'{size[:-2]} {size[-2:]}' for size in COLOUR_SIZES)} |"]
    lines.append(f"|---|---|{'---|' * len(COLOUR_SIZES)}")
    for stream in COLOUR_STREAMS:
        for learner in COLOUR_LEARNERS:
            own = {row["budget"]: row for row in rows if (row["stream"], row["learner"]) == (stream, learner)}
            if not own:
                continue
            cells = [_cell(own.get(size), -1.0) for size in COLOUR_SIZES]
            seeds = [len(own[size]["accuracy"]) for size in COLOUR_SIZES if size in own]
            cells = (
                [
                    f"{cell} ({len(own[size]['accuracy'])})" if size in own else cell
                    for size, cell in zip(COLOUR_SIZES, cells, strict=True)
                ]
                if len(set(seeds)) > 1
                else cells
            )
            name = learner if len(set(seeds)) > 1 else f"{learner} ({seeds[0]})"
            lines.append(f"| {stream} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: dict[str, Any] | None, best: float) -> str:
    if row is None:
        return "-"
    mean, n = float(np.mean(row["accuracy"])), len(row["accuracy"])
    text = f"{mean:.1f} ± {np.std(row['accuracy'], ddof=1):.1f}" if n > 1 else f"{mean:.1f}"
    return f"**{text}**" if mean == best else text


def draw(rows: list[dict[str, Any]], path: Path = FIGURE) -> None:
    """One panel for each stream on which learners are compared."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "kenyon", "font.size": 9}):
        compared = {row["stream"] for row in rows if row["learner"] != "Kenyon"}
        streams = [stream for stream in STREAMS + COLOUR_STREAMS if stream in compared]
        lines = -(-len(streams) // 2)
        figure = Figure(figsize=(7.2, 2.6 * lines), layout="constrained")
        panels = figure.subplots(lines, 2).flat
        for axes in panels[len(streams) :]:
            axes.set_axis_off()
        for axes, stream in zip(panels[: len(streams)], streams, strict=True):
            pixels = stream in COLOUR_STREAMS
            for learner, colour in (COLOUR_LEARNERS if pixels else LEARNERS).items():
                mine = [row for row in rows if row["stream"] == stream and row["learner"] == learner]
                mine = [row for row in mine if pixels or row["state_bytes"] <= max(SIZES.values())]
                if pixels and not mine:
                    continue
                mine.sort(key=lambda row: row["state_bytes"])
                axes.errorbar(
                    [row["state_bytes"] for row in mine],
                    [float(np.mean(row["accuracy"])) for row in mine],
                    [float(np.std(row["accuracy"], ddof=1)) if len(row["accuracy"]) > 1 else 0.0 for row in mine],
                    fmt="o-" if learner == "Kenyon" else "s--",
                    color=colour,
                    markersize=4.5 if learner == "Kenyon" else 3.5,
                    linewidth=1.8 if learner == "Kenyon" else 1.0,
                    capsize=2,
                    label=learner,
                )
            axes.set(title=stream, xscale="log", xlabel="bytes of state", ylabel="accuracy, %")
            axes.grid(alpha=0.25)
            if pixels:
                axes.legend(fontsize=6)
        figure.axes[0].legend(loc="lower right", fontsize=8)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)


def write(page: Path, text: str) -> None:
    """Put the table between the marks of a page."""
    content = page.read_text(encoding="utf-8")
    before, rest = content.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    page.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> int:
    rows = read()
    draw(rows)
    for page in PAGES:
        write(page, table(rows))
    write(COLOUR_PAGE, colour_table(rows))
    above = [
        (stream, name, cell["learner"], float(np.mean(cell["accuracy"])), float(np.mean(ours["accuracy"])))
        for stream in STREAMS
        for name, size in SIZES.items()
        if (ours := within(rows, stream, "Kenyon", size))
        for cell in (within(rows, stream, learner, size) for learner in LEARNERS if learner != "Kenyon")
        if cell and np.mean(cell["accuracy"]) > np.mean(ours["accuracy"])
    ]
    for stream, name, learner, theirs, mine in above:
        print(f"above Kenyon: {learner} on {stream} in {name}, {theirs:.2f} against {mine:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
