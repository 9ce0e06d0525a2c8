"""What a class from outside the package must be to be a learner, checked before anything is run.

The contract: `Class(info, seed, **options)`. What is known of the stream comes first, the seed second; every further
parameter is an option, with its default, and with its type as an annotation, which values are checked against.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from kenyon.errors import ConfigError

METHODS = ("learn", "test_then_learn", "predict", "end_task", "state", "restore")
VALUES = ("batch_size", "state_bytes", "synaptic_updates")


def check_class(name: str, cls: type) -> None:
    """Refuse a class from outside the package that does not implement `Learner`."""
    missing = [method for method in METHODS if not callable(getattr(cls, method, None))]
    if missing:
        raise _no_learner(name, missing)
    try:
        inspect.signature(cls).bind(None, None)
    except TypeError as error:
        raise ConfigError(
            f"the learner {name!r} cannot be called as {cls.__name__}(info, seed) ({error}): every further parameter "
            "needs a default"
        ) from error


def check_instance(name: str, learner: Any) -> None:
    """Refuse a learner that lacks what its class need not have."""
    if missing := [value for value in VALUES if not hasattr(learner, value)]:
        raise _no_learner(name, missing)


def _no_learner(name: str, missing: list[str]) -> ConfigError:
    return ConfigError(
        f"the learner {name!r} has no {', '.join(missing)}: expected what kenyon.data.protocol.Learner lists; "
        "`kenyon new learner NAME` writes one that has it"
    )


LARGEST = 2**31 - 1
"""Largest integer of an option, more than any machine can hold."""


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -inf < value < inf


def _each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(fits(item) for item in value)


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "None": (lambda value: value is None, "none"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "int": (_integer, f"an integer up to {LARGEST}"),
    "float": (_number, "a finite number"),
    "str": (lambda value: isinstance(value, str), "a text"),
    "Sequence[int]": (_each(_integer), "a list of integers"),
    "Sequence[float]": (_each(_number), "a list of numbers"),
    "Sequence[str]": (_each(lambda value: isinstance(value, str)), "a list of texts"),
}
"""What the types in an annotation stand for; an annotation with any other type is not checked."""


def check_types(learner: str, cls: type, options: Mapping[str, Any]) -> None:
    """Refuse options that are not of the type that a learner's constructor declares."""
    for key, value in options.items():
        parameter = inspect.signature(cls).parameters.get(key)
        kinds = [] if parameter is None else [KINDS.get(part) for part in _parts(parameter.annotation)]
        known = [kind for kind in kinds if kind is not None]
        if known and len(known) == len(kinds) and not any(fits(value) for fits, _ in known):
            wanted = ", or ".join(words for _, words in known if words != "none")
            raise ConfigError(f"{key} of the learner {learner!r} is {value!r}: expected {wanted}")


def _parts(annotation: Any) -> list[str]:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return [part.strip() for part in text.split("|")]
