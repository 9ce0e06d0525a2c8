"""A single sample learned by one compiled call: the same bits as the long way, which is taken where it must be."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.layers import Samples, SecondOrderLayer
from second_order import BETA, KINDS, activity, held, make, samples

NARROW = 2**32 - 1


def one_by_one(layer: SecondOrderLayer, X: np.ndarray, y: np.ndarray) -> tuple[int, np.ndarray]:
    """Learn sample by sample as an engine does; gives how often the long way was needed, and the clock."""
    long_ways, clock = 0, np.zeros(2, np.int64)
    values = X if layer.coactivity.values is np.uint8 else X.astype(np.float32)
    for x, label in zip(values, y, strict=True):
        if label < 0:
            continue
        sample = Samples(activity(x[np.newaxis]), 0, 1, np.array([label]), None, BETA)
        before = held(layer)
        if not layer.learn_one(sample, clock):
            assert held(layer) == before
            assert layer.learn(sample) == 1
            clock += [1, layer.updates(sample, np.ones(1, bool), layer.n_neurons)]
            long_ways += 1
    return long_ways, clock


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [23, 40])
def test_single_samples_give_the_same_bits_as_a_block(kind: str, width: int) -> None:
    X, y = samples(width=width)
    together, alone = make(width, **KINDS[kind]), make(width, **KINDS[kind])
    values = X if together.coactivity.values is np.uint8 else X.astype(np.float32)
    updates = 0
    for start in range(0, len(X), 32):
        n = min(32, len(X) - start)
        part = Samples(activity(values[start : start + n]), 0, n, y[start : start + n], None, BETA)
        assert together.learn(part) == n
        updates += together.updates(part, part.labels >= 0, together.n_neurons)
    long_ways, clock = one_by_one(alone, X, y)
    assert held(alone) == held(together)
    assert clock.tolist() == [(y >= 0).sum(), updates]
    assert long_ways < len(X) / 4


@pytest.mark.parametrize("array", ["pairs", "class_counts"])
def test_sums_without_room_take_the_long_way(array: str) -> None:
    X, y = samples()
    layer, other = make(), make()
    for one in (layer, other):
        one.state.arrays[array][:] = NARROW // (255 if array == "class_counts" else 1)
    long_ways, _ = one_by_one(layer, X[:6], np.abs(y[:6]))
    part = Samples(activity(X[:6]), 0, 6, np.abs(y[:6]), None, BETA)
    assert other.learn(part) == 6
    assert long_ways == 6 and held(layer) == held(other)


@pytest.mark.parametrize("bits", [16, 24])
def test_entries_are_halved_within_one_call(bits: int) -> None:
    X, y = samples(n=600)
    layer, together = make(in_bytes=True, bits=bits), make(in_bytes=True, bits=bits)
    long_ways, _ = one_by_one(layer, X, np.abs(y))
    for start in range(0, 600, 100):
        part = Samples(activity(X[start : start + 100]), 0, 100, np.abs(y[start : start + 100]), None, BETA)
        assert together.learn(part) == 100
    assert not long_ways and held(layer) == held(together)
    assert bits == 24 or layer.state.arrays["halvings"][0] + layer.state.arrays["doublings"][0] > 0
