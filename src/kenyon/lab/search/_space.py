"""The search space: parameters with bounds, some of which exist only under a choice or a switch.

A point is a mapping from every parameter's name to its value, NaN where the parameter is inactive.
The names are those of the learner's options; `gen.rule__b1` is the option `rule__b1` under the rule `gen`,
`plastic.windows.features__shifts` is the shifts of windows before a plastic layer, and `layer__decay_on` is the switch
of a decay that can be off. Options that every configuration shares are no parameters: they are `fixed`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from kenyon.errors import ConfigError, unknown
from kenyon.model.options import OPTIONS
from kenyon.utils.options import is_number

NAN = float("nan")
Point = dict[str, Any]
_KEYS = ("values", "low", "high", "log", "off", "with")

SPACES = {"rules": "space.toml", "bytes": "space_bytes.toml"}
"""The spaces that come with the package: rules and their parameters, and what a memory budget is spent on."""


@dataclass(frozen=True)
class Parameter:
    """One dimension of the space.

    Attributes:
        name: its column in every record.
        option: the option of the learner that it sets; None for a switch.
        values: the choices of a categorical parameter; empty for a number.
        low, high: bounds of a number, both included.
        log: whether it is drawn evenly on a logarithmic scale.
        parent: name and value of the categorical parameter it depends on; active only at that value
            (and where the parent is itself active).
        off: the value of the option where the parameter is inactive but its switch is not; None for no value.

    Example:
        >>> import numpy as np
        >>> rate = Parameter("learning_rate", "learning_rate", low=0.001, high=1.0, log=True)
        >>> 0.001 <= rate.draw(np.random.default_rng(0)) <= 1.0
        True
    """

    name: str
    option: str | None
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    parent: tuple[str, Any] | None = None
    off: Any = None

    @property
    def is_integer(self) -> bool:
        return not self.values and isinstance(self.low, int) and isinstance(self.high, int)

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a random value from the parameter's distribution."""
        if self.values:
            return self.values[int(rng.integers(len(self.values)))]
        if self.is_integer and not self.log:
            return int(rng.integers(int(self.low), int(self.high), endpoint=True))
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = float(rng.uniform(low, high))
        value = math.exp(value) if self.log else value
        value = min(max(value, self.low), self.high)
        return round(value) if self.is_integer else value

    def parse(self, text: str) -> Any:
        """Read a value that `str` or `repr` wrote."""
        if text == "nan":
            return NAN
        if self.values:
            return {str(value): value for value in self.values}[text]
        return int(text) if self.is_integer else float(text)


