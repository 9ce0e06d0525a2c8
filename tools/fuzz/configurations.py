"""TOML: configurations of runs and sweeps, and spaces of searches, with other values or damaged as text."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any, ClassVar

from fuzz.mutate import mutated_bytes, mutated_value
from fuzz.target import Target
from kenyon.data.protocol import StreamInfo
from kenyon.errors import KenyonError
from kenyon.lab.evaluation import RunConfig, parse_seeds
from kenyon.lab.search import load_space
from kenyon.lab.sweeps import Sweep
from kenyon.learners import make_learner
from kenyon.utils.system import read_toml, to_toml

RUN: dict[str, Any] = {
    "dataset": "digits",
    "learner": "kenyon",
    "scenario": "class-incremental",
    "seeds": [0, 3],
    "epochs": 1.0,
    "class_order": [1, 0, 2],
    "n_tasks": 5,
    "labelled": 0.5,
    "max_per_task": 10,
    "tests": "seen",
    "weights_every": 5,
    "options": {"rule": "gen", "rule__b1": 0.0, "n_hidden": 20, "features__density": 3, "features__threshold": 2.0},
}
BASELINE = {**RUN, "learner": "ncm", "options": {"metric": "cosine", "batch_size": 3}}
SWEPT = {"rule": ["gen", "mse"], "n_hidden": {"low": 10, "high": 20, "steps": 2}}
SWEEP = {**RUN, "epochs": [1.0, 2.0], "options": SWEPT}
SPACE = '[rule]\nvalues = ["gen", "mse"]\n[n_hidden]\nlow = 10\nhigh = 100\nlog = true\n'
SPACE += "[gen.rule__b2]\nlow = -1.0\nhigh = 0.0\n"
INFO = StreamInfo((2, 3), n_classes=4, tasks=((0, 1), (2, 3)), n_train=20, task_heads=False, value_range=(0.0, 255.0))


class Configurations(Target):
    """An error of ours, or a configuration that is itself again when it was written and read."""

    name: ClassVar[str] = "configurations"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._path = folder / "config.toml"
        self._space = tomllib.loads(SPACE)

    def case(self, rng: random.Random) -> str:
        kind = rng.choice(("run", "baseline", "sweep", "space"))
        values = {"run": RUN, "baseline": BASELINE, "sweep": SWEEP, "space": self._space}[kind]
        self._path.write_bytes(self._text(values, rng))
        try:
            {"sweep": self._sweep, "space": self._read_space}.get(kind, self._run)()
        except KenyonError:
            return f"{kind}, refused"
        return f"{kind}, read"

    def _text(self, values: dict[str, Any], rng: random.Random) -> bytes:
        if rng.random() < 0.3:
            return mutated_bytes(to_toml(values).encode(), rng)
        changed = mutated_value(values, rng)
        try:
            return to_toml(changed if isinstance(changed, dict) else {"value": changed}).encode(errors="surrogatepass")
        except TypeError:
            return b"[" * 5000

    def _run(self) -> None:
        values = read_toml(self._path)
        parse_seeds(values.pop("seeds", 5))
        config = RunConfig.from_dict(values)
        if RunConfig.from_dict(config.to_dict()) != config or len(config.run_id(0)) != 12:
            raise AssertionError("a configuration is not itself again")
        if ":" not in config.learner and config.learner in ("kenyon", "ncm"):
            make_learner(config.learner, INFO, 0, config.curriculum.scenario, **config.options)

    def _sweep(self) -> None:
        Sweep.read(self._path)

    def _read_space(self) -> None:
        import numpy as np

        space = load_space(self._path)
        space.options(space.draw(np.random.default_rng(0)))
