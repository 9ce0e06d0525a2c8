"""Two layers of few-bit weights as one, for rules that add up (`Rule.additive`), defined to the bit.

Numbers, `mix`, G and the packing are those of `_few_bit_weights.py`. Neuron j gets the samples of neuron k of another
layer, with counts n and n', exponents e and e' and levels q and q' of the two:

    N      = min(n + n', 2^31 - 1)
    E      = max(e, e'), raised by one while whole_limit(N, top) > top << E      0 where the rule has no limit
    key    = mix(mix(seed + G N) + G (j + 1))
    m[i]   = mix(mix(key + 64) + G (i + 1))
    q[i]   = (q[i] << e) + (q'[i] << e') + (m[i] >> 32 - E) >> E clipped to low .. top

for every unit i, each a number of 64 bits; m shifted by 32 is 0. A neuron that learned nothing changes nothing, and the
two layers may change places.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels.few_bits import MOST
from kenyon._kernels.merging import compile_merge
from kenyon.layers._state import State


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
        limit: `whole_limit` of the rule.
        seed: of the rounding.
    """
    arrays, theirs = {name: array.copy() for name, array in state.arrays.items()}, other.arrays
    merge, top = compile_merge(bits, signed), (1 << (bits - signed)) - 1
    for k, j in enumerate(neurons.tolist()):
        n = min(int(arrays["counts"][j]) + int(theirs["counts"][k]), int(MOST))
        own, more = (int(each["exponents"][at]) if limit is not None else 0 for each, at in ((arrays, j), (theirs, k)))
        e = max(own, more)
        while limit is not None and limit(n, top) > top << e:
            e += 1
        levels = (arrays["weights"], np.int64(own), theirs["weights"], np.int64(more))
        merge(*levels, n_units, k, j, np.int64(n), np.int64(e), np.uint32(seed % 2**32))
        arrays["counts"][j] = n
        if limit is not None:
            arrays["exponents"][j] = e
    return State(state.declared, state.sizes, arrays)
