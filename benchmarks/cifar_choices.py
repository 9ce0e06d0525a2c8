"""The configurations that carry the CIFAR rows, scored on held-out samples beside the presets that searches found.

    python benchmarks/cifar_choices.py [--seeds 2] [--samples 2000]

Each stream's entry of kenyon/reproduce/experiments/configurations.toml, and the presets of CIFAR-10: `cifar10` for
single tasks and heads, `split-cifar10` for class-incremental streams. `--samples` is the most of a task.
"""

from __future__ import annotations

import argparse

from kenyon.evaluation import RunConfig, run
from kenyon.presets import load_preset
from kenyon.reproduce.experiments import chosen
from kenyon.streams import Curriculum

STREAMS = [
    ("cifar10", "single-task"),
    ("cifar10", "task-incremental"),
    ("cifar10", "class-incremental"),
    ("cifar100", "task-incremental"),
    ("cifar100", "class-incremental"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--samples", type=int, default=None)
    args = parser.parse_args()
    print("| stream | chosen here | preset of CIFAR-10 |\n|---|---|---|", flush=True)
    for dataset, scenario in STREAMS:
        preset = "split-cifar10" if scenario == "class-incremental" else "cifar10"
        cells = []
        for options in (chosen(dataset, scenario), load_preset(preset).options):
            curriculum = Curriculum(scenario, holdout=0.1, max_per_task=args.samples)
            config = RunConfig(
                dataset, "kenyon", curriculum, dict(options or {}), 0, tests="last", backbone="efficientnet-lite0"
            )
            found = run(config, range(args.seeds), None).summary("accuracy")
            cells.append(f"{100 * (found.mean or 0.0):.2f} ± {100 * (found.std or 0.0):.2f}")
        print(f"| {dataset}/{scenario} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
