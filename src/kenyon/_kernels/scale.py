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


@kernel(inline="always")
def _distance(value, centre, width, usual, beyond):
    """How many widths a value is from the centre, at most `beyond` times what is usual; 0 for what has not varied."""
    if width <= 0.0 or np.isnan(value):
        return 0.0
    limit = beyond * usual
    return min(max((value - centre) / width, -limit), limit)


@kernel(inline="always")
def _bent(z, knee):
    """Beyond the knee, a distance grows with its root only."""
    size = abs(z)
    if size > knee:
        size = 2.0 * np.sqrt(knee * size) - knee
    return np.float32(size if z >= 0 else -size)


@kernel()
def scale_in_units(samples, centres, widths, usual, knee, beyond, out):
    """Samples in the units as they are."""
    for s in range(samples.shape[0]):
        for i in range(samples.shape[1]):
            z = _distance(np.float64(samples[s, i]), centres[i], widths[i], usual[i], beyond)
            out[s, i] = _bent(z, knee)


@kernel()
def count_in_units(samples, labelled, centres, widths, usual, counts, means, spreads, knee, beyond, counting, out):
    """Scale each sample by what those before it left, and count it where it has a label.

    Args:
        widths: of inputs; 0 for one that has not varied, -1 for one without a value so far.
        usual: how far out values are, in widths; 1 or more.
        counts, means, spreads: running moments, with sums of squared distances from the mean; of values that lie no
            farther out than they may.
        counting: whether these are still of use.
    """
    for s in range(samples.shape[0]):
        for i in range(samples.shape[1]):
            value = np.float64(samples[s, i])
            z = _distance(value, centres[i], widths[i], usual[i], beyond)
            out[s, i] = _bent(z, knee)
            if not labelled[s] or np.isnan(value):
                continue
            if widths[i] > 0.0:
                usual[i] = max(usual[i] + (abs(z) - usual[i]) / 16.0, 1.0)
                value = centres[i] + widths[i] * z
            elif widths[i] < 0.0:
                centres[i], widths[i] = value, 0.0
            else:
                widths[i] = abs(value - centres[i])
            if counting:
                distance = value - means[i]
                counts[i] += 1.0
                means[i] += distance / counts[i]
                spreads[i] += distance * (value - means[i])
