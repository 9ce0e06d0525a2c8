"""A dense random projection: fewer numbers that keep the distances between samples.

    x_u = sum_i s_ui v_i / sqrt(N),    v_i = u_i,  or with `root` the root of |u_i| with the sign of u_i

Each of M units sums all N inputs with a random sign s of +1 or -1. There is no threshold: the activity is signed, and
meant for a second-order layer, to which the scale of its inputs makes no difference.

Reference: Johnson and Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space", 1984; Achlioptas,
"Database-friendly random projections", J. Computer and System Sciences 66, 2003.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels.draw import draw_signs
from kenyon._kernels.project import activate_dense
from kenyon.features._base import Active, make_active, rooted


class DenseProjection:
    """N inputs to M signed sums.

    Args:
        n_inputs: N.
        n_units: M.
        root: take the root of every input first.
        seed: the signs are drawn from it, the same everywhere.

    Example:
        >>> import numpy as np
        >>> features = DenseProjection(n_inputs=4, n_units=2)
        >>> _, values, _ = features.activate(np.ones((1, 4), np.float32), features.workspace())
        >>> bool((abs(values[0]) <= 2).all())
        True
    """

    def __init__(self, n_inputs: int, n_units: int, *, root: bool = False, seed: int = 0) -> None:
        self.n_outputs = n_units
        self._root = root
        self._signs = np.empty((n_inputs, n_units), np.float32)
        draw_signs(np.uint64(seed), self._signs)
        self._signs *= np.float32(1 / np.sqrt(n_inputs))

    @classmethod
    def build(cls, seed: int, values: Mapping[str, Any]) -> DenseProjection:
        return cls(values["n_inputs"], values["n_hidden"], root=values["root"], seed=seed)

    def workspace(self) -> DenseWorkspace:
        return DenseWorkspace(self.n_outputs)

    def prepare(self) -> None:
        """There is nothing to make."""

    def activate(self, samples: NDArray, workspace: DenseWorkspace) -> Active:
        activate_dense(rooted(samples) if self._root else samples, self._signs, workspace.active)
        return workspace.active

    @property
    def nbytes(self) -> int:
        return self._signs.nbytes


class DenseWorkspace:
    """Room for the activity of a block, in which every unit takes part."""

    def __init__(self, n_units: int) -> None:
        self.active = make_active(n_units)
        self.active[0][:] = np.arange(n_units)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.active)
