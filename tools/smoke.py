"""A quick check of an installed package, for the workflow: learn digits, save, load, go on; then the command line.

Run it from outside the checkout, with the interpreter into which the wheel was installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import kenyon
from kenyon.data.streams import load_dataset

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    where = Path(kenyon.__file__).resolve()
    if ROOT / "src" in where.parents:
        sys.exit(f"This is the checkout ({where}), not the installed package.")
    X, y = load_dataset("digits").train
    model = kenyon.KenyonClassifier(n_hidden=2000, random_state=0).partial_fit(X[:1000], y[:1000])
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.safetensors")
        loaded = kenyon.KenyonClassifier.load(Path(folder) / "model.safetensors")
        accuracy = loaded.partial_fit(X[1000:1200], y[1000:1200]).score(X[1200:], y[1200:])
        if accuracy < 0.8:
            sys.exit(f"An accuracy of {accuracy:.2f} on digits; at least 0.80 was expected.")
        kenyon_command("--version")
        kenyon_command("learners")
        kenyon_command("run", "--dataset", "digits", "--scenario", "class-incremental", "--seeds", "1", "--out", folder)
        kenyon_command("show", folder)
    print(f"kenyon {kenyon.__version__} from {where.parent}: {accuracy:.1%} on digits")


def kenyon_command(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "kenyon.cli", *arguments], check=True)


if __name__ == "__main__":
    main()
