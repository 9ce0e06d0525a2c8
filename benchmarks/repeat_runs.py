"""Repeat runs of a stored report and compare: has a change of the code changed a number?

    python benchmarks/repeat_runs.py docs/results.json --runs 36

Runs of our own learner on pixels are drawn so that every data set, scenario, rule and depth comes up, and repeated by
the command that the report names, in a store of their own. A run agrees if its accuracy is the same to the last digit.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
from pathlib import Path

from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.lab.report import Run, read_report


def kind(run: Run) -> tuple[str, ...]:
    """What a run is of: data set, scenario, rule, depth."""
    words = shlex.split(run.command)
    named = [words[words.index(flag) + 1] for flag in ("--dataset", "--scenario", "--rule") if flag in words]
    deep = [word for word in words if "hidden__widths" in word]
    return (*named, "deep" if deep else "flat")


def drawn(runs: dict[str, Run], n: int) -> list[str]:
    """Names of n runs, the kinds taken in turns."""
    by_kind: dict[tuple[str, ...], list[str]] = {}
    for name, run in sorted(runs.items()):
        if "--learner kenyon " in run.command and "--backbone" not in run.command:
            by_kind.setdefault(kind(run), []).append(name)
    rng, names = random.Random(0), []
    for group in by_kind.values():
        rng.shuffle(group)
    while len(names) < n and any(by_kind.values()):
        names += [group.pop() for group in by_kind.values() if group][: n - len(names)]
    return names


def repeated(run: Run, seed: int, out: Path) -> float:
    """The accuracy of a run that is made again, of one seed alone."""
    words = shlex.split(run.command)[1:]
    if "--seeds" in words:
        words[words.index("--seeds") + 1] = f"{seed},"
    else:
        words += ["--seeds", f"{seed},"]
    ran = CliRunner().invoke(app, [*words, "--out", str(out), "--json"], catch_exceptions=False)
    return json.loads(ran.stdout)["accuracy"]["mean"]


def main() -> None:
    """Repeat, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("--runs", type=int, default=36)
    parser.add_argument("--out", type=Path, default=Path(".bench/repeated"))
    arguments = parser.parse_args()
    runs = read_report(arguments.report).runs
    same = 0
    names = drawn(dict(runs), arguments.runs)
    for name in names:
        run = runs[name]
        now = repeated(run, run.seed, arguments.out)
        same += now == run.accuracy
        print(f"{'same ' if now == run.accuracy else 'OTHER'} {run.accuracy:.6f} {now:.6f}  {name}", flush=True)
    print(f"{same} of {len(names)} runs have the same accuracy to the last digit")


if __name__ == "__main__":
    main()
