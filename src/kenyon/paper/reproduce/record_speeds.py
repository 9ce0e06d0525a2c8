"""Write the speeds of a store's runs into `speeds.toml`, from which plans take those that a store does not have.

Kinds of runs that this store lacks keep the speed that they have there.

python -m kenyon.paper.reproduce.record_speeds STORE
"""

from __future__ import annotations

import sys
from pathlib import Path

from kenyon.lab.evaluation import environment
from kenyon.paper.reproduce._plan import measured_speeds, recorded_speeds
from kenyon.utils.system import replace_file, to_toml

HEAD = (
    "# Training samples a second of whole runs, testing included, and evaluations a second of searches.\n"
    "# Written by `python -m kenyon.paper.reproduce.record_speeds STORE`.\n"
)


def speeds_text(store: Path) -> str:
    """The text of the file."""
    where = environment()
    machine = {"processor": where["processor"], "cores": where["cores"]}
    return HEAD + to_toml(
        {"machine": machine, "speeds": dict(sorted((recorded_speeds() | measured_speeds(store)).items()))}
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m kenyon.paper.reproduce.record_speeds STORE")
    replace_file(Path(__file__).with_name("speeds.toml"), speeds_text(Path(sys.argv[1])).encode())
