"""From a spec to an engine, and the checks of a memory budget."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from kenyon.errors import MemoryBudgetError
from kenyon.layers import Layer
from kenyon.model.calibration import Calibration
from kenyon.model.engine import Engine
from kenyon.model.options import OPTIONS
from kenyon.model.spec import Spec
from kenyon.utils.options import is_integer


def build_engine(spec: Spec, seed: int, params: Mapping[str, Any]) -> Engine:
    """An engine that has learned nothing.

    Args:
        spec: what `params` were settled to.
        seed: what is drawn is drawn from it.
        params: the classifier's parameters, kept for the model's file.
    """
    setting = spec.setting(seed)
    features = spec.features.build(setting)
    layers: list[Layer] = []
    n_units = features.n_outputs
    for width in spec.widths:
        assert spec.hidden is not None
        layers.append(spec.hidden.build(n_units, width, seed + len(layers) + 1))
        n_units = width
    layers.append(spec.layer.build(n_units, seed + len(layers) + 1, setting))
    n_threads = threads_of(OPTIONS["n_jobs"].check(params["n_jobs"]))
    calibration = Calibration(features.n_outputs) if spec.calibrates else None
    known = (spec.layer.moving, seed, n_threads, spec, params)
    return Engine(features, layers, *known, scaler=spec.scaler(), calibration=calibration)


def threads_of(n_jobs: int | None) -> int:
    """Threads of an `n_jobs`: None is one, -1 all processors, -2 all but one, and so on."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def seed_of(random_state: Any) -> int:
    """The seed itself where it is a number, else one drawn from the generator."""
    if is_integer(random_state) and 0 <= random_state < 1 << 32:
        return int(random_state)
    if random_state is None:
        random_state = np.random.mtrand._rand  # NumPy's own, as everywhere in scikit-learn
    if not isinstance(random_state, np.random.RandomState):
        raise OPTIONS["random_state"].refuse(random_state)
    return int(random_state.randint(2**31 - 1))


def check_budget(budget: int | str | None, needed: int, new: Sequence[Hashable]) -> None:
    """Refuse new classes that would not fit, or sums that became wider where there are none."""
    most = OPTIONS["memory_budget"].check(budget)
    if most is not None and needed > most and not new:
        raise MemoryBudgetError(
            f"these samples would make the state {needed:,} bytes, since its sums have outgrown 32 bits: "
            f"expected at most {most:,}, the memory budget"
        )
    if most is not None and needed > most:
        raise MemoryBudgetError(
            f"{len(new)} more class(es), {', '.join(map(repr, new[:5]))}, would make the state {needed:,} bytes: "
            f"expected at most {most:,}, the memory budget. Raise memory_budget or expected_classes."
        )
