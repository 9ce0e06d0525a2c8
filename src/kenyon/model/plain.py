"""Options as plain values, as files and the command line have them.

`"off"` stands for None, and the parameters of a rule stand beside the options by their own names:
`{"rule": "gen", "b2": -0.5, "threshold": "off"}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.rules import rule_from_options, rule_options
from kenyon.utils.options import OPTIONS, Option


def option_table(rule: Any = None) -> dict[str, Option]:
    """The options that a run may set, those of the rule's own parameters last.

    Example:
        >>> list(option_table("oja"))[-2:]
        ['b1', 'beta']
    """
    table = {name: entry for name, entry in OPTIONS.items() if entry.of_run}
    own = rule_options(table["rule"].default if rule is None else rule)
    return table | {name: entry for name, entry in own.items() if name not in table}


def default_options(rule: Any = None) -> dict[str, Any]:
    """The options that a run may set, with their defaults in plain form.

    Example:
        >>> default_options("gen")["b2"], default_options("mse")["memory_budget"]
        (-1.0, 'off')
    """
    return {name: _plain(entry.default) for name, entry in option_table(rule).items()}


def classifier_params(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of `KenyonClassifier` from plain options, the rule's own parameters put into the rule.

    Example:
        >>> classifier_params({"rule": "gen", "b2": -0.5, "threshold": "off"})
        {'rule': GEN(b1=0.0, b2=-0.5), 'threshold': None}
    """
    params = {name: None if _is_off(name, value) else value for name, value in plain.items() if name in OPTIONS}
    own = {name: value for name, value in plain.items() if name not in OPTIONS}
    return {"rule": rule_from_options(params.pop("rule", OPTIONS["rule"].default), own), **params}


def _plain(value: Any) -> Any:
    if value is None:
        return "off"
    return list(value) if isinstance(value, tuple) else value


def _is_off(name: str, value: Any) -> bool:
    return OPTIONS[name].off and isinstance(value, str) and value in ("off", "")
