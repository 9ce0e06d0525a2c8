"""The `kenyon run` command that repeats a configuration."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from kenyon.data.streams import Curriculum
from kenyon.errors import KenyonError
from kenyon.lab.evaluation import RunConfig, config_keys
from kenyon.learners import learner_options
from kenyon.utils.outside import looking
from kenyon.utils.system import to_toml

_APART = ("dataset", "scenario", "learner", "backbone", "options")
_COLUMNS = ("label", "domain")
_DEFAULTS = {f.name: f.default for f in fields(RunConfig)}
_FLAGS = ("rule", "n_hidden", "features", "layer", "shape", "memory_budget")
_BACKBONE = {"name": "backbone", "weights": "backbone-weights", "sha256": "backbone-sha256"}


def run_command(config: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """The command line of a configuration as `RunConfig.to_dict` or a run's `config.toml` has it.

    Options with their default value are left out, except those of a learner or a rule from outside the package that
    is not imported: a configuration may come from somebody else's store.

    Args:
        config: the configuration.
        seeds: which seeds.

    Example:
        >>> from kenyon.lab.evaluation import RunConfig
        >>> run_command(RunConfig("digits", "kenyon", options={"rule": "mse"}).to_dict(), seeds=[0, 1, 2])
        'kenyon run --dataset digits --scenario class-incremental --learner kenyon --rule mse --seeds 3'
    """
    words = ["kenyon", "run", "--dataset", str(config["dataset"])]
    words += ["--scenario", str(config["scenario"]), "--learner", str(config["learner"])]
    defaults = _DEFAULTS | Curriculum(str(config["scenario"])).to_dict()
    for key in (key for key in config_keys() if key not in _APART):
        value = config.get(key)
        if key == "prequential":
            words += ["--no-prequential"] if value is False else []
        elif value is not None and value != defaults.get(key):
            words += [f"--{key.replace('_', '-')}", value if key in _COLUMNS else _comma_separated(value)]
    for key, value in config.get("backbone", {}).items():
        if value is not None:
            words += [f"--{_BACKBONE.get(key, key)}", _word(value)]
    defaults = _defaults(str(config["learner"]), config.get("options", {}))
    for key, value in config.get("options", {}).items():
        if value is None or (key in defaults and _plain(defaults[key]) == _plain(value)):
            continue
        words += [f"--{key.replace('_', '-')}", _word(value)] if key in _FLAGS else ["--set", f"{key}={_word(value)}"]
    return shlex.join([*words, "--seeds", _seeds(seeds)])


def _seeds(seeds: Sequence[int]) -> str:
    """How many, where they are counted from 0; else each of them, with a comma behind one that is alone."""
    if list(seeds) == list(range(len(seeds))):
        return str(len(seeds))
    return ",".join(map(str, seeds)) + ("," if len(seeds) == 1 else "")


def config_command(path: Path | str) -> str:
    """The command that repeats the run whose `config.toml` is at `path`; the file names the seed.

    Example:
        >>> config_command("runs/digits/config.toml")
        'kenyon run --config runs/digits/config.toml'
    """
    return shlex.join(["kenyon", "run", "--config", str(path)])


def _defaults(learner: str, given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        with looking():
            return learner_options(learner, given)
    except KenyonError:
        return {}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _comma_separated(value: Any) -> str:
    return ",".join(_word(item) for item in value) if isinstance(value, (list, tuple)) else _word(value)


def _word(value: Any) -> str:
    """A TOML value on one line; text is written without quotes where it cannot be taken for anything else."""
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_/.][\w./:-]*", value) and value not in ("true", "false", "inf", "nan")
        return value if plain else json.dumps(value)
    return to_toml({"options": {"value": value}}).splitlines()[-1].partition(" = ")[2]
