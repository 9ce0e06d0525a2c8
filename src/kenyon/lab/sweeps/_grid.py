"""Expand a table in which any key may have several values into configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError, unknown
from kenyon.lab.evaluation import RunConfig, config_keys
from kenyon.lab.sweeps._axis import axis
from kenyon.learners import learner_class, learner_options

_LISTS = ("task_sizes", "class_order")
"""Keys of a run whose value may be a list."""
_LIST_KINDS = ("widths", "shape")
"""Kinds of options of our own learner whose value may be a list."""

Point = dict[str, Any]
"""An incomplete configuration: keys of a run, and options as `options.NAME`."""


def expand(values: Mapping[str, Any]) -> list[RunConfig]:
    """Every configuration that a table stands for, checked, none of them twice.

    Args:
        values: the keys of a run's configuration, where any key, options included, may be a list of values or a range
            such as `{from = 100, to = 1000, steps = 4, log = true}`. Beside them,

            - `when`: a list of tables, each with `if`, the values a configuration must have, and more keys
              or options for those that have them;
            - `skip`: a list of tables; a configuration that has all the values of one of them is left out.

            In `if` and `skip` a list means any of its values.

    Example:
        >>> configs = expand({
        ...     "dataset": "digits",
        ...     "learner": ["ncm", "kenyon"],
        ...     "when": [{"if": {"learner": "kenyon"}, "options": {"n_hidden": {"from": 100, "to": 300, "step": 100}}}],
        ... })
        >>> [(config.learner, config.options.get("n_hidden")) for config in configs]
        [('ncm', None), ('kenyon', 100), ('kenyon', 200), ('kenyon', 300)]
    """
    for key in values:
        if key not in (*config_keys(), "when", "skip"):
            raise unknown("key of a sweep", key, (*config_keys(), "when", "skip"))
    points = _multiply([{}], {"learner": "kenyon", **values})
    for number, table in enumerate(_tables("when", values), 1):
        if "if" not in table or len(table) < 2:
            raise ConfigError(f"when, table {number}, is {dict(table)}: expected `if`, and keys for what meets it")
        _check_condition(table["if"], f"when, table {number}")
        points = [
            each
            for point in points
            for each in (
                _multiply([point], {k: v for k, v in table.items() if k != "if"})
                if _meets(point, table["if"])
                else [point]
            )
        ]
    skipped = _tables("skip", values)
    for number, table in enumerate(skipped, 1):
        _check_condition(table, f"skip, table {number}")
    configs = [_config(point) for point in points if not any(_meets(point, table) for table in skipped)]
    if not configs:
        raise ConfigError("the sweep leaves no configuration: everything is skipped")
    return list({config.folder_name(0): config for config in configs}.values())


def _tables(key: str, values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tables = values.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise ConfigError(f"{key} = {tables!r}: expected tables, each under [[{key}]]")
    return tables


def _multiply(points: list[Point], values: Mapping[str, Any]) -> list[Point]:
    """Every point with every value of every key."""
    for key, value in _flat(values):
        points = [{**point, key: each} for point in points for each in axis(key, value, _takes_lists(key, point))]
    return points


def _flat(values: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Keys and values, those of `options` by their full names and last, when the learner is known."""
    for key, value in values.items():
        if key not in ("options", "when", "skip"):
            yield key, value
    options = values.get("options", {})
    if not isinstance(options, Mapping):
        raise ConfigError(f"options = {options!r}: expected a table of the learner's options")
    for key, value in options.items():
        yield f"options.{key}", value


def _takes_lists(key: str, point: Point) -> bool:
    name = key.removeprefix("options.")
    if name == key:
        return key in _LISTS
    cls = learner_class(point["learner"])
    given = _options(point)
    table = cls.option_table({**given, name: None}) if hasattr(cls, "option_table") else {}
    if name in table:
        return table[name].kind in _LIST_KINDS
    return isinstance(learner_options(point["learner"], given).get(name), (list, tuple))


def _check_condition(condition: Any, where: str) -> None:
    if not isinstance(condition, Mapping) or not condition:
        raise ConfigError(f"{where}: the condition is {condition!r}, expected a table of keys and values")


def _meets(point: Point, condition: Mapping[str, Any]) -> bool:
    return all(_has(point, key, value) for key, value in condition.items())


def _has(point: Point, key: str, value: Any) -> bool:
    if isinstance(value, Mapping) and key == "options":
        return all(_has(point, f"options.{name}", wanted) for name, wanted in value.items())
    seen = _value(point, key if key in config_keys() or key.startswith("options.") else f"options.{key}")
    wanted = value if isinstance(value, list) and not isinstance(seen, list) else [value]
    return seen in wanted


def _value(point: Point, key: str) -> Any:
    """A value, or the default where there is none; None where the learner has no such option."""
    if key in point:
        return point[key]
    name = key.removeprefix("options.")
    if name != key:
        return learner_options(point["learner"], _options(point)).get(name)
    return {**Curriculum().to_dict(), "dataset": "digits", "tests": "all"}.get(key)


def _options(point: Point) -> dict[str, Any]:
    return {key.removeprefix("options."): value for key, value in point.items() if key.startswith("options.")}


def _config(point: Point) -> RunConfig:
    own = {key: value for key, value in point.items() if not key.startswith("options.")}
    try:
        return RunConfig.from_dict({"dataset": "digits", **own, "options": _options(point)})
    except ConfigError as error:
        hint = "; what only some learners have belongs under [[when]]" if "option of the learner" in str(error) else ""
        raise ConfigError(f"{error}{hint}") from error
