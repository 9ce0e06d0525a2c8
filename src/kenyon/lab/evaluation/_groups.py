"""The runs of a store by configuration: what `kenyon show` and the report compare.

Nothing that a store names is imported or opened: classes, data sets and backbones are only names here.

Runs of one group differ in nothing but their seeds: not in an option, nor in the version of the learner, the content
of the data set, the source text of a class from outside the package, or the values that a baseline was tuned to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from kenyon.errors import ConfigError, DataError, KenyonError
from kenyon.lab.evaluation._identity import changed, version_of
from kenyon.lab.evaluation._result import Report, RunResult
from kenyon.lab.evaluation._store import ARRAYS, RunFolder
from kenyon.learners import what_learns

_NAMED = ("dataset", "scenario", "learner")
_BEHIND = ("version", "tuned", "content", "sources", "backbone", "options")


@dataclass
class RunGroup:
    """A configuration with its runs.

    Attributes:
        config: as its first run's `config.toml` has it, without the seeds.
        complete: folder and results, by seed.
        incomplete: folders without results.
        label: its name among the others of its stream.
        values: what differs from the defaults and what else decides the results, as in `run.json`.
        outdated: why the current code might give other numbers; empty where it would not.
    """

    config: Mapping[str, Any]
    complete: list[tuple[RunFolder, RunResult]] = field(default_factory=list)
    incomplete: list[RunFolder] = field(default_factory=list)
    label: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    outdated: str = ""

    @cached_property
    def report(self) -> Report:
        return Report(self.config, [result for _, result in self.complete])

    @property
    def names(self) -> tuple[str, ...]:
        """The folders of the complete runs."""
        return tuple(folder.path.name for folder, _ in self.complete)

    @property
    def stream(self) -> tuple[str, str]:
        """The stream, within which it is compared with others: data set (and backbone) and scenario."""
        name, backbone = Path(str(self.config["dataset"])).stem, self.config.get("backbone")
        return (f"{name} by {backbone['name']}" if backbone else name, str(self.config["scenario"]))

    @property
    def rank(self) -> float:
        """For sorting: the most accurate group comes first, groups without a number last."""
        return 1.0 if self.outdated or not self.complete else -(self.report.summary("accuracy").mean or 0.0)

    @cached_property
    def differs(self) -> dict[str, Any]:
        """The values of stream and learner that are not the default, and what else decides the results, by name."""
        values = {key: value for key, value in self.values.items() if key not in (*_NAMED, *_BEHIND)}
        values |= {"backbone": self.values["backbone"]["name"]} if "backbone" in self.values else {}
        values |= self.values.get("options", {}) | (dict(self.complete[0][1].options) if self.complete else {})
        values |= {"content": self.values["content"][:8]} if "content" in self.values else {}
        return values | ({"source": _short_sum(self.values["sources"])} if self.values.get("sources") else {})

    @property
    def keys(self) -> list[str]:
        """The names of all values: of the stream, of the learner's options, and of what else decides the results."""
        stream = [key for key in self.config if key != "options"]
        return list(dict.fromkeys([*stream, *self.config.get("options", {}), *self.differs]))

    def value(self, key: str) -> Any:
        """A value by its name."""
        return self._values.get(key)

    @cached_property
    def _values(self) -> dict[str, Any]:
        return {**self.config, **self.config.get("options", {}), **self.differs}


def _short_sum(sources: Any) -> str:
    return hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()[:8]


class Groups(NamedTuple):
    """The runs of a store in groups, and those that cannot be read, each with the reason."""

    groups: list[RunGroup]
    damaged: list[tuple[RunFolder, str]]


def group_runs(runs: Iterable[RunFolder], arrays: bool = False) -> Groups:
    """Group runs by configuration, in the order of the runs. A run that cannot be read is named and left out.

    Args:
        runs: complete or not.
        arrays: whether a run whose curves cannot be read is left out too.
    """
    found: dict[str, RunGroup] = {}
    damaged: list[tuple[RunFolder, str]] = []
    incomplete: list[tuple[str, RunFolder, RunGroup]] = []
    why_outdated = cache(_outdated)  # many runs share a learner
    for folder in runs:
        try:
            config, values = _read(folder)
            result = folder.result() if folder.complete else None
            for name in ARRAYS if arrays and result else ():
                folder.array(name)
        except (KenyonError, OSError) as error:
            damaged.append((folder, str(error)))
            continue
        versions = json.dumps([values["learner"], values["version"], values.get("sources", {})])
        group = RunGroup(config, values=values, outdated=why_outdated(versions))
        key = json.dumps([{k: v for k, v in values.items() if k != "tuned"}, group.outdated], sort_keys=True)
        if result is None:
            incomplete.append((key, folder, group))
        else:
            # A baseline that was tuned again has the same configuration, but other values.
            key += json.dumps(dict(result.options), sort_keys=True)
            found.setdefault(key, group).complete.append((folder, result))
    for key, folder, group in incomplete:
        home = next((other for other in found if other.startswith(key)), key)
        found.setdefault(home, group).incomplete.append(folder)
    for group in found.values():
        group.complete.sort(key=lambda run: run[1].seed)
    return Groups(list(found.values()), damaged)


def by_stream(groups: Iterable[RunGroup]) -> dict[tuple[str, str], list[RunGroup]]:
    """Groups by data set and scenario, the most accurate first within each, with labels that tell them apart."""
    streams: dict[tuple[str, str], list[RunGroup]] = {}
    for group in groups:
        streams.setdefault(group.stream, []).append(group)
    for members in streams.values():
        members.sort(key=lambda group: group.rank)
        _label(members)
    return streams


def distinguishing(groups: Sequence[RunGroup]) -> list[str]:
    """The names of the values that are not the same in all groups, in the order of the configurations.

    Data set, scenario and learner are left out.
    """
    keys = dict.fromkeys(key for group in groups for key in group.keys if key not in _NAMED)
    given = {key for group in groups for key in group.differs}
    return [key for key in keys if key in given and any(g.value(key) != groups[0].value(key) for g in groups)]


def _label(groups: Sequence[RunGroup]) -> None:
    """Learner and what learned in it, and whatever else tells the configurations of one stream apart."""
    for group in groups:
        learned = group.complete[0][1].learned if group.complete else what_learns(group.config.get("options", {}))
        group.label = " ".join([str(group.config["learner"]), *([learned] if learned else [])])
    for label in {group.label for group in groups}:
        members = [group for group in groups if group.label == label]
        keys = distinguishing(members)
        for group in members:
            group.label += "".join(f", {key} {group.value(key)}" for key in keys if group.value(key) is not None)


def _read(folder: RunFolder) -> tuple[dict[str, Any], dict[str, Any]]:
    """The configuration of a run without its seeds, and its identity."""
    config = folder.config()
    config.pop("seeds", None)
    for key in _NAMED:
        if not isinstance(config.get(key), str):
            raise DataError(f"{folder.file('config.toml')} has no {key!r}: it is not the configuration of a run")
    for key in ("options", "backbone"):
        if not isinstance(config.get(key, {}), Mapping):
            raise DataError(f"{folder.file('config.toml')} has {key} = {config[key]!r}: expected a table")
    return config, folder.record()["values"]


def _outdated(versions: str) -> str:
    """Why the current code might give other numbers than a run's; empty where it would not."""
    learner, version, sources = json.loads(versions)
    if edited := changed(sources):
        return f"the source of {', '.join(edited)} has changed since"
    try:
        now = version_of(learner)
    except ConfigError:  # a learner that this version does not have
        return ""
    return f"{learner} has changed since" if now != version else ""
