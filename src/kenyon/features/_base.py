"""What a feature layer `F_e` is to the rest of the house."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kenyon.core import LANES

Active = tuple[NDArray[np.uint32], NDArray[np.float32 | np.uint8], NDArray[np.int64]]
"""A block of sparse activity: (units, values, counts). Sample s has the active units
`units[s, :counts[s]]`, ascending, with the activities `values[s, :counts[s]]`: float32, or bytes
from layers that say so."""

BLOCK = 4 * LANES
"""Samples a feature layer takes at a time: what a call costs is shared, and the room for their activity stays small."""


def make_active(n_units: int, n_samples: int = BLOCK, dtype: DTypeLike = np.float32) -> Active:
    """Room for the activity of a block; `dtype` is that of an activity, float32 or uint8."""
    return (
        np.empty((n_samples, n_units), np.uint32),
        np.empty((n_samples, n_units), dtype),
        np.zeros(n_samples, np.int64),
    )


def rooted(samples: NDArray) -> NDArray[np.float32]:
    """The root of every input, with its sign: it evens out inputs of which a few are much larger than the others."""
    values = samples.astype(np.float32)
    return np.copysign(np.sqrt(np.abs(values)), values)


class Workspace(Protocol):
    """Scratch memory of one thread; holds the activity of the last block."""

    active: Active

    @property
    def nbytes(self) -> int: ...


class Features(Protocol):
    """A fixed map from samples to sparse activity. It keeps no state but its seed."""

    n_outputs: int

    @classmethod
    def build(cls, seed: int, values: Mapping[str, Any]) -> Features:
        """The layer of a classifier.

        Args:
            seed: whatever is drawn is drawn from it.
            values: every option of the classifier, settled; `n_inputs` and `n_connections` besides.
        """

    def workspace(self) -> Workspace:
        """New scratch memory, one for each thread."""

    def prepare(self) -> None:
        """Make the tables that are otherwise made on first use, before several threads use them."""

    def activate(self, samples: NDArray, workspace: Any) -> Active:
        """`x_e` of up to BLOCK samples, (n, n_inputs) uint8 or float32, C-contiguous.

        `workspace` is one of this object's own. The result lies in it and is valid until the next call.
        """

    @property
    def nbytes(self) -> int:
        """Bytes of tables that are regenerated from the seed."""
