"""How many runs of two reports, made on two machines, gave the same accuracy to the last digit.

    git show a0c4031:docs/results.json > amd.json      # AMD EPYC
    git show 3ab2915:docs/results.json > intel.json    # Intel Xeon
    python benchmarks/same_digits.py amd.json intel.json

A run is the same in both where its folder has the same name: the name holds a digest of its configuration and seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from kenyon.lab.report import Run, read_report


def kind(run: Run) -> str:
    """Kenyon or not, on pixels or on a backbone's features."""
    words = run.command.split()
    learner = "Kenyon" if words[words.index("--learner") + 1] == "kenyon" else "other learners"
    return f"{learner}, {'features' if '--backbone' in words else 'pixels'}"


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: python benchmarks/same_digits.py REPORT REPORT")
    first, second = (read_report(Path(argument)) for argument in sys.argv[1:])
    both, same = Counter[str](), Counter[str]()
    for name, run in first.runs.items():
        if name in second.runs:
            both[kind(run)] += 1
            same[kind(run)] += run.accuracy == second.runs[name].accuracy
    print(" and ".join(str(report.machine["processor"]) for report in (first, second)))
    for group, n in sorted(both.items()):
        print(f"{group}: {same[group]} of {n} runs the same")


if __name__ == "__main__":
    main()
