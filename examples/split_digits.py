"""Class-incremental Split-Digits with each rule, and with a memory budget alone: two digits at a time, seen once.

    python examples/split_digits.py [--seeds 3] [--out runs/demo]

The digits come with scikit-learn, so nothing is downloaded. The last column is what must be kept
in memory to keep learning; there is no replay buffer. Everything is kept in the folder `--out`, and
written as a page to look at.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from kenyon.apps.teach import write_page as write_teach_page
from kenyon.data import Curriculum
from kenyon.lab import RunConfig, report_of_runs, run, write_page

LEARNERS: dict[str, tuple[dict[str, Any], str]] = {
    "gen": ({"rule": "gen"}, "only the labelled neuron learns; the clamp makes it stable"),
    "oja": ({"rule": "oja"}, "Hebbian with normalisation"),
    "mse": ({"rule": "mse"}, "delta rule: every neuron learns from its error"),
    "inel": ({"rule": "inel", "rule__beta": 300.0}, "delta rule that freezes the synapses that stand out"),
    "4 bits": (
        {"rule": "mean", "features": "windows", "n_hidden": 3800, "layer__bits": 4},
        "a rule that counts, through windows, its weights in 4 bits",
    ),
    "20 KB": ({"memory_budget": "20KB"}, "a budget and nothing else: windows, and co-activity of units in 16 bits"),
    "5 KB": ({"memory_budget": "5KB"}, "the same in a quarter of the bytes"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/demo"))
    given = parser.parse_args()
    seeds = range(given.seeds)
    console = Console()
    table = Table(title="Split-Digits, one pass, no replay: accuracy on all ten digits, %")
    for column in ("learner", "one task", "ten classes, two by two", "forgotten", "samples/s", "state"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    for name in track(LEARNERS, "Learning", console=console, disable=not console.is_terminal):
        options = LEARNERS[name][0]
        single = run(RunConfig("digits", "kenyon", Curriculum("single-task"), options), seeds, given.out, again=True)
        split = run(
            RunConfig("digits", "kenyon", Curriculum("class-incremental"), options), seeds, given.out, again=True
        )
        one, many = single.summary("accuracy"), split.summary("accuracy")
        table.add_row(
            name,
            *(f"{100 * value.mean:.1f} ± {100 * (value.std or 0):.1f}" for value in (one, many)),
            f"{100 * split.summary('forgetting').mean:.1f}",
            f"{max(split.summary('samples_per_second').per_seed):,.0f}",
            f"{split.summary('state_bytes').mean / 1000:.0f} KB",
        )
    console.print(table)
    for name, (_, summary) in LEARNERS.items():
        console.print(f"  {name:<6} {summary}", highlight=False)
    page = given.out / "report.html"
    write_page(report_of_runs(given.out), page)
    print(f"\nThe same as a page, with every run behind it: {page.resolve()}")
    teach = given.out / "teach.html"
    write_teach_page(teach)
    print(f"Teach one yourself, by drawing, and watch it not forget: {teach.resolve()}")
    print("Next: kenyon run --dataset digits --scenario class-incremental --learner kenyon --rule gen")


if __name__ == "__main__":
    main()
