"""Forged states of devices by the thousand, guided by the C code that they reach, under sanitizers.

    python tools/fuzz_buffers.py --runs 20000 --seed 0

Three small models are exported as C. Clang compiles them with its libFuzzer where it is at hand; another compiler with
a driver of ours (tools/fuzz/buffers.c). A crash, a sanitizer's error or a broken promise ends it with exit code 1.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from kenyon import KenyonClassifier, Plastic, Sparse
from kenyon.core.compiler import system_compiler
from kenyon.export import export_model, to_buffer

HARNESS = Path(__file__).parent / "fuzz" / "buffers.c"
SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
FEATURES = Sparse(units=30, density=7, threshold=1.0)
MODELS = {
    "second order": {"memory_budget": "4KB", "shape": (8, 8), "expected_classes": 4},
    "gen": {"rule": "gen", "layer": Plastic(bits=4, arithmetic="integer"), "features": FEATURES},
    "mean": {"rule": "mean", "layer": Plastic(bits=3, arithmetic="integer"), "features": FEATURES},
}


def build(params: dict, folder: Path) -> tuple[list[str], bool]:
    """The compiled target with the buffers to begin with, and whether it is libFuzzer's."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (40, 64), np.uint8), np.arange(40) % 3
    model = KenyonClassifier(random_state=1, **params)
    seeds = []
    for n in (5, 40):
        model.partial_fit(X[:n], y[:n])
        seeds.append(folder / f"seed-{n}")
        seeds[-1].write_bytes(to_buffer(model))
    export_model(model, "c", folder, classes=6)
    clang, other = shutil.which("clang"), system_compiler()
    if clang and _compiled([clang, *SANITIZERS, "-fsanitize=fuzzer"], folder, [HARNESS, "kenyon.c"]):
        corpus = folder / "corpus"
        corpus.mkdir()
        for path in seeds:
            shutil.copy(path, corpus)
        return [str(folder / "target"), str(corpus)], True
    if not other:
        sys.exit("buffers: there is no C compiler")
    traced = [*other, *SANITIZERS, "-fsanitize-coverage=trace-pc", "-c", "kenyon.c", "-o", "kenyon.o"]
    subprocess.run(traced, cwd=folder, check=True)
    if not _compiled([*other, *SANITIZERS, "-DWITH_DRIVER"], folder, [HARNESS, "kenyon.o"]):
        sys.exit("buffers: the compiler has no sanitizers")
    return [str(folder / "target"), *map(str, seeds)], False


def _compiled(command: list[str], folder: Path, sources: list) -> bool:
    line = [*command, f"-I{folder}", *map(str, sources), "-o", "target"]
    return subprocess.run(line, cwd=folder, capture_output=True).returncode == 0


def run(name: str, runs: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as text:
        (target, *seeds), libfuzzer = build(MODELS[name], Path(text))
        given = [f"-runs={runs}", f"-seed={seed + 1}", *seeds] if libfuzzer else [str(runs), str(seed), *seeds]
        done = subprocess.run([target, *given], capture_output=True, text=True)
    words = "libFuzzer" if libfuzzer else done.stdout.strip()
    print(f"buffers, {name}: {runs:,} of seed {seed}, {'FAILED' if done.returncode else 'none failed'} ({words})")
    if done.returncode:
        print(done.stderr[-3000:])
    return int(done.returncode != 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return max(run(name, given.runs, given.seed) for name in MODELS)


if __name__ == "__main__":
    sys.exit(main())
