"""Which configurations, and in which order: conditions such as `n_hidden>=500`, and the best first."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from kenyon.errors import ConfigError, unknown
from kenyon.lab.comparison._table import known_keys
from kenyon.lab.evaluation import METRICS, RunGroup
from kenyon.utils.system import parse_value

_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONDITION = re.compile(r"\s*([\w.-]+)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*")


def select_groups(groups: Sequence[RunGroup], conditions: Sequence[str]) -> list[RunGroup]:
    """The configurations that meet every condition.

    Args:
        groups: the configurations.
        conditions: a key, one of `= != < <= > >=`, and a value: `learner=kenyon`, `n_hidden>=500`, `accuracy>90`.
            Shares are in percent, as tables have them.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], store="runs")
        >>> len(select_groups(group_runs(Store(Path("runs")).runs()).groups, ["learner!=ncm"]))
        0
    """
    chosen = list(groups)
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise ConfigError(f"the condition {condition!r} is not understood: expected a form such as n_hidden>=500")
        key, sign, text = match.groups()
        _check(key, groups)
        chosen = [group for group in chosen if _holds(_value(group, key), sign, text)]
    return chosen


def sort_groups(groups: Sequence[RunGroup], key: str = "accuracy", reverse: bool = False) -> list[RunGroup]:
    """The configurations in order of a metric, the best first, or of any other key, the smallest first.

    Those that have no such value come last.

    Example:
        >>> sort_groups([], "state_bytes")
        []
    """
    _check(key, groups)
    known = [group for group in groups if _value(group, key) is not None]
    metric = METRICS.get(key)
    falling = metric is not None and not metric.lower_is_better
    known.sort(key=lambda group: _rank(_value(group, key)), reverse=falling != reverse)
    return known + [group for group in groups if _value(group, key) is None]


def pick_groups(groups: Sequence[RunGroup], name: str) -> list[RunGroup]:
    """The configurations with a name: a learner, or a learner with values of its options, `kenyon,rule=gen`.

    Example:
        >>> pick_groups([], "kenyon,rule=gen")
        []
    """
    learner, *pairs = name.split(",")
    for pair in pairs:
        if "=" not in pair:
            raise ConfigError(f"{name!r} is not understood: expected a learner and values, such as kenyon,rule=gen")
    chosen = [group for group in groups if group.config["learner"] == learner.strip()]
    return select_groups(chosen, pairs) if chosen else []


def _check(key: str, groups: Sequence[RunGroup]) -> None:
    known = known_keys(groups)
    if groups and key not in known:
        raise unknown("column", key, known)


def _value(group: RunGroup, key: str) -> Any:
    """A metric's mean in the unit of the tables, the number of seeds, or a value of the configuration."""
    if key == "seeds":
        return len(group.complete)
    if key not in METRICS:
        return group.value(key)
    if not group.complete or group.outdated:
        return None
    mean = group.report.summary(key).mean
    return None if mean is None else mean * (100 if METRICS[key].unit == "%" else 1)


def _holds(value: Any, sign: str, text: str) -> bool:
    wanted = parse_value(text)
    if isinstance(value, (int, float)) and isinstance(wanted, (int, float)):
        return _TESTS[sign](value, wanted)
    if sign in ("=", "!="):
        return _TESTS[sign](value if type(value) is type(wanted) else str(value), wanted)
    return isinstance(value, str) and _TESTS[sign](value, text)


def _rank(value: Any) -> tuple[bool, Any]:
    number = isinstance(value, (int, float))
    return (not number, value if number else str(value))
