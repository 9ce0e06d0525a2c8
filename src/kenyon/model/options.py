"""The options of the classifier (its parts, and what describes the samples and the whole) and of the regressor.

>>> OPTIONS["memory_budget"].default is None, options_of(ClassifierOptions) == OPTIONS
(True, True)
>>> RegressorOptions(shrinkage=0.1).shrinkage, REGRESSOR_OPTIONS["shrinkage"].default
(0.1, 0.001)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from kenyon.utils.options import Auto, option, options_of

if TYPE_CHECKING:
    import numpy as np

    from kenyon.features import FeaturesPart
    from kenyon.features.front import FrontPart
    from kenyon.layers import LayerPart, LocalError
    from kenyon.rules import Rule

__all__ = ["OPTIONS", "REGRESSOR_OPTIONS", "ClassifierOptions", "RegressorOptions"]


@dataclass(eq=False, repr=False)
class ClassifierOptions:
    """The constructor of `KenyonClassifier`. Values are stored as they are, and checked when learning begins."""

    rule: Rule | Literal["auto", "gen", "inel", "mean", "mse", "oja"] = option(
        "auto",
        "Plasticity rule of a plastic layer: a name, module:Class, or a rule such as GEN(b1=0.0); 'auto' is gen, and "
        "leaves the choice of the layer open.",
        "rule", auto=True,
    )  # fmt: skip
    _: KW_ONLY
    n_hidden: int | Auto = option(
        "auto",
        "Units of the feature layer, where features does not set them; 'auto' is 11,000, about 200 for float samples "
        "of few inputs, or what memory_budget has room for.",
        "integer", auto=True,
    )  # fmt: skip
    front: FrontPart | Literal["spectra", "motion"] | None = option(
        None,
        "Front end for the samples of a sensor: Spectra(rate=8000), Motion(), or their names. Recordings are then "
        "taken as samples, and streams by listen; shape, axes and features are its own where they are left open.",
        "part", off=True, of_run=False,
    )  # fmt: skip
    features: FeaturesPart | Literal["auto", "sparse", "windows", "patches", "ramps", "dense", "identity"] = option(
        "auto",
        "Feature layer: a part such as Windows(window=6), its name, or module:Class; 'auto' is windows where a shape "
        "is given, patches for colour images with a memory budget, ramps for float samples without one, else sparse.",
        "part", auto=True,
    )  # fmt: skip
    layer: LayerPart | Literal["auto", "plastic", "counting", "second-order", "diagonal"] = option(
        "auto",
        "Learning layer: a part such as SecondOrder(bits=16), its name, or module:Class; 'auto' is plastic, or "
        "second-order where the rule is left open, and samples are floats or a memory budget is given.",
        "part", auto=True,
    )  # fmt: skip
    hidden: LocalError | Literal["local-error"] | None = option(
        None,
        "Hidden layers between the features and the output: LocalError(widths=(500,)).",
        "part", off=True,
    )  # fmt: skip
    shape: Sequence[int] | None = option(None, "Shape of a sample, such as (28, 28), for windows.", "shape", off=True)
    axes: Literal["auto", "t", "hw", "tc", "ct", "hwc", "chw"] = option(
        "auto",
        "What the axes of the shape are: t for time, h and w for height and width, c for channels; 'auto' is t, hw, "
        "and chw or hwc, whichever end is short.",
        "choice", auto=True,
    )  # fmt: skip
    scale: bool | Literal["auto", "range"] = option(
        "auto",
        "Take inputs in standard deviations, by running moments that are part of the state; 'range' converts each "
        "image to bytes by its own range; False takes floats from 0 to 1 as they are. 'auto' is True for float samples "
        "whose features are left open, or that are series, 'range' for images, and False otherwise.",
        "flag", auto=True,
    )  # fmt: skip
    missing: Literal["error", "absent"] = option(
        "error",
        "What NaN in a sample is: an error, or an absent value, imputed by the running mean (with scale).",
        "choice",
    )  # fmt: skip
    unit_norm: bool | Auto = option(
        "auto",
        "Scale the input of every learning layer to length 1; 'auto' is True, and False before a second-order layer.",
        "flag", auto=True,
    )  # fmt: skip
    memory_budget: int | str | None = option(
        None, "Most bytes of state, a number or a size such as '512KB'.", "size", off=True
    )
    expected_classes: int = option(10, "Classes that a memory budget is first divided among.", "integer", of_run=False)
    epochs: int = option(1, "Passes over the data in fit; partial_fit always makes one.", "integer", of_run=False)
    unlabelled: int | None = option(
        None, "Number that marks a sample without a label, besides None and NaN.", "number", off=True, of_run=False
    )
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = option(
        None,
        "How often a sample of each label counts, such as {'rare': 10.0}, 1 for labels that are not named; 'balanced' "
        "in fit alone, where it makes all classes count the same.",
        "weights", off=True, of_run=False,
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


@dataclass(eq=False, repr=False)
class RegressorOptions:
    """The constructor of `KenyonRegressor`. Values are stored as they are, and checked when learning begins."""

    _: KW_ONLY
    n_hidden: int | Auto = option(
        "auto",
        "Units of the feature layer; 'auto' is the inputs and 200 ramps, more for many inputs, or what memory_budget "
        "has room for.",
        "integer", auto=True,
    )  # fmt: skip
    shape: Sequence[int] | None = option(
        None,
        "Shape of a sample, such as (28, 28): units are windows then, and images become bytes, each by its own range.",
        "shape", off=True,
    )  # fmt: skip
    axes: Literal["auto", "t", "hw", "tc", "ct", "hwc", "chw"] = option(
        "auto", "What the axes of the shape are, as in the classifier.", "choice", auto=True
    )
    shrinkage: float = option(
        0.001,
        "Least shrinkage of the regression, as a share of the mean variance; the sums may need more.",
        "number", low=0.0, high=1e6,
    )  # fmt: skip
    missing: Literal["error", "absent"] = option(
        "error", "What NaN in a sample is: an error, or an absent value, imputed by the centre.", "choice"
    )
    memory_budget: int | str | None = option(
        None, "Most bytes of state, a number or a size such as '64KB'.", "size", off=True
    )
    random_state: int | np.random.RandomState | None = option(None, "Seed of the ramps.", "seed", off=True)


RegressorOptions.__init__.__qualname__ = "KenyonRegressor.__init__"
REGRESSOR_OPTIONS = options_of(RegressorOptions)
"""Every option of the regressor, by name."""
