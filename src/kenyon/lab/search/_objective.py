"""An evaluation: learn the stream with a configuration; the outcome is its score, or why it was stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError, DivergenceError, KenyonError
from kenyon.lab.evaluation import RunConfig, run_dataset
from kenyon.utils.events import Event, Watch

DONE = "done"
"""The status of an evaluation that has a score."""
FAILED = "failed"
"""The status of an evaluation that ended with an error."""
STOPPED = "stopped"
"""The status of an evaluation that was no better than chance and therefore cut short."""
PROTOCOLS = ("holdout", "paper")
MARGIN = 1.05
"""How far above chance an evaluation must be to go on."""


@dataclass(frozen=True)
class Objective:
    """The accuracy to be maximised: the mean over the tasks at the end of the stream.

    Attributes:
        dataset: a name or a path.
        curriculum: values of `Curriculum.from_dict`; its `holdout` is the slice that is scored.
        protocol: `"holdout"`, or `"paper"`, which scores on the test set as the paper did.
        seeds: the score is averaged over these; each sets the stream and the projection.
        data_dir: where the data sets are.
        chance_after: share of the stream after which an evaluation at chance is stopped; 1 for never.
        backbone: a frozen network whose features are learned, by name or as a table of
            `kenyon.data.backbones.BackboneConfig`; None for the samples themselves.
        label: the label column of a table; None for "label".

    Example:
        >>> objective = make_objective("digits", "single-task")
        >>> objective.protocol, objective.curriculum["holdout"]
        ('holdout', 0.1)
    """

    dataset: str
    curriculum: Mapping[str, Any]
    protocol: str = "holdout"
    seeds: tuple[int, ...] = (0,)
    data_dir: str | None = None
    chance_after: float = 0.2
    backbone: str | Mapping[str, Any] | None = None
    label: str | None = None

    def config(self, options: Mapping[str, Any]) -> RunConfig:
        """The run that scores these options."""
        curriculum = Curriculum.from_dict(dict(self.curriculum))
        more: dict[str, Any] = {"backbone": self.backbone, "label": self.label}
        return RunConfig(self.dataset, "kenyon", curriculum, dict(options), weights_every=0, tests="last", **more)

    def final_config(self, options: Mapping[str, Any]) -> RunConfig:
        """The run of the options that were chosen: nothing is held out, and it is tested on the test set."""
        config = self.config(options)
        return replace(config, curriculum=replace(config.curriculum, holdout=0.0), weights_every=None, tests="all")


@dataclass(frozen=True)
class Outcome:
    """How an evaluation ended.

    Attributes:
        status: `"done"`, `"failed"` (an error) or `"stopped"` (no better than chance).
        accuracy: the score; None unless done.
        reason: why there is no score.
        seconds: how long it took.

    Example:
        >>> Outcome("done", 0.9).score, Outcome("failed", None, "diverged").score
        (0.9, 0.0)
    """

    status: str
    accuracy: float | None
    reason: str = ""
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """The score that the surrogate is fitted to: 0 unless the evaluation succeeded."""
        return self.accuracy if self.status == DONE and self.accuracy is not None else 0.0


class Hopeless(Exception):
    """Raised for a run that is still at chance after a share of the stream."""


class ChanceWatch(Watch):
    """Stops a run that does no better than chance: prequential accuracy within 5 % of it after this share of the
    stream."""

    def __init__(self, after: float) -> None:
        self._after = after

    def opened(self, event: Event) -> None:
        self._due = self._after * event.info.n_train
        self._chance = 1.0 / min(len(task) for task in event.info.tasks)
        self._checked = self._after >= 1.0

    def progress(self, event: Event) -> None:
        tally = event.tally
        if self._checked or tally.learned < self._due or not tally.predicted:
            return
        self._checked = True
        accuracy = tally.hits / tally.predicted
        if accuracy <= MARGIN * self._chance:
            raise Hopeless(
                f"at chance: {accuracy:.1%} right after {tally.learned} samples, guessing has {self._chance:.1%}"
            )


def evaluate(objective: Objective, options: Mapping[str, Any]) -> Outcome:
    """Score one configuration. It never raises because of the configuration: the outcome says what went wrong.

    Example:
        >>> objective = make_objective("digits", max_per_task=20)
        >>> evaluate(objective, {"rule": "mse", "n_hidden": 200}).status
        'done'
        >>> evaluate(objective, {"rule": "mse", "n_hidden": -1}).reason
        "ConfigError: n_hidden is -1: expected an integer, at least 1, or 'auto'"
    """
    begin = perf_counter()
    try:
        config = objective.config(options)
        dataset = config.open(objective.data_dir)
        accuracies = []
        for seed in objective.seeds:
            watch = ChanceWatch(objective.chance_after)
            accuracies.append(run_dataset(config, seed, dataset, watch=watch).metrics.accuracy or 0.0)
        outcome = Outcome(DONE, sum(accuracies) / len(accuracies))
    except Hopeless as why:
        outcome = Outcome(STOPPED, None, str(why))
    except DivergenceError as error:
        outcome = Outcome(FAILED, None, f"diverged: {error}")
    except (KenyonError, ArithmeticError, MemoryError, ValueError, OSError) as error:
        outcome = Outcome(FAILED, None, f"{type(error).__name__}: {error}")
    return replace(outcome, seconds=perf_counter() - begin)


def default_epochs(scenario: str) -> float:
    """As in the paper: half a pass for a single task, one pass for the others.

    Example:
        >>> default_epochs("single-task"), default_epochs("class-incremental")
        (0.5, 1.0)
    """
    return 0.5 if scenario == "single-task" else 1.0


def make_objective(
    dataset: str,
    scenario: str = "class-incremental",
    *,
    protocol: str = "holdout",
    holdout: float = 0.1,
    epochs: float | None = None,
    seeds: tuple[int, ...] = (0,),
    data_dir: str | None = None,
    chance_after: float = 0.2,
    backbone: str | Mapping[str, Any] | None = None,
    label: str | None = None,
    **curriculum: Any,
) -> Objective:
    """Make an objective from the values of the command line, and check them.

    Example:
        >>> objective = make_objective("digits", "single-task", max_per_task=100)
        >>> isinstance(objective, Objective), objective.seeds
        (True, (0,))
    """
    if protocol not in PROTOCOLS:
        raise ConfigError(f"protocol is {protocol!r}: expected 'holdout', or 'paper' to select on the test set")
    if protocol == "holdout" and not holdout > 0:
        raise ConfigError(f"holdout is {holdout!r}: expected a share above 0, or the protocol 'paper'")
    if not 0 < chance_after <= 1:
        raise ConfigError(f"chance_after is {chance_after!r}: expected a share above 0 and at most 1")
    values = Curriculum(
        scenario=scenario,
        epochs=default_epochs(scenario) if epochs is None else epochs,
        holdout=0.0 if protocol == "paper" else holdout,
        **curriculum,
    ).to_dict()
    return Objective(dataset, values, protocol, tuple(seeds), data_dir, chance_after, backbone, label)


def describe(objective: Objective) -> dict[str, Any]:
    """The objective as plain values: everything that decides a score, so not where the data are."""
    values = asdict(objective)
    del values["data_dir"]
    for name in ("backbone", "label"):
        if values[name] is None:
            del values[name]
    values["seeds"] = list(objective.seeds)
    values["curriculum"] = {k: v for k, v in objective.curriculum.items() if k != "seed"}
    return values
