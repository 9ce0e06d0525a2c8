"""What is made of a layer's weights and of its output."""

import numpy as np

from kenyon.compiling import kernel


@kernel()
def column_means(weights, n_columns):
    """The mean of each column, in float64."""
    means = np.zeros(n_columns)
    for i in range(weights.shape[0]):
        for j in range(n_columns):
            means[j] += weights[i, j]
    return means / weights.shape[0]


@kernel()
def rectify(outputs, first, last, unit_norm, active):
    """The positive part of a layer's output as the next layer's active units."""
    units, values, counts = active
    for s in range(first, last):
        a = 0
        square = 0.0
        for j in range(outputs.shape[1]):
            value = outputs[s - first, j]
            if value > 0:
                units[s, a] = j
                values[s, a] = value
                square += np.float64(value) * np.float64(value)
                a += 1
        counts[s] = a
        if unit_norm and a:
            scale = np.float32(1.0 / np.sqrt(square))
            for k in range(a):
                values[s, k] *= scale
