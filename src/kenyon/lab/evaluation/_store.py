"""The runs store: a folder for every configuration and seed.

    <store>/<data set>-<scenario>-<learner>[-<rule>]-s<seed>-<id>/
        config.toml             the exact configuration, every option, and the seed
        run.json                the run's id and what it is made of
        environment.json        versions, processor and threads; one entry for each session that worked on the run
        metrics.json            the results; its presence means that the run is complete
        accuracy_matrix.csv     accuracy on each task (columns) before learning and after each task (rows)
        prequential.npy         uint8, one per training sample: 1 right before learning, 0 wrong, 255 without a label
        weights.npy             float32, mean incoming weight of each class's neuron (columns), a row every n-th sample
        model.safetensors       the learner in its final state, where that was asked for
        checkpoint.safetensors  while the run is not complete
        lock                    held by the process that works on the run

Every file but the two arrays is replaced as a whole; the arrays grow, and a resumed run cuts them
back to its checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError
from kenyon.lab.evaluation._checkpoint import save_checkpoint
from kenyon.lab.evaluation._config import RunConfig
from kenyon.lab.evaluation._files import read_growing, writing
from kenyon.lab.evaluation._identity import id_of
from kenyon.lab.evaluation._machine import environment
from kenyon.lab.evaluation._result import RunResult
from kenyon.lab.evaluation._tally import Tally
from kenyon.utils.system import (
    is_locked,
    locked,
    read_toml,
    replace_file,
    replace_json,
    replacing,
    sync_folder,
    to_toml,
)

FORMAT = 1
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading a damaged JSON file may raise."""
ARRAYS = {"prequential.npy": (np.dtype(np.uint8), 1), "weights.npy": (np.dtype(np.float32), 2)}
"""Type and dimensions of the curves."""
MODEL = "model.safetensors"
RESULTS = ("metrics.json", "accuracy_matrix.csv", *ARRAYS, MODEL, "checkpoint.safetensors")


