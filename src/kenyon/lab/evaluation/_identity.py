"""The identity of a run: what differs from the defaults, and what else decides the results.

A new option with a default, of a learner, a curriculum or a backbone, leaves every id as it is. What changes the
results of an unchanged configuration is part of the id in its own right: the version of the learner, the version of
the streams and the loop, a baseline's tuned values, the content of a user's own data set, and the source text of a
user's own class.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sysconfig
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenyon.data.backbones import BackboneConfig
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation._result import json_safe
from kenyon.learners import find_learner, learner_class, learner_options, tuned_options
from kenyon.utils.outside import imported_file

if TYPE_CHECKING:
    from kenyon.lab.evaluation._config import RunConfig

VERSION = 1
"""Raised when the streams or the loop give other results for the same configuration, or a default of theirs changes."""

_APART = ("dataset", "learner", "curriculum", "backbone", "options", "data")
"""The fields of a configuration that are looked at on their own."""


def identity(config: RunConfig) -> dict[str, Any]:
    """The values that a run's id is made of, without the seed and the content of the data set."""
    values: dict[str, Any] = {"dataset": config.dataset, "scenario": config.curriculum.scenario}
    values |= {"learner": config.learner, "version": version_of(config.learner)}
    values |= differing(config.curriculum.to_dict(), Curriculum(seed=config.curriculum.seed).to_dict())
    own = [field for field in fields(config) if field.name not in _APART]
    values |= differing({f.name: getattr(config, f.name) for f in own}, {f.name: f.default for f in own})
    if isinstance(config.backbone, Mapping):
        defaults = {f.name: f.default for f in fields(BackboneConfig) if f.name != "name"}
        values["backbone"] = differing(config.backbone, defaults)
    values["options"] = differing(config.options, learner_options(config.learner, config.options))
    tuned = tuned_options(config.learner, config.curriculum.scenario)
    behind: dict[str, Any] = {"tuned": tuned, "sources": sources_of(config)}
    return json_safe(values | {key: value for key, value in behind.items() if value})


def id_of(values: Mapping[str, Any], seed: int) -> str:
    """SHA-256 of the canonical text of an identity and a seed; 12 hex digits."""
    text = json.dumps({**values, "seed": seed}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def version_of(learner: str) -> list[int]:
    """The current versions of the loop and of a learner."""
    return [VERSION, find_learner(learner).version]


def sources_of(config: RunConfig) -> dict[str, str]:
    """Sums of the source text of the classes from outside the package that a configuration names."""
    sums: dict[str, str] = {}
    if ":" in config.learner:
        sums |= source_sums(config.learner, learner_class(config.learner))
    rule = config.options.get("rule")
    if config.learner == "kenyon" and isinstance(rule, str):
        from kenyon.rules import get_rule

        for part in (get_rule(rule), get_rule(rule).plasticity):
            sums |= source_sums(rule, type(part))
    return sums


def differing(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not the default; keys without a default compare to None."""
    return {key: value for key, value in values.items() if value != _plain(defaults.get(key))}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def source_sums(name: str, cls: type) -> dict[str, str]:
    """SHA-256 of the files that define a class and its bases, by the names under which they can be found again.

    Classes of this package, of the standard library and of installed packages are left out, except the class
    itself where it is not ours.

    Args:
        name: how the class was named: `module:Class` or `file.py:Class`, or a name that it registered.
        cls: the class.
    """
    place = name.rpartition(":")[0]
    sums = {}
    for base in cls.__mro__:
        if _is_ours(base) or (base is not cls and _is_installed(base)):
            continue
        key = place if base is cls and place.endswith(".py") else base.__module__
        sums[key] = _class_sum(base)
    return sums


@cache
def _class_sum(cls: type) -> str:
    """The sum of the file that defines a class, computed once per process: an edit counts for the next process."""
    return _sum(_file_of(cls)) or hashlib.sha256(repr(cls).encode()).hexdigest()


def changed(sums: Mapping[str, str]) -> list[str]:
    """Which of the recorded files have another content now.

    The names come from a store, so only files that this process has imported are read; any other counts as unchanged.
    """
    return [place for place, known in sums.items() if _sum(imported_file(place)) not in (None, known)]


def _file_of(cls: type) -> Path | None:
    try:
        return Path(inspect.getfile(cls))
    except (OSError, TypeError):  # written in C, or in a notebook
        return None


def _sum(file: Path | None) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file else None
    except OSError:
        return None


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == __name__.partition(".")[0]


def _is_installed(cls: type) -> bool:
    file, paths = _file_of(cls), sysconfig.get_paths()
    places = [Path(paths[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return file is None or any(file.is_relative_to(place) for place in places)
