"""Curves of a run, thinned to what a page can show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError
from kenyon.evaluation import RunFolder
from kenyon.evaluation._files import read_growing
from kenyon.report._figures import Series
from kenyon.report._plots import accuracy_curve

POINTS = 200
"""Points of a curve, at most."""
WINDOW = 40
"""Samples that an accuracy is taken over, at least: fewer only show noise."""
SIGNIFICANT = 5


def read_array(run: RunFolder, name: str) -> NDArray | None:
    """An array of a run; None where the store was copied without it."""
    try:
        return read_growing(run.file(name))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise DataError(f"{run.file(name)} is damaged ({error}): run again with --again") from error


def accuracy_series(name: str, outcomes: Sequence[NDArray[np.uint8]]) -> Series | None:
    """Accuracy before learning, in windows, in percent: the mean over runs of one length, with the deviation as a band.

    None where there is no run, or none as long as the first.
    """
    alike = [run for run in outcomes if len(outcomes[0]) == len(run) > 0]
    if not alike:
        return None
    width = max(WINDOW, len(alike[0]) // POINTS)
    ends = accuracy_curve(alike[0], width)[0]
    curves = 100 * np.array([accuracy_curve(run, width)[1] for run in alike])
    mean = curves.mean(axis=0)
    band = None
    if len(curves) > 1:
        spread = curves.std(axis=0, ddof=1)
        band = (numbers(np.maximum(0, mean - spread)), numbers(np.minimum(100, mean + spread)))
    return Series(name, tuple(ends.tolist()), numbers(mean), band)


def weight_series(means: NDArray[np.float32], samples: NDArray[np.int64]) -> tuple[Series, ...]:
    """Mean incoming weight of each class's neuron over the stream."""
    rows = np.unique(np.linspace(0, len(means) - 1, min(len(means), POINTS)).round().astype(int))
    x = tuple(samples[rows].tolist())
    return tuple(Series(f"class {j}", x, numbers(means[rows, j])) for j in range(means.shape[1]))


def numbers(values: NDArray) -> tuple[float | None, ...]:
    """Plain numbers of a few digits, None for what is not finite."""
    return tuple(float(f"{v:.{SIGNIFICANT}g}") if np.isfinite(v) else None for v in values.tolist())
