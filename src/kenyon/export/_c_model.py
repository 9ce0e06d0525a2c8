"""A classifier as the numbers that its C sources are compiled with."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.export._c_front import front_numbers
from kenyon.features import IdentityUnits, Layout, PatchUnits, SparseProjection, WindowUnits
from kenyon.features.front import FrontPart
from kenyon.layers import FewBitLayer, SecondOrderLayer, integer_readout_numbers
from kenyon.rules import device_functions

SLACK = 16
"""Places behind the last one of a padded sample that may be read."""


@dataclass
class Parts:
    """What is written: the C parts to put together, and what they are compiled with.

    Attributes:
        features, layer: parts of the source, by the names of their files.
        numbers: macros that decide on the arithmetic; models with the same ones can exchange their states.
        sizes: macros that do not.
        functions: C functions of the rule.
        inputs: of each unit, for a table; None where there are none.
        tables: other arrays of the features by name, which always lie in flash.
        fixed: (weights, offsets) of a model that does not learn.
        labels: the label of each class by its number on the device, in the order of the neurons.
        front: the front end, if any.
    """

    features: list[str]
    layer: list[str]
    numbers: dict[str, int]
    sizes: dict[str, int] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    inputs: NDArray | None = None
    tables: dict[str, NDArray] = field(default_factory=dict)
    fixed: tuple[NDArray[np.int16], NDArray[np.int64]] | None = None
    labels: dict[int, Any] = field(default_factory=dict)
    front: FrontPart | None = None

    @property
    def learns(self) -> bool:
        """Whether the device can keep learning."""
        return self.fixed is None

    @property
    def model_id(self) -> int:
        """What a saved state is known by: equal for models that compute the same."""
        text = ";".join(f"{name}={value}" for name, value in sorted(self.numbers.items()))
        return zlib.crc32("\n".join([text, *self.functions]).encode())


def parts_of(classifier: KenyonClassifier) -> Parts:
    """The parts of a classifier; refuses one that no device could run."""
    if classifier.tasks_ != [None]:
        raise ConfigError(f"the model has the tasks {classifier.tasks_!r}: expected one head without a task")
    features, layers = classifier.parts()
    if len(layers) > 1:
        raise ConfigError(f"the model has {len(layers) - 1} hidden layers: expected none for a device")
    if classifier.scaler() is not None:
        raise ConfigError("the inputs are scaled by moments in floats: expected bytes (uint8), unscaled, for a device")
    parts = _features(features, classifier.n_features_in_)
    parts.front = classifier.spec_.front
    parts.numbers |= front_numbers(parts.front, classifier.n_features_in_)
    layer = layers[-1]
    exact = getattr(features, "exact", False)
    if exact and isinstance(layer, FewBitLayer):
        _few_bits(parts, layer)
    elif exact and isinstance(layer, SecondOrderLayer) and layer.integer:
        _second_order(parts, layer)
    else:
        _fixed(parts, classifier)
    parts.labels = device_labels(classifier)
    return parts


def device_labels(classifier: KenyonClassifier) -> dict[int, Any]:
    """The label of each class by its number on a device, in the order of the neurons."""
    known: list[tuple[Any, int]] = sorted(classifier.neurons().items(), key=lambda item: item[1])
    numbers = all(type(label) is int for label, _ in known)
    for label, _ in known:
        if numbers and not -(2**31) <= label < 2**31:
            raise ConfigError(f"the label {label} does not fit a device's 32 bits: expected smaller numbers")
    return {label if numbers else place: label for place, (label, _) in enumerate(known)}


# ---- features


def _features(features: Any, n_inputs: int) -> Parts:
    if isinstance(features, WindowUnits):
        parts = _windows(features)
    elif isinstance(features, SparseProjection):
        parts = Parts(["drawing.c", "draw.h", "sparse.c"], [], features.plan(), inputs=features.inputs)
        parts.numbers |= {"connections": features.inputs.shape[1], "seed": features.seed, "kind": 1}
        parts.sizes = {
            "narrow": int(_narrow(parts.numbers)),
            "best": 1,
            "root": 0,
            "places": n_inputs,
            "stride": n_inputs,
        }
        parts.sizes |= {"width": n_inputs, "column_step": 1, "row_step": 0, "channel_step": 0, "slack": 0}
        parts.sizes |= dict.fromkeys(("channels", "height", "padded_height", "rows", "columns"), 1)
    elif isinstance(features, IdentityUnits):
        plan = {"thresholded": 0, "strength": 0, "shift": 0, "largest": 255, "kind": 2}
        parts = Parts(["identity.c"], [], plan, {"narrow": 0})
    elif isinstance(features, PatchUnits):
        parts = _patches(features)
    else:
        kind = type(features).__name__
        raise ConfigError(
            f"the features are {kind}: expected 'sparse', 'windows', 'patches' or 'identity' for a device"
        )
    narrow = parts.numbers["kind"] != 3 and parts.numbers["largest"] <= 32767
    lowest = -(2**15) if narrow else -(2**31)
    parts.numbers |= {"inputs": n_inputs, "units": features.n_outputs, "lowest": lowest, "highest": -lowest - 1}
    return parts


def _windows(features: WindowUnits) -> Parts:
    layout, plan = features.layout, features.plan()
    more = {
        "padded_height": layout.padded[0],
        "connections": features.inputs.shape[1],
        "seed": features.seed,
        "kind": 3,
    }
    numbers = plan | _steps(layout) | more
    sizes = {"narrow": int(_narrow(numbers)), "together": _together(numbers, len(features.inputs)), "slack": SLACK}
    sizes["apart"] = plan["stride"] if plan["rows"] > 1 else (plan["columns"] + 1) // 2
    names = ["drawing.c", "draw.h", "windows.c", "lanes.c", "words.c", "shifts.c"]
    return Parts(names, [], numbers, sizes, inputs=features.inputs)


def _patches(features: PatchUnits) -> Parts:
    layout = features.layout
    height, width = layout.padded
    numbers = features.plan() | _steps(layout) | {"kind": 4}
    numbers |= {"thresholded": 0, "strength": 0, "shift": 0, "largest": 255, "seed": features.seed}
    sizes = {"narrow": 0, "padded_height": height, "padded_width": width}
    sizes |= {"place_rows": height - features.size + 1, "place_columns": width - features.size + 1}
    numbers["filters_id"] = zlib.crc32(features.filters.tobytes())
    return Parts(["patches.c"], [], numbers, sizes, tables=features.tables())


def _steps(layout: Layout) -> dict[str, int]:
    """Sizes of an image, and how far apart its neighbours lie in a sample."""
    steps, step = {}, 1
    sizes = {"c": layout.channels, "h": layout.height, "w": layout.width, "t": layout.width}
    for axis in reversed(layout.axes):
        steps["w" if axis == "t" else axis] = step
        step *= sizes[axis]
    return {
        "channels": layout.channels,
        "height": layout.height,
        "width": layout.width,
        "channel_step": steps.get("c", 0),
        "row_step": steps.get("h", 0),
        "column_step": steps["w"],
    }


def _narrow(numbers: Mapping[str, int]) -> bool:
    """Whether 16 bits hold what the inputs of a unit add up to, with a sign."""
    excitatory = numbers["excitatory"]
    return 255 * max(excitatory, numbers["connections"] - excitatory) <= 32767


def _together(n: Mapping[str, int], units: int) -> int:
    """How many rows of shifts lie side by side for vectors of 16 lanes: those that take the fewest operations."""

    def operations(together: int) -> int:
        vectors = n["rows"] // together * -(-together * n["columns"] // 16)
        return units * n["connections"] * vectors + n["places"] * together

    return min((rows for rows in range(1, n["rows"] + 1) if n["rows"] % rows == 0), key=operations)


# ---- layers


def _few_bits(parts: Parts, layer: FewBitLayer) -> None:
    rule, constants = layer.rule, tuple(layer.constants.tolist())
    kind = type(rule)
    parts.layer = ["levels.h", "listed.c", "few_bits.h", "few_bits.c", *(["merging.h"] if rule.additive else [])]
    parts.numbers |= {
        "second_order": 0,
        "bits": layer.bits,
        "signed": int(layer.signed),
        "fraction": layer.fraction,
        "limited": int(kind.integer_limit is not None),
        "additive": int(rule.additive),
        "chance_seed": layer.seed % 2**32,
    }
    parts.functions = device_functions(rule, constants)
    column = -(-layer.n_inputs * layer.bits // 8)
    parts.sizes |= {"column": column, "class_bytes": 5 + column, "shared_bytes": 0}
    parts.sizes["scored"] = int(kind.integer_score is not None)


def _second_order(parts: Parts, layer: SecondOrderLayer) -> None:
    n_units, bits = layer.n_inputs, layer.coactivity.bits  # type: ignore[attr-defined]
    pairs = n_units * (n_units + 1) // 2
    parts.layer = ["levels.h", "thin.h", "second_order.c", "solve.h", "solve.c", "merging.h"]
    parts.numbers |= {"additive": 1, "second_order": 1, "bits": bits, "enough": layer.coactivity.enough}  # type: ignore[attr-defined]
    parts.numbers |= integer_readout_numbers(n_units, float(layer.shrinkage))
    parts.sizes |= {"pairs": pairs, "class_bytes": 8 + 2 * n_units, "shared_bytes": 2 + pairs * bits // 8}


def _fixed(parts: Parts, classifier: KenyonClassifier) -> None:
    """Weights as 16-bit integers, for prediction only."""
    layer = classifier.parts()[1][-1]
    offsets: NDArray = np.zeros(layer.n_neurons)
    scale = 2.0 ** parts.numbers["shift"]  # activity in bytes is that much smaller
    weights = np.asarray(layer.weights, np.float64)
    unit = 32767 / max(float(np.abs(weights).max(initial=0)), 1e-30)
    bound = layer.n_inputs * 255 * 32767
    if isinstance(layer, SecondOrderLayer):
        if classifier.unit_norm is True:
            raise ConfigError("unit_norm is True before a second-order layer in floats: expected False for a device")
        in_bytes = layer.coactivity.values is np.uint8
        offsets = layer.offsets[: layer.n_neurons] * (unit if in_bytes else unit / scale)
        class_counts = layer.state.views()["class_counts"] > 0
        bound += int(np.abs(offsets[class_counts]).max(initial=0)) + 1
        offsets[~class_counts] = -2 * bound  # below every score of the others
    if bound >= 2**60:
        raise ConfigError("the offsets of the readout are beyond what integers hold: expected smaller ones")
    parts.layer = ["fixed.c"]
    parts.numbers |= {"second_order": 0, "bits": 16, "score_shift": max(0, (3 * bound).bit_length() - 31)}
    parts.fixed = np.rint(weights.T * unit).astype(np.int16), np.rint(offsets).astype(np.int64)


def macros(parts: Parts, **more: int) -> Mapping[str, int]:
    """Every macro by its name in C."""
    return {f"KENYON_{name.upper()}": value for name, value in (parts.numbers | parts.sizes | more).items()}
