"""Run configurations found on one stream on others: a matrix of accuracies, ours and the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kenyon.data.streams import SCENARIOS, Curriculum
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, run_all
from kenyon.lab.search import default_epochs
from kenyon.learners import what_learns
from kenyon.paper.tables import paper_accuracy
from kenyon.utils.events import Watch
from kenyon.utils.statistics import mean_ranks
from kenyon.utils.system import read_toml


@dataclass(frozen=True)
class Source:
    """A configuration and the stream it was found on.

    Attributes:
        name: how it is shown.
        dataset, scenario: where it was found.
        options: the learner's options.
        backbone: frozen network behind the stream; None for none.
    """

    name: str
    dataset: str
    scenario: str
    options: Mapping[str, Any]
    backbone: str | None = None

    @property
    def rule(self) -> str:
        return what_learns(self.options) or "auto"


@dataclass(frozen=True)
class Target:
    """A stream to run on, written as `DATASET[+BACKBONE]/SCENARIO[@EPOCHS]`."""

    dataset: str
    scenario: str
    epochs: float
    backbone: str | None = None

    def __str__(self) -> str:
        usual = self.epochs == default_epochs(self.scenario)
        where = f"{self.dataset}+{self.backbone}" if self.backbone else self.dataset
        return f"{where}/{self.scenario}" + ("" if usual else f"@{self.epochs:g}")


@dataclass(frozen=True)
class TransferResult:
    """One entry of the matrix: mean and standard deviation over the seeds, and the paper's number (all as shares)."""

    source: Source
    target: Target
    mean: float
    std: float | None
    paper: float | None


def load_source(text: str) -> Source:
    """Load a preset by name, or a configuration file (such as the `best.toml` of a search); `NAME=` renames it.

    Example:
        >>> load_source("split-mnist-20kb").scenario
        'class-incremental'
    """
    from kenyon.model.presets import load_preset, preset_names

    name, equals, rest = text.partition("=")
    shown, what = (name, rest) if equals else ("", text)
    if what in preset_names():
        preset = load_preset(what)
        return Source(shown or what, preset.dataset, preset.scenario, preset.options, preset.backbone)
    path = Path(what)
    if not path.suffix and not path.exists():
        raise ConfigError(
            f"{what!r} is neither a preset ({', '.join(preset_names()) or 'there is none'}) nor a configuration file"
        )
    values = read_toml(path)
    config = RunConfig.from_dict({k: v for k, v in values.items() if k not in ("seeds", "out", "data_dir")})
    if config.learner != "kenyon":
        raise ConfigError(f"{path} is for the learner {config.learner!r}: only configurations of 'kenyon' transfer")
    usual = shown or (path.parent.name if path.stem == "best" else path.stem)
    backbone = config.backbone["name"] if isinstance(config.backbone, Mapping) else config.backbone
    return Source(usual, config.dataset, config.curriculum.scenario, values.get("options", {}), backbone)


def parse_target(text: str) -> Target:
    """Read a target from text, such as `mnist/class-incremental@2` or `cifar10+efficientnet-lite0/single-task`.

    Example:
        >>> parse_target("mnist/class-incremental@2")
        Target(dataset='mnist', scenario='class-incremental', epochs=2.0, backbone=None)
    """
    where, at, epochs = text.partition("@")
    path, slash, scenario = where.rpartition("/")
    dataset, plus, backbone = (path, "", "") if Path(path).exists() else path.partition("+")
    if not slash or scenario not in SCENARIOS:
        raise ConfigError(
            f"target {text!r}: expected DATASET[+BACKBONE]/SCENARIO, the scenario one of {', '.join(SCENARIOS)}"
        )
    try:
        passes = float(epochs) if at else default_epochs(scenario)
    except ValueError:
        raise ConfigError(f"target {text!r}: {epochs!r} is not a number of epochs") from None
    return Target(dataset, scenario, passes, backbone if plus else None)


