"""Write the figures of `docs/baselines.md` from a runs store, and from an earlier report where the store has no run.

    for s in class-incremental task-incremental; do
      for n in iid-offline fine-tune online-ewc si lwf a-gem icarl gss er er-mir der++ \
        rpsnet cn-dpm ncm slda flymodel randumb; do
        kenyon run --dataset mnist --scenario $s --learner $n --seeds 5 --out runs; done; done
    python benchmarks/baselines_table.py runs docs/results.json

Takes complete runs on the whole of MNIST with the learner's own defaults, as tuned today, and puts a table of them
between the marks in the page. "near" names the published figures that our mean is near to: within three of its
standard deviations, or three points where that is more, above or below.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, Store
from kenyon.learners.baselines import BASELINES
from kenyon.paper.reproduce import Earlier
from kenyon.paper.tables import paper_table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "baselines.md"
TUNED = tomllib.loads((HERE.parent / "src/kenyon/learners/baselines/tuned.toml").read_text())
MARKS = ("<!-- figures: written by benchmarks/baselines_table.py -->", "<!-- end of figures -->")
SEEDS = range(5)
SCENARIOS = ("class-incremental", "task-incremental")
Metrics = Mapping[str, float | None]


def collect(store: Path, earlier: Earlier | None) -> dict[tuple[str, str], list[Metrics]]:
    """The metrics of complete runs with today's defaults and tuned values, by scenario and learner."""
    found: dict[tuple[str, str], list[Metrics]] = {}
    for scenario in SCENARIOS:
        for name, spec in BASELINES.items():
            if scenario in spec.scenarios:
                config = RunConfig("mnist", name, Curriculum(scenario))
                found[scenario, name] = [m for seed in SEEDS if (m := metrics(store, earlier, config, seed))]
    return {key: results for key, results in found.items() if results}


def metrics(store: Path, earlier: Earlier | None, config: RunConfig, seed: int) -> Metrics | None:
    folder = Store(store).folder(config, seed)
    if folder.complete:
        return folder.result().metrics
    name = earlier.name(config, seed) if earlier else None
    return earlier.result(name).metrics if earlier and name else None


def mean_sd(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, (sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1)) ** 0.5


def show(figures: Sequence[float] | None) -> str:
    if not figures:
        return "-"
    return f"{figures[0]:.2f}" + (f" ± {figures[1]:.2f}" if len(figures) > 1 else "")


def near(mean: float, published: Mapping[str, Sequence[float]]) -> str:
    """The figures that a mean is near to, above or below."""
    if not published:
        return "-"
    names = [
        name
        for name, figures in published.items()
        if abs(mean - figures[0]) <= max(3.0, 3 * (figures[1] if len(figures) > 1 else 0.0))
    ]
    return "**none**" if not names else "all" if len(names) == len(published) else ", ".join(names)


def row(name: str, scenario: str, runs: Sequence[Metrics], published: Mapping[str, Sequence[float]]) -> str:
    mean, sd = mean_sd([100 * (run["accuracy"] or 0.0) for run in runs])
    chosen = TUNED.get(f"{name}/mnist/{scenario}", {}).get("values", {})
    values = ", ".join(f"{key} {value:g}" for key, value in chosen.items()) or "published"
    speed = mean_sd([run["samples_per_second"] or 0.0 for run in runs])[0]
    cells = [
        f"`{name}`",
        values,
        show(published.get("paper")),
        show(published.get("Mammoth")),
        show([mean, sd] if len(runs) > 1 else [mean]) + (f" ({len(runs)})" if len(runs) != len(SEEDS) else ""),
        near(mean, published),
        f"{(runs[0]['state_bytes'] or 0) / 1e6:.2f}",
        f"{speed:.0f}" if len(runs) == len(SEEDS) else "-",
    ]
    return "| " + " | ".join(cells) + " |"


def tables(store: Path, earlier: Earlier | None) -> str:
    found = collect(store, earlier)
    others = tomllib.loads((HERE / "published.toml").read_text())
    parts = []
    for scenario in SCENARIOS:
        ours = f"Kenyon's, {len(SEEDS)} seeds"
        head = f"| method | chosen values | paper | Mammoth | {ours} | near | state, MB | samples/s |"
        lines = [f"### Split-MNIST, {scenario}", "", head, "|---|---|---|---|---|---|---|---|"]
        for name in BASELINES:
            if runs := found.get((scenario, name)):
                paper = paper_table("comparison_extended").value(f"mnist/{scenario}", learner=name)
                published = {"paper": list(paper)} if paper else {}
                if other := others[scenario].get(name):
                    published["Mammoth"] = other["mammoth"]
                lines.append(row(name, scenario, runs, published))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python benchmarks/baselines_table.py STORE [REPORT.json]")
    earlier = Earlier.read(Path(sys.argv[2])) if len(sys.argv) == 3 else None
    text = PAGE.read_text()
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{tables(Path(sys.argv[1]), earlier)}\n\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
