"""Sums of inputs and ramps when inputs get other units: z' = f z + o, with a variance of 1 where an input is fresh.

A ramp x = max(0, p - b), p = w . z, that sees such an input becomes phi p' + d_j + e: its regression on the inputs
under a bell, the sum of three uniform numbers, of the classes' means and their common covariance (`kenyon.features`,
and its file `_rescaling.py`, have the equations). Everything in float64, sums in the order of inputs and classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_order(terms: Iterable[Any]) -> Any:
    """The sum of some terms, one after the other."""
    total: Any = 0.0
    for term in terms:
        total = total + term
    return total


def bell(a: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """E max(0, X + a), its slope, and E max(0, X + a)^2."""
    knots = [(c, np.maximum(np.where(a < 3, a, 0.0) + k, 0.0)) for c, k in ((1.0, 3), (-3.0, 1), (3.0, -1), (-1.0, -3))]
    slope = in_order(c * t * t * t / 48 for c, t in knots)
    first = in_order(c * t * t * t * t / 192 for c, t in knots)
    second = in_order(c * t * t * t * t * t / 480 for c, t in knots)
    return np.where(a < 3, first, a), np.where(a < 3, slope, 1.0), np.where(a < 3, second, a * a + 1)


def rescaled(
    ramps: Sequence[tuple],
    change: tuple[NDArray, NDArray, NDArray],
    T: NDArray,
    S: NDArray,
    counts: NDArray,
    new_ramps: int = 0,
) -> tuple[NDArray, NDArray]:
    """New sums T (units, units) and S (units, classes).

    Args:
        ramps: inputs, signs, scale and offset of each, behind as many units as there are inputs.
        change: f, o, and 1 for each input that is fresh.
        new_ramps: how many of the last ramps have no sums yet.
    """
    f, o, fresh = change
    n, total = len(f), counts.sum()
    factors, offsets = np.append(f, np.ones(len(ramps))), np.append(o, np.zeros(len(ramps)))
    cross = np.outer(factors * in_order(S.T), offsets)
    T = T * np.outer(factors, factors) + (cross + cross.T) + total * np.outer(offsets, offsets)
    T[range(n), range(n)] += total * fresh
    S = S * factors[:, None] + np.outer(offsets, counts)
    changed = (f != 1) | (o != 0) | (fresh != 0)
    old = len(ramps) - new_ramps
    seeing = [n + u for u, (inputs, *_) in enumerate(ramps) if u >= old or changed[inputs].any()]
    if not seeing:
        return T, S
    means = S[:n] / np.maximum(counts, 1)
    within = (T[:n, :n] - in_order(np.outer(m * c, m) for m, c in zip(means.T, counts, strict=True))) / total
    known, answers = counts > 0, []
    for unit in seeing:
        inputs, signs, scale, offset = ramps[unit - n]
        w = [float(np.float32(0.25) * scale * sign) for sign in signs]
        across = in_order(within[i] * own for i, own in zip(inputs, w, strict=True))
        deviation = np.sqrt(max(in_order(across[i] * own for i, own in zip(inputs, w, strict=True)), 1e-12))
        mean = in_order(means[i] * own for i, own in zip(inputs, w, strict=True))
        first, slope, second = bell((mean - float(np.float32(0.25) * offset)) / deviation)
        phi = in_order(slope * (counts / total))
        variance = in_order((second - first * first) * (counts / total))
        w = [own * phi for own in w]
        wanted = np.where(known, deviation * first, 0.0)
        along = in_order(means[i] * own for i, own in zip(inputs, w, strict=True))
        apart = np.where(known, wanted - along, 0.0)
        if unit - n >= old:
            apart = np.where(known, in_order(apart * (counts / total)), 0.0)
            wanted = np.where(known, along + apart, 0.0)
        rest = max(deviation * deviation * (variance - phi * phi), 0.0)
        linear = in_order(T[i] * own for i, own in zip(inputs, w, strict=True))
        linear_sums = in_order(S[i] * own for i, own in zip(inputs, w, strict=True))
        answers.append((inputs, w, wanted, apart, rest, linear, linear_sums))
    new = T.copy()
    for unit, (_, _, _, apart, _, linear, _) in zip(seeing, answers, strict=True):
        new[unit] = new[:, unit] = linear + in_order(a * s for a, s in zip(apart, S.T, strict=True))
    for unit, (inputs, w, _, apart, rest, _, sums) in zip(seeing, answers, strict=True):
        for other, (_, _, _, their, _, their_linear, their_sums) in zip(seeing, answers, strict=True):
            if other > unit:
                break
            among = in_order(their_linear[i] * own for i, own in zip(inputs, w, strict=True))
            among = among + (in_order(sums * their) + in_order(apart * their_sums) + in_order(apart * counts * their))
            new[unit, other] = new[other, unit] = among + (total * rest if unit == other else 0.0)
    S = S.copy()
    for unit, (_, _, wanted, *_) in zip(seeing, answers, strict=True):
        S[unit] = wanted * counts
    return new, S
