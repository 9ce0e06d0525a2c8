"""Running moments of the inputs, and samples scaled by them.

Everything is computed in float64, sample by sample and input by input, and rounded to float32 once at the end: the
bits do not depend on how samples are cut into blocks. Inputs may share their moments: `groups` has the number of
each input's.
"""

import numpy as np

from kenyon.compiling import kernel


@kernel(inline="always")
def _scale_one(sample, groups, counts, means, spreads, deviations, knee, farthest, unit, out):
    """How many deviations each input is from its mean; beyond the knee, it grows with the root of that only.

    What is farther than the farthest is as far as that."""
    for g in range(counts.size):
        deviations[g] = np.sqrt(spreads[g] / counts[g]) if counts[g] > 0 else 0.0
    for i in range(sample.size):
        g, value = groups[i], np.float64(sample[i])
        if deviations[g] == 0.0 or np.isnan(value):  # not seen to vary yet, or absent: as if it were the mean
            out[i] = 0
            continue
        z = (value - means[g]) / deviations[g]
        size = min(abs(z), farthest)
        if size > knee:
            size = 2.0 * np.sqrt(knee * size) - knee  # goes on from the line with the same slope
            z = size if z > 0 else -size
        out[i] = np.float32(unit * z)


@kernel()
def scale_only(samples, groups, counts, means, spreads, knee, farthest, unit, out):
    """Samples by the moments as they are, in so many deviations to a unit."""
    deviations = np.empty(counts.size)
    for s in range(samples.shape[0]):
        _scale_one(samples[s], groups, counts, means, spreads, deviations, knee, farthest, unit, out[s])


@kernel()
def scale_and_count(samples, taught, groups, counts, means, spreads, knee, farthest, unit, held, most, moving, out):
    """Scale each sample by the moments of those before it, and count it where it is taught.

    Args:
        counts: (groups,) float64; means; spreads: sums of squared distances from the mean.
        held: values of a group that never varied are counted this often at most.
        most: how often values of a group are counted.
        moving: whether further values then take the place of old ones; else the moments stand still.
    """
    deviations = np.empty(counts.size)
    for s in range(samples.shape[0]):
        _scale_one(samples[s], groups, counts, means, spreads, deviations, knee, farthest, unit, out[s])
        if not taught[s]:
            continue
        for i in range(samples.shape[1]):
            g, value = groups[i], np.float64(samples[s, i])
            n, distance = counts[g], value - means[g]
            if np.isnan(value) or (n >= most and not moving):
                continue
            if spreads[g] == 0.0 and distance == 0.0 and n >= held:
                continue
            if n >= most:
                spreads[g] *= most / (most + 1.0)
            else:
                n += 1.0
            means[g] += distance / n
            spreads[g] += distance * (value - means[g])
            counts[g] = n
