"""Two layers of few-bit weights as one, for rules that add up (`Rule.additive`), defined to the bit.

Numbers, `mix`, G and the packing are those of `_few_bit_weights.py`. Neuron j gets the samples of neuron k of another
layer, with counts n and n', exponents e and e' and levels q and q' of the two:

    N      = min(n + n', 2^31 - 1)
    E      = max(e, e'), raised by one while integer_limit(N, top) > top << E      0 where the rule has no limit
    key    = mix(mix(seed + G N) + G (j + 1))
    m[i]   = mix(mix(key + 64) + G (i + 1))
    v[i]   = q[i] << e, but max(top << e, 2 integer_limit(n, top)) where q[i] is top and the rule has a limit
    q[i]   = v[i] + v'[i] + (m[i] >> 32 - E) >> E clipped to low .. top

for every unit i, each a number of 64 bits; m shifted by 32 is 0. A neuron that learned nothing changes nothing, and the
two layers may change places. A level at the top means that the sum is at least this, and mostly it is larger:
it counts as twice the most that is read, which is where the top lies for a count just behind a power of two.

Sums of a `CountingLayer` are narrowed likewise: with N and E as above, q[i] is S[i] / (65536 level 2^E) + m[i] / 2^32,
in float64, rounded down and at most top.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.layers._few_bit_limits import MOST_COUNT
from kenyon.layers._state import State

ONE = 65536
"""An activity of 1 in a `CountingLayer`."""


def merged_levels(
    state: State,
    other: State,
    neurons: NDArray[np.int64],
    n_units: int,
    bits: int,
    signed: bool,
    limit: Callable[..., int] | None,
    seed: int,
) -> State:
    """The state of both; neuron k of the other is neuron `neurons[k]` of the first.

    Args:
        limit: `integer_limit` of the rule.
        seed: of the rounding.
    """
    arrays, theirs = {name: array.copy() for name, array in state.arrays.items()}, other.arrays
    top = (1 << (bits - signed)) - 1
    for k, j in enumerate(neurons.tolist()):
        n = min(int(arrays["counts"][j]) + int(theirs["counts"][k]), MOST_COUNT)
        (own, beyond), (more, others_beyond) = (_scale(each, at, top, limit) for each, at in ((arrays, j), (theirs, k)))
        e = max(own, more)
        while limit is not None and limit(n, top) > top << e:
            e += 1
        levels = (arrays["weights"], j, own, beyond, theirs["weights"], k, more, others_beyond)
        core.merge_levels(bits, signed, *levels, n_units, n, e, seed % 2**32)
        arrays["counts"][j] = n
        if limit is not None:
            arrays["exponents"][j] = e
    return State(state.declared, state.sizes, arrays)


def _scale(arrays: Mapping[str, NDArray], j: int, top: int, limit: Callable[..., int] | None) -> tuple[int, int]:
    """The exponent of a neuron, and what its top level stands for in levels of exponent 0."""
    if limit is None:
        return 0, top
    e = int(arrays["exponents"][j])
    return e, max(top << e, 2 * limit(int(arrays["counts"][j]), top))


def narrowed_levels(counted: State, state: State, n_units: int, bits: int, level: float, seed: int) -> State:
    """Sums of the counting rule as levels of few bits, in a state with as many neurons.

    Args:
        counted: of a `CountingLayer`.
        level: the weight of one level.
        seed: of the rounding.
    """
    arrays, sums = {name: array.copy() for name, array in state.arrays.items()}, counted.arrays["sums"]
    for j, n in enumerate(counted.views()["class_counts"].tolist()):
        n = min(n, MOST_COUNT)
        e = max(0, n - 1).bit_length()
        core.narrow_levels(bits, sums, arrays["weights"], n_units, j, n, ONE * level * 2.0**e, seed % 2**32)
        arrays["counts"][j], arrays["exponents"][j] = n, e
    return State(state.declared, state.sizes, arrays)
