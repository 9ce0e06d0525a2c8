"""The folder of a run: its checkpoint, raw or with a sum that is right again, and every file of a finished run."""

from __future__ import annotations

import random
import shutil
import warnings
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from fuzz.model_files import change_tensors
from fuzz.mutate import mutated_bytes
from fuzz.target import Target
from kenyon.data.streams import Curriculum, Dataset, from_arrays
from kenyon.errors import KenyonError
from kenyon.lab.evaluation import RunConfig, RunFolder, group_runs, run_dataset
from kenyon.lab.evaluation._checkpoint import _sum
from kenyon.utils.events import Event, Watch

CONFIGS = (
    RunConfig(
        "digits", options={"rule": "gen", "n_hidden": 9, "features__density": 3}, curriculum=Curriculum(n_tasks=2)
    ),
    RunConfig("digits", "ncm", curriculum=Curriculum("task-free", n_tasks=2)),
    RunConfig(
        "digits",
        options={"layer": "second-order", "n_hidden": 6, "features__density": 3},
        curriculum=Curriculum(n_tasks=2),
    ),
)


class _Stop(Exception):
    pass


class _Quiet(Watch):
    """Says nothing of checkpoints that are of no use."""

    def note(self, event: Event) -> None: ...


class _StopHalfWay(_Quiet):
    """Stops a run when the first task was learned and tested, as a kill would."""

    def tested(self, event: Event) -> None:
        if event.tally is not None and event.tally.row:
            raise _Stop


class RunFolders(Target):
    """A damaged checkpoint changes no result; a forged one and any damaged file is an error of ours, or a result."""

    name: ClassVar[str] = "run-folders"
    share: ClassVar[float] = 0.05

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._data = _small()
        self._runs: list[tuple[RunConfig, str, Path, Path]] = []
        for number, config in enumerate(CONFIGS):
            whole, broken = folder / f"whole{number}", folder / f"broken{number}"
            state = self._go_on(config, whole)
            for path in (whole, broken):
                path.mkdir(exist_ok=True)
            with suppress(_Stop):
                self._go_on(config, broken, _StopHalfWay())
            if not (broken / "checkpoint.safetensors").is_file():
                raise AssertionError("the run of the fuzzer itself left no checkpoint")
            self._runs.append((config, state, whole, broken))

    def _go_on(self, config: RunConfig, path: Path, watch: Watch | None = None) -> str:
        path.mkdir(exist_ok=True)
        folder, often = RunFolder(path), {"checkpoint_seconds": 0.0, "checkpoint_share": 1e9}
        return run_dataset(config, 0, self._data, folder=folder, watch=watch or _Quiet(), **often).state_sha256

    def case(self, rng: random.Random) -> str:
        config, state, whole, broken = rng.choice(self._runs)
        kind = rng.choice(("raw", "signed", "file"))
        here = self.folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(whole if kind == "file" else broken, here)
        if kind == "file":
            return self._finished(here, rng)
        checkpoint = here / "checkpoint.safetensors"
        if kind == "raw":
            checkpoint.write_bytes(mutated_bytes(checkpoint.read_bytes(), rng))
            if self._go_on(config, here) != state:
                raise AssertionError("a damaged checkpoint changed the result")
            return "checkpoint, the same result"
        _forge(checkpoint, rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a baseline may go on with any finite numbers
                self._go_on(config, here)
        except KenyonError:
            return "forged checkpoint, refused"
        return "forged checkpoint, a result"

    def _finished(self, here: Path, rng: random.Random) -> str:
        path = rng.choice(sorted(file for file in here.iterdir() if file.stat().st_size))
        path.write_bytes(mutated_bytes(path.read_bytes(), rng))
        folder = RunFolder(here)
        refused = 0
        reads = (folder.result, folder.record, folder.config, lambda: group_runs([folder]))
        for read in (*reads, lambda: folder.array("weights.npy"), lambda: folder.array("prequential.npy")):
            try:
                read()
            except KenyonError:
                refused += 1
        return "file, refused" if refused else "file, read"


def _forge(path: Path, rng: random.Random) -> None:
    with safe_open(path, framework="np") as file:
        tensors: dict[str, NDArray] = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  not a dict
        metadata = file.metadata()
    change_tensors(tensors, rng)
    save_file(tensors, path, {**metadata, "sha256": _sum(metadata["run"], tensors)})


def _small() -> Dataset:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (40, 6), dtype=np.uint8), np.arange(40) % 4
    return from_arrays(X, y, X[:12], y[:12], name="small")
