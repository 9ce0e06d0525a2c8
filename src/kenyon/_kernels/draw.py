"""Draw the sparse projection from a seed, the same on every machine and in every version.

NumPy does not promise that its sampling methods keep their streams between releases, and a model
file keeps the seed instead of the projection; so the draw is defined here, down to the bit.
"""

import numpy as np

from kenyon.compiling import kernel


@kernel()
def _next_word(state):
    """SplitMix64 (Steele, Lea and Flood, 2014): advance `state[0]`, return 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel()
def below(state, n):
    """A number in 0 .. n - 1; n is far below 2**32, so the bias of the multiply-shift is nil."""
    return np.int64(((_next_word(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel()
def draw_inputs(seed, n_inputs, n_excitatory, out):
    """Fill each row of `out` with distinct inputs: excitatory ones first, each group ascending."""
    state = np.array([seed], np.uint64)
    pool = np.arange(n_inputs)
    for unit in range(out.shape[0]):
        for k in range(out.shape[1]):  # a partial Fisher-Yates shuffle
            other = k + below(state, n_inputs - k)
            pool[k], pool[other] = pool[other], pool[k]
            out[unit, k] = pool[k]
        out[unit, :n_excitatory].sort()
        out[unit, n_excitatory:].sort()


@kernel()
def draw_code(seed, index, n_on, out):
    """Set `n_on` of the entries of `out` to one, the rest to zero, by seed and index."""
    state = np.array([seed], np.uint64)
    state[0] ^= np.uint64(index + 1) * np.uint64(0xD1B54A32D192ED03)
    pool = np.arange(out.size)
    out[:] = 0
    for k in range(n_on):
        other = k + below(state, out.size - k)
        pool[k], pool[other] = pool[other], pool[k]
        out[pool[k]] = 1
