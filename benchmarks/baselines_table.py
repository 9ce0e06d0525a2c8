"""Write the figures of `docs/baselines.md` from a runs store.

    for s in class-incremental task-incremental; do
      for n in iid-offline fine-tune online-ewc si lwf a-gem icarl gss er er-mir der++; do
        kenyon run --dataset mnist --scenario $s --learner $n --seeds 3 --out runs; done; done
    python benchmarks/baselines_table.py runs

Takes complete runs on the whole of MNIST with the learner's own defaults, and puts a table of them between the marks in
the page. Defaults and code may have changed since a run: of several runs of one seed the one that started last counts,
and the others are named. "near" says whether our mean is no further below a published mean than 3 standard deviations,
or 3 points where those are more.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import defaultdict
from operator import itemgetter
from pathlib import Path

from kenyon.baselines import BASELINES
from kenyon.evaluation import RunFolder, RunResult, Store
from kenyon.learners import learner_options

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "baselines.md"
TUNED = tomllib.loads((HERE.parent / "src/kenyon/baselines/tuned.toml").read_text())
MARKS = ("<!-- figures: written by benchmarks/baselines_table.py -->", "<!-- end of figures -->")
SCENARIOS = ("class-incremental", "task-incremental")


def collect(store: Path) -> dict[tuple[str, str], list[RunResult]]:
    """The runs that count, by scenario and learner."""
    newest: dict[tuple[str, str, int], tuple[str, RunFolder]] = {}
    for folder in Store(store).runs():
        config = folder.config()
        name = config["learner"]
        if not folder.complete or config["dataset"] != "mnist" or name not in BASELINES:
            continue
        changed = (
            {"max_per_task", "n_tasks", "task_sizes", "backbone"} & set(config)
            or config["holdout"]
            or config["epochs"] != 1
        )
        defaults = learner_options(name)
        own = all(_plain(defaults[key]) == value for key, value in config.get("options", {}).items())
        if own and not changed:
            key = config["scenario"], name, config["seeds"][0]
            runs = sorted([*([newest[key]] if key in newest else []), (started(folder), folder)], key=itemgetter(0))
            newest[key] = runs[-1]
            for _, older in runs[:-1]:
                print(f"left out, a newer run of its seed is there: {older.path}", file=sys.stderr)
    found: dict[tuple[str, str], list[RunResult]] = defaultdict(list)
    for (scenario, name, _), (_, folder) in sorted(newest.items(), key=itemgetter(0)):
        found[scenario, name].append(folder.result())
    return found


def started(folder: RunFolder) -> str:
    """When the run was begun, in a form that sorts."""
    return json.loads(folder.file("environment.json").read_text())[0]["started"]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


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
        f"{mean:.2f} ± {sd:.2f}" + (f" ({len(runs)})" if len(runs) != 3 else ""),
        near,
        f"{metrics.state_bytes / 1e6:.2f}",
        f"{speed:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def tables(store: Path) -> str:
    found = collect(store)
    published = tomllib.loads((HERE / "published.toml").read_text())
    parts = []
    for scenario in SCENARIOS:
        head = "| method | chosen values | paper | Mammoth | Kenyon's, 3 seeds | near | state, MB | samples/s |"
        lines = [f"### Split-MNIST, {scenario}", "", head, "|---|---|---|---|---|---|---|---|"]
        for name in BASELINES:
            if found[scenario, name]:
                lines.append(row(name, scenario, found[scenario, name], published[scenario].get(name, {})))
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
