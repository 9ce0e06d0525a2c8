"""Draw the feature layer from a seed, the same on every machine and in every version.

NumPy does not promise that its sampling methods keep their streams between releases, and a model
file keeps the seed instead of the inputs of each unit; so the draw is defined here, down to the bit,
in whole numbers only.
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
def _choose(state, pool, n):
    """Bring n entries of `pool`, chosen at random, to its front: a partial Fisher-Yates shuffle."""
    for k in range(n):
        other = k + below(state, pool.size - k)
        pool[k], pool[other] = pool[other], pool[k]


@kernel()
def draw_inputs(seed, n_inputs, n_excitatory, out):
    """Fill each row of `out` with distinct inputs: excitatory ones first, each group ascending."""
    state = np.array([seed], np.uint64)
    pool = np.arange(n_inputs)
    for unit in range(out.shape[0]):
        _choose(state, pool, out.shape[1])
        for k in range(out.shape[1]):  # a slice assigned to a slice takes seconds to compile
            out[unit, k] = pool[k]
        out[unit, :n_excitatory].sort()
        out[unit, n_excitatory:].sort()


@kernel()
def draw_windows(seed, size, window, oriented, n_excitatory, padded, out):
    """Fill each row of `out` with distinct inputs inside a window at a random place, as `draw_inputs` does.

    Args:
        size: (channels, height, width) of a sample.
        window: (height, width) of a window, which holds all channels.
        oriented: whether a line parts excitatory from inhibitory inputs; see `_side_of_line`.
        padded: (height, width) of a channel with its padding: the input at (channel, row, column) has the number
            `(channel * height + row) * width + column` of these.
    """
    channels, height, width = size
    state = np.array([seed], np.uint64)
    n_connections = out.shape[1]
    chosen = np.arange(channels * window[0] * window[1])  # ((row * width) + column) * channels + channel
    for unit in range(out.shape[0]):
        top = below(state, height - window[0] + 1)
        left = below(state, width - window[1] + 1)
        if oriented:
            side = _side_of_line(state, window, channels, unit % 2 == 0, chosen)
            cut = min(max(side, n_excitatory), chosen.size - (n_connections - n_excitatory))
            _choose(state, chosen[:cut], n_excitatory)
            _choose(state, chosen[cut:], n_connections - n_excitatory)
        else:
            cut = n_excitatory
            _choose(state, chosen, n_connections)
        for k in range(n_connections):
            place, channel = divmod(chosen[k if k < n_excitatory else cut + k - n_excitatory], channels)
            row, column = top + place // window[1], left + place % window[1]
            out[unit, k] = (channel * padded[0] + row) * padded[1] + column
        out[unit, :n_excitatory].sort()
        out[unit, n_excitatory:].sort()


@kernel()
def _side_of_line(state, window, channels, bar, order):
    """Fill `order` with the inputs of a window, those on the excitatory side of a random line first; how many they are.

    The line's normal is a whole-number vector of length 10 to 15. An edge parts one side of the line, at most a
    quarter of the window from its middle, from the other; a bar parts what lies within a fifth of the window from the
    line from the rest, either of them excitatory. The inputs come by their distance from the boundary,
    the excitatory ones that are farthest from it first.
    """
    if window[0] == 1:
        down, right = 0, 15 - 30 * below(state, 2)
    else:
        down, right = 0, 0
        while not 100 <= down * down + right * right <= 225:
            down, right = below(state, 31) - 15, below(state, 31) - 15
    length = 10
    while (length + 1) * (length + 1) <= down * down + right * right:
        length += 1
    reach = window[1] * length  # half of the window's width, in the doubled coordinates below
    most = 2 * reach // 5 if bar else reach // 2
    offset = below(state, 2 * most + 1) - most
    sign = 1 - 2 * below(state, 2) if bar else 1
    n_side = 0
    for i in range(order.size):
        row, column = divmod(i // channels, window[1])
        distance = down * (2 * row - window[0] + 1) + right * (2 * column - window[1] + 1) + offset
        if bar:
            distance = sign * (abs(distance) - 2 * reach // 5)
        n_side += distance >= 0
        order[i] = -distance * order.size + i
    order.sort()
    for i in range(order.size):
        order[i] %= order.size
    return n_side


@kernel()
def draw_code(seed, index, n_on, out):
    """Set `n_on` of the entries of `out` to one, the rest to zero, by seed and index."""
    state = np.array([seed], np.uint64)
    state[0] ^= np.uint64(index + 1) * np.uint64(0xD1B54A32D192ED03)
    pool = np.arange(out.size)
    out[:] = 0
    _choose(state, pool, n_on)
    for k in range(n_on):
        out[pool[k]] = 1


@kernel()
def draw_weights(seed, reach, out):
    """Fill `out` with numbers from -reach to reach, each a whole number of 2^-23 reaches."""
    state = np.array([seed], np.uint64)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            steps = np.int64(_next_word(state) >> np.uint64(40)) - (1 << 23)
            out[i, j] = np.float32(steps) / np.float32(1 << 23) * reach


@kernel()
def draw_signs(seed, out):
    """Fill `out` with +1 and -1, a bit of the generator each, row by row."""
    state = np.array([seed], np.uint64)
    word, left = np.uint64(0), 0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if left == 0:
                word, left = _next_word(state), 64
            out[i, j] = 1 if word & np.uint64(1) else -1
            word >>= np.uint64(1)
            left -= 1
