"""A curriculum says how a data set becomes a stream of episodes. It is a few plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from kenyon.errors import ConfigError, unknown

if TYPE_CHECKING:
    from kenyon.data.streams._dataset import Dataset
    from kenyon.data.streams._stream import Stream

SCENARIOS: dict[str, str] = {
    "single-task": "one episode with every class",
    "task-incremental": "groups of classes one after the other; the task is known at train and test time",
    "class-incremental": "groups of classes one after the other; the task is never known",
    "domain-incremental": "the inputs change from task to task, the labels do not: one domain of the data set "
    "after the other (people, months); without domains, groups of classes whose label is the place in the group",
    "permuted": "every class in every task; each task has its own fixed permutation of the features",
    "rotated": "every class in every task; each task turns the images by another angle, from 0 up to 180 degrees",
    "task-free": "groups of classes that fade into each other; there are no boundaries to see",
    "i-blurry": "half the classes in one task each, the others with a few samples in every task; tasks of one size",
    "si-blurry": "the same, with tasks of random sizes",
    "drift": "every class in every task; from task to task the classes change places, abruptly",
    "gradual-drift": "the same, each task fading into the next",
    "virtual-drift": "every class in every task; the inputs change from task to task, the labels do not",
}
"""The scenarios by name, each with what it means."""
MOST_EPOCHS = 1e6
_FADING = ("task-free", "gradual-drift")
_SPLIT = ("task-incremental", "class-incremental", "domain-incremental", "task-free")
_BLURRY = ("i-blurry", "si-blurry")
_SPLIT_BY = ("classes", "domains")


@dataclass(frozen=True)
class Curriculum:
    """How a data set is streamed. The same values give the same stream on every machine.

    Args:
        scenario: a key of `SCENARIOS`.
        seed: decides every order, every permutation, and which labels are withheld or wrong.
        epochs: passes over each task; 0.5 is the first half of its order, 4.0 is four passes, each in a new order.
        order: "shuffled", or "published" for the order of the files.
        class_order: "sorted", "shuffled", or every class once, by number or by name, in the order wanted. Where tasks
            are domains it is the order of the domains.
        n_tasks: how many tasks; by default pairs of classes for fewer than 20 classes, ten tasks for more,
            ten permutations or angles, five tasks for blurry ones, four parts for drifts, and every domain a task.
        task_sizes: the number of classes of each task, where these should not be (nearly) equal.
        labelled: the share of each task's samples that keep their label; the others have -1.
        label_noise: the share of each task's samples with a wrong label, drawn from the task's other classes.
        blur: for "task-free" and "gradual-drift": the length of each fade, as a share of the shorter of the two tasks
            it joins.
        max_per_task: the most training samples of a task.
        holdout: the share of every class of the training set that is held out and takes the place of the test set,
            which is then never opened.
        long_tail: the share of its training samples that the last class keeps; class k of C keeps that share to the
            power of k / (C - 1).
        repeats: how often the sequence of tasks comes, each time with other samples.
        delay: samples between a sample, which comes without its label, and the same again with its label; 0 for none.
        random_delay: whether the delay is random, from 0 to twice as long.
        tasks_by: "classes", or "domains" for the domains of the data set; None for domains where the scenario is
            "domain-incremental" and the data set has some.
        disjoint: for "i-blurry" and "si-blurry": the share of classes that are in one task alone.
        blurry: the share of the samples of every other class that is dealt out to all tasks.

    Example:
        >>> curriculum = Curriculum("class-incremental", n_tasks=5, max_per_task=100)
        >>> stream = curriculum.open(load_dataset("digits"))
        >>> [episode.classes for episode in stream.episodes]
        [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    """

    scenario: str = "class-incremental"
    seed: int = 0
    epochs: float = 1.0
    order: str = "shuffled"
    class_order: str | tuple[int, ...] | tuple[str, ...] | None = None
    n_tasks: int | None = None
    task_sizes: tuple[int, ...] | None = None
    labelled: float = 1.0
    label_noise: float = 0.0
    blur: float = 0.5
    max_per_task: int | None = None
    holdout: float = 0.0
    long_tail: float = 1.0
    repeats: int = 1
    delay: int = 0
    random_delay: bool = False
    tasks_by: str | None = None
    disjoint: float = 0.5
    blurry: float = 0.1

    def __post_init__(self) -> None:
        if not isinstance(self.scenario, str) or self.scenario not in SCENARIOS:
            raise unknown("scenario", self.scenario, SCENARIOS)
        if self.order not in ("shuffled", "published"):
            raise unknown("order", self.order, ("shuffled", "published"))
        self._integer("seed", 0, 2**63 - 1)
        self._share("epochs", above=0.0, most=MOST_EPOCHS)
        self._share("labelled", above=0.0, most=1.0)
        self._share("label_noise", least=0.0, most=1.0)
        self._share("blur", least=0.0, most=1.0)
        self._share("holdout", least=0.0, below=1.0)
        self._share("long_tail", above=0.0, most=1.0)
        self._integer("repeats", 1, 2**16)
        self._integer("delay", 0, 2**31 - 1)
        if not isinstance(self.random_delay, bool):
            raise ConfigError(f"random_delay is {self.random_delay!r}: expected True or False")
        self._share("disjoint", least=0.0, most=1.0)
        self._share("blurry", least=0.0, most=1.0)
        for name in ("disjoint", "blurry"):
            value, default = getattr(self, name), getattr(Curriculum, name)
            if value != default and self.scenario not in _BLURRY:
                raise ConfigError(
                    f"{name} is {value} and scenario is {self.scenario!r}: expected {default} but for "
                    f"{' and '.join(map(repr, _BLURRY))}"
                )
        if self.tasks_by is not None and self.tasks_by not in _SPLIT_BY:
            raise unknown("tasks_by", self.tasks_by, _SPLIT_BY)
        if self.tasks_by == "domains" and self.scenario not in _SPLIT:
            raise ConfigError(
                f"tasks_by is 'domains' and scenario is {self.scenario!r}: expected one of {', '.join(_SPLIT)}"
            )
        if self.blur != Curriculum.blur and self.scenario not in _FADING:
            raise ConfigError(
                f"blur is {self.blur} and scenario is {self.scenario!r}: expected {Curriculum.blur} but for "
                f"{' and '.join(map(repr, _FADING))}, whose tasks fade into each other"
            )
        if self.random_delay and not self.delay:
            raise ConfigError("random_delay is True and delay is 0: expected a delay")
        for name in ("n_tasks", "max_per_task"):
            if getattr(self, name) is not None:
                self._integer(name, 1, 2**31 - 1)
        self._check_class_order()
        self._check_tasks()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the only way to set a field of a frozen dataclass

    def _integer(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= int(value) <= most:
            raise ConfigError(f"{name} is {value!r}: expected an integer from {least} to {most}")
        self._set(name, int(value))

    def _share(self, name: str, least: float = -math.inf, most: float = math.inf, **open_ends: float) -> None:
        value = getattr(self, name)
        above, below = open_ends.get("above", -math.inf), open_ends.get("below", math.inf)
        number = isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf
        if not number or not (least <= value <= most and above < value < below):
            low = f"above {above:g}" if math.isfinite(above) else f"{least:g} or more"
            high = f" and below {below:g}" if math.isfinite(below) else f" and at most {most:g}" * math.isfinite(most)
            raise ConfigError(f"{name} is {value!r}: expected a number {low}{high}")
        self._set(name, float(value))

    def _check_class_order(self) -> None:
        value = self.class_order
        if value is None:
            self._set("class_order", "sorted")
        elif isinstance(value, str):
            if value not in ("sorted", "shuffled"):
                raise unknown("class_order", value, ("sorted", "shuffled"))
        elif isinstance(value, list | tuple) and value and all(isinstance(name, str) for name in value):
            self._set("class_order", tuple(value))
        else:
            self._set("class_order", self._numbers("class_order", value, 0))
        order = self.class_order
        if isinstance(order, tuple) and len(set(order)) != len(order):
            raise ConfigError(f"class_order is {list(order)}: a class is named twice")

    def _check_tasks(self) -> None:
        if self.task_sizes is not None:
            self._set("task_sizes", self._numbers("task_sizes", self.task_sizes, 1))
            if self.n_tasks is not None and self.n_tasks != len(self.task_sizes or ()):
                raise ConfigError(
                    f"n_tasks is {self.n_tasks}, task_sizes has {len(self.task_sizes or ())}: give one of them"
                )
            if self.scenario not in _SPLIT:
                raise ConfigError(f"task_sizes is given, but {self.scenario!r} does not split the classes into tasks")
        if self.scenario == "single-task" and self.n_tasks not in (None, 1):
            raise ConfigError(f"n_tasks is {self.n_tasks}: 'single-task' has one task")

    def _numbers(self, name: str, values: Any, least: int) -> tuple[int, ...]:
        try:
            numbers = tuple(values)
        except TypeError:
            numbers = ()
        if not numbers or any(isinstance(v, bool) or not hasattr(v, "__index__") or v < least for v in numbers):
            raise ConfigError(f"{name} is {values!r}: expected a list of integers, each {least} or more")
        return tuple(int(v) for v in numbers)

    def to_dict(self) -> dict[str, Any]:
        """The curriculum as plain values for TOML and JSON; values that are not set are left out."""
        plain = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Curriculum:
        """The curriculum that `to_dict` described."""
        names = [field.name for field in fields(cls)]
        for name in values:
            if name not in names:
                raise unknown("curriculum key", name, names)
        return cls(**values)

    def open(self, dataset: Dataset) -> Stream:
        """The stream of this curriculum over a data set; it reads the labels, but no sample."""
        from kenyon.data.streams._stream import Stream

        return Stream(dataset, self)
