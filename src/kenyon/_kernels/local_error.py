"""A hidden layer that learns from an error of its own: the output, the error and the step of each sample in one call.

Weights are (units, width) as in `learn.py`; `readout` is (classes, width), fixed, zero in the padding.
"""

import numpy as np

from kenyon._kernels.learn import DIVERGED, NO_LABEL, forward
from kenyon.compiling import kernel

COMPILED_IN = "6b37089c3711"
"""Digest of `__init__.py`, `vector.py` and `learn.py`. Numba keeps machine code by the text of its own file, so a
change to what is compiled into it has to show here."""


@kernel()
def learn_by_local_error(weights, readout, active, first, last, labels, rate, outputs):
    """Learn samples first .. last - 1 in order; the first that diverged, not learned, or `last`.

    Args:
        weights: changed in place.
        readout: what each class reads of each neuron.
        active: units, values and counts of the block.
        labels: class number of each sample of the block, or NO_LABEL.
        rate: the learning rate.
        outputs: room for `W^T x_e` of each sample before it is learned.
    """
    units, values, counts = active
    n_classes, width = readout.shape
    error = np.empty(n_classes, np.float32)
    signal = np.empty(width, np.float32)
    for s in range(first, last):
        x_o = outputs[s - first]
        forward(weights, units, values, s, counts[s], outputs[s - first : s - first + 1])
        for j in range(width):
            if not abs(x_o[j]) <= DIVERGED:
                return s
        if labels[s] == NO_LABEL:
            continue
        for c in range(n_classes):
            total = np.float32(0)
            for j in range(width):
                if x_o[j] > 0:
                    total += readout[c, j] * x_o[j]
            error[c] = (np.float32(1) if c == labels[s] else np.float32(0)) - total
        signal[:] = 0
        for c in range(n_classes):
            for j in range(width):
                signal[j] += readout[c, j] * error[c]
        for j in range(width):
            if x_o[j] <= 0:
                signal[j] = 0
        for k in range(counts[s]):
            row = weights[units[s, k]]
            step = rate * values[s, k]
            for j in range(width):
                row[j] += step * signal[j]
    return last
