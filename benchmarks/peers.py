"""Our re-implementations beside the peers' own code: the same network, first weights, rate, batches, streams and seeds.

    python benchmarks/peers.py [--dataset mnist] [--seeds 3] [--most 1000] [--store runs/peers] [--only er si]

Class-incremental, two classes after two, one pass, the first `--most` samples of each task in its order, tested on the
whole test set at the end. Nothing is chosen here: all have the rate 0.1, a buffer of 500, and the weights below.
Wants avalanche-lib and capymoa (`pip install 'kenyon[peers]'`).
"""

from __future__ import annotations

import argparse
import json
from typing import Any, NamedTuple

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run

AVALANCHE, CAPYMOA = "kenyon.learners.peers:AvalancheLearner", "kenyon.learners.peers:CapyMOAStrategy"
Named = tuple[str, dict[str, Any]]


class Method(NamedTuple):
    """Options of ours, and the peers' classes with their arguments."""

    ours: dict[str, Any]
    avalanche: Named | None = None
    capymoa: Named | None = None


MEMORY, DARK = {"mem_size": 500}, {"alpha": 1.0, "beta": 0.5}
METHODS = {
    "fine-tune": Method({}, ("Naive", {})),
    "er": Method({"buffer_size": 500}, ("Replay", MEMORY), ("ExperienceReplay", {"buffer_size": 500})),
    "der++": Method({"buffer_size": 500, **DARK}, ("DER", MEMORY | DARK)),
    "a-gem": Method({"buffer_size": 500}, ("AGEM", {"patterns_per_exp": 100, "sample_size": 128})),
    "icarl": Method({"buffer_size": 500}, ("ICaRL", {"memory_size": 500, "fixed_memory": True})),
    "online-ewc": Method(
        {"strength": 90.0},
        ("EWC", {"ewc_lambda": 45.0, "mode": "online", "decay_factor": 1.0}),
        ("EWC", {"lambda_": 90.0}),
    ),
    "si": Method({"strength": 1.0}, ("SynapticIntelligence", {"si_lambda": 1.0}), ("SI", {"lambda_": 1.0})),
    "lwf": Method({"alpha": 1.0}, ("LwF", {"alpha": 4.0, "temperature": 2.0}), ("LWF", {"alpha": 1.0})),
    "slda": Method({}, None, ("SLDA", {})),
    "ncm": Method({}, None, ("NCM", {})),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--store")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    given = parser.parse_args()

    def accuracy(learner: str, options: dict[str, Any]) -> str:
        """Mean and standard deviation over the seeds, in percent."""
        how: dict[str, Any] = {"tests": "last", "prequential": False}
        config = RunConfig(given.dataset, learner, Curriculum(max_per_task=given.most), options, **how)
        summary = run(config, range(given.seeds), given.store).summary("accuracy")
        spread = "" if summary.std is None else f" ± {100 * summary.std:.1f}"
        return f"{100 * (summary.mean or 0):.1f}{spread}"

    print("| method | ours | Avalanche's | CapyMOA's |\n|---|---|---|---|")
    for name in given.only:
        method = METHODS[name]
        rate = {} if name in ("slda", "ncm") else {"lr": 0.1}
        cells = [accuracy(name, rate | method.ours)]
        for peer, theirs in ((AVALANCHE, method.avalanche), (CAPYMOA, method.capymoa)):
            options = theirs and {"strategy": theirs[0], "arguments": json.dumps(theirs[1]), "lr": 0.1}
            cells.append(accuracy(peer, options) if options else "")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
