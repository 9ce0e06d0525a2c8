"""Look for values that no layer could bear, without a copy of the samples."""

from kenyon.compiling import kernel


@kernel()
def first_unbearable(samples, limit, absent):
    """(row, column) of the first value beyond the limit, or that is NaN unless it may be `absent`; or (-1, -1)."""
    for s in range(samples.shape[0]):
        bad = False
        for i in range(samples.shape[1]):  # no early exit: this loop runs on vectors
            bad |= not abs(samples[s, i]) <= limit and not (absent and samples[s, i] != samples[s, i])
        if bad:
            for i in range(samples.shape[1]):
                if not abs(samples[s, i]) <= limit and not (absent and samples[s, i] != samples[s, i]):
                    return s, i
    return -1, -1
