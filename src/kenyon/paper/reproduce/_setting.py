"""The setting of a reproduction: it turns "this learner on this stream" into runs, or into the reason why not.

A quick reproduction has one seed and a small sample of each data set. Without MNIST, it uses the embedded digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kenyon.data.streams import Curriculum, list_datasets, load_dataset
from kenyon.errors import DataError, MissingExtraError
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.report import run_command
from kenyon.paper.reproduce._earlier import Earlier
from kenyon.paper.reproduce._jobs import Job, StoredRun
from kenyon.paper.reproduce._wanted import Gap, Runs, paper_value
from kenyon.utils.system import n_cores, replacing

SEEDS = (0, 1, 2, 3, 4)
STAND_IN = "efficientnet-lite0"
PAPERS_BACKBONE = "wide_resnet50_2"
COLOUR = ("cifar10", "cifar100")
FULL_WIDTH = 64
"""Filters in the first stage of ResNet-18."""
SAMPLE = {"train": 2000, "test": 1000}
STAND_IN_SETS = {"emnist-digits": "emnist-digits-30k"}
"""What is opened in place of a data set that is missing."""
DIGITS_30K = "30,000 digits of EMNIST's test splits in place of its training set"
"""How many images a quick sample has in total."""

NAMES = {
    "mnist": "MNIST",
    "fashion-mnist": "F-MNIST",
    "emnist-digits": "E-MNIST",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
}


@dataclass(frozen=True)
class Setting:
    """Where a reproduction runs, and how large it is.

    Attributes:
        store: where everything is kept.
        data_dir: where the data sets are; None for the usual place.
        quick: whether it has one seed and small samples only.
        resnet: whether the baselines learn CIFAR from pixels, which takes days on a CPU.
        long: whether pHSIC runs its 100 epochs.
        backbone: the network whose features are learned in place of colour images.
        workers: how many jobs run at a time; None for one per processor, or for every CPU of a Ray cluster.
        engine: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
        address: of the Ray cluster; None for one on this machine.
        gpus: how much of a GPU each job takes in a Ray cluster.
        width: filters in the first stage of the networks that learn CIFAR from pixels.
        device: where PyTorch computes these: `"cpu"`, `"cuda"`, `"cuda:1"`, `"mps"`.
        earlier: a report whose runs stand in for those that the store lacks.

    Example:
        >>> from pathlib import Path
        >>> Setting(Path("runs")).seeds, Setting(Path("runs"), quick=True).seeds
        ((0, 1, 2, 3, 4), (0,))
    """

    store: Path
    data_dir: Path | None = None
    quick: bool = False
    resnet: bool = False
    long: bool = False
    backbone: str = STAND_IN
    workers: int | None = 1
    engine: str = "local"
    address: str | None = None
    gpus: float = 0.0
    width: int = FULL_WIDTH
    device: str = "cpu"
    earlier: Earlier | None = None

    @property
    def at_a_time(self) -> int:
        """How many jobs are expected to run at a time; what a Ray cluster will have is not known beforehand."""
        return self.workers or n_cores()

    @property
    def seeds(self) -> tuple[int, ...]:
        return SEEDS[:1] if self.quick else SEEDS

    @cached_property
    def present(self) -> frozenset[str]:
        """The data sets that are in the data directory."""
        return frozenset(status.name for status in list_datasets(self.data_dir) if status.present)

    def dataset(self, name: str) -> str | None:
        """What to open for a data set: its name, or a sample of it if quick; None where the data set is missing."""
        if name not in self.present:
            name = STAND_IN_SETS.get(name, name)
        if not self.quick:
            return name if name in self.present else None
        if name in self.present:
            return str(self.sample(name))
        return "digits" if name == "mnist" else None

    def sample(self, name: str) -> Path:
        """A small data set with equally many images of each class, written into the store when it is first needed."""
        path = self.store / "quick" / f"{name}.npz"
        if not path.exists():
            dataset = load_dataset(name, data_dir=self.data_dir)
            arrays: dict[str, Any] = {}
            for part in ("train", "test"):
                split = getattr(dataset, part)
                each = SAMPLE[part] // dataset.n_classes
                rows = np.sort(np.concatenate([np.flatnonzero(split.y == c)[:each] for c in range(dataset.n_classes)]))
                arrays[f"X_{part}"] = np.asarray(split.X[rows]).reshape(-1, *dataset.shape)
                arrays[f"y_{part}"] = np.asarray(split.y[rows])
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary, open(temporary, "wb") as file:
                np.savez(file, **arrays)
        return path

    def runs(
        self,
        dataset: str,
        scenario: str,
        learner: str = "kenyon",
        options: Mapping[str, Any] | None = None,
        *,
        epochs: float = 1.0,
        tests: str = "all",
        weights_every: int | None = None,
        class_order: str = "sorted",
        features: bool | str = False,
        max_per_task: int | None = None,
        seeds: tuple[int, ...] | None = None,
        paper: tuple[float, ...] | None = None,
    ) -> Runs | Gap:
        """A cell: the runs, or why there are none.

        Args:
            epochs, class_order: as in `Curriculum`.
            tests, weights_every: as in `RunConfig`; a quick reproduction tests at the end only.
            features: whether a backbone's features are learned; the name of a backbone other than the setting's.
            max_per_task: the most training samples of a task; None for all.
            seeds: which seeds; by default the setting's.
            paper: the paper's numbers in this place.
        """
        value = paper_value(paper)
        backbone = (features if isinstance(features, str) else self.backbone) if features else None
        opened = self.dataset(dataset)
        try:
            config = RunConfig(
                opened or dataset,
                learner,
                Curriculum(scenario, epochs=epochs, class_order=class_order, max_per_task=max_per_task),
                dict(options or {}),
                weights_every,
                tests="last" if self.quick else tests,
                backbone=backbone,
            )
        except MissingExtraError as error:
            return Gap(str(error), None, value)
        wanted = (self.seeds if seeds is None else seeds)[: len(self.seeds)]
        command = run_command(config.to_dict(), wanted)
        if self.earlier is None or not all(self.earlier.name(config, seed) for seed in wanted):
            reason = self.absent(dataset) if opened is None else self.no_weights(backbone) if backbone else None
            if reason:
                return Gap(reason, command, value)
        stand_in = None
        if backbone == STAND_IN and value is not None and learner == "kenyon":
            stand_in = "EfficientNet-Lite0 features in place of the paper's wide-ResNet50"
        stand_in = self.stands_for(dataset) or stand_in
        if opened == "digits":
            stand_in = "the embedded digits in place of MNIST"
        return Runs(config, wanted, paper=value, stand_in=stand_in)

    def kenyon(
        self,
        dataset: str,
        scenario: str,
        options: Mapping[str, Any],
        *,
        epochs: float = 1.0,
        class_order: str = "sorted",
        features: bool | str | None = None,
        paper: tuple[float, ...] | None = None,
        below: str | None = None,
        above: str | None = None,
    ) -> Runs | Gap:
        """A cell of Kenyon's own: colour images go through the backbone unless `features` says otherwise.

        Args:
            below, above: why it may be below the paper's number, or far above it; a quick reproduction needs no reason
                but its size.
        """
        colour = dataset in COLOUR
        through = colour if features is None else features
        tests = "all" if not colour else "seen" if through else "last"
        cell = self.runs(
            dataset,
            scenario,
            options=options,
            epochs=epochs,
            tests=tests,
            class_order=class_order,
            features=through,
            paper=paper,
        )
        return replace(cell, below=below, above=above) if isinstance(cell, Runs) and not self.quick else cell

    def on_request(self, cell: Runs | Gap, asked: bool, reason: str) -> Runs | Gap:
        """A cell that takes too long to run unless asked for: what is in the store already, else the reason."""
        if asked or isinstance(cell, Gap):
            return cell
        done = tuple(job.seed for job in cell.jobs() if self.has(job))
        return replace(cell, seeds=done) if done else Gap(reason, cell.command, cell.paper)

    def has(self, job: Job) -> bool:
        """Whether a job is done: in the store, or a run of the earlier report."""
        if job.done(self.store):
            return True
        return bool(self.earlier and isinstance(job, StoredRun) and self.earlier.name(job.config, job.seed))

    def stands_for(self, dataset: str) -> str | None:
        """What another data set is opened in place of this one; None where it is itself."""
        other = dataset not in self.present and STAND_IN_SETS.get(dataset) in self.present
        return DIGITS_30K if other else None

    def absent(self, dataset: str) -> str:
        return f"{NAMES.get(dataset, dataset)} is not in the data directory; kenyon data download {dataset} fetches it"

    def no_weights(self, backbone: str) -> str | None:
        """Why the weights of a backbone would need a download or an installation; None where they are here."""
        from importlib.util import find_spec

        from kenyon.data.backbones import BACKBONES
        from kenyon.utils.system import find_data_dir

        spec = BACKBONES.get(backbone)
        if spec is None:
            return None
        if spec.package:
            absent = [name for name in ("onnxruntime", spec.package) if find_spec(name) is None]
            return f"{absent[0]} is not installed: pip install 'kenyon[backbones]'" if absent else None
        file = find_data_dir(self.data_dir) / "weights" / spec.file
        return None if file.is_file() else f"the weights {spec.file} are not in weights/ of the data directory"


def check_present(setting: Setting) -> None:
    """Refuse a data directory that does not exist."""
    if setting.data_dir is not None and not setting.data_dir.is_dir():
        raise DataError(f"the data directory {setting.data_dir} is not there: name the folder that holds the data sets")
