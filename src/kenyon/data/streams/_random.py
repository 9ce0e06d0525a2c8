"""Counter-based random numbers: the same bits on every machine and every NumPy version.

The n-th number of a key is a pure function of (key, n), so any part of a stream can be drawn
without drawing what comes before it, and nothing has to be stored.

    key    = fold of splitmix64 over the seed, a name and a few integers
    draw n = splitmix64(key + n * golden)

Reference: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def key(seed: int, name: str, *parts: int) -> int:
    """One 64-bit key for a seed, a purpose and any further numbers (task, pass, class)."""
    state = 0
    for part in (seed, int.from_bytes(name.encode(), "little") % _MASK, *parts):
        state = int(_mix(np.array([(state + part + _GOLDEN) & _MASK], np.uint64))[0])
    return state


def draw(key: int, counters: NDArray[np.integer]) -> NDArray[np.uint64]:
    """The 64-bit numbers of `key` at the given counters."""
    steps = np.asarray(counters).astype(np.uint64) + np.uint64(1)
    return _mix(np.uint64(key) + steps * np.uint64(_GOLDEN))


def uniform(key: int, counters: NDArray[np.integer]) -> NDArray[np.float64]:
    """Numbers in [0, 1) of `key` at the given counters."""
    return (draw(key, counters) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def permutation(key: int, n: int) -> NDArray[np.int64]:
    """A random order of `0 .. n - 1`."""
    return np.argsort(draw(key, np.arange(n)), kind="stable")


def stratified_share(key_seed: int, name: str, y: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """True for a random `share` of the samples of every class (rounded, at least one left on each side
    of the cut where the class has two samples or more)."""
    chosen = np.zeros(len(y), np.bool_)
    if share == 0:
        return chosen
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        count = round(share * len(members))
        if len(members) > 1:
            count = min(max(count, 1), len(members) - 1)
        shuffled = members[permutation(key(key_seed, name, int(label)), len(members))]
        chosen[shuffled[len(members) - count :]] = True
    return chosen
