"""What the options of a classifier stand for: no arithmetic, so it is the product's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.model.build import kept_params, seed_of, settle
from kenyon.model.inputs import Inputs
from kenyon.model.model_file import empty_bytes
from kenyon.utils.options import OPTIONS


def settled(params: Mapping[str, Any], X: NDArray, n_classes: int) -> tuple[Mapping[str, Any], int]:
    """Every option with nothing left `"auto"`, and the seed.

    Args:
        params: of the classifier.
        X: the first samples.
        n_classes: classes that they bring.
    """
    given = {name: entry.default for name, entry in OPTIONS.items()} | dict(params)
    inputs, seed, in_bytes = Inputs(), seed_of(given["random_state"]), X.dtype == np.uint8
    inputs.n_features_in_, inputs.floats = X.shape[1], not in_bytes
    kept = kept_params(given, X.shape[1], n_classes, not in_bytes, in_bytes)
    overhead = empty_bytes(kept, seed, inputs)
    return settle(kept, X.shape[1], n_classes, overhead, floats=not in_bytes, in_bytes=in_bytes), seed
