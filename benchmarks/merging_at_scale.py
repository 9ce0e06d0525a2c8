"""What merging would cost on many machines: a simulation, with every assumption an option.

    python benchmarks/merging_at_scale.py                    1e11 samples on 1 to 1,000 machines
    python benchmarks/merging_at_scale.py --samples 1e9 --state 34e3

It plays the schedule of `kenyon learn` piece by piece: workers learn pieces, two neighbours in the tree are merged as
soon as both are there, merges go first, and one driver hands out every job. Assumed:

- a worker (one core) learns `--rate` samples a second and reads its shards from a store that keeps up with it;
- the time of a piece varies by a log-normal factor with `--spread`; a core fails every `--mtbf` hours, which costs the
  piece that it works on and nothing else;
- a merge reads two states and writes one over a link of `--link` bytes a second, shared by the cores of a machine, and
  adds them up at `--add` bytes a second, after `--load` seconds for opening the models;
- the driver takes `--driver` seconds for a job.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import random


def simulate(machines: int, options: argparse.Namespace) -> dict[str, float]:
    """One run; the pieces and the machines' failures are drawn from a seed."""
    rng = random.Random(0)
    workers, piece = machines * options.cores, options.piece
    n_pieces = max(1, math.ceil(options.samples / piece))
    mean = piece / options.rate
    moved = 3 * options.state * options.cores / options.link  # the cores of a machine share its link
    merge = options.load + moved + 2 * options.state / options.add
    p_failure = 1 - math.exp(-mean / (options.mtbf * 3600))
    levels = [n_pieces]
    while levels[-1] > 1:
        levels.append((levels[-1] + 1) // 2)
    missing = [[min(2, size - 2 * k) for k in range(after)] for size, after in itertools.pairwise(levels)]
    free, busy = workers, list[tuple[float, int, int]]()
    merges: list[tuple[int, int]] = []
    now = driver = 0.0
    next_piece = lost = n_merges = 0
    while True:
        while free and (merges or next_piece < n_pieces):
            driver = max(driver, now) + options.driver
            if merges:
                level, node = merges.pop()
                heapq.heappush(busy, (driver + merge, level, node))
                n_merges += 1
            else:
                seconds = mean * rng.lognormvariate(-(options.spread**2) / 2, options.spread)
                while rng.random() < p_failure:
                    seconds += mean * rng.random()
                    lost += 1
                heapq.heappush(busy, (driver + seconds, 0, next_piece))
                next_piece += 1
            free -= 1
        if not busy:
            break
        now, level, node = heapq.heappop(busy)
        free += 1
        while level < len(missing):
            missing[level][node // 2] -= 1
            if missing[level][node // 2]:
                break
            alone = node % 2 == 0  # the last of an odd number has no neighbour, and rises as it is
            level, node = level + 1, node // 2
            if not alone or 2 * node + 1 < levels[level - 1]:
                merges.append((level, node))
                break
    read = options.samples * options.bytes * (1 + lost / n_pieces)
    alone = options.samples / options.rate
    return {
        "hours": now / 3600,
        "efficiency": alone / (now * workers),
        "read": read,
        "states": n_merges * 3 * options.state,
        "lost": lost,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=float, default=1e11)
    parser.add_argument("--bytes", type=float, default=180, help="of a sample in the files")
    parser.add_argument("--rate", type=float, default=20e3, help="samples a second that a core learns")
    parser.add_argument("--cores", type=int, default=8, help="of a machine")
    parser.add_argument("--piece", type=float, default=2**22, help="samples of a piece")
    parser.add_argument("--spread", type=float, default=0.1)
    parser.add_argument("--mtbf", type=float, default=200.0)
    parser.add_argument("--state", type=float, default=136e3, help="bytes of a model")
    parser.add_argument("--link", type=float, default=1e9)
    parser.add_argument("--add", type=float, default=1e9)
    parser.add_argument("--load", type=float, default=0.05)
    parser.add_argument("--driver", type=float, default=2e-3)
    parser.add_argument("--machines", type=int, nargs="+", default=[1, 10, 100, 1000])
    options = parser.parse_args()
    print("| machines | hours | of the ideal | read from files | moved as models | pieces lost and learned again |")
    print("|---:|---:|---:|---:|---:|---:|")
    for machines in options.machines:
        run = simulate(machines, options)
        print(
            f"| {machines:,} | {run['hours']:,.2f} | {100 * run['efficiency']:.0f} % | {run['read'] / 1e12:,.1f} TB | "
            f"{run['states'] / 1e9:,.1f} GB | {run['lost']:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
