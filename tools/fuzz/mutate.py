"""Changes of bytes and of plain values, of the kinds that damage and malice make."""

from __future__ import annotations

import copy
import random
from typing import Any

INTERESTING = (b"\0", b"\xff", b"\x7f", b"\x80", b"\n", b'"', b"{", b"[", b",", b"-", b"9", b"\0" * 4, b"\xff" * 8)

NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 8, 9, 255, 256, 2**15, 2**16, 2**20, 2**24, 2**28, 2**31 - 1, 2**31, 2**32),
    *(2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, -(2**31), -(2**63), 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1.0, 1.5, 1e-300, 1e30, 1e39, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
)
TEXTS = ("", "auto", "off", "x", "é\0\ud800", "gen", "os:system", "nothing.py:Nothing", "__class__", "9" * 5000, "None")
OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [1],
    {"a": 1},
    [None, 1],
    {"rule": "gen"},
    {"schedule": "step"},
)


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def mutated_bytes(content: bytes, rng: random.Random) -> bytes:
    """The content with one to four changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1) if rng.random() < 0.7 else rng.randrange(min(len(data), 64) + 1)
        kind = rng.randrange(8)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rng.choice((1, 2, 4, 8, 64))]
        elif kind == 4:
            data[at:at] = rng.randbytes(rng.choice((1, 2, 8, 64)))
        elif kind == 5:
            piece = rng.choice(INTERESTING)
            data[at : at + len(piece)] = piece
        elif kind == 6:
            source, length = rng.randrange(len(data) + 1), rng.choice((4, 16, 128))
            data[at:at] = data[source : source + length]
        else:
            length = rng.choice((4, 20))
            data[at : at + length] = rng.randbytes(length)
    return bytes(data)


def any_value(rng: random.Random) -> Any:
    """A plain value of any kind."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(NUMBERS)
    if kind < 0.75:
        return rng.choice(TEXTS)
    return copy.deepcopy(rng.choice(OTHERS))


def mutated_value(value: Any, rng: random.Random) -> Any:
    """A copy of nested lists and mappings with one to three changes, each at a place chosen by chance."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = [(value, key) for key in _keys(value)]
        parent, key = rng.choice(places) if places else (None, None)
        while parent is not None and (inner := _keys(parent[key])) and rng.random() < 0.75:
            parent, key = parent[key], rng.choice(inner)
        if parent is None:
            return any_value(rng)
        _change(parent, key, rng)
    return value


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def _change(parent: Any, key: Any, rng: random.Random) -> None:
    kind, old = rng.randrange(10), parent[key]
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(old))
    elif kind == 1:
        parent[rng.choice(TEXTS)] = old
    elif kind == 2 and type(old) in (int, float):
        parent[key] = rng.choice((old + 1, old - 1, -old, old * 2, old * 1000, str(old), [old]))
    elif kind == 3:
        parent[key] = [old]
    else:
        parent[key] = any_value(rng)
