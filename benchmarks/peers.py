"""Our re-implementations beside Avalanche's own: the same network, rate, batches, streams and seeds.

    python benchmarks/peers.py [--dataset mnist] [--seeds 3] [--most 1000] [--store runs/peers] [--only er si]

Class-incremental, two classes after two, one pass, the first `--most` samples of each task in its order, tested on the
whole test set at the end. Nothing is chosen here: both have the rate 0.1, a buffer of 500, and the weights below.
Wants avalanche-lib.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run

PAIRS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "fine-tune": ({}, "Naive", {}),
    "er": ({"buffer_size": 500}, "Replay", {"mem_size": 500}),
    "der++": ({"buffer_size": 500, "alpha": 1.0, "beta": 0.5}, "DER", {"mem_size": 500, "alpha": 1.0, "beta": 0.5}),
    "a-gem": ({"buffer_size": 500}, "AGEM", {"patterns_per_exp": 100, "sample_size": 128}),
    "si": ({"strength": 1.0}, "SynapticIntelligence", {"si_lambda": 1.0}),
    "lwf": ({"alpha": 1.0}, "LwF", {"alpha": 1.0, "temperature": 2.0}),
    "online-ewc": ({"strength": 90.0}, "EWC", {"ewc_lambda": 90.0, "mode": "online", "decay_factor": 1.0}),
}
"""For each of our methods: its options, and the strategy of Avalanche with its arguments."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--store")
    parser.add_argument("--only", nargs="+", choices=PAIRS, default=list(PAIRS))
    given = parser.parse_args()
    curriculum = Curriculum(max_per_task=given.most)
    how: dict[str, Any] = {"tests": "last", "prequential": False}
    print("| method | ours | Avalanche's |\n|---|---|---|")
    for name in given.only:
        own, strategy, arguments = PAIRS[name]
        theirs = {"strategy": strategy, "arguments": json.dumps(arguments), "lr": 0.1}
        configs = [
            RunConfig(given.dataset, name, curriculum, {"lr": 0.1, **own}, **how),
            RunConfig(given.dataset, "kenyon.learners.peers:AvalancheLearner", curriculum, theirs, **how),
        ]
        cells = []
        for config in configs:
            summary = run(config, range(given.seeds), given.store).summary("accuracy")
            spread = "" if summary.std is None else f" ± {100 * summary.std:.1f}"
            cells.append(f"{100 * (summary.mean or 0):.1f}{spread}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
