"""Runs of an earlier version, whose ids were made of every option: how they are found, and what was run.

`ids_1.json` holds the options and defaults of that version. It never changes: options that were added later are not
part of those ids, and a run that sets such an option has no such id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from kenyon.lab.evaluation._identity import differing, id_of, identity
from kenyon.lab.evaluation._result import json_safe
from kenyon.learners import learner_options, tuned_options

if TYPE_CHECKING:
    from kenyon.lab.evaluation._config import RunConfig

_MEANING = [1, 1]
_BESIDES = ("dataset", "scenario", "learner", "meaning", "options", "backbone", "tuned", "content", "sources")


def older_ids(config: RunConfig, seed: int) -> list[str]:
    """The ids that the earlier version may have given to a run.

    There are none where it could not have run it, or would have had other results. There may be two, since a default
    that was given may have counted as another value than one that was not.
    """
    values, record = identity(config), _record()
    backbone = values.get("backbone", {})
    if values["meaning"] != _MEANING or not set(backbone) <= set(record["backbone"]):
        return []
    if not set(values) <= {*record["curriculum"], *record["run"], *_BESIDES}:
        return []
    known = record["learners"].get(config.learner) or learner_options(config.learner, config.options)
    changed = {key: config.options[key] for key in values["options"]}
    if not set(changed) <= set(known) or changed.get("memory_budget") not in (None, "", "off"):
        return []  # a budget is spent in another way now
    both = [config.to_dict() | {"options": options} for options in (config.given, changed)]
    return list(dict.fromkeys(_id(one, known, seed, values.get("content")) for one in both))


def older_identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a run of the earlier version from its `config.toml`, without what it did not record."""
    record = _record()
    defaults = record["curriculum"] | record["run"]
    values = {key: config[key] for key in ("dataset", "scenario", "learner")} | {"meaning": _MEANING}
    values |= differing({key: value for key, value in config.items() if key in defaults}, defaults)
    if "backbone" in config:
        values["backbone"] = differing(config["backbone"], {**record["backbone"], "name": None})
    options = differing(config.get("options", {}), record["learners"].get(config["learner"], {}))
    return json_safe(values | {"options": options})


def _id(config: Mapping[str, Any], known: Mapping[str, Any], seed: int, content: str | None) -> str:
    """An id of that version: a hash of all options, including the defaults."""
    record = _record()
    values = {key: config[key] for key in ("dataset", "scenario", "learner")}
    values |= {key: config[key] for key in record["curriculum"] if config.get(key) is not None}
    values |= {key: config.get(key, default) for key, default in record["run"].items()}
    if config.get("backbone"):
        values["backbone"] = {key: value for key, value in config["backbone"].items() if key in record["backbone"]}
    given = {key: _as_then(value, known[key]) for key, value in config.get("options", {}).items() if key in known}
    values["options"] = {key: list(v) if isinstance(v, tuple) else v for key, v in known.items()} | given
    if chosen := tuned_options(config["learner"], config["scenario"]):
        values["tuned"] = chosen
    return id_of(values | ({"content": content} if content else {}), seed)


def _as_then(value: Any, default: Any) -> Any:
    return float(value) if isinstance(default, float) and type(value) is int else value


@cache
def _record() -> dict[str, Any]:
    return json.loads(files(__package__).joinpath("ids_1.json").read_text(encoding="utf-8"))
