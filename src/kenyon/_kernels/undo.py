"""A journal of rows: what a call changes is kept when it is first touched, so that the call can be undone."""

from kenyon.compiling import kernel


@kernel()
def keep_rows(weights, active, first, last, marks, kept, rows, count):
    """Copy the rows of units active in samples first .. last - 1 that are not marked yet, and mark them.

    Args:
        weights: (units, width).
        active: (units, values, counts) of the block.
        marks: (units,) bool, the units kept so far; kept: (units,) their numbers in order.
        rows: (units, width), their rows in that order.
        count: (1,) how many they are. It moves on only when a row is complete.
    """
    units, _, counts = active
    for s in range(first, last):
        for a in range(counts[s]):
            unit = units[s, a]
            if not marks[unit]:
                n = count[0]
                for j in range(weights.shape[1]):
                    rows[n, j] = weights[unit, j]
                kept[n] = unit
                marks[unit] = True
                count[0] = n + 1


@kernel()
def keep_rows_of_one(weights, active, sample, kept, rows, count):
    """The same for one sample alone, whose units are all different, so that none needs a mark."""
    units, _, counts = active
    for a in range(counts[sample]):
        unit = units[sample, a]
        for j in range(weights.shape[1]):
            rows[a, j] = weights[unit, j]
        kept[a] = unit
    count[0] = counts[sample]


@kernel()
def restore_rows(weights, kept, rows, count):
    """Put the kept rows back."""
    for n in range(count[0]):
        for j in range(weights.shape[1]):
            weights[kept[n], j] = rows[n, j]


@kernel()
def forget_rows(marks, kept, count):
    """Begin a new journal."""
    for n in range(count[0]):
        marks[kept[n]] = False
    count[0] = 0
