"""No feature layer: the raw input goes to the learning layer, optionally scaled to unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError
from kenyon.features._base import Active, FeaturesPart, Setting, Workspace, check_bytes, make_active, rooted
from kenyon.features._rows import SparseRows
from kenyon.utils.options import option


@dataclass(frozen=True, repr=False)
class Identity(FeaturesPart):
    """No feature layer: the inputs themselves are the units.

    Example:
        >>> Identity(root=True)
        Identity(root=True)
    """

    name: ClassVar[str] = "identity"
    signed: ClassVar[bool] = True

    root: bool = option(False, "Take the square root of every input first, with its sign.", "flag")

    def build(self, setting: Setting) -> IdentityUnits:
        return IdentityUnits(setting.n_inputs, unit_norm=setting.unit_norm, root=self.root, exact=setting.integer)


class IdentityUnits:
    """x_e = u (or u / |u|).

    Args:
        n_inputs: width of a sample.
        unit_norm: scale to length 1.
        root: take the root of every input first, with its sign.
        exact: integers throughout: bytes are taken as they are, and nothing else.

    Example:
        >>> import numpy as np
        >>> features = IdentityUnits(n_inputs=2)
        >>> units, values, counts = features.activate(np.array([[3, 4]], np.float32), features.workspace())
        >>> [round(float(value), 1) for value in values[0, : counts[0]]]
        [0.6, 0.8]
    """

    def __init__(self, n_inputs: int, *, unit_norm: bool = True, root: bool = False, exact: bool = False) -> None:
        self.n_outputs, self.exact = n_inputs, exact
        self._unit_norm, self._root = unit_norm, root
        if exact and root:
            raise ConfigError("root is True: expected False for bytes that are taken as they are, in integers")

    def workspace(self) -> Workspace:
        return Workspace(make_active(self.n_outputs, dtype=np.uint8 if self.exact else np.float32))

    def prepare(self) -> None:
        """Nothing to prepare."""

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        if self.exact:
            check_bytes(samples)
        core.identity(rooted(samples) if self._root else samples, self._unit_norm, *workspace.active)
        return workspace.active

    def activate_rows(self, rows: SparseRows, workspace: Any) -> Active:
        """`activate` of samples of which few values are not zero, to the bit, in time that they alone decide."""
        inputs, values = rows.packed(np.uint8 if rows.dtype == np.uint8 else np.float32)
        self.activate(values, workspace)
        units = workspace.active[0][: len(rows), : values.shape[1]]
        units[...] = np.take_along_axis(inputs, np.minimum(units, values.shape[1] - 1).astype(np.int64), axis=1)
        return workspace.active

    @property
    def nbytes(self) -> int:
        return 0