@dataclass(frozen=True)
class RunFolder:
    """One run's folder."""

    path: Path

    def file(self, name: str) -> Path:
        return self.path / name

    @property
    def complete(self) -> bool:
        return self.file("metrics.json").exists()

    @contextmanager
    def locked(self, wait: bool) -> Iterator[bool]:
        """Hold the lock of the run, and clear away what a killed process left behind.

        Gives False where another process holds the lock and `wait` is False.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.file("lock"), wait) as held:
            if held:
                self._tidy()
            yield held

    @property
    def busy(self) -> bool:
        """Whether a process works on the run now."""
        return is_locked(self.file("lock"))

    def _tidy(self) -> None:
        """Clear away half-written files, and the checkpoint of a run that is complete.

        Temporary files have hidden names: ours end in `.tmp`, those of safetensors begin with it.
        """
        for pattern in (".*.tmp", ".tmp*"):
            for leftover in self.path.glob(pattern):
                leftover.unlink()
        if self.complete:
            self.file("checkpoint.safetensors").unlink(missing_ok=True)

    def begin(self, config: RunConfig, seed: int, identity: Mapping[str, Any]) -> None:
        """Record what is run and where; `identity` is that of the configuration."""
        with writing(self.path):
            replace_file(
                self.file("config.toml"), to_toml(config.to_dict() | {"seeds": [seed]}).encode(), durable=False
            )
            record = {"format": FORMAT, "run": id_of(identity, seed), "seed": seed, "values": dict(identity)}
            replace_json(self.file("run.json"), record, durable=False)
            path = self.file("environment.json")
            try:
                sessions = json.loads(path.read_text(encoding="utf-8"))
                replace_json(path, [*(sessions if isinstance(sessions, list) else []), environment()], durable=False)
            except (FileNotFoundError, *DAMAGE):
                replace_json(path, [environment()], durable=False)

    def save_model(self, learner: Any, run_id: str) -> None:
        """Keep the learner as it is: by its own `save(path)`, or else its state, as in a checkpoint."""
        with writing(self.path), replacing(self.file(MODEL)) as temporary:
            if hasattr(learner, "save"):
                learner.save(temporary)
            else:
                save_checkpoint(temporary, run_id, learner.state(), Tally.empty(1))

    def clear(self) -> None:
        """Delete the results, beginning with the file that says that the run is complete."""
        for name in RESULTS:
            self.file(name).unlink(missing_ok=True)

    def finish(self, result: RunResult) -> None:
        """Write the results; the file that says that the run is complete comes last."""
        replace_file(self.file("accuracy_matrix.csv"), result.matrix_csv().encode(), durable=False)
        replace_json(self.file("metrics.json"), result.to_dict())
        self.file("checkpoint.safetensors").unlink(missing_ok=True)
        sync_folder(self.path)

    def result(self) -> RunResult:
        """The results of a complete run."""
        path = self.file("metrics.json")
        try:
            result = RunResult.from_dict(json.loads(path.read_text(encoding="utf-8")), self.path)
        except FileNotFoundError as error:
            raise DataError(f"{self.path} holds no complete run: it has no metrics.json") from error
        except (OSError, *DAMAGE) as error:
            raise DataError(f"{path} is damaged ({error}): run again with --again") from error
        record = self.record()
        if result.run != record["run"]:
            raise DataError(
                f"{path} belongs to the run {result.run!r}, not to {record['run']!r}: run again with --again"
            )
        return result

    def array(self, name: str) -> NDArray | None:
        """A curve of the run, `prequential.npy` or `weights.npy`; None where the store was copied without it."""
        try:
            array = read_growing(self.file(name))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, *DAMAGE) as error:
            raise DataError(f"{self.file(name)} is damaged ({error}): run again with --again") from error
        if (array.dtype, array.ndim) != ARRAYS[name]:
            raise DataError(f"{self.file(name)} is damaged (it holds another array): run again with --again")
        return array

    def record(self) -> dict[str, Any]:
        """What `run.json` says the run is: its id (`run`), its `seed`, and the `values` that the id is made of."""
        path = self.file("run.json")
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["format"] != FORMAT:
                raise ValueError(f"format {record['format']!r}, expected {FORMAT}")
            if record["run"] != id_of(record["values"], record["seed"]):
                raise ValueError(f"its id is {record['run']!r}, its values make another")
            _check_values(record["values"])
        except FileNotFoundError as error:
            raise DataError(f"{self.path} holds no run: it has no run.json") from error
        except (OSError, *DAMAGE) as error:
            raise DataError(f"{path} is damaged ({error}): run again with --again") from error
        return record

    def config(self) -> dict[str, Any]:
        """The configuration as `config.toml` has it, `seeds` included."""
        return read_toml(self.file("config.toml"))


def _check_values(values: Any) -> None:
    """Refuse the values of a `run.json` that are not of the types they are written with."""
    if not all(isinstance(values[key], str) for key in ("dataset", "scenario", "learner")):
        raise ValueError("its data set, scenario or learner is not a name")
    kinds = {"version": list, "content": str, "sources": dict, "options": dict, "backbone": dict}
    for key, kind in kinds.items():
        if not isinstance(values.get(key, kind()), kind):
            raise ValueError(f"its {key} is {values[key]!r:.100}: expected a {kind.__name__}")
    names = [values.get("backbone", {"name": ""}).get("name"), *values.get("sources", {}).values()]
    if "version" not in values or not all(isinstance(name, str) for name in names):
        raise ValueError("its version, its backbone's name or a sum of a source is missing")


@dataclass(frozen=True)
class Store:
    """A folder of runs.

    Example:
        >>> len(Store("an-empty-folder").runs())
        0
    """

    root: Path | str

    @property
    def path(self) -> Path:
        return Path(self.root)

    def folder(self, config: RunConfig, seed: int, identity: Mapping[str, Any] | None = None) -> RunFolder:
        """The folder of a run, whether it exists or not; `identity` is that of the configuration, where it is known."""
        return RunFolder(self.path / config.folder_name(seed, identity))

    def runs(self) -> list[RunFolder]:
        """Every run, complete or not, by name."""
        return [RunFolder(path.parent) for path in sorted(self.path.glob("*/config.toml"))]
