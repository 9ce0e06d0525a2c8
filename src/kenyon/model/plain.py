"""Options by nested names, as configurations, the command line and `set_params` have them.

A configuration names options as scikit-learn does, `{"features": "sparse", "features__density": 0.1, "rule": "gen",
"rule__b2": -0.5}`; `"off"` stands for None. `layer__rule`, `features__units` and `features__shape` are the classifier's
`rule`, `n_hidden` and `shape`, under which they are kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from kenyon.errors import ConfigError, nearest, unknown
from kenyon.features import FEATURES, FeaturesPart
from kenyon.features.front import FRONTS, FrontPart
from kenyon.layers import HIDDEN, LAYERS, LayerPart, LocalError
from kenyon.model.options import OPTIONS
from kenyon.rules import RULES, Rule
from kenyon.utils.options import SEPARATOR, Option, Part, class_named, options_of, part_named

P = TypeVar("P", bound=Part)

KINDS: dict[str, tuple[Mapping[str, type[Any]], type[Any]]] = {
    "front": (FRONTS, FrontPart),
    "features": (FEATURES, FeaturesPart),
    "layer": (LAYERS, LayerPart),
    "hidden": (HIDDEN, LocalError),
    "rule": (RULES, Rule),
}
"""Options whose values are parts: the table of their names, and what they are derived from."""

SAME = {"layer__rule": "rule", "features__units": "n_hidden", "features__shape": "shape"}
"""Options of parts that the classifier has too, under which a configuration keeps them."""


def part_of(option: str, value: Any) -> Part:
    """The part that a value of an option stands for.

    Example:
        >>> part_of("features", "dense")
        Dense()
    """
    return part_named(value, *KINDS[option], option)


def common_names(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with each option under one name.

    Example:
        >>> common_names({"layer": "plastic", "layer__rule__b2": -0.5, "layer__rule": "gen"})
        {'layer': 'plastic', 'rule__b2': -0.5, 'rule': 'gen'}
    """
    common: dict[str, Any] = {}
    for name, value in plain.items():
        short = next((SAME[own] + name[len(own) :] for own in SAME if name == own or name.startswith(own + "__")), name)
        if short in common and common[short] != value:
            raise ConfigError(f"{name} is {value!r} and {short} is {common[short]!r}: expected one of them")
        common[short] = value
    for option in KINDS:
        own = options_below(option, common)
        if own and common.get(option, "auto") in ("auto", "off"):
            common[option] = kind_for(option, own, common)
    return common


