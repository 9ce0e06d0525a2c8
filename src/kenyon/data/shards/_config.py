"""What is learned from files: the options of the classifier, and how the columns of a file are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, unknown
from kenyon.model.options import OPTIONS
from kenyon.model.plain import classifier_params, common_names, option_table
from kenyon.utils.system import read_toml


@dataclass(frozen=True)
class LearnConfig:
    """A configuration of `kenyon learn`.

    Attributes:
        options: of the classifier, plain values as in `kenyon run`.
        seed: what the features are drawn from.
        label: the column of the labels.
        features: the columns of the features, in this order; empty for all columns but the label's and those in
            `drop`, in the order of the first file. Columns are found by name, in whatever order a file has them.
        drop: columns that are not features.
        classes: labels that are known from the start, and numbered in this order; others are numbered as they come.
        as_bytes: features are integers from 0 to 255 and learned as bytes, whatever their type in the file.
            Columns that are bytes in the file are learned as bytes anyway.

    Example:
        >>> LearnConfig(options={"layer": "counting", "layer__cap": 0.2}, label="digit").classifier().layer
        Counting(cap=0.2)
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    label: str = "label"
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    classes: tuple[Any, ...] = ()
    as_bytes: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", common_names(self.options))
        table = {**OPTIONS, **option_table(self.options)}
        for name in self.options:
            if name not in table or name in ("random_state", "n_jobs", "epochs"):
                raise unknown("option", name, [key for key in table if key not in ("random_state", "n_jobs", "epochs")])
        if type(self.seed) is not int or not 0 <= self.seed < 1 << 32:
            raise ConfigError(f"seed = {self.seed!r}: expected an integer from 0 to 2**32 - 1")
        if not isinstance(self.label, str) or not self.label:
            raise ConfigError(f"label = {self.label!r}: expected the name of a column")
        for name in ("features", "drop"):
            _check_names(name, getattr(self, name), self.label)
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.features and self.drop:
            raise ConfigError(
                f"features and drop are both given: expected one of them, drop = {list(self.drop)!r} or none"
            )
        if not isinstance(self.classes, (list, tuple)) or len(set(self.classes)) < len(self.classes):
            raise ConfigError(f"classes = {self.classes!r}: expected different labels")
        if not isinstance(self.as_bytes, bool):
            raise ConfigError(f"as_bytes = {self.as_bytes!r}: expected true or false")
        object.__setattr__(self, "classes", tuple(self.classes))
        params = classifier_params(self.options)
        for name, value in params.items():
            OPTIONS[name].check(value)

    @property
    def absent(self) -> bool:
        """Whether an empty cell is an absent value."""
        return self.options.get("missing") == "absent"

    def classifier(self) -> KenyonClassifier:
        """A classifier that has learned nothing."""
        return KenyonClassifier(**classifier_params(self.options), random_state=self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as a file of JSON holds them."""
        return {**asdict(self), "options": dict(self.options)} | {
            name: list(getattr(self, name)) for name in ("features", "drop", "classes")
        }


def _check_names(name: str, value: Any, label: str) -> None:
    """Refuse anything but a list of different names without the label's column."""
    names = list(value) if isinstance(value, (list, tuple)) else [None]
    if not all(isinstance(one, str) for one in names) or len(set(names)) < len(names):
        raise ConfigError(f"{name} = {value!r}: expected a list of different names of columns")
    if label in names:
        raise ConfigError(f"{name} = {value!r} has the column of the labels, {label!r}: expected others")


def read_learn_config(path: Path) -> LearnConfig:
    r"""The configuration in a TOML file: the classifier's `[options]`, and the other attributes of `LearnConfig`.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("learn.toml").write_text('label = "digit"\n[options]\nlayer = "second-order"\n')
        >>> read_learn_config(Path("learn.toml")).label
        'digit'
    """
    values = read_toml(path)
    known = [one.name for one in fields(LearnConfig)]
    for key in values:
        if key not in known:
            raise unknown(f"key of {path}", key, known)
    if not isinstance(values.get("options", {}), Mapping):
        raise ConfigError(f"{path}: options = {values['options']!r}: expected a table of the classifier's options")
    return LearnConfig(**values)
