"""A dense random projection: fewer numbers that keep the distances between samples.

    x_u = sum_i s_ui v_i / sqrt(N),    v_i = u_i,  or with `root` the root of |u_i| with the sign of u_i

Each of M units sums all N inputs with a random sign s of +1 or -1. There is no threshold: the activity is signed, and
meant for a second-order layer, to which the scale of its inputs makes no difference. For one in few bits it comes as
bytes, of samples scaled to length 1, so that the units of any data fill a byte without being measured first:

    x_u = min(255, max(0, rint(12 sum_i s_ui v_i / |v|) + 128))

Reference: Johnson and Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space", 1984; Achlioptas,
"Database-friendly random projections", J. Computer and System Sciences 66, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import unknown
from kenyon.features._base import Active, FeaturesPart, Setting, Workspace, make_active, rooted
from kenyon.utils.options import Auto, option

MIDDLE, GAIN = 128.0, 12.0
"""The byte of zero, and steps of a byte to a standard deviation of a sum of random signs. Of eleven gains from
4 to 48 this was best on held-out features of CIFAR-10 in 16 bits, by half a point; in 24 bits they were the same."""


@dataclass(frozen=True, repr=False)
class Dense(FeaturesPart):
    """A dense random projection before a second-order layer: fewer numbers that keep the distances between samples.

    Example:
        >>> Dense(root=True)
        Dense(root=True)
    """

    name: ClassVar[str] = "dense"
    signed: ClassVar[bool] = True

    units: int | Auto = option("auto", "Units; 'auto' is the classifier's n_hidden.", "integer", auto=True)
    root: bool = option(False, "Take the square root of every input first, with its sign.", "flag")

    def build(self, setting: Setting) -> DenseProjection:
        activity = "byte" if setting.in_bytes else "float"
        return DenseProjection(setting.n_inputs, int(self.units), root=self.root, activity=activity, seed=setting.seed)

    def table_bytes(self, setting: Setting) -> int:
        return 4 * int(self.units) * setting.n_inputs


class DenseProjection:
    """N inputs to M signed sums.

    Args:
        n_inputs: N.
        n_units: M.
        root: take the root of every input first.
        activity: "float" or "byte".
        seed: the signs are drawn from it, the same everywhere.

    Example:
        >>> import numpy as np
        >>> features = DenseProjection(n_inputs=4, n_units=2)
        >>> _, values, _ = features.activate(np.ones((1, 4), np.float32), features.workspace())
        >>> bool((abs(values[0]) <= 2).all())
        True
    """

    def __init__(
        self, n_inputs: int, n_units: int, *, root: bool = False, activity: str = "float", seed: int = 0
    ) -> None:
        if activity not in ("float", "byte"):
            raise unknown("activity", activity, ("float", "byte"))
        self.n_outputs = n_units
        self._root, self._bytes = root, activity == "byte"
        self._gain = GAIN * np.sqrt(n_inputs)  # the signs are scaled below
        self._signs = np.empty((n_inputs, n_units), np.float32)
        core.draw_signs(seed, self._signs)
        self._signs *= np.float32(1 / np.sqrt(n_inputs))

    def workspace(self) -> Workspace:
        active = make_active(self.n_outputs, dtype=np.uint8 if self._bytes else np.float32)
        active[0][:] = np.arange(self.n_outputs)  # every unit takes part
        return Workspace(active)

    def prepare(self) -> None:
        """Nothing to prepare."""

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        samples = rooted(samples) if self._root else samples
        _, values, counts = workspace.active
        sums = np.empty((len(samples), self.n_outputs), np.float32) if self._bytes else values
        core.dense(samples, self._signs, sums, counts)
        if self._bytes:
            core.dense_bytes(samples, sums, MIDDLE, self._gain, values)
        return workspace.active

    @property
    def nbytes(self) -> int:
        return self._signs.nbytes
