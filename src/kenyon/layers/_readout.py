"""Readouts solved from the moments of the activity: linear discriminant analysis and ridge regression.

    discriminant:  score_j = m_j' A x - m_j' A m_j / 2,        A = (W + lambda mean(diag W) I)^-1
    ridge:         score_j = b_j' (x - c) + 1 / C,             b_j = (V + lambda mean(diag V) I)^-1 (m_j - c) / C

W is the mean scatter within classes, m_j a class's mean, c the mean of the C class means. V = W + the scatter of the
class means around c: least squares onto one-hot targets with every class given the same weight, however many samples
it had. Neither knows priors unless told to take classes for as likely as they were: the discriminant then adds
log(n_j / n) to a score, and ridge weighs each class by n_j / n in place of 1 / C. The discriminant's weights and
offsets are given less those of c, the same for every class, which changes no difference between scores and keeps
them small.

A readout is computed in float64 (`core/cholesky.h`), with the same bits on every machine, and rounded to float32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import DivergenceError, ModelFileError
from kenyon.features import Active

NEVER = np.float32(-1e30)
"""The score of a class that was never taught."""

MOST = 0.999
"""Largest share of shrinkage that is chosen: the nearest class mean, or nearly so."""

GIVING_WAY = 10.0
"""Where the matrix is not positive, which few bits can make it, the shrinkage is raised by this factor."""


class ClassMoments(NamedTuple):
    """What a readout is solved from; only classes that were taught.

    Attributes:
        scatter: (units, units) float64, the sum of squared distances from the class means, lower triangle only.
        means: (units, classes) float64.
        n_samples: that the scatter stands for.
        n_used: samples that really went into it.
    """

    scatter: NDArray[np.float64]
    means: NDArray[np.float64]
    n_samples: float
    n_used: float


class Readout(NamedTuple):
    """`x_o = weights' x + offsets`.

    Attributes:
        weights: (units, width) float32.
        offsets: (width,) float32, NEVER for neurons that were not taught.
    """

    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def outputs(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """`x_o` of samples first .. last - 1, (samples, width)."""
        units, values, counts = active
        rows = (units[first:last], values[first:last].astype(np.float32, copy=False), counts[first:last])
        outputs = np.empty((last - first, len(self.offsets)), np.float32)
        core.forward(self.weights, *rows, 0, last - first, outputs)
        return outputs + self.offsets

    def in_floats(self) -> NDArray[np.float32]:
        """(units, width): the weights."""
        return self.weights

    def arrays(self, n_neurons: int) -> dict[str, NDArray]:
        """What a checkpoint keeps."""
        return {"readout": self.weights[:, :n_neurons].copy(), "offsets": self.offsets[:n_neurons].copy()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], n_units: int, n_neurons: int) -> Readout:
        """The inverse of `arrays`."""
        wanted = {"readout": ("float32", (n_units, n_neurons)), "offsets": ("float32", (n_neurons,))}
        return cls(*checked_arrays(arrays, wanted).values())

    def widened(self, width: int) -> Readout:
        """With room for more neurons, which were never taught."""
        more = width - len(self.offsets)
        if not more:
            return self
        return Readout(
            np.pad(self.weights, ((0, 0), (0, more))), np.pad(self.offsets, (0, more), constant_values=NEVER)
        )


def checked_arrays(
    arrays: Mapping[str, NDArray], wanted: Mapping[str, tuple[str, tuple[int, ...]]]
) -> dict[str, NDArray]:
    """Copies of the arrays wanted; refuses those of another type or shape."""
    for name, (dtype, shape) in wanted.items():
        if name not in arrays or arrays[name].dtype != dtype or arrays[name].shape != shape:
            raise ModelFileError(f"{name} is missing or of another kind: expected {dtype} {shape}")
    return {name: arrays[name].copy() for name in wanted}


def solve(
    moments: Callable[[], ClassMoments],
    taught: NDArray,
    weights: NDArray[np.float32],
    kind: str,
    shrinkage: float | str,
    prior: str = "equal",
    at_least: bool = False,
) -> Readout:
    """The readout of all neurons.

    Args:
        moments: gives them anew; what it gives is overwritten.
        taught: samples of each neuron.
        weights: (units, width) zeros, filled and returned.
        kind: `discriminant` or `ridge`.
        shrinkage: lambda, or `auto` (`oracle_shrinkage`).
        prior: `equal`, or `counts` to take classes for as likely as they were.
        at_least: take `auto` where it is more than the shrinkage.
    """
    (known,) = np.nonzero(taught)
    offsets = np.full(weights.shape[1], NEVER, np.float32)
    if not known.size:
        return Readout(weights, offsets)
    scatter, means, n_samples, n_used = moments()
    order = by_content(means)
    known, means = known[order], means[:, order]
    amount = chosen_shrinkage(scatter, n_used, shrinkage, at_least)
    counts = taught[known].astype(np.float64) / float(taught[known].sum())
    weighed = kind == "ridge" and prior == "counts"
    centre = (means * counts).sum(axis=1, keepdims=True) if weighed else means.mean(axis=1, keepdims=True)
    apart = np.ascontiguousarray(means - centre)
    while True:
        if weighed:
            add_outer(scatter, apart * np.sqrt(counts), n_samples)
        elif kind == "ridge":
            add_outer(scatter, apart, n_samples / known.size)
        solved = _solved(scatter, apart, amount, n_samples)
        if solved is not None:
            break
        amount = GIVING_WAY * max(amount, 1e-6)
        scatter = moments().scatter
    if weighed:
        solved *= counts
        shift = counts - (centre * solved).sum(axis=0)
    elif kind == "ridge":
        solved /= known.size
        shift = 1 / known.size - (centre * solved).sum(axis=0)
    else:
        shift = -((means + centre) * solved).sum(axis=0) / 2
        shift += np.log(counts) if prior == "counts" else 0.0
    with np.errstate(over="ignore"):  # refused below
        weights[:, known], offsets[known] = solved, shift
    if not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
        raise DivergenceError(
            "the readout passes what float32 holds: expected activity of about the same scale in all units, and inputs "
            "that are neither huge nor tiny. Scale the inputs, or raise shrinkage"
        )
    return Readout(weights, offsets)


def by_content(columns: NDArray[np.float64]) -> list[int]:
    """An order of the columns that follows from what they hold: sums over classes then have one order, to the last
    bit, in whatever order the classes came."""
    return sorted(range(columns.shape[1]), key=lambda column: columns[:, column].tobytes())


def chosen_shrinkage(scatter: NDArray[np.float64], n_used: float, shrinkage: float | str, at_least: bool) -> float:
    """Lambda as it was asked for, or as the state asks for it; `at_least` is for the larger of the two."""
    amount = 0.0 if shrinkage == "auto" else float(shrinkage)
    return max(amount, oracle_shrinkage(scatter, n_used)) if shrinkage == "auto" or at_least else amount


def oracle_shrinkage(scatter: NDArray[np.float64], n_used: float) -> float:
    """Lambda from the scatter and the number of samples alone, by the oracle-approximating formula.

    Chen, Wiesel, Eldar and Hero, "Shrinkage algorithms for MMSE covariance estimation", 2010: the covariance S of n
    samples in d dimensions becomes (1 - rho) S + rho mean(diag S) I, so that lambda is rho / (1 - rho). Terms of 2 / d
    are left out, as in scikit-learn.
    """
    d, n = len(scatter), max(n_used, 1.0)
    trace = float(np.trace(scatter)) ** 2
    total = np.zeros(1)
    core.squares_of_triangle(scatter, total)
    squares = float(total[0])
    excess = (n + 1) * (squares - trace / d)
    rho = min(MOST, (squares + trace) / excess) if excess > 0 else MOST
    return rho / (1 - rho)


def add_outer(scatter: NDArray[np.float64], columns: NDArray[np.float64], factor: float) -> None:
    """Add factor times the sum of the columns' outer products with themselves to a lower triangle."""
    core.add_outer(scatter, np.ascontiguousarray(columns), factor, np.empty(8 * columns.shape[1]))


def _solved(
    scatter: NDArray[np.float64], apart: NDArray[np.float64], amount: float, n_samples: float
) -> NDArray[np.float64] | None:
    """A times the columns of `apart`; None where the matrix is not positive. Overwrites the scatter."""
    mean = float(np.trace(scatter)) / len(scatter)
    if mean <= 0 or amount > 1e6:  # no scatter yet, or none to be trusted: the nearest mean
        return apart.copy()
    scatter.flat[:: len(scatter) + 1] += amount * mean
    scratch, solved = np.empty(core.solver_scratch(len(scatter))), apart.copy()
    if not core.factor(scatter, scratch):
        return None
    core.solve(scatter, solved, scratch)
    return n_samples * solved
