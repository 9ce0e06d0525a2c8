"""Merging in few bits against `kenyon.reference`, after streams of any length."""

from __future__ import annotations

import numpy as np
import pytest

import kenyon
from kenyon.layers import FewBitLayer, Samples, SecondOrderLayer, clamp_bounds
from kenyon.reference._few_bit_weights import FewBitWeights
from kenyon.reference._few_bits import FewBits
from kenyon.rules import MEAN
from making import plain_spec
from second_order import activity
from second_order import make as make_second
from second_order import samples as second_samples
from second_order import teach as teach_second


def counted(n: int, seed: int, in_bytes: bool, bits: int) -> FewBitLayer:
    """A layer with three neurons, the last of which learns nothing."""
    rng = np.random.default_rng(seed)
    layer = FewBitLayer(37, MEAN(), clamp_bounds(None, "symmetric"), bits, seed=9, rate=1.0, in_bytes=in_bytes)
    for _ in range(3):
        layer.add_class()
    X = rng.integers(0, 256, (n, 37), dtype=np.uint8) * (rng.random((n, 37)) < 0.3)
    values = (
        X.astype(np.uint8) if in_bytes else (X / np.maximum(np.linalg.norm(X, axis=1)[:, None], 1)).astype(np.float32)
    )
    labels = (rng.random(n) < 0.2).astype(np.int64)
    layer.learn(Samples(activity(values), 0, n, labels, None, np.tile(np.float32([1, 0, 0.3]), (n, 1))))
    return layer


def plain_weights(layer: FewBitLayer) -> FewBitWeights:
    """The same layer in plain Python."""
    how = {"rule": layer.rule, "bits": layer.bits, "clamp": None, "clamp_kind": "symmetric", "learning_rate": 1.0}
    plain = FewBitWeights(layer.n_inputs, layer.seed, plain_spec(**how, in_bytes=layer.in_bytes))
    arrays = layer.state.views()
    plain.levels = layer.levels.T.tolist()
    plain.counts, plain.exponents = arrays["counts"].tolist(), arrays["exponents"].tolist()
    return plain


@pytest.mark.parametrize("bits, in_bytes", [(4, True), (3, False)])
@pytest.mark.parametrize("n, m", [(5, 3), (100, 3), (40, 41), (0, 9), (200, 1000)])
def test_levels_are_merged_as_written_down(bits: int, in_bytes: bool, n: int, m: int) -> None:
    a, b = counted(n, 1, in_bytes, bits), counted(m, 2, in_bytes, bits)
    one, other = (plain_weights(layer) for layer in (a, b))
    one.merge(other, np.array([2, 0, 1]))
    a.merge(b.state, np.array([2, 0, 1]))
    assert all(np.array_equal(a.state.views()[name], array) for name, array in one.arrays().items())


# ---- co-activity of few bits


def plain_sums(layer: SecondOrderLayer) -> FewBits:
    """The same sums in plain Python."""
    few, arrays = layer.coactivity, layer.state.views()
    assert isinstance(few, kenyon.layers._few_bits.FewBits)
    plain = FewBits(layer.n_inputs, few.bits)
    plain.pairs[np.tril_indices(layer.n_inputs)] = few.unpacked(arrays["pairs"])
    plain.pairs += np.tril(plain.pairs, -1).T
    plain.means, plain.counts = arrays["means"].astype(np.int64), arrays["class_counts"].astype(np.uint64)
    plain.halvings, plain.doublings = int(arrays["halvings"][0]), int(arrays["doublings"][0])
    return plain


@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("n, m", [(40, 30), (400, 15), (3, 900), (500, 2000)])
def test_co_activity_is_merged_as_written_down(bits: int, n: int, m: int) -> None:
    X, y = second_samples(n + m, 9, n_classes=3, density=0.8)
    a = teach_second(make_second(9, 3, bits=bits), X[:n], y[:n])
    b = teach_second(make_second(9, 3, bits=bits), X[n:], y[n:])
    wanted = plain_sums(a)
    wanted.merge(plain_sums(b), np.arange(3))
    a.merge(b.state, np.arange(3))
    assert all(np.array_equal(a.state.views()[name], array) for name, array in wanted.arrays().items())


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
        assert np.allclose(found.means, wanted.means, atol=1.0)
        assert np.allclose(found.scatter, wanted.scatter, rtol=0.05, atol=2000)
