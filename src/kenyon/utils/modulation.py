"""`f_beta`: parameters that change with time.

Time is the number of labelled samples learned so far; a sample without a label does not
advance it. A parameter is a number (constant), one of the schedules below, or any callable
of time. A schedule may also see the synapse: x_e, x_o, x_m, W (`Schedule.local`). Every value is computed one sample at
a time, so that cutting the stream into other pieces cannot change it.

>>> "step" in SCHEDULES
True
>>> rate: Moving = InverseTime(0.1, decay=1e-3)
>>> rate(1000)
0.05
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, unknown
from kenyon.utils.options import LARGEST

__all__ = [
    "SCHEDULES",
    "Exponential",
    "InverseTime",
    "Locals",
    "Moving",
    "OverCount",
    "Schedule",
    "Step",
    "locals_of",
]

SCHEDULES: dict[str, type[Schedule]] = {}
"""The schedules by the name that a model file gives them."""


@dataclasses.dataclass(frozen=True)
class Schedule:
    """A parameter as a function of time. Subclass with a `name` to save it in a model file.

    Class attributes:
        name: how a model file calls it.
        local: where the parameter also depends on the synapse, a function of numbers `(x_e, x_o, x_m, w, n)` that it
            is multiplied with, compiled into the layer: the activities, the modulatory signal, the weight, and the
            number of samples the neuron was trained on, this one included.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Linear(Schedule):
        ...     value: float = 0.1
        ...     end: int = 1000
        ...     def __call__(self, t):
        ...         return self.value * max(0.0, 1 - t / self.end)
        >>> Linear()(500)
        0.05
    """

    name: ClassVar[str] = ""
    local: ClassVar[Callable[..., float] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            SCHEDULES[cls.name] = cls

    def __call__(self, t: int) -> float:
        raise NotImplementedError


Moving = float | Schedule | Callable[[int], float]
"""A number, a schedule, or a callable of time."""

Locals = tuple[Callable[..., float] | None, ...]
"""What the learning rate, the window and each parameter of a rule are multiplied with, synapse by synapse; () for none
of them."""


def locals_of(parameters: Sequence[Moving]) -> Locals:
    """The part of each parameter that depends on the synapse; () where there is none.

    Example:
        >>> locals_of([0.1, InverseTime()]), len(locals_of([OverCount(), 0.5]))
        ((), 2)
    """
    found = tuple(type(p).local if isinstance(p, Schedule) else None for p in parameters)
    return found if any(found) else ()


@dataclasses.dataclass(frozen=True)
class InverseTime(Schedule):
    """value / (1 + decay * t)

    Example:
        >>> InverseTime(0.1, decay=1e-3)(1000)
        0.05
    """

    name: ClassVar[str] = "inverse-time"
    value: float = 0.1
    decay: float = 1e-4

    def __call__(self, t: int) -> float:
        return self.value / (1.0 + self.decay * t)


@dataclasses.dataclass(frozen=True)
class Exponential(Schedule):
    """value * exp(-decay * t)

    Example:
        >>> round(Exponential(0.1, decay=1e-3)(1000), 4)
        0.0368
    """

    name: ClassVar[str] = "exponential"
    value: float = 0.1
    decay: float = 1e-4

    def __call__(self, t: int) -> float:
        return self.value * math.exp(-self.decay * t)


@dataclasses.dataclass(frozen=True)
class Step(Schedule):
    """value * factor ** (t // every)

    Example:
        >>> Step(0.1, factor=0.5, every=100)(250)
        0.025
    """

    name: ClassVar[str] = "step"
    value: float = 0.1
    factor: float = 0.5
    every: int = 10_000

    def __post_init__(self) -> None:
        if type(self.every) is not int or self.every < 1:
            raise ConfigError(f"step.every is {self.every!r}: expected an integer, at least 1")

    def __call__(self, t: int) -> float:
        return self.value * self.factor ** (t // self.every)


def _one_over_count(x_e, x_o, x_m, w, n):  # type: ignore[no-untyped-def]
    return 1 / n


@dataclasses.dataclass(frozen=True)
class OverCount(Schedule):
    """value / n, with n the number of samples of the neuron's class.

    Example:
        >>> from kenyon import KenyonClassifier, Plastic
        >>> model = KenyonClassifier(layer=Plastic("mse", learning_rate=OverCount()), n_hidden=50, random_state=0)
        >>> model.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).classes_.tolist()
        [0, 1]
    """

    name: ClassVar[str] = "over-count"
    local: ClassVar[Callable[..., float] | None] = staticmethod(_one_over_count)
    value: float = 1.0

    def __call__(self, t: int) -> float:
        return self.value


def values_at(parameters: Sequence[Moving], start: int, labelled: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(samples, parameters) array of values; time starts at `start` and moves with labelled samples."""
    n = labelled.size
    values = np.empty((n, len(parameters)), np.float32)
    times: list[int] | None = None
    for column, parameter in enumerate(parameters):
        if not callable(parameter):
            values[:, column] = parameter
            continue
        if times is None:
            times = (start + np.cumsum(labelled) - labelled).tolist()
        values[:, column] = [_value_at(parameter, t) for t in times]
    if times is not None and not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ConfigError(f"a schedule gave {values[bad].tolist()} at time {times[bad]}: expected finite numbers")
    return values


def _value_at(parameter: Callable[[int], float], t: int) -> float:
    """A value that float32 holds; infinity for one that it does not, or that cannot be computed at all."""
    try:
        value = float(parameter(t))
    except ArithmeticError:  # exp of a large number, a division by zero
        return math.inf
    return value if abs(value) <= LARGEST else math.inf


def to_config(value: Moving) -> Any:
    """A parameter as plain values for a file; a bare callable is named but cannot be restored."""
    if isinstance(value, Schedule) and value.name:
        return {"schedule": value.name, **dataclasses.asdict(value)}
    if callable(value):
        return {"callable": getattr(value, "__qualname__", type(value).__qualname__)}
    return float(value)


def from_config(value: Any, name: str) -> Moving:
    """The inverse of `to_config`."""
    if not isinstance(value, dict):
        return value
    if "callable" in value:
        raise ConfigError(
            f"{name} was the function {value['callable']!r}, which a file cannot hold: pass {name}=... when loading"
        )
    if value.get("schedule") not in SCHEDULES:
        raise unknown("schedule", value.get("schedule"), SCHEDULES)
    cls = SCHEDULES[value["schedule"]]
    arguments = {key: item for key, item in value.items() if key != "schedule"}
    fields = {field.name for field in dataclasses.fields(cls)}
    for key in arguments.keys() - fields:
        raise unknown(f"key of schedule {cls.name!r}", key, fields)
    return cls(**arguments)
