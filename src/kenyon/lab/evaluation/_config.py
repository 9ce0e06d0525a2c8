"""A run's configuration: plain values, checked, with a name that follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kenyon.data.backbones import BackboneConfig
from kenyon.data.streams import Curriculum, Dataset, Stream, content_sum, from_arrays
from kenyon.errors import ConfigError, unknown
from kenyon.lab.evaluation._asking import ASKING
from kenyon.lab.evaluation._backbone import open_once
from kenyon.lab.evaluation._identity import id_of, identity
from kenyon.lab.evaluation._loop import TESTS
from kenyon.learners import LEARNERS, check_learner_config, what_learns
from kenyon.utils.events import Watch
from kenyon.utils.options import is_number
from kenyon.utils.wording import slug

_CURRICULUM_KEYS = tuple(f.name for f in fields(Curriculum) if f.name != "seed")
MOST_SEEDS = 100_000
_NAMED = ("dataset", "scenario")
_OWN_KEYS = (
    *("dataset", "learner", "weights_every", "tests", "backbone", "label", "domain", "prequential", "test_every"),
    *("compute_budget", "rate", "label_budget", "asking", "options"),
)
_PROTOCOL = ("label", "domain", "prequential", "test_every", "compute_budget", "rate", "label_budget", "asking")
"""Keys that are left out of a dictionary where they have their default: what ran without them keeps its name."""


@dataclass(frozen=True)
class RunConfig:
    """What is run: a data set, a curriculum over it, a learner. The seed comes on top.

    Attributes:
        dataset: a name or a path that `kenyon.data.streams.load_dataset` knows; or your own data as they are: a
            `Dataset`, a `Stream`, or samples and labels `(X, y)`. A store knows these by their content.
        learner: a name of `kenyon.learners.LEARNERS`, `module:Class`, or a class.
        curriculum: how the data set becomes a stream; its seed is set by the run.
        options: the learner's own options; what is not given has the learner's default.
        weights_every: samples between two records of the mean weights; None for about 100 records
            per run, 0 for none.
        tests: `"all"` tests every task after every task, `"seen"` only those learned so far,
            `"last"` only once at the end.
        backbone: a frozen network whose features take the place of the images: a name, or a table of the
            arguments of `kenyon.data.backbones.BackboneConfig`. None for the images themselves.
        label: the column of labels, where the data set is a table; None for "label".
        domain: the column of domains of a table, or "folder" for a folder of sessions (`load_dataset`).
        prequential: whether each sample is predicted before it is learned; False times learning alone.
        test_every: samples between two tests on the classes seen so far, for accuracy at any time; 0 for none.
        compute_budget: operations (multiply-adds) that the stream leaves time for between two samples; a learner that
            needs more misses samples. None for a stream that waits.
        rate: samples that arrive in a second; a learner that takes longer, by processor time, misses samples.
        label_budget: the share of samples whose label is given; the learner asks for them.
        asking: how: "uncertainty", "random", or "learner" for its own `asks_for(X, task)`.
        data: your own data, where `dataset` was not a name; `dataset` is then their name.

    Example:
        >>> config = RunConfig("digits", "ncm")
        >>> RunConfig.from_dict(config.to_dict()) == config
        True
        >>> config.folder_name(seed=0).startswith("digits-class-incremental-ncm-s0-")
        True
    """

    dataset: Any
    learner: Any = "kenyon"
    curriculum: Curriculum = field(default_factory=Curriculum)
    options: Mapping[str, Any] = field(default_factory=dict)
    weights_every: int | None = None
    tests: str = "all"
    backbone: str | Mapping[str, Any] | None = None
    label: str | None = None
    domain: str | None = None
    prequential: bool = True
    test_every: int = 0
    compute_budget: float | None = None
    rate: float | None = None
    label_budget: float | None = None
    asking: str = "uncertainty"
    data: Dataset | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        own = _own_data(self.dataset, self.curriculum)
        if own is not None:
            for name, value in zip(("dataset", "data", "curriculum"), own, strict=True):
                object.__setattr__(self, name, value)
        if isinstance(self.learner, type):
            object.__setattr__(self, "learner", _learner_name(self.learner))
        self._check_protocol()
        for name in ("dataset", "learner"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value or not _is_text(value):
                raise ConfigError(f"{name} is {value!a}: expected a name or a path, in UTF-8")
        if not isinstance(self.tests, str) or self.tests not in TESTS:
            raise unknown("value of tests", self.tests, TESTS)
        every = self.weights_every
        if every is not None and (type(every) is not int or every < 0):
            raise ConfigError(f"weights_every = {every!r}: expected an integer number of samples, 0 for no records")
        for name in ("label", "domain"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise ConfigError(f"{name} is {value!r}: expected the name of a column")
        if self.backbone is not None:
            object.__setattr__(self, "backbone", BackboneConfig.from_value(self.backbone).to_dict())
        given = {name: _plain(name, value) for name, value in self.options.items()}
        options = check_learner_config(self.learner, self.curriculum.scenario, given)
        object.__setattr__(self, "options", {name: _plain(name, value) for name, value in options.items()})

    def _check_protocol(self) -> None:
        if not isinstance(self.prequential, bool):
            raise ConfigError(f"prequential is {self.prequential!r}: expected true or false")
        if type(self.test_every) is not int or self.test_every < 0:
            raise ConfigError(f"test_every is {self.test_every!r}: expected an integer number of samples, 0 for none")
        for name, most in (("compute_budget", math.inf), ("rate", math.inf), ("label_budget", 1.0)):
            value = getattr(self, name)
            if value is None:
                continue
            if not is_number(value) or not 0 < value <= most or value == math.inf:
                limit = "" if most == math.inf else f" and at most {most:g}"
                raise ConfigError(f"{name} is {value!r}: expected a number above 0{limit}")
            object.__setattr__(self, name, float(value))
        if self.compute_budget is not None and self.rate is not None:
            raise ConfigError(f"compute_budget is {self.compute_budget:g} and rate is {self.rate:g}: expected one")
        if self.asking not in ASKING:
            raise unknown("asking", self.asking, ASKING)
        if self.asking != "uncertainty" and self.label_budget is None:
            raise ConfigError(f"asking is {self.asking!r} and label_budget is none: expected a share of labels")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """From the keys of a configuration file: the run's own and the curriculum's side by side, `[options]` below."""
        for key in values:
            if key not in config_keys():
                raise unknown("configuration key", key, config_keys())
        if "dataset" not in values:
            raise ConfigError("dataset is missing: name a data set, such as 'digits' or 'mnist'")
        options = values.get("options", {})
        if not isinstance(options, Mapping):
            raise ConfigError(f"options = {options!r}: expected a table of the learner's options")
        curriculum = Curriculum.from_dict({k: v for k, v in values.items() if k in _CURRICULUM_KEYS})
        own = {k: v for k, v in values.items() if k in _OWN_KEYS}
        return cls(**own, curriculum=curriculum)

    def to_dict(self) -> dict[str, Any]:
        """Every key with its value, as `from_dict` takes them."""
        curriculum = {k: v for k, v in self.curriculum.to_dict().items() if k != "seed"}
        own = {"dataset": self.dataset, "learner": self.learner}
        rest = {"weights_every": self.weights_every, "tests": self.tests, "options": dict(self.options)}
        backbone = {"backbone": self.backbone} if self.backbone else {}  # what ran without one keeps its name
        defaults = {f.name: f.default for f in fields(self)}
        protocol = {name: getattr(self, name) for name in _PROTOCOL if getattr(self, name) != defaults[name]}
        return own | curriculum | backbone | protocol | rest

    def run_id(self, seed: int) -> str:
        """SHA-256 of `identity` and the seed; 12 hex digits."""
        return id_of(self.identity, seed)

    @property
    def identity(self) -> dict[str, Any]:
        """What the id is made of besides the seed: the configuration, and the content of a data set of your own.

        The content is looked up at each use, since a file may be edited; see `RunJob.identity`.
        """
        content = content_sum(self.dataset) if self.data is None else self._data_sum
        return self._identity | ({"content": content} if content else {})

    @cached_property
    def _data_sum(self) -> str:
        assert self.data is not None
        return self.data.content_sum()

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return identity(self)

    def folder_name(self, seed: int, identity: Mapping[str, Any] | None = None) -> str:
        """A readable name that no other configuration and seed share; `identity` is given where it is known."""
        words = [Path(self.dataset).stem, self.curriculum.scenario, self.learner, what_learns(self.options)]
        own = id_of(self.identity if identity is None else identity, seed)
        return f"{slug(*(word for word in words if isinstance(word, str)))}-s{seed}-{own}"

    def open(
        self,
        data_dir: Path | str | None = None,
        watch: Watch | None = None,
        identity: Mapping[str, Any] | None = None,
    ) -> Dataset:
        """Open the data set, with its columns and its backbone: the only way to the samples of a configuration.

        Args:
            data_dir: where the data sets are; None for the usual place.
            watch: is notified of images that go through the backbone.
            identity: `self.identity`, where it is known: the content of a file is then not looked up again.
        """
        if self.data is not None:
            if self.backbone:
                raise ConfigError("backbone and data are given: expected features, or images by name or path")
            return self.data
        content = content_sum(self.dataset) if identity is None else identity.get("content")
        return open_once(self.dataset, data_dir, self.backbone, (self.label, self.domain), content, watch)


def config_keys() -> tuple[str, ...]:
    """Every key a configuration may have, besides `seeds`.

    Example:
        >>> "scenario" in config_keys()
        True
    """
    return _OWN_KEYS[:2] + _CURRICULUM_KEYS + _OWN_KEYS[2:]


def parse_seeds(value: int | str | Sequence[int]) -> tuple[int, ...]:
    """`5` is seeds 0 to 4; a list, or text such as `0,3,7` or `3,` (that one alone), is those seeds.

    Example:
        >>> parse_seeds(3), parse_seeds("0,3,7"), parse_seeds("3,")
        ((0, 1, 2), (0, 3, 7), (3,))
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, str):
            value = [int(part) for part in value.removesuffix(",").split(",")] if "," in value else int(value)
        if isinstance(value, int) and value > MOST_SEEDS:
            raise ValueError
        seeds = tuple(range(value)) if isinstance(value, int) else tuple(value)
        integers = all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
        if not integers or not seeds or len(set(seeds)) < len(seeds):
            raise ValueError
    except (TypeError, ValueError):
        raise ConfigError(
            f"seeds = {repr(value)[:100]}: expected how many (5, at most {MOST_SEEDS:,}), or different integers "
            "from 0 up (0,3,7; one alone is 3,)"
        ) from None
    return seeds


