"""Random numbers in integers only, so that a seed gives the same features and the same rounding on every machine.

A stream of numbers, for what is drawn once (SplitMix64; Steele, Lea and Flood, 2014), all modulo 2^64:

    s = s + 0x9E3779B97F4A7C15;   word = scramble(s);   below(n) = (word >> 32) n >> 32

A number for each key, for rounding: `keyed` of two numbers modulo 2^64, `chance` of a key modulo 2^32, where `mix` is
the last step of MurmurHash3 (Appleby, 2011).
"""

from __future__ import annotations

GOLDEN = 0x9E3779B97F4A7C15
ODD = 0xD1B54A32D192ED03
GOLDEN_32 = 0x9E3779B9


def scramble(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


class Generator:
    """A stream of random numbers."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def word(self) -> int:
        """64 random bits."""
        self.state = (self.state + GOLDEN) % 2**64
        return scramble(self.state)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return (self.word() >> 32) * n >> 32

    def choose(self, pool: list[int], n: int) -> list[int]:
        """n of a pool, whose front they become (a partial Fisher-Yates shuffle): the next choice begins from there."""
        for k in range(n):
            other = k + self.below(len(pool) - k)
            pool[k], pool[other] = pool[other], pool[k]
        return pool[:n]


def code(seed: int, number: int, n: int) -> list[int]:
    """The random code of a class for n neurons: half of them are 1, the others 0."""
    generator = Generator(seed ^ (number + 1) * ODD % 2**64)
    on = set(generator.choose(list(range(n)), n // 2))
    return [int(neuron in on) for neuron in range(n)]


def keyed(a: int, b: int) -> int:
    """64 random bits for a pair of numbers."""
    return scramble((a * GOLDEN + b * ODD) % 2**64)


def mix(x: int) -> int:
    x = (x ^ x >> 16) * 0x85EBCA6B % 2**32
    x = (x ^ x >> 13) * 0xC2B2AE35 % 2**32
    return x ^ x >> 16


def chance(key: int, number: int) -> int:
    """32 random bits: those of a number under a key."""
    return mix((key + GOLDEN_32 * (number + 1)) % 2**32)


def key_of(seed: int, n: int, neuron: int) -> int:
    """The key of a neuron that learns its n-th sample."""
    return chance(mix((seed + GOLDEN_32 * n) % 2**32), neuron)
