"""`python -m fuzz [TARGET ...] --cases N --seed S`: run them, print what came of them, exit 1 where one failed."""

from __future__ import annotations

import argparse
import sys
import time

from fuzz.configurations import Configurations
from fuzz.model_files import ModelFiles
from fuzz.readers import Readers
from fuzz.run_folders import RunFolders
from fuzz.tables import Tables
from fuzz.target import Failure, Target, folder_in_memory, run_one
from fuzz.watched import run_watched

TARGETS: dict[str, type[Target]] = {
    kind.name: kind for kind in (ModelFiles, RunFolders, Readers, Configurations, Tables)
}
SHOWN = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description="Hostile files by the thousand, made from a seed.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all unless given: {', '.join(TARGETS)}")
    parser.add_argument("--cases", type=int, default=20_000, help="cases of each target (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="CASE", help="run this case alone, in this process")
    given = parser.parse_args()
    for name in given.targets:
        if name not in TARGETS:
            parser.error(f"{name!r} is no target: expected one of {', '.join(TARGETS)}")
    kinds = [TARGETS[name] for name in given.targets or TARGETS]
    if given.only is not None:
        return max(_one(kind, given.seed, given.only) for kind in kinds)
    return max(_many(kind, given.seed, max(1, int(given.cases * kind.share))) for kind in kinds)


def _one(kind: type[Target], seed: int, case: int) -> int:
    with folder_in_memory() as folder:
        result = run_one(kind(folder), seed, case)
    print(result.what if isinstance(result, Failure) else result)
    return int(isinstance(result, Failure))


def _many(kind: type[Target], seed: int, cases: int) -> int:
    start = time.monotonic()

    def progress(done: int, failed: int) -> None:
        if sys.stderr.isatty() and done % 500 == 0:
            print(f"\r{kind.name}: {done:,} of {cases:,}, {failed} failed ", end="", file=sys.stderr)

    counts, failures = run_watched(kind, seed, range(cases), progress)
    seconds = time.monotonic() - start
    words = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
    each = 1000 * seconds / max(cases, 1)
    print(f"{kind.name}: {cases:,} cases of seed {seed}, {len(failures)} failed ({words}), {each:.2f} ms each")
    for failure in failures[:SHOWN]:
        print(f"\ncase {failure.case} (python -m fuzz {kind.name} --seed {seed} --only {failure.case})\n{failure.what}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