def default_targets(sources: Sequence[Source]) -> list[Target]:
    """Every data set that a configuration was found on, as a single task and as task- and class-incremental streams.

    Example:
        >>> [f"{target.dataset}/{target.scenario}" for target in default_targets([load_source("split-mnist-20kb")])]
        ['mnist/single-task', 'mnist/task-incremental', 'mnist/class-incremental']
    """
    streams = list(dict.fromkeys((source.dataset, source.backbone) for source in sources))
    return [
        Target(dataset, scenario, default_epochs(scenario), backbone)
        for scenario in ("single-task", "task-incremental", "class-incremental")
        for dataset, backbone in streams
    ]


def transfer(
    sources: Sequence[Source],
    targets: Sequence[Target],
    seeds: Sequence[int],
    store: Path | str | None = None,
    *,
    data_dir: Path | str | None = None,
    watch: Watch | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    **curriculum: Any,
) -> list[TransferResult]:
    """Run every configuration on every target, tested on the test set.

    Args:
        sources: the rows.
        targets: the columns.
        seeds: the seeds of each cell.
        store: where the runs are kept, so that a second call finds them.
        data_dir: where the data sets are.
        watch: receives the events.
        workers: runs at a time; None for 1, which runs in this process, or for every CPU of a Ray cluster.
        engine: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
        address: of the Ray cluster; None for one on this machine.
        curriculum: more values for the curriculum of every target.

    Example:
        >>> found = [load_source("split-mnist-20kb")]
        >>> cells = transfer(found, [parse_target("digits/class-incremental")], seeds=[0], max_per_task=50)
        >>> cells[0].mean > 0.3
        True
    """
    pairs = [(source, target) for source in sources for target in targets]
    configs = [
        RunConfig(
            target.dataset,
            "kenyon",
            Curriculum(scenario=target.scenario, epochs=target.epochs, **curriculum),
            source.options,
            weights_every=0,
            tests="last",
            backbone=target.backbone,
        )
        for source, target in pairs
    ]
    reports = run_all(
        configs, seeds, store, data_dir=data_dir, watch=watch, workers=workers, engine=engine, address=address
    )
    cells = []
    for (source, target), report in zip(pairs, reports, strict=True):
        summary = report.summary("accuracy")
        published = paper_accuracy(source.dataset, source.scenario, source.rule, target.dataset, target.scenario)
        cells.append(TransferResult(source, target, summary.mean or 0.0, summary.std, published))
    return cells


@dataclass(frozen=True)
class Drop:
    """The cost of a configuration from another data set: accuracy of the set's own best configuration minus its own.

    Example:
        >>> Drop(load_source("mnist"), parse_target("fashion-mnist/single-task"), drop=0.02).drop
        0.02
    """

    source: Source
    target: Target
    drop: float


def drops(cells: Sequence[TransferResult]) -> list[Drop]:
    """The drop of every transfer between data sets as single tasks, against the best configuration of the target.

    Example:
        >>> own, other = load_source("fashion-mnist"), load_source("mnist")
        >>> target = parse_target("fashion-mnist/single-task")
        >>> results = [TransferResult(one, target, mean, None, None) for one, mean in ((own, 0.84), (other, 0.81))]
        >>> lost = drops(results)
        >>> [(drop.source.name, round(drop.drop, 2)) for drop in lost if isinstance(drop, Drop)]
        [('mnist', 0.03)]
    """
    single = [c for c in cells if c.target.scenario == c.source.scenario == "single-task"]
    own: dict[Target, float] = {}
    for cell in single:
        if _at_home(cell):
            own[cell.target] = max(cell.mean, own.get(cell.target, 0.0))
    return [
        Drop(cell.source, cell.target, own[cell.target] - cell.mean)
        for cell in single
        if not _at_home(cell) and cell.target in own
    ]


def _at_home(cell: TransferResult) -> bool:
    """Whether the configuration was found on the samples that it is run on."""
    return (cell.source.dataset, cell.source.backbone) == (cell.target.dataset, cell.target.backbone)


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rank correlation; ties get their mean rank. None for fewer than three different x, or a constant y.

    Example:
        >>> rank_correlation([1, 2, 3], [10, 20, 5])
        -0.5
    """
    if len(set(x)) < 3 or len(set(y)) < 2:
        return None
    a, b = mean_ranks(np.array([x, y], np.float64))
    return float(np.corrcoef(a, b)[0, 1])
