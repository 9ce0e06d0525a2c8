"""The options of the classifier, each declared once: its default, what it may be, and what it means.

The constructor of `KenyonClassifier`, the command line, configuration files, presets, the search and the
documentation all read this table. To add an option, add a field here and use it where it acts.

>>> OPTIONS["clamp_kind"].wanted
'one of symmetric, positive'
>>> isinstance(OPTIONS["clamp_kind"], Option), options_of(ClassifierOptions) == OPTIONS
(True, True)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from kenyon.errors import ConfigError
from kenyon.utils.kinds import CHECKS, WANTED

if TYPE_CHECKING:
    import numpy as np

    from kenyon.utils.modulation import Moving

__all__ = ["OPTIONS", "ClassifierOptions", "Option", "describe", "option", "options_of"]


@dataclass(frozen=True)
class Option:
    """One option: what it is called, what it may be, what it means.

    Attributes:
        name: the same name everywhere.
        default: its value where none is given.
        meaning: one sentence.
        kind: `number`, `whole`, `share` (of the inputs, or a count), `choice`, `flag`, `size`, `widths`, `moving`
            (a number, a schedule or a function of time), `weights` (a number for each label) or `rule`.
        low, high: bounds of a number, both included.
        choices: what a `choice` may be.
        allowed: what a whole number may be, where there are few.
        auto: whether `"auto"` is allowed: settled when the first sample is learned.
        off: whether None (`"off"` in a file) is allowed.
        of_run: whether a run may set it; the others follow from the stream and the seed.
        added: whether it came after the first version of the model file, which then does not have it at its default.
    """

    name: str
    default: Any
    meaning: str
    kind: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    allowed: tuple[int, ...] = ()
    auto: bool = False
    off: bool = False
    of_run: bool = True
    added: bool = False

    def check(self, value: Any) -> Any:
        """The value in its plain form, or an error that names the value seen and the values wanted."""
        if (self.off and value is None) or (self.auto and isinstance(value, str) and value == "auto"):
            return value
        return CHECKS[self.kind](self, value)

    @property
    def wanted(self) -> str:
        """What the option may be, in words."""
        words = [WANTED[self.kind](self)]
        words += ["None for off"] if self.off else []
        words += ["'auto'"] if self.auto else []
        return ", or ".join(words)

    def refuse(self, value: Any) -> ConfigError:
        """The error for a value that it cannot be."""
        return ConfigError(f"{self.name} is {value!r}: expected {self.wanted}")


def option(default: Any, meaning: str, kind: str, **more: Any) -> Any:
    """A dataclass field that carries its `Option`.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Mine:
        ...     leak: float = option(0.5, "Share of a weight that is lost at every step.", "number", low=0.0, high=1.0)
        >>> options_of(Mine)["leak"].wanted
        'a number from 0 to 1'
    """
    return field(default=default, metadata={"option": {"meaning": meaning, "kind": kind, **more}})


def options_of(cls: type) -> dict[str, Option]:
    """The options that a dataclass declares, by name; a field without a declaration is a plain number."""
    table = {}
    for entry in dataclasses.fields(cls):
        declared = entry.metadata.get("option", {"meaning": "", "kind": "moving"})
        default = None if entry.default is dataclasses.MISSING else entry.default
        table[entry.name] = Option(entry.name, default, **declared)
    return table


@dataclass(eq=False, repr=False)
class ClassifierOptions:
    """The constructor of `KenyonClassifier`. Values are stored as they are, and checked when learning begins."""

    rule: Any = option("gen", "Plasticity rule: a name, module:Class, or a Rule such as GEN(b1=0.0).", "rule")
    _: KW_ONLY
    n_hidden: int | str = option(
        "auto",
        "Units of the feature layer; 'auto' is 11,000, about 200 for float samples of few inputs, or what "
        "memory_budget has room for.",
        "whole", auto=True,
    )  # fmt: skip
    density: float | int | str = option(
        "auto",
        "Inputs of each unit: a share of the inputs (a fraction) or a count (a whole number); "
        "'auto' is a quarter of them, 32 at the most.",
        "share",
        auto=True,
    )
    inhibitory: float | str = option(
        "auto",
        "Share of a unit's inputs that inhibit it; 'auto' is none, or half of them in windows.",
        "number", low=0.0, high=1.0, auto=True,
    )  # fmt: skip
    threshold: float | str | None = option(
        "auto",
        "Threshold of the feature layer, in standard deviations of the sample's own projection; 'auto' is 2.3, 1.6 in "
        "windows, and none before a second-order layer.",
        "number", low=-100.0, high=100.0, auto=True, off=True,
    )  # fmt: skip
    learning_rate: Moving | str = option(
        "auto", "Learning rate: a number, a schedule or a function of time; 'auto' is the rule's own.", "moving",
        low=0.0, high=100.0, auto=True,
    )  # fmt: skip
    decay: float = option(
        0.0, "The learning rate falls with time t as rate / (1 + decay * t).", "number", low=0.0, high=1e6, added=True
    )
    clamp: float | str | None = option(
        "auto", "Largest weight; 'auto' is the rule's own.", "number", low=0.0, auto=True, off=True
    )
    clamp_kind: str = option(
        "symmetric", "Weights lie in [-clamp, clamp] or in [0, clamp].", "choice", choices=("symmetric", "positive")
    )
    initial_weight: float | str = option(
        "auto", "Weights of a neuron that has not learned yet, within the clamp; 'auto' is the rule's own.", "number",
        low=-100.0, high=100.0, auto=True, added=True,
    )  # fmt: skip
    hidden_layers: Sequence[int] = option(
        (), "Widths of learning layers between the features and the output.", "widths"
    )
    hidden_signal: str = option(
        "auto",
        "What a hidden layer learns from: its own error, or random codes of the classes by the rule, as in earlier "
        "versions; 'auto' is its own error.",
        "choice", choices=("errors", "codes"), auto=True, added=True,
    )  # fmt: skip
    hidden_rate: float = option(
        1.0, "Learning rate of hidden layers that learn from their own error.", "number", low=0.0, high=1e6, added=True
    )
    front: Any = option(
        None,
        "Front end for the samples of a sensor, Spectra() or Motion(): recordings are then taken, and streams by "
        "listen; shape, axes, window and shifts that are left open are its own.",
        "front", off=True, added=True, of_run=False,
    )  # fmt: skip
    features: str = option(
        "auto",
        "Feature layer: a sparse projection, windows for samples with a shape, ramps or a dense projection before a "
        "second-order layer, or none (identity); 'auto' is windows where a shape is given, ramps for float samples "
        "without one, else sparse.",
        "choice", choices=("sparse", "windows", "ramps", "dense", "identity"), auto=True,
    )  # fmt: skip
    shape: Sequence[int] | None = option(
        None, "Shape of a sample, such as (28, 28), for windows.", "shape", off=True, added=True
    )
    scale: bool | str = option(
        "auto",
        "Take inputs in standard deviations, by running moments that are part of the state; 'auto' is yes for float "
        "samples whose features are left open, or that are series, and no for bytes and images. With 'auto', images in "
        "other numbers than bytes become bytes, each by its own range; with False they are expected from 0 to 1.",
        "flag", auto=True, added=True,
    )  # fmt: skip
    missing: str = option(
        "error",
        "What NaN in a sample is: an error, or an absent value that is as good as the mean (with scale).",
        "choice", choices=("error", "absent"), added=True,
    )  # fmt: skip
    axes: str = option(
        "auto",
        "What the axes of the shape are: t for time, h and w for height and width, c for channels; 'auto' is t, hw, "
        "and chw or hwc, whichever end is short.",
        "choice", choices=("t", "hw", "tc", "ct", "hwc", "chw"), auto=True, added=True,
    )  # fmt: skip
    window: int | str = option(
        "auto", "Entries of a window along time, or height and width; 'auto' goes with the shape.", "whole",
        auto=True, added=True,
    )  # fmt: skip
    shifts: int | str = option(
        "auto", "How far a window may be shifted along each axis; 'auto' goes with the shape.", "whole", low=0,
        auto=True, added=True,
    )  # fmt: skip
    pooling: str = option(
        "auto",
        "What a unit answers with: the best response over the shifts, or the sum of the positive ones; 'auto' is max, "
        "and sum before a second-order layer.",
        "choice", choices=("max", "sum"), auto=True, added=True,
    )  # fmt: skip
    signs: str = option(
        "auto",
        "Signs of a window's inputs: random, or oriented along a line; 'auto' is random, and oriented before a "
        "second-order layer where there is one channel.",
        "choice", choices=("random", "oriented"), auto=True, added=True,
    )  # fmt: skip
    layer: str = option(
        "auto",
        "Learning layer: plastic (a rule), counting (the rule mean in sums that add up exactly), second-order "
        "(co-activity and a readout that is solved when asked), or module:Class; 'auto' is plastic, or second-order "
        "where the rule is left open and samples are floats or a memory budget is given with a shape.",
        "layer", choices=("plastic", "counting", "second-order"), auto=True, added=True,
    )  # fmt: skip
    bits: int | str = option(
        "auto",
        "Bits of a synapse: 8, 4, 3 or 2 for a rule that can learn with few, 32, 24 or 16 in a second-order layer; "
        "'auto' is 32, or what the memory budget is best spent on.",
        "whole", allowed=(2, 3, 4, 8, 16, 24, 32), auto=True, added=True,
    )  # fmt: skip
    arithmetic: str = option(
        "auto",
        "Arithmetic of learning: floats, or whole numbers from bytes to scores, which a device can go on with; 'auto' "
        "is whole numbers where a memory budget chooses few bits and the samples are bytes or images.",
        "choice", choices=("float", "integer"), auto=True, added=True,
    )  # fmt: skip
    readout: str = option(
        "discriminant",
        "Readout of a second-order layer; bayes is naive Bayes on the sums of a counting layer, for bags of words.",
        "choice", choices=("discriminant", "ridge", "bayes"), added=True,
    )  # fmt: skip
    shrinkage: float | str = option(
        0.001,
        "Shrinkage of that readout, as a share of the mean variance; 'auto' chooses it from the state, and with ramps "
        "a number is the least that is chosen.",
        "number", low=0.0, high=1e6, auto=True, added=True,
    )  # fmt: skip
    memory: int | None = option(
        None,
        "Half-life in samples of what a second-order or counting layer keeps, to follow a stream that changes.",
        "whole", off=True, added=True,
    )  # fmt: skip
    prior: str = option(
        "auto",
        "What a second-order layer takes classes to be beforehand: all alike, or as likely as they were; 'auto' is "
        "equal, and counts with ramps.",
        "choice", choices=("equal", "counts"), auto=True, added=True,
    )  # fmt: skip
    root: bool | str = option(
        "auto",
        "Take roots: of what a window answers with, or of the inputs of a dense projection or of none; 'auto' is "
        "in windows before a second-order layer alone.",
        "flag", auto=True, added=True,
    )  # fmt: skip
    unit_norm: bool | str = option(
        "auto",
        "Scale the input of every learning layer to length 1; 'auto' is yes, and no before a second-order layer.",
        "flag", auto=True,
    )  # fmt: skip
    memory_budget: int | str | None = option(
        None, "Most bytes of state, a number or a size such as '512KB'.", "size", off=True
    )
    expected_classes: int = option(10, "How many classes a memory budget is divided among.", "whole", of_run=False)
    epochs: int = option(1, "Passes over the data in fit; partial_fit always makes one.", "whole", of_run=False)
    unlabelled: int | None = option(
        None, "Number that marks a sample without a label, besides None and NaN.", "number", off=True, of_run=False
    )
    class_weight: Mapping[Any, float] | str | None = option(
        None,
        "How often a sample of each label counts, such as {'rare': 10.0}, 1 for labels that are not named; 'balanced' "
        "in fit alone, where it makes all classes count the same.",
        "weights", off=True, of_run=False, added=True,
    )  # fmt: skip
    n_jobs: int | None = option(
        None, "Threads for features and prediction, -1 for all processors. Changes no result.", "threads", off=True
    )
    random_state: int | np.random.RandomState | None = option(
        None, "Seed of the projection.", "seed", off=True, of_run=False
    )


ClassifierOptions.__init__.__qualname__ = "KenyonClassifier.__init__"  # as Python's errors name it
OPTIONS = options_of(ClassifierOptions)
"""Every option of the classifier, by name."""


def describe(options: Mapping[str, Option]) -> str:
    """The `Args` of a docstring.

    Example:
        >>> describe({"decay": OPTIONS["decay"]}).splitlines()[0]
        'Args:'
    """
    lines = [f"    {name}: {entry.meaning} Default: {entry.default!r}." for name, entry in options.items()]
    return "Args:\n    " + "\n    ".join(lines)
