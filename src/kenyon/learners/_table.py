"""The table of learners: ours, the baselines, and any class named as `module:Class`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from kenyon.data.protocol import Learner, LearnerSpec, StreamInfo
from kenyon.data.streams import SCENARIOS
from kenyon.errors import ConfigError, MissingExtraError, unknown
from kenyon.learners._checks import check_class, check_instance, check_types
from kenyon.learners.baselines import BASELINES, tuned_values
from kenyon.utils.options import is_outside
from kenyon.utils.outside import load_class

KENYON = LearnerSpec(
    name="kenyon",
    target="kenyon.learners._kenyon:KenyonLearner",
    scenarios=tuple(SCENARIOS),
    memory="none",
    reference="Madireddy, Yanguas-Gil & Balaprakash, Neuromodulated Neural Architectures, 2021",
    summary="sparse random features and local learning rules, one pass, no replay",
)

LEARNERS: dict[str, LearnerSpec] = {KENYON.name: KENYON} | dict(BASELINES)
"""The learners by name, ours first."""


def find_learner(name: str) -> LearnerSpec:
    """The row of a learner.

    Args:
        name: a name of the table, or `module:Class` for a class outside it, which then counts as
            defined for every scenario.

    Example:
        >>> find_learner("der++").memory
        'replay'
    """
    if isinstance(name, str) and name in LEARNERS:
        return LEARNERS[name]
    if is_outside(name):
        return LearnerSpec(name, name, tuple(SCENARIOS), "unknown", "", "a learner from outside the package")
    raise unknown("learner", name, LEARNERS)


def learner_class(name: str) -> type:
    """Import a learner's class; an optional dependency that is missing is named with its extra.

    Example:
        >>> learner_class("ncm").__name__
        'NCM'
    """
    spec = find_learner(name)
    if is_outside(name):
        cls = load_class(name, "learner")
        check_class(name, cls)
        return cls
    module, _, attribute = spec.target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if name in BASELINES and error.name and not error.name.startswith("kenyon"):
            raise MissingExtraError(
                f"the learner {name!r} needs {error.name!r}, which is not installed: pip install 'kenyon[baselines]'"
            ) from error
        raise


def learner_options(name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The options of a learner with their defaults.

    They are read off its constructor, all but `info` and `seed`; a class whose options depend on one another says
    them itself by a class method `default_options(given)`.

    Example:
        >>> learner_options("ncm")
        {'metric': 'euclidean', 'batch_size': 1}
        >>> learner_options("kenyon", {"rule": "gen"})["rule__b2"]
        -1.0
    """
    cls = learner_class(name)
    if hasattr(cls, "default_options"):
        return dict(cls.default_options(given or {}))
    parameters = list(inspect.signature(cls).parameters.values())[2:]
    named = [p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return {p.name: None if p.default is p.empty else p.default for p in named}


def learner_descriptions(name: str) -> dict[str, str]:
    """What the options of a learner mean: from its own table of options, or from the `Args` of its docstring.

    Example:
        >>> learner_descriptions("ncm")["metric"]
        '`"euclidean"` or `"cosine"`.'
    """
    cls = learner_class(name)
    if hasattr(cls, "every_option"):
        return {key: entry.description for key, entry in cls.every_option().items()}
    pattern = r"^    (\w[\w, ]*): (.*(?:\n {8,}.*)*)"
    texts = (inspect.cleandoc(base.__doc__ or "") for base in reversed(cls.__mro__))
    found = re.findall(pattern, "\n".join(texts), re.MULTILINE)
    return {key.strip(): " ".join(text.split()) for keys, text in found for key in keys.split(",")}


def what_learns(plain: Mapping[str, Any]) -> str | None:
    """The rule of a configuration, else its layer, for the names of runs; None where both are left open.

    Example:
        >>> what_learns({"rule": "auto", "layer": "second-order"})
        'second-order'
    """
    given = (plain.get(name) for name in ("rule", "layer"))
    return next((value for value in given if isinstance(value, str) and value != "auto"), None)


def tuned_options(name: str, scenario: str) -> dict[str, dict[str, float]]:
    """Values that a learner was tuned to in a scenario, by kind of data, which no option says; empty for most.

    Example:
        >>> sorted(tuned_options("er", "class-incremental"))
        ['digits', 'mnist']
    """
    return tuned_values(name, scenario) if name in BASELINES else {}


def check_learner_config(name: str, scenario: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse a scenario or an option that a learner does not have; return all its options, defaults filled in.

    An integer given for an option whose default is a fraction becomes one, so that `1` and
    `1.0` are the same configuration.

    Example:
        >>> check_learner_config("kenyon", "class-incremental", {"features": "dense", "features__units": 9})["n_hidden"]
        9
    """
    spec = find_learner(name)
    if scenario not in spec.scenarios:
        raise ConfigError(f"scenario = {scenario!r}: the learner {name!r} is defined for {', '.join(spec.scenarios)}")
    common = getattr(learner_class(name), "common_options", dict)
    options = common(options)
    defaults = learner_options(name, options)
    for key in options:
        if key not in defaults:
            raise unknown(f"option of the learner {name!r}", key, defaults)
    if not hasattr(learner_class(name), "default_options"):
        check_types(name, learner_class(name), options)
    given = {
        key: float(value) if isinstance(defaults[key], float) and type(value) is int and abs(value) < 2**63 else value
        for key, value in options.items()
    }
    return defaults | given


def make_learner(name: str, info: StreamInfo, seed: int, scenario: str, **options: Any) -> Learner:
    """Build a learner for a stream.

    Example:
        >>> from kenyon.data.streams import Curriculum, load_dataset
        >>> stream = Curriculum("class-incremental").open(load_dataset("digits"))
        >>> learner = make_learner("kenyon", stream.info, seed=0, scenario="class-incremental", n_hidden=500)
        >>> learner.learn(*stream.episodes[0].train())
        >>> learner.predict(stream.episodes[0].test()[0][:3]).shape
        (3,)
    """
    check_learner_config(name, scenario, options)
    learner = learner_class(name)(info, seed, **options)
    if is_outside(name):
        check_instance(name, learner)
    return learner
