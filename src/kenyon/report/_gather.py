"""The runs of a store by configuration: what is complete, what is not, and what to call each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kenyon.errors import DataError
from kenyon.evaluation import Report, RunFolder, RunResult

_IN_TITLE = ("dataset", "scenario", "backbone", "learner", "options")


@dataclass
class Group:
    """A configuration with its runs.

    Attributes:
        config: without its seeds.
        complete: folder and results, by seed.
        incomplete: folders without results.
        label: what to call it among the others of its stream.
    """

    config: Mapping[str, Any]
    complete: list[tuple[RunFolder, RunResult]] = field(default_factory=list)
    incomplete: list[RunFolder] = field(default_factory=list)
    label: str = ""

    @cached_property
    def report(self) -> Report:
        return Report(self.config, [result for _, result in self.complete])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(folder.path.name for folder, _ in self.complete)

    @property
    def stream(self) -> tuple[str, str]:
        """What it is compared within: data set (and backbone), scenario."""
        name = Path(str(self.config["dataset"])).stem
        backbone = self.config.get("backbone")
        return (f"{name} by {backbone['name']}" if backbone else name, str(self.config["scenario"]))


def gather(runs: Sequence[RunFolder]) -> dict[tuple[str, str], list[Group]]:
    """Groups by stream, in the order of the runs' names, the most accurate first within each."""
    groups: dict[str, Group] = {}
    for folder in runs:
        config = folder.config()
        config.pop("seeds", None)
        for key in ("dataset", "scenario", "learner"):
            if key not in config:
                raise DataError(f"{folder.file('config.toml')} has no {key!r}: it is not the configuration of a run")
        # A baseline that was tuned anew has the same configuration and other values in force.
        result = folder.result() if folder.complete else None
        key = json.dumps([config, dict(result.options) if result else None], sort_keys=True)
        group = groups.setdefault(key, Group(config))
        if result:
            group.complete.append((folder, result))
        else:
            group.incomplete.append(folder)
    streams: dict[tuple[str, str], list[Group]] = {}
    for group in groups.values():
        group.complete.sort(key=lambda pair: pair[1].seed)
        streams.setdefault(group.stream, []).append(group)
    for members in streams.values():
        members.sort(key=lambda g: -(g.report.summary("accuracy").mean or 0.0) if g.complete else 1.0)
        _name(members)
    return streams


def _name(groups: Sequence[Group]) -> None:
    """Learner and rule, and whatever else tells the configurations of one stream apart."""
    for group in groups:
        group.label = " ".join(filter(None, [group.config["learner"], _rule(group.config)]))
    for label in {group.label for group in groups}:
        alike = [group for group in groups if group.label == label]
        flat = [_flat(group) for group in alike]
        keys = dict.fromkeys(key for values in flat for key in values)
        differing = [key for key in keys if any(values.get(key) != flat[0].get(key) for values in flat)]
        for group, values in zip(alike, flat, strict=True):
            group.label += "".join(f", {key} {values[key]}" for key in differing if values.get(key) is not None)


def _rule(config: Mapping[str, Any]) -> str | None:
    rule = config.get("options", {}).get("rule")
    return rule if isinstance(rule, str) else None


def _flat(group: Group) -> dict[str, Any]:
    stream = {key: value for key, value in group.config.items() if key not in _IN_TITLE}
    tuned = dict(group.complete[0][1].options) if group.complete else {}
    return stream | dict(group.config.get("options", {})) | tuned