def labels(configs: Sequence[RunConfig]) -> list[str]:
    """A short name for each configuration: its learner, and the values that are given and not the same in all.

    Example:
        >>> labels([RunConfig("digits", options={"n_hidden": n}) for n in (100, 200)])
        ['kenyon n_hidden=100', 'kenyon n_hidden=200']
    """
    values = [_values(config) for config in configs]
    names = []
    for config, own in zip(configs, values, strict=True):
        others = [other for other, one in zip(values, configs, strict=True) if one.learner == config.learner]
        given = {key: None for one in configs if one.learner == config.learner for key in one.identity["options"]}
        keys = [key for key in own if key in given or key not in config.options]
        keys = [key for key in keys if any(other.get(key) != own[key] for other in others)]
        stream = [str(own[key]) for key in _NAMED if key in keys]
        names.append(" ".join([config.learner, *stream, *(f"{key}={own[key]}" for key in keys if key not in _NAMED)]))
    return names


def _values(config: RunConfig) -> dict[str, Any]:
    values = {key: value for key, value in config.to_dict().items() if key not in ("learner", "options")}
    return {**values, "dataset": Path(config.dataset).stem, **config.options}


def _own_data(value: Any, curriculum: Curriculum) -> tuple[str, Dataset, Curriculum] | None:
    """The name of your own data, the data as a data set, and their curriculum; None for a name or a path."""
    if isinstance(value, Stream):
        if curriculum not in (Curriculum(), value.curriculum):
            raise ConfigError("curriculum is given with a Stream, which has its own: expected one of them")
        return value.dataset.name, value.dataset, value.curriculum
    if isinstance(value, tuple) and len(value) in (2, 4):
        value = from_arrays(*value)
    if isinstance(value, Dataset):
        return value.name, value, curriculum
    if isinstance(value, list | tuple | np.ndarray):
        raise ConfigError(
            f"dataset is {repr(value)[:60]}: expected a name or a path, or a Dataset, a Stream, (X, y) or "
            "(X, y, X_test, y_test)"
        )
    return None


def _learner_name(cls: type) -> str:
    """The name that a class can be found by again: of the table, or `module:Class`."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    if "<locals>" in name:
        raise ConfigError(f"learner is the class {cls.__qualname__}: expected one at the top level of a module")
    return next((spec.name for spec in LEARNERS.values() if spec.target == name), name)


def _is_text(value: str) -> bool:
    """Whether a text can be written to a file; a path that is not UTF-8 cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(name: str, value: Any) -> Any:
    """A value as JSON and TOML know it."""
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ConfigError(f"options.{name} = {value!r}: expected a plain value (text, number, list or table)")
