"""What the options of a classifier stand for: no arithmetic, so it is the product's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.model.build import seed_of
from kenyon.model.options import OPTIONS
from kenyon.model.recommend import settle
from kenyon.model.spec import Spec


def settled(params: Mapping[str, Any], X: NDArray, n_classes: int) -> tuple[Spec, int]:
    """What the model is composed of, and the seed.

    Args:
        params: of the classifier.
        X: the first samples.
        n_classes: classes that they bring.
    """
    given = {name: entry.default for name, entry in OPTIONS.items()} | dict(params)
    return settle(given, X.shape[1], n_classes, X.dtype != np.uint8), seed_of(given["random_state"])
