"""Shell completion of options: names from the tables, looked up when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

Complete = Callable[[str], list[str]]


def among(choices: Iterable[str]) -> Complete:
    """Completes from a fixed list of words."""
    return lambda incomplete: [name for name in choices if name.startswith(incomplete)]


def names_in(module: str, table: str) -> Complete:
    """Completes from the names in a table of a module, which is imported when they are needed."""
    return lambda incomplete: among(getattr(import_module(module), table))(incomplete)


datasets = names_in("kenyon.data.streams", "DATASETS")
scenarios = names_in("kenyon.data.streams", "SCENARIOS")
learners = names_in("kenyon.learners", "LEARNERS")
logs = names_in("kenyon.lab.watchers", "WATCHERS")
rules = names_in("kenyon.rules", "RULES")
metrics = names_in("kenyon.lab.evaluation", "METRICS")


def presets(incomplete: str) -> list[str]:
    from kenyon.model.presets import preset_names

    return among(preset_names())(incomplete)