def options_below(option: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a part that are given by nested names, by their own names.

    Example:
        >>> options_below("layer", {"rule": "gen", "layer__bits": 8})
        {'bits': 8}
    """
    return {name.partition(SEPARATOR)[2]: value for name, value in given.items() if name.startswith(option + SEPARATOR)}


def kind_for(option: str, own: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """The kind of part that is meant where only its options are given: the first that may have them.

    Where a layer may be plastic or of second order it is the one that `recommend` would choose, if that can be told
    before samples are seen.

    Args:
        own: the options that are given, with their values.
        params: all parameters.

    Example:
        >>> kind_for("features", {"density": 0.1}, {}), kind_for("features", {"density": 0.1}, {"shape": (8, 8)})
        ('sparse', 'windows')
        >>> kind_for("layer", {"bits": 4}, {}), kind_for("layer", {"arithmetic": "float"}, {"memory_budget": "20KB"})
        ('plastic', 'second-order')
    """
    kinds = KINDS[option][0]
    shaped = option == "features" and params.get("shape") not in (None, "off")
    ordered = ["windows", *kinds] if shaped else ["gen", *kinds] if option == "rule" else list(kinds)
    if option == "layer":
        ordered = ["plastic", "second-order", *kinds]  # the others are chosen for a few kinds of samples only
    fitting = [kind for kind in ordered if all(_may_have(kinds[kind], name, value) for name, value in own.items())]
    if option == "layer" and fitting[:2] == ["plastic", "second-order"]:
        return _kind_of_layer(own, params)
    known = (
        kind for kind in ordered if {name.partition(SEPARATOR)[0] for name in own} <= options_of(kinds[kind]).keys()
    )
    return next(iter(fitting), next(known, ordered[0]))


def _may_have(cls: type[Part], name: str, value: Any) -> bool:
    """Whether a kind of part has an option, and the option may be this."""
    own, _, below = name.partition(SEPARATOR)
    entry = options_of(cls).get(own)
    if entry is None or below:
        return entry is not None
    try:
        entry.check(None if _is_off(entry, value) else value)
    except ConfigError:
        return False
    return True


def _kind_of_layer(own: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Plastic, with a rule or hidden layers; of second order, with features that only it takes or a memory budget."""
    off = ("auto", "off", None)
    features = params.get("features", "auto")
    name = features.name if isinstance(features, Part) else features
    if params.get("rule", "auto") not in off or params.get("hidden") not in off:
        return "plastic"
    budgeted = params.get("memory_budget") not in off and name in ("auto", "windows")
    if budgeted or name in ("dense", "patches", "ramps"):
        return "second-order"
    given = " and ".join(f"layer__{option} is {value!r}" for option, value in own.items())
    raise ConfigError(f"{given} and layer is 'auto': expected layer='plastic' or layer='second-order' with it")


def option_table(given: Mapping[str, Any]) -> dict[str, Option]:
    """The options that a run may set, with those of the parts that a configuration chooses.

    Example:
        >>> list(option_table({"rule": "oja"}))[-1]
        'rule__b1'
        >>> "layer__bits" in option_table({"layer": "second-order"}), "layer__bits" in option_table({})
        (True, False)
    """
    given = common_names(given)
    table = {name: entry for name, entry in OPTIONS.items() if entry.of_run}
    for option in KINDS:
        table |= _part_table(option, given.get(option), given) if OPTIONS[option].of_run else {}
    return table


def _part_table(name: str, value: Any, given: Mapping[str, Any]) -> dict[str, Option]:
    """The options of a part, and of the parts inside it, under nested names."""
    kind = name.rpartition(SEPARATOR)[2]
    if value in (None, "auto", "off", ""):
        return {}
    cls = type(value) if isinstance(value, Part) else class_named(value, *KINDS[kind], name)
    table: dict[str, Option] = {}
    for key, entry in options_of(cls).items():
        full = f"{name}{SEPARATOR}{key}"
        if full not in SAME:
            table[full] = dataclasses.replace(entry, name=full)
            if entry.kind == "rule":
                table |= _part_table(full, given.get(full, entry.default), given)
    return table


def every_option() -> dict[str, Option]:
    """The options that a run may set, with those of every part of the package.

    Example:
        >>> [name for name in every_option() if name.endswith("bits")]
        ['layer__bits']
    """
    table = {name: entry for name, entry in OPTIONS.items() if entry.of_run}
    for option, (kinds, _) in KINDS.items():
        for name, part in kinds.items():
            if OPTIONS[option].of_run and part.__module__.startswith("kenyon."):
                table = _part_table(option, name, {}) | table
    return dict(sorted(table.items(), key=lambda item: (SEPARATOR in item[0], item[0])))


def default_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a run may set, with their defaults in plain form.

    Example:
        >>> default_options({"rule": "gen"})["rule__b2"], default_options({})["memory_budget"]
        (-1.0, 'off')
    """
    return {name: _plain(entry.default) for name, entry in option_table(given).items()}


def classifier_params(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of `KenyonClassifier` from a configuration.

    Example:
        >>> classifier_params({"rule": "gen", "rule__b2": -0.5, "memory_budget": "off"})
        {'rule': GEN(b1=0.0, b2=-0.5), 'memory_budget': None}
    """
    plain = common_names(plain)
    table = option_table(plain) | dict(OPTIONS)
    for name in plain:
        if name not in table:
            raise unknown("option", name, table)
    given = {name: None if _is_off(table[name], value) else value for name, value in plain.items()}
    params = {name: value for name, value in given.items() if SEPARATOR not in name}
    return with_nested(params, {name: value for name, value in given.items() if SEPARATOR in name})


def with_nested(params: Mapping[str, Any], nested: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with options of their parts set by nested names.

    Example:
        >>> with_nested({"layer": "second-order"}, {"layer__bits": 16})
        {'layer': SecondOrder(bits=16)}
    """
    changed = dict(params)
    for option in dict.fromkeys(name.partition(SEPARATOR)[0] for name in nested):
        if option not in KINDS:
            raise unknown("part", option, KINDS)
        own, value = options_below(option, nested), changed.get(option)
        if value is None or (isinstance(value, str) and value == "auto"):
            value = kind_for(option, own, changed)
        changed[option] = with_options(part_of(option, value), own, option)
    return changed


def _plain(value: Any) -> Any:
    if value is None:
        return "off"
    if isinstance(value, Part):
        return value.name
    return list(value) if isinstance(value, tuple) else value


def _is_off(entry: Option, value: Any) -> bool:
    return entry.off and isinstance(value, str) and value in ("off", "")


def named_parts(plain: Mapping[str, Any]) -> list[tuple[str, type[Part]]]:
    """The classes of the parts that a configuration names, with the name of each.

    Example:
        >>> named_parts({"rule": "gen"})
        [('gen', <class 'kenyon.rules._gen.GEN'>)]
    """
    named = {name: value for name, value in plain.items() if name.rpartition(SEPARATOR)[2] in KINDS}
    return [
        (value, class_named(value, *KINDS[name.rpartition(SEPARATOR)[2]], name))
        for name, value in named.items()
        if isinstance(value, str) and value not in ("auto", "off", "")
    ]


def with_options(part: P, options: Mapping[str, Any], what: str) -> P:
    """A part with other values of some options; nested names reach the parts inside it.

    Args:
        part: which part.
        options: by name; `rule__b1` is the option `b1` of the part's `rule`.
        what: the part's own name, in errors.
    """
    table = options_of(type(part))
    inner: dict[str, dict[str, Any]] = {}
    direct: dict[str, Any] = {}
    for key, value in options.items():
        own, _, below = key.partition(SEPARATOR)
        if own not in table:
            raise ConfigError(
                f"{what} {type(part).__name__} has no option {own!r}: it has {', '.join(table) or 'none'}"
                f"{nearest(own, table)}"
            )
        (inner.setdefault(own, {}) if below else direct)[below or own] = value
    part = dataclasses.replace(part, **direct)  # type: ignore[type-var]
    for own, below_own in inner.items():
        inside = getattr(part, own)
        if not isinstance(inside, Part):
            raise ConfigError(f"{what}.{own} is {inside!r}: expected a part, which has options of its own")
        part = dataclasses.replace(part, **{own: with_options(inside, below_own, f"{what}.{own}")})  # type: ignore[type-var]
    return part


def nested_options(part: Part, prefix: str) -> Iterator[tuple[str, Any]]:
    """Every option of a part under its nested name, those of parts inside it included."""
    for key in options_of(type(part)):
        value = getattr(part, key)
        yield f"{prefix}{SEPARATOR}{key}", value
        if isinstance(value, Part):
            yield from nested_options(value, f"{prefix}{SEPARATOR}{key}")
