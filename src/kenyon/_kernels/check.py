"""Look for values that no layer could bear, without a copy of the samples."""

from kenyon.compiling import kernel


@kernel()
def first_unbearable(samples, limit):
    """(row, column) of the first value that is NaN or beyond the limit, or (-1, -1)."""
    for s in range(samples.shape[0]):
        bad = False
        for i in range(samples.shape[1]):  # no early exit: this loop runs on vectors
            bad |= not abs(samples[s, i]) <= limit
        if bad:
            for i in range(samples.shape[1]):
                if not abs(samples[s, i]) <= limit:
                    return s, i
    return -1, -1
