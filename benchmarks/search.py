"""AMBS against random search at the same number of evaluations, seed by seed.

    python benchmarks/search.py --dataset mnist --scenario class-incremental --evals 100 --seeds 3 --workers 2

Both methods share the objective, the space and the random points that AMBS starts from. Prints the
best held-out accuracy after every tenth of the evaluations, who is ahead at the end, and what the
suggestions cost. With `--out` the searches are kept, and a second call goes on with them.

With `--compare` AMBS is compared with itself: the forests of the rules or one forest, kappa small, usual and large.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from kenyon.lab.search import Objective, make_objective, search

COMPARED = [(forests, kappa) for forests in ("rules", "one") for kappa in (0.5, 2.5, 10.0)]


def curve(scores: list[float], points: int = 10) -> list[float]:
    """Best so far after each `1 / points` of the evaluations."""
    best = np.maximum.accumulate(scores)
    return [float(best[max(0, round(len(best) * (i + 1) / points) - 1)]) for i in range(points)]


def compare(objective: Objective, folder: Path, evals: int, seeds: int, workers: int) -> None:
    """A table of AMBS with other forests and kappas: the best score, and how many evaluations each rule had."""
    print("| forests | kappa | best held out, %, by seed | evaluations of each rule |\n|---|---|---|---|", flush=True)
    for forests, kappa in COMPARED:
        best, rules = [], Counter[str]()
        for seed in range(seeds):
            own = folder / f"{forests}-{kappa:g}-{seed}"
            found = search(objective, own, evals=evals, seed=seed, workers=workers, kappa=kappa, forests=forests)
            best.append(max(e.outcome.score for e in found.evaluations))
            rules.update(str(e.point["rule"]).upper() for e in found.evaluations)
        shares = ", ".join(f"{rule} {n}" for rule, n in rules.most_common())
        print(f"| {forests} | {kappa:g} | {', '.join(f'{100 * b:.2f}' for b in best)} | {shares} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--scenario", default="class-incremental")
    parser.add_argument("--evals", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--max-per-task", type=int, default=None, help="a shorter stream, a cheaper evaluation")
    parser.add_argument("--holdout", type=float, default=0.1)
    parser.add_argument("--kappa", type=float, default=None)
    parser.add_argument("--compare", action="store_true", help="forests and kappas in place of random search")
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    limits = {} if args.max_per_task is None else {"max_per_task": args.max_per_task}
    objective = make_objective(args.dataset, args.scenario, holdout=args.holdout, data_dir=args.data_dir, **limits)
    given = {} if args.kappa is None else {"kappa": args.kappa}
    wins = 0
    with tempfile.TemporaryDirectory() as scratch:
        if args.compare:
            compare(objective, args.out or Path(scratch), args.evals, args.seeds, args.workers)
            return
        for seed in range(args.seeds):
            ends = {}
            for method in ("ambs", "random"):
                folder = (args.out or Path(scratch)) / f"{method}-{seed}"
                result = search(
                    objective, folder, evals=args.evals, method=method, seed=seed, workers=args.workers, **given
                )
                scores = [e.outcome.score for e in sorted(result.evaluations, key=lambda e: e.number)]
                ends[method] = max(scores)
                shown = " ".join(f"{100 * value:6.2f}" for value in curve(scores))
                print(f"seed {seed} {method:7s} {shown}   overhead {result.overhead:.1%}", flush=True)
            wins += ends["ambs"] > ends["random"]
    print(f"AMBS ahead on {wins} of {args.seeds} seeds after {args.evals} evaluations")


if __name__ == "__main__":
    main()