@dataclass(frozen=True)
class Space:
    """The parameters; parents come before their children.

    Example:
        >>> import numpy as np
        >>> space = parse_space(default_space()).only("mse")
        >>> options = space.options(space.draw(np.random.default_rng(0)))
        >>> options["rule"]
        'mse'
    """

    parameters: tuple[Parameter, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> Parameter:
        """The choice that comes first, of a rule or a layer: everything else may depend on it."""
        return self.parameters[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def __getitem__(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def draw(self, rng: np.random.Generator) -> Point:
        """A random point; inactive parameters are NaN."""
        return self.mask({parameter.name: parameter.draw(rng) for parameter in self.parameters})

    def mask(self, point: Mapping[str, Any]) -> Point:
        """The point with NaN for every inactive parameter, whatever value it came with."""
        masked: Point = {}
        for parameter in self.parameters:
            parent = parameter.parent
            masked[parameter.name] = point[parameter.name] if parent is None or masked[parent[0]] == parent[1] else NAN
        return masked

    def only(self, first: str) -> Space:
        """The space of one rule, or whatever comes first: that alone, and what can be active under it."""
        root = self.root.name
        kept: list[Parameter] = []
        for parameter in self.parameters:
            if parameter.name == root:
                kept.append(replace(parameter, values=(first,)))
            elif parameter.parent is None or any(
                parameter.parent[0] == p.name and (p.name != root or parameter.parent[1] == first) for p in kept
            ):
                kept.append(parameter)
        return Space(tuple(kept), self.fixed)

    def options(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The learner's options that a point stands for."""
        options: dict[str, Any] = dict(self.fixed)
        for parameter in self.parameters:
            if parameter.option is None:
                continue
            value = point[parameter.name]
            if not _missing(value):
                options[parameter.option] = value
            elif parameter.off is not None and parameter.parent and point[parameter.parent[0]] == "no":
                options[parameter.option] = parameter.off
        return options


def _missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def default_space(name: str = "rules") -> str:
    """The text of a space that comes with the package, one of `SPACES`.

    Example:
        >>> "learning_rate" in default_space(), "second-order" in default_space("bytes")
        (True, True)
    """
    if name not in SPACES:
        raise unknown("search space", name, SPACES)
    return files("kenyon.lab.search").joinpath(SPACES[name]).read_text(encoding="utf-8")


def with_budget(text: str, budget: str) -> str:
    """The text of a space in which every configuration has this memory budget.

    Example:
        >>> parse_space(with_budget(default_space("bytes"), "80KB"))["memory_budget"].values
        ('80KB',)
    """
    OPTIONS["memory_budget"].check(budget)
    rest = re.sub(r"^\[memory_budget\].*\n((?!\[).*\n)*", "", text, flags=re.MULTILINE)
    return f"{rest.rstrip()}\n\n[memory_budget]\nvalues = [{json.dumps(budget)}]\n"


def load_space(path: Path | str, check: bool = True) -> Space:
    """The space of a TOML file.

    Args:
        check: whether rules and options must exist; a rule from outside the package is imported for it.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("space.toml").write_text(default_space())
        >>> len(load_space("space.toml").parameters) == len(parse_space(default_space()).parameters)
        True
    """
    try:
        return parse_space(Path(path).read_text(encoding="utf-8"), str(path), check)
    except OSError as error:
        raise ConfigError(f"the search space {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"the search space {path} is not TOML: {error}") from error


def parse_space(text: str, source: str = "the search space", check: bool = True) -> Space:
    """The space of a TOML document; refuses a name that is neither an option of the learner nor a rule.

    Args:
        text: the document.
        source: what it is called in errors.
        check: whether rules and options must exist; a rule from outside the package is imported for it.

    Example:
        >>> space = parse_space(default_space())
        >>> space.names[:3]
        ('rule', 'n_hidden', 'features__density')
    """
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError, or a date that does not exist
        raise ConfigError(f"{source} is not TOML: {error}") from error
    root = next((name for name in ("rule", "layer") if name in tables), "rule")
    if not isinstance(tables.get(root), Mapping) or not tables[root].get("values"):
        raise ConfigError(f'{source} has no [rule] with values = [...]: name at least one rule, such as ["gen"]')
    fixed = {name: value for name, value in tables.items() if not isinstance(value, Mapping)}
    found = _parameters(root, root, tables.pop(root), None)
    _read({name: table for name, table in tables.items() if name not in fixed}, "", None, fixed, found, check)
    if check:
        _check_parts(found, fixed)
    return Space(tuple(found), fixed)


def _read(
    tables: Mapping[str, Any],
    prefix: str,
    parent: tuple[str, Any] | None,
    chosen: Mapping[str, Any],
    found: list[Parameter],
    check: bool,
) -> None:
    """Add the parameters of tables to those found so far.

    Args:
        prefix: what the names of this part of the space begin with; the choices it lies under.
        parent: the innermost of these choices, as a parameter and a value.
        chosen: options that are fixed, and those that they are choices of.
        check: whether every name must be an option of the learner.
    """
    from kenyon.rules import RULES

    for name, table in tables.items():
        choice = next((p for p in found if p.name.rpartition(".")[0] == prefix[:-1] and name in _words(p)), None)
        if choice is not None and isinstance(table, Mapping):
            value = choice.values[_words(choice).index(name)]
            _read(table, f"{prefix}{name}.", (choice.name, value), {**chosen, str(choice.option): value}, found, check)
        elif name not in RULES:  # parameters of a rule that is not searched have nothing to say
            if check:
                options = _options({**chosen, name: None}, prefix, found)
                if name not in options:
                    raise unknown("option in the search space", name, options)
            own = _parent(f"{prefix}{name}", table, prefix, found) or parent
            found += _parameters(f"{prefix}{name}", name, table, own)


def _options(chosen: Mapping[str, Any], prefix: str, found: list[Parameter]) -> set[str]:
    """The options that the learner can have: under what is chosen, and each choice of a part beside it."""
    from kenyon.learners import learner_options
    from kenyon.model.plain import KINDS

    beside = [
        p for p in found if p.option in KINDS and p.option not in chosen and prefix.startswith(p.name[: -len(p.option)])
    ]
    options = set(learner_options("kenyon", chosen))
    for parameter in beside:
        for value in parameter.values:
            options |= set(learner_options("kenyon", {**chosen, str(parameter.option): value}))
    return options


def _words(parameter: Parameter) -> list[str]:
    """The choices of a parameter as the names of tables."""
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in parameter.values]


def _check_parts(parameters: list[Parameter], fixed: Mapping[str, Any]) -> None:
    """Refuse names of parts that do not exist, and fixed options that the learner does not have."""
    from kenyon.learners import learner_options
    from kenyon.model.plain import KINDS, named_parts

    for parameter in parameters:
        for value in parameter.values if parameter.option in KINDS else ():
            named_parts({str(parameter.option): value})
    options = learner_options("kenyon", fixed)
    for name in fixed:
        if name not in options:
            raise unknown("option in the search space", name, options)


def _parent(name: str, table: Any, prefix: str, before: list[Parameter]) -> tuple[str, Any] | None:
    """The switch and its state that `with` names; None without `with`, or where the option has no switch."""
    if not isinstance(table, Mapping) or "with" not in table:
        return None
    found = next((p for p in before if p.name == f"{prefix}{table['with']}"), None)
    if found is None:
        raise ConfigError(
            f"search space: [{name}] has with = {table['with']!r}: expected an option in a table above it"
        )
    return found.parent


def _parameters(name: str, option: str, table: Any, parent: tuple[str, Any] | None) -> list[Parameter]:
    """The parameter of a table, after its switch where it has one."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"search space: {name} = {table!r}: expected a table with values, or low and high")
    for key in table:
        if key not in _KEYS:
            raise unknown(f"key of [{name}] in the search space", key, _KEYS)
    choices = table.get("values", [])
    if not isinstance(choices, list) or not all(isinstance(choice, str | int | float) for choice in choices):
        raise ConfigError(f"search space: [{name}] has values = {choices!r}: expected a list of texts and numbers")
    values, switch = tuple(choices), []
    if "off" in table:
        switch = [Parameter(f"{name}_on", None, ("yes", "no"), parent=parent)]
        parent = (f"{name}_on", "yes")
    if values:
        return [*switch, Parameter(name, option, values, parent=parent, off=table.get("off"))]
    low, high, log = table.get("low"), table.get("high"), bool(table.get("log", False))
    numbers = all(is_number(v) and abs(v) < 2**63 for v in (low, high))  # type: ignore[arg-type]
    if not numbers or not low < high:  # type: ignore[operator]
        raise ConfigError(
            f"search space: [{name}] has low = {low!r}, high = {high!r}: expected numbers, low below high"
        )
    if log and low <= 0:  # type: ignore[operator]
        raise ConfigError(f"search space: [{name}] is logarithmic with low = {low!r}: expected a positive number")
    return [*switch, Parameter(name, option, (), low, high, log, parent, table.get("off"))]  # type: ignore[arg-type]
