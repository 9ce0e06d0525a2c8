"""Write the figures of `docs/baselines.md` from a runs store.

    for s in class-incremental task-incremental; do
      for n in iid-offline fine-tune online-ewc si lwf a-gem icarl gss er er-mir der++; do
        kenyon run --dataset mnist --scenario $s --learner $n --seeds 5 --out runs; done; done
    python benchmarks/baselines_table.py runs

Takes complete runs on the whole of MNIST with the learner's own defaults, as tuned today, and puts a table of them
between the marks in the page. "near" says whether our mean is no further below a published mean than 3 standard
deviations, or 3 points where those are more.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from kenyon.baselines import BASELINES
from kenyon.evaluation import RunConfig, RunResult, Store
from kenyon.paper import paper_table
from kenyon.streams import Curriculum

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "baselines.md"
TUNED = tomllib.loads((HERE.parent / "src/kenyon/baselines/tuned.toml").read_text())
MARKS = ("<!-- figures: written by benchmarks/baselines_table.py -->", "<!-- end of figures -->")
SEEDS = range(5)
SCENARIOS = ("class-incremental", "task-incremental")


def collect(store: Path) -> dict[tuple[str, str], list[RunResult]]:
    """The complete runs with today's defaults and tuned values, by scenario and learner."""
    found: dict[tuple[str, str], list[RunResult]] = {}
    for scenario in SCENARIOS:
        for name, spec in BASELINES.items():
            if scenario in spec.scenarios:
                config = RunConfig("mnist", name, Curriculum(scenario))
                folders = [Store(store).folder(config, seed) for seed in SEEDS]
                found[scenario, name] = [folder.result() for folder in folders if folder.complete]
    return {key: results for key, results in found.items() if results}


def mean_sd(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, (sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1)) ** 0.5


def show(figures: list[float] | None) -> str:
    if not figures:
        return "-"
    return f"{figures[0]:.2f}" + (f" ± {figures[1]:.2f}" if len(figures) > 1 else "")


def row(name: str, scenario: str, runs: list[RunResult], published: dict[str, list[float]]) -> str:
    mean, sd = mean_sd([100 * (run.metrics.accuracy or 0.0) for run in runs])
    bounds = [figures[0] - max(3.0, 3 * (figures[1] if len(figures) > 1 else 0.0)) for figures in published.values()]
    near = "-" if not bounds else "yes" if mean >= min(bounds) else "**no**"
    chosen = TUNED.get(f"{name}/mnist/{scenario}", {}).get("values", {})
    values = ", ".join(f"{key} {value:g}" for key, value in chosen.items()) or "published"
    metrics = runs[0].metrics
    speed = mean_sd([run.metrics.samples_per_second for run in runs])[0]
    cells = [
        f"`{name}`",
        values,
        show(published.get("paper")),
        show(published.get("mammoth")),
        f"{mean:.2f} ± {sd:.2f}" + (f" ({len(runs)})" if len(runs) != len(SEEDS) else ""),
        near,
        f"{metrics.state_bytes / 1e6:.2f}",
        f"{speed:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def tables(store: Path) -> str:
    found = collect(store)
    others = tomllib.loads((HERE / "published.toml").read_text())
    parts = []
    for scenario in SCENARIOS:
        ours = f"Kenyon's, {len(SEEDS)} seeds"
        head = f"| method | chosen values | paper | Mammoth | {ours} | near | state, MB | samples/s |"
        lines = [f"### Split-MNIST, {scenario}", "", head, "|---|---|---|---|---|---|---|---|"]
        for name in BASELINES:
            if runs := found.get((scenario, name)):
                paper = paper_table("comparison_extended").value(f"mnist/{scenario}", learner=name)
                published = ({"paper": list(paper)} if paper else {}) | others[scenario].get(name, {})
                lines.append(row(name, scenario, runs, published))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/baselines_table.py STORE")
    text = PAGE.read_text()
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{tables(Path(sys.argv[1]))}\n\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
