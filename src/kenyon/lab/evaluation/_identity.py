"""The identity of a run: what differs from the defaults, and what else decides the results.

A new option with a default, of a learner, a curriculum or a backbone, leaves every id as it is. What changes the
results of an unchanged configuration is part of the id in its own right: the version of the learner, the version of
the streams and the loop, a baseline's tuned values, the content of a user's own data set, and the source text of a
user's own class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from kenyon.data.backbones import BackboneConfig
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation._result import json_safe
from kenyon.lab.evaluation._sources import source_sums
from kenyon.learners import find_learner, learner_class, learner_options, tuned_options

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
