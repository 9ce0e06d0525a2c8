"""The core: the arithmetic of features and layers in C, compiled when the package is built.

A function here takes arrays and numbers as they are, checks their number, types and axes, releases the GIL and gives
an integer. README.md beside this file says how entries are written. The best instruction set of the machine is used;
`KENYON_ISA` in the environment names another, and all give the same bits.

>>> import numpy as np
>>> first_unbearable(np.array([[1.0, np.inf]]), 1e30, False)
1
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kenyon.core import _core
from kenyon.core._core import *  # noqa: F403

LANES = 32
"""Samples that go through a projection side by side; `vectors.h` has it too."""

if os.environ.get("KENYON_ISA"):
    _core.use_isa(os.environ["KENYON_ISA"])

if TYPE_CHECKING:

    def __getattr__(entry: str) -> Callable[..., int]: ...
