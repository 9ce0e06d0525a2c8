"""Ramps: units that sum a few inputs with signs and answer above an offset of their own."""

import numpy as np

from kenyon._kernels.draw import below
from kenyon.compiling import kernel

STEPS = 1 << 14
"""Offsets are drawn in whole steps, so many to each standard deviation, and so are exact in float32."""


@kernel()
def draw_ramps(seed, n_inputs, sizes, negative, reach, inputs, signs, offsets):
    """Draw the inputs of each unit (distinct, ascending), their signs, and its offset, in whole numbers only.

    Args:
        sizes: (units,) how many inputs a unit has.
        negative: of 65,536 signs, how many are negative on average.
        reach: offsets lie from -reach to reach, a whole number of deviations.
        inputs, signs: (units, most) filled up to the unit's size; offsets: (units,) float32.
    """
    state = np.array([seed], np.uint64)
    pool = np.arange(n_inputs)
    for unit in range(sizes.size):
        k = sizes[unit]
        for a in range(k):
            other = a + below(state, n_inputs - a)
            pool[a], pool[other] = pool[other], pool[a]
            inputs[unit, a] = pool[a]
        inputs[unit, :k].sort()
        for a in range(k):
            signs[unit, a] = -1 if below(state, 65536) < negative else 1
        offsets[unit] = np.float32(below(state, 2 * reach * STEPS + 1) - reach * STEPS) / np.float32(STEPS)


@kernel()
def activate_ramps(samples, inputs, signs, sizes, scales, offsets, gain, n_raw, active):
    """The inputs themselves as the first `n_raw` units, then `gain * max(0, scale * sum - offset)` of each ramp.

    A sum is in float32, in ascending order of the inputs.
    """
    units, values, counts = active
    for s in range(samples.shape[0]):
        a = 0
        for i in range(n_raw):
            if samples[s, i] != 0:
                units[s, a], values[s, a] = i, samples[s, i]
                a += 1
        for u in range(sizes.size):
            total = np.float32(0)
            for k in range(sizes[u]):
                total += np.float32(signs[u, k]) * np.float32(samples[s, inputs[u, k]])
            above = scales[u] * total - offsets[u]
            if above > 0:
                units[s, a], values[s, a] = n_raw + u, gain * above
                a += 1
        counts[s] = a
