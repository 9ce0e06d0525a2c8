"""notMNIST, a data set on which nothing was chosen: docs/untouched.md has the protocol, written before it was opened.

    python benchmarks/untouched.py [--out runs-untouched] [--seeds 5]

Class-incremental, two classes per task, one pass, every seed with an order of its own. Kenyon has a memory budget and
nothing else; rivals have what was chosen for them on Split-MNIST (docs/frontier.json, `tuned.toml`). Prints one line
per learner and size. Runs are kept, so a stopped command continues.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frontier import RESULTS
from frontier_baselines import METHODS, SIZES
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run

BUDGETS = ("20KB", "160KB", "1MB")
STREAM = Curriculum("class-incremental", class_order="shuffled")
METHOD = {name: method for method, name in METHODS.items()}


def configurations() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """(label, size, learner, options) of every row."""
    for budget in BUDGETS:
        yield "Kenyon", budget, "kenyon", {"memory_budget": budget}
    for row in json.loads(RESULTS.read_text()):
        if row["stream"] == "Split-MNIST" and row["learner"] in ("ER", "DER++", "NCM") and row["budget"] in BUDGETS:
            options = {"method": METHOD[row["learner"]], "memory_budget": SIZES[row["budget"]], **row["options"]}
            yield row["learner"], row["budget"], "within_bytes:WithinBytes", options
    for learner, label in (("slda", "SLDA"), ("randumb", "RanDumb"), ("flymodel", "FlyModel")):
        yield label, "its own", learner, {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs-untouched"), help="where runs are kept")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    print("| | at most | accuracy, % | state, bytes |\n|---|---|---|---|", flush=True)
    for label, size, learner, options in configurations():
        config = RunConfig("notmnist", learner, STREAM, options, 0, tests="last")
        report = run(config, range(arguments.seeds), arguments.out)
        accuracy, state = report.summary("accuracy"), report.summary("state_bytes")
        mean, deviation = 100 * (accuracy.mean or 0.0), 100 * (accuracy.std or 0.0)
        print(f"| {label} | {size} | {mean:.2f} ± {deviation:.2f} | {round(state.mean or 0):,} |", flush=True)


if __name__ == "__main__":
    main()
