"""What can go wrong, by name. Every message says what was seen and what was wanted.

>>> from kenyon import KenyonClassifier
>>> try:
...     KenyonClassifier(n_hidden=0).fit([[1.0]], [0])
... except KenyonError as error:
...     print(error)
n_hidden is 0: expected an integer, at least 1, or 'auto'
>>> all(issubclass(kind, ValueError) for kind in (InputError, ConfigError, ModelFileError))
True
>>> issubclass(DataError, FileNotFoundError), issubclass(MissingExtraError, ImportError)
(True, True)
>>> issubclass(DivergenceError, ArithmeticError), issubclass(MemoryBudgetError, MemoryError)
(True, True)
>>> issubclass(MergeError, ValueError), issubclass(MergeWarning, UserWarning), issubclass(LabelWarning, UserWarning)
(True, True, True)
>>> issubclass(BudgetWarning, UserWarning)
True
>>> issubclass(NotFittedError, ValueError), issubclass(NotFittedError, AttributeError)
(True, True)
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import TypeVar

__all__ = [
    "BudgetWarning",
    "ConfigError",
    "DataError",
    "DivergenceError",
    "InputError",
    "KenyonError",
    "LabelWarning",
    "MemoryBudgetError",
    "MergeError",
    "MergeWarning",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "nearest",
    "require",
    "scikit_learns",
    "unknown",
]

Raised = TypeVar("Raised", bound=Exception)


class KenyonError(Exception):
    """Base of every error that Kenyon raises on purpose."""


class InputError(KenyonError, ValueError):
    """Samples or labels that cannot be learned from."""


class ConfigError(KenyonError, ValueError):
    """An unknown name or a value out of range in a configuration."""


class DivergenceError(KenyonError, ArithmeticError):
    """A rule drove the activity out of bounds; the weights were left as they were."""


class MemoryBudgetError(KenyonError, MemoryError):
    """Something would not fit into the memory budget; nothing was changed."""


class MergeError(KenyonError, ValueError):
    """Models that do not add up to one, or samples that a model cannot have learned; nothing was changed."""


class MergeWarning(UserWarning):
    """A merged model that is close to the one that would have learned everything, but not the same to the bit."""


class BudgetWarning(UserWarning):
    """Units were dropped, so that a class fits into the memory budget."""


class LabelWarning(UserWarning):
    """Labels that look like a regression target, many different floats, or that come as a column."""


class ModelFileError(KenyonError, ValueError):
    """A model file that is damaged, foreign or too new."""


class DataError(KenyonError, FileNotFoundError):
    """A data set that is missing or damaged."""


class NotFittedError(KenyonError, ValueError, AttributeError):
    """A model that has learned nothing yet was asked for something; it can be caught as scikit-learn's too."""

    def __reduce__(self) -> tuple[type[NotFittedError], tuple[object, ...]]:
        return NotFittedError, self.args


class MissingExtraError(KenyonError, ImportError):
    """An optional dependency that is not installed."""


def nearest(name: object, allowed: Iterable[str]) -> str:
    """`": did you mean 'x'?"` for a near miss, else an empty string.

    Example:
        >>> nearest("mnits", ["mnist", "digits"])
        "; did you mean 'mnist'?"
    """
    close = get_close_matches(str(name), list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown(what: str, name: object, allowed: Iterable[str]) -> ConfigError:
    """The error for a name that is not in a table.

    Example:
        >>> unknown("rule", "genn", ["gen", "mse"])
        ConfigError("unknown rule 'genn': expected one of gen, mse; did you mean 'gen'?")
    """
    allowed = sorted(allowed)
    return ConfigError(f"unknown {what} {name!r}: expected one of {', '.join(allowed)}{nearest(name, allowed)}")


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional dependency, or say which extra brings it.

    Example:
        >>> require("numpy", "data", "arithmetic").__name__
        'numpy'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs {module!r}, which is not installed: pip install 'kenyon[{extra}]'"
        ) from error


def scikit_learns(name: str, ours: type[Raised]) -> type[Raised]:
    """Our kind of error or warning, which is scikit-learn's of this name as well where that is in use.

    Who catches scikit-learn's has imported it, so nothing is imported here.

    Example:
        >>> from kenyon.errors import NotFittedError
        >>> issubclass(scikit_learns("NotFittedError", NotFittedError), NotFittedError)
        True
    """
    theirs = getattr(sys.modules.get("sklearn.exceptions"), name, None)
    return _both(name, ours, theirs) if theirs else ours


_BOTH: dict[tuple[type, type], type] = {}


def _both(name: str, ours: type, theirs: type) -> type:
    if (ours, theirs) not in _BOTH:
        _BOTH[ours, theirs] = type(name, (ours, theirs), {"__module__": __name__, "__doc__": ours.__doc__})
    return _BOTH[ours, theirs]
