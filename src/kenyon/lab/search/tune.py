"""Choose the hyperparameters of a baseline by a grid on a held-out slice of the training stream.

    python -m kenyon.lab.search.tune er --dataset mnist --scenario class-incremental
    python -m kenyon.lab.search.tune er --dataset cifar10 --backbone efficientnet-lite0 --out chosen.toml

Every combination of the baseline's row in `grids.toml` learns a shortened stream, from which a share of every class is
held out. The highest final average accuracy on that share wins; the first one where several are equal. The test set is
never opened. The winner is written to `tuned.toml` with its score, the grid and the command, and becomes the default;
what is chosen on a backbone's features goes into a file of its own, since the defaults are those for pixels.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kenyon.data.streams import Curriculum, Dataset
from kenyon.errors import KenyonError
from kenyon.lab.evaluation import RunConfig, run_dataset
from kenyon.learners.baselines import TUNED, family, grid_of
from kenyon.utils.system import replace_file, to_toml


def tune(
    config: RunConfig,
    dataset: Dataset,
    grid: Mapping[str, Sequence[Any]],
    seeds: Sequence[int],
    scored: Callable[[dict[str, Any], float], None] = lambda values, score: None,
) -> tuple[dict[str, Any], float]:
    """The best combination of a grid and its mean held-out accuracy.

    Args:
        config: baseline, curriculum (with a holdout) and the options that are not in the grid.
        dataset: the data set, opened by the caller.
        grid: the values to try, by option.
        seeds: the score is averaged over these.
        scored: called with each combination and its score.
    """
    best: tuple[dict[str, Any], float] = ({}, -1.0)
    for combination in itertools.product(*grid.values()):
        values = dict(zip(grid, combination, strict=True))
        tried = replace(config, options={**config.options, **values})
        accuracies = [run_dataset(tried, seed, dataset).metrics.accuracy or 0.0 for seed in seeds]
        score = sum(accuracies) / len(accuracies)
        scored(values, score)
        if score > best[1]:
            best = (values, score)
    return best


def record(path: Path, key: str, row: Mapping[str, Any]) -> None:
    """Write one row into a file of chosen values; the other rows stay as they are."""
    table = tomllib.loads(path.read_text()) if path.exists() else {}
    table[key] = dict(row)
    head = (
        "# Written by `python -m kenyon.lab.search.tune`; score = accuracy on a held-out slice of the training set.\n"
    )
    replace_file(path, (head + to_toml(dict(sorted(table.items())))).encode())


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m kenyon.lab.search.tune", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("name", help="a baseline that has a row in grids.toml")
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--scenario", default="class-incremental")
    parser.add_argument("--holdout", type=float, default=0.1, help="share of the training set to select on")
    parser.add_argument("--max-per-task", type=int, default=2000, help="samples of a task to learn")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--backbone", default=None, help="learn this network's features; needs --out")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="an option that stays fixed")
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--out", type=Path, default=None, help="the file that gets the row")
    args = parser.parse_args(argv)
    if args.backbone and args.out is None:
        parser.error("--backbone: expected --out beside it, since the defaults are those for pixels")
    try:
        return _tune_and_record(args)
    except KenyonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _tune_and_record(args: argparse.Namespace) -> int:
    grid = grid_of(args.name)
    curriculum = Curriculum(scenario=args.scenario, holdout=args.holdout, max_per_task=args.max_per_task)
    fixed = tomllib.loads("\n".join(args.set))
    config = RunConfig(args.dataset, args.name, curriculum, fixed, 0, tests="last", backbone=args.backbone)
    dataset = config.open(args.data_dir)
    values, score = tune(
        config, dataset, grid, range(args.seeds), lambda tried, s: print(f"{s:7.2%}  {tried}", flush=True)
    )
    command = (
        f"python -m kenyon.lab.search.tune {args.name} --dataset {args.dataset} --scenario {args.scenario} "
        f"--holdout {args.holdout} --max-per-task {args.max_per_task} --seeds {args.seeds}"
    )
    command += "".join(f" --set '{option}'" for option in args.set)
    if args.backbone:
        command += f" --backbone {args.backbone} --out {args.out.name}"
    kind = "features" if args.backbone else family(dataset.shape)
    path = args.out or TUNED
    row = {"values": {**fixed, **values}, "score": round(score, 4), "grid": grid, "command": command}
    record(path, f"{args.name}/{kind}/{args.scenario}", row)
    print(f"chosen   {values}  ({score:.2%} held out) -> {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
