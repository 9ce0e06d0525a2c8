"""Merging in few bits against the arithmetic that the layers write down, in Python's whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from few_bits_in_python import GOLDEN, WORD, mix
from kenyon.layers import FewBitLayer, Samples, SecondOrderLayer
from kenyon.modulation import clamp_bounds
from kenyon.rules import MEAN
from second_order import activity
from second_order import make as make_second
from second_order import samples as second_samples
from second_order import teach as teach_second

MASK = 2**64 - 1


def counted(n: int, seed: int, whole: bool, bits: int) -> FewBitLayer:
    """A layer with three neurons, the last of which learns nothing."""
    rng = np.random.default_rng(seed)
    layer = FewBitLayer(37, MEAN(), clamp_bounds(None, "symmetric"), bits, seed=9, rate=1.0, whole=whole)
    for _ in range(3):
        layer.add_class()
    X = rng.integers(0, 256, (n, 37), dtype=np.uint8) * (rng.random((n, 37)) < 0.3)
    values = X.astype(np.uint8) if whole else (X / np.maximum(np.linalg.norm(X, axis=1)[:, None], 1)).astype(np.float32)
    labels = (rng.random(n) < 0.2).astype(np.int64)
    layer.learn(Samples(activity(values), 0, n, labels, None, np.tile(np.float32([1, 0, 0.3]), (n, 1))))
    return layer


@pytest.mark.parametrize("bits, whole", [(4, True), (3, False)])
@pytest.mark.parametrize("n, m", [(5, 3), (100, 3), (40, 41), (0, 9), (200, 1000)])
def test_levels_are_merged_as_written_down(bits: int, whole: bool, n: int, m: int) -> None:
    a, b = counted(n, 1, whole, bits), counted(m, 2, whole, bits)
    wanted = {}
    for j, k in ((0, 1), (1, 2), (2, 0)):
        own, more = (int(layer.state.arrays["counts"][at]) for layer, at in ((a, j), (b, k)))
        e, f = (int(layer.state.arrays["exponents"][at]) for layer, at in ((a, j), (b, k)))
        total = own + more
        exponent = max(e, f)
        while total * a.top > a.top << exponent:
            exponent += 1
        key = mix((mix((9 + GOLDEN * total) % WORD) + GOLDEN * (j + 1)) % WORD)
        levels = []
        for i in range(37):
            chance = mix((mix((key + 64) % WORD) + GOLDEN * (i + 1)) % WORD)
            q, r = int(a.levels[i, j]), int(b.levels[i, k])
            v = max(a.top << e, 2 * own * a.top) if q == a.top else q << e
            w = max(a.top << f, 2 * more * a.top) if r == a.top else r << f
            levels.append(min(a.top, (v + w + (chance >> 32 - exponent)) >> exponent))
        wanted[j] = (total, exponent, levels)
    a.merge(b.state, np.array([2, 0, 1]))
    for j, (total, exponent, levels) in wanted.items():
        assert int(a.state.arrays["counts"][j]) == total and int(a.state.arrays["exponents"][j]) == exponent
        assert a.levels[:, j].tolist() == levels


# ---- co-activity of few bits


def word(a: int, b: int) -> int:
    z = (a * 0x9E3779B97F4A7C15 + b * 0xD1B54A32D192ED03) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def in_python(a: SecondOrderLayer, b: SecondOrderLayer, limit: int, enough: int) -> dict[str, list[int]]:
    """The merged state, by the docstring of `_few_bits.py`."""
    kept = [
        {
            "pairs": layer.coactivity.unpacked(layer.state.arrays["pairs"]).tolist(),  # type: ignore[attr-defined]
            **{name: layer.state.arrays[name].tolist() for name in ("means", "taught", "halvings", "doublings")},
        }
        for layer in (a, b)
    ]
    d, width = a.n_inputs, a.width
    n = [each["taught"] for each in kept]
    m = [each["means"] for each in kept]
    h, g = ([each[name][0] for each in kept] for name in ("halvings", "doublings"))
    time = sum(n[0]) + sum(n[1])
    means = [[m[0][i][j] for j in range(width)] for i in range(d)]
    for j in range(width):
        if total := n[0][j] + n[1][j]:
            for i in range(d):
                part = (word(word(time, 2), i * width + j) >> 48) * total >> 16
                means[i][j] = (n[0][j] * m[0][i][j] + n[1][j] * m[1][i][j] + part) // total
    halvings, doublings = max(h), max(g)
    while True:
        shift, pairs, at, fits = 16 + 2 * doublings, [], 0, True
        for i in range(d):
            for k in range(i + 1):
                total = 0
                for each, (x, y) in zip(kept, zip(h, g, strict=True), strict=True):
                    total += (each["pairs"][at] << shift) >> min(62, halvings - x + 2 * (doublings - y))
                for j in range(width):
                    low, high = sorted((n[0][j], n[1][j]))
                    if low:
                        v = min(low * ((high << 16) // (low + high)) >> halvings, 2**47)
                        product = (m[0][i][j] - m[1][i][j]) * (m[0][k][j] - m[1][k][j])
                        total += product * (v >> 16) + (product * (v & 65535) >> 16)
                most = (1 << shift) - 1
                part = most if i == k else (word(word(time, 1), at) >> 1) & most
                entry = (total + part) >> shift
                fits &= i != k or entry <= limit
                pairs.append(min(max(entry, -limit), limit))
                at += 1
        if fits:
            break
        if time >> halvings >= enough or doublings == 8:
            halvings += 1
        else:
            doublings += 1
    taught = [x + y for x, y in zip(*n, strict=True)]
    return {"pairs": pairs, "means": means, "taught": taught, "halvings": [halvings], "doublings": [doublings]}


@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("n, m", [(40, 30), (400, 15), (3, 900), (500, 2000)])
def test_co_activity_is_merged_as_written_down(bits: int, n: int, m: int) -> None:
    X, y = second_samples(n + m, 9, n_classes=3, density=0.8)
    a = teach_second(make_second(9, 3, bits=bits), X[:n], y[:n])
    b = teach_second(make_second(9, 3, bits=bits), X[n:], y[n:])
    few = a.coactivity
    wanted = in_python(a, b, few._limit, few.enough)  # type: ignore[attr-defined]
    a.merge(b.state, np.arange(3))
    found = {name: a.state.arrays[name].tolist() for name in ("means", "taught", "halvings", "doublings")}
    assert {"pairs": few.unpacked(a.state.arrays["pairs"]).tolist(), **found} == wanted  # type: ignore[attr-defined]


def test_means_that_differ_between_parts_leave_their_scatter() -> None:
    """Each part sees one half of a class that has two; neither half scatters, and the class does."""
    X = np.zeros((400, 5), np.uint8)
    X[:200, 0], X[200:, 1] = 100, 60
    labels = np.zeros(400, np.int64)
    single = teach_second(make_second(5, 1, bits=24), X[np.random.default_rng(0).permutation(400)], labels)
    halves = [teach_second(make_second(5, 1, bits=24), X[part::2], labels[:200]) for part in (0, 1)]
    parts = [teach_second(make_second(5, 1, bits=24), X[part], labels[:200]) for part in (slice(200), slice(200, 400))]
    moments = []
    for one, other in (halves, parts):
        one.merge(other.state, np.arange(1))
        moments.append(one.coactivity.moments(one.state))
    wanted = single.coactivity.moments(single.state)
    for found in moments:
        lower = np.tril_indices(5)
        assert np.allclose(found.means, wanted.means, atol=1.0)
        assert np.allclose(found.scatter[lower], wanted.scatter[lower], rtol=0.05, atol=2000)
