"""What a class from outside the package must be to be a learner, checked before anything is run.

The contract: `Class(info, seed, **options)`. What is known of the stream comes first, the seed second; every further
parameter is an option, with its default, and with its type as an annotation (`_types.py` checks values against it).
"""

from __future__ import annotations

import inspect
from typing import Any

from kenyon.errors import ConfigError

METHODS = ("learn", "test_then_learn", "predict", "end_task", "state", "restore")
VALUES = ("batch_size", "state_bytes", "synaptic_updates")


def check_class(name: str, cls: type) -> None:
    """Refuse a class from outside the package that is no learner."""
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
