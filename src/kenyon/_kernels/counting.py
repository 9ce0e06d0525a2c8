"""Sums of what each class was taught, in whole numbers; `kenyon.layers.CountingLayer` defines them."""

import numpy as np
from numba.extending import register_jitable

from kenyon._kernels._levels import reciprocal_of
from kenyon.compiling import kernel

COMPILED_IN = "a20e4d1b3080"
"""Digest of `_levels.py`, which is compiled into this file's kernels."""

ONE = 65536
"""An activity of 1."""


@register_jitable
def scale_of(values, sample, count, whole):
    """What the bytes of a sample are multiplied with, R; 0 for floats, which have their length already."""
    return reciprocal_of(values, sample, count) if whole else np.int64(0)


@register_jitable
def part_of(value, scale):
    """The activity of a unit in a sample of length 1, in 1 / ONE."""
    return (np.int64(value) * scale) >> np.int64(12) if scale else np.int64(np.float64(value) * ONE + 0.5)


@kernel(error_model="numpy")
def add(sums, taught, active, first, last, whole, labels, plastic):
    """Add samples first .. last - 1 to the sums (units, width) and counts (width,) of the classes that may learn.

    `whole`: their activity is in bytes, not in floats.
    """
    units, values, counts = active
    for s in range(first, last):
        j = labels[s]
        if j < 0 or not plastic[j]:
            continue
        scale = scale_of(values, s, counts[s], whole)
        for a in range(counts[s]):
            sums[units[s, a], j] += part_of(values[s, a], scale)
        taught[j] += 1


@kernel(error_model="numpy")
def read(sums, taught, active, first, last, whole, most, out):
    """`x_o` of samples first .. last - 1 into rows of `out`: the sum of min(mean, most) times the activity."""
    units, values, counts = active
    for s in range(first, last):
        scale = scale_of(values, s, counts[s], whole)
        for j in range(sums.shape[1]):
            each = 1.0 / (np.float64(max(taught[j], 1)) * ONE)
            total = 0.0
            for a in range(counts[s]):
                mean = np.float64(sums[units[s, a], j]) * each
                total += min(mean, most) * np.float64(part_of(values[s, a], scale))
            out[s - first, j] = np.float32(total / ONE)


@kernel(error_model="numpy")
def read_bayes(sums, totals, active, first, last, whole, smoothing, out):
    """`x_o` of samples first .. last - 1 into rows of `out`: the log-likelihood of the activity by naive Bayes.

    `totals` (width,) are the sums over all units; `smoothing` is added to every sum, in 1 / ONE.
    """
    units, values, counts = active
    for j in range(sums.shape[1]):
        all_units = np.log(totals[j] + smoothing * sums.shape[0])
        for s in range(first, last):
            scale = scale_of(values, s, counts[s], whole)
            total = 0.0
            for a in range(counts[s]):
                one = np.log(np.float64(sums[units[s, a], j]) + smoothing) - all_units
                total += one * np.float64(part_of(values[s, a], scale))
            out[s - first, j] = np.float32(total / ONE)
