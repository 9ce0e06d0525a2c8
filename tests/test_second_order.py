"""The second-order layer's state against plain NumPy: exact sums in any order, floats, few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import core
from kenyon.errors import ConfigError, InputError, ModelFileError
from kenyon.layers import Samples, SecondOrderLayer
from kenyon.layers._coactivity import widened
from second_order import BETA, KINDS, activity, held, make, samples, sums_of, teach

# ---- exact sums


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_exact_sums_depend_on_neither_order_nor_cuts(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 40))
    density = data.draw(st.sampled_from([0.05, 0.3, 1.0]))
    X, y = samples(data.draw(st.integers(1, 300)), width, seed=data.draw(st.integers(0, 99)), density=density)
    X[data.draw(st.integers(0, len(X) - 1))] = 255
    order = np.array(data.draw(st.permutations(range(len(X)))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=5)))
    one, other = teach(make(width), X, y), teach(make(width), X[order], y[order], cuts)
    assert held(one) == held(other)
    for name, sums in sums_of(X, y, 5).items():
        assert np.array_equal(one.state.views()[name], sums), name


@pytest.mark.parametrize("density", [0.02, 0.2, 0.6, 1.0])
def test_sparse_and_dense_kernels_add_the_same(density: float) -> None:
    X, y = samples(128, 600, density=density)
    wanted = sums_of(X, y, 5)
    chosen = np.flatnonzero(y >= 0)
    sparse, dense = make(600), make(600)
    core.add_products(sparse.state.arrays["pairs"], *activity(X), chosen)
    rows = dense.coactivity.dense(activity(X), chosen)
    dense.coactivity.add_dense(dense.state.arrays["pairs"], rows)
    for layer in (sparse, dense, teach(make(600), X, y)):
        assert np.array_equal(layer.state.views()["pairs"], wanted["pairs"])


@pytest.mark.parametrize("array, most", [("pairs", 255 * 255), ("sums", 255), ("class_counts", 1)])
@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("cut", [0, 3])
def test_sums_go_over_to_64_bits_when_an_entry_needs_them(array: str, most: int, over: int, cut: int) -> None:
    """Five samples of the largest activity end at exactly 2**32 - 1, or one above."""
    layer = make(7, 2)
    layer.state.arrays[array].flat[0] = 2**32 - 1 - 5 * most + over
    layer.state.arrays["class_counts"][0] = max(
        layer.state.arrays["class_counts"][0], 2**32 - 50 if array == "sums" else 0
    )
    X, y = np.full((5, 7), 255, np.uint8), np.zeros(5, np.int64)
    before = layer.state.state_bytes
    teach(layer, X, y, [cut])
    view = layer.state.views()[array]
    assert int(view.flat[0]) == 2**32 - 1 + over
    assert view.dtype == (np.uint64 if over else np.uint32)
    assert layer.state.state_bytes == before + (view.size * 4 if over else 0)
    assert layer.state_bytes_with(0) == layer.state.state_bytes
    other = make(7, 0)
    other.load({name + ".0": array for name, array in layer.state.views().items()}, ".0", 2)
    assert held(other) == held(layer)
    if over:  # and back, where a sample is taken out again
        layer.subtract(teach(make(7, 2), X[:1], y[:1]).state, np.arange(2))
        assert layer.state.views()[array].dtype == np.uint32 and int(layer.state.views()[array].flat[0]) <= 2**32 - 1


def test_entries_in_64_bits_that_would_fit_32_are_narrowed_when_loaded() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    wide = {name + ".0": array.astype(np.uint64) for name, array in layer.state.views().items()}
    other = SecondOrderLayer(23)
    other.load(wide, ".0", 5)
    assert held(other) == held(layer)


@pytest.mark.parametrize("kind", KINDS)
def test_only_labelled_samples_of_plastic_neurons_are_learned(kind: str) -> None:
    X, y = samples()
    layer, other = make(**KINDS[kind]), make(**KINDS[kind])
    values = X if KINDS[kind].get("in_bytes", True) else X.astype(np.float32)
    plastic = np.arange(layer.width) < 2
    layer.learn(Samples(activity(values), 0, len(X), y, plastic, BETA))
    chosen = np.flatnonzero((y == 0) | (y == 1))
    teach(other, X[chosen], y[chosen])
    assert held(layer) == held(other)


def test_updates_count_pairs_of_active_units() -> None:
    X, y = samples(density=0.4)
    layer = make()
    n = (X[y >= 0] > 0).sum(axis=1)
    active = activity(X)
    layer.learn(Samples(active, 0, len(X), y, None, BETA))
    assert layer.updates(Samples(active, 0, len(X), y, None, BETA), y >= 0, 5) == (n * (n + 1) // 2).sum()


def test_activity_of_another_type_is_refused() -> None:
    X, y = samples()
    with pytest.raises(TypeError, match="float32: expected uint8"):
        make().learn(Samples(activity(X.astype(np.float32)), 0, len(X), y, None, BETA))


# ---- floats and few bits


@settings(max_examples=15, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kind", ["16 bits", "24 bits", "floats"])
def test_other_ways_depend_on_no_cuts(kind: str, data: st.DataObject) -> None:
    density = data.draw(st.sampled_from([0.05, 0.5, 1.0]))
    X, y = samples(data.draw(st.integers(1, 400)), 37, seed=data.draw(st.integers(0, 99)), density=density)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=5)))
    one, other = (teach(make(37, **KINDS[kind]), X, y, c) for c in ([], cuts))
    assert held(one) == held(other)


@pytest.mark.parametrize("density", [0.1, 1.0])
def test_float_sums_are_those_of_numpy_sample_by_sample(density: float) -> None:
    X, y = samples(200, 41, density=density)
    X = (X / 100).astype(np.float32) * np.where(np.arange(41) % 3, 1, -1).astype(np.float32)
    layer = teach(make(41, in_bytes=False), X, y, [50])
    pairs = np.zeros((41, 41), np.float32)
    for x in X[y >= 0]:
        pairs += np.outer(x, x)
    assert np.array_equal(layer.state.views()["pairs"], pairs[np.tril_indices(41)])


def test_float_activity_beyond_reason_is_refused() -> None:
    X, y = samples()
    with pytest.raises(InputError, match=r"1e\+13: expected at most 1e\+12"):
        teach(make(in_bytes=False), np.full_like(X, 1, np.float32) * np.float32(1e13), y)


@pytest.mark.parametrize("bits", [16, 24])
def test_few_bits_are_thinned_before_they_overflow(bits: int) -> None:
    """A long stream of a small layer: entries stay within the bits, and the scatter stays near the exact one."""
    X, y = samples(20_000 if bits == 16 else 60_000, 20, seed=1)
    layer, exact = teach(make(20, bits=bits), X, y), teach(make(20), X, y)
    halvings, doublings = (int(layer.state.views()[name][0]) for name in ("halvings", "doublings"))
    assert halvings > 0 and (bits == 24 or doublings > 0)
    entries = layer.coactivity.unpacked(layer.state.views()["pairs"])
    assert np.abs(entries).max() < 2 ** (bits - 1)
    assert entries[layer.coactivity.diagonal].max() >= 2 ** (bits - 3)
    few, whole = layer.coactivity.moments(layer.state), exact.coactivity.moments(exact.state)
    size = whole.scatter[layer.coactivity.diagonal].mean()
    np.testing.assert_allclose(few.scatter / size, whole.scatter / size, atol=0.3 if bits == 16 else 0.05)
    np.testing.assert_allclose(few.means, whole.means, atol=1.5)
    assert few.n_samples == whole.n_samples and few.n_used < whole.n_samples


def test_entries_of_24_bits_are_packed_and_unpacked() -> None:
    entries = np.array([0, 1, -1, 2**23 - 1, -(2**23), 12345, -54321, 77, 2**23 - 1, -(2**23), -1], np.int32)
    for n in range(1, 12):
        packed, again = np.empty(3 * n, np.uint8), np.empty(n, np.int32)
        core.pack_pairs(entries[:n], packed)
        core.unpack_pairs(packed, again)
        assert np.array_equal(again, entries[:n])
        assert packed.tobytes() == b"".join(int(e).to_bytes(3, "little", signed=True) for e in entries[:n])


def test_sums_of_64_bits_are_exact_to_the_last() -> None:
    layer, start = make(), 2**63 + 1
    for name in layer.state.arrays:
        layer.state = widened(layer.state, [name])
        layer.state.arrays[name][...] = np.uint64(start)
    for density in (0.1, 1.0):
        X, y = samples(200, density=density)
        before = {name: view.copy() for name, view in layer.state.views().items()}
        teach(layer, X, y, [1, 3, 50])
        for name, sums in sums_of(X, y, 5).items():
            assert np.array_equal(layer.state.views()[name] - before[name], sums), name


@pytest.mark.parametrize("name, most", [("halvings", 62), ("doublings", 8)])
def test_scales_that_no_stream_leads_to_are_refused(name: str, most: int) -> None:
    layer = make(bits=16)
    layer.state.arrays[name][0] = most + 1
    saved = {key + ".0": array for key, array in layer.state.views().items()}
    with pytest.raises(ModelFileError, match=f"{name} is {most + 1}: expected at most {most}"):
        make(n_classes=0, bits=16).load(saved, ".0", 5)


@pytest.mark.parametrize(
    "kind, wanted",
    [
        ("exact", 4 * 276 + 4 * 23 * 5 + 4 * 5),
        ("floats", 4 * 276 + 4 * 23 * 5 + 4 * 5),
        ("24 bits", 3 * 276 + 2 * 23 * 5 + 4 * 5 + 2),
        ("16 bits", 2 * 276 + 2 * 23 * 5 + 4 * 5 + 2),
    ],
)
def test_state_bytes_are_those_of_the_packed_arrays(kind: str, wanted: int) -> None:
    layer = teach(make(**KINDS[kind]), *samples())
    assert layer.state.state_bytes == wanted == sum(view.nbytes for view in layer.state.views().values())
    more = make(n_classes=8, **KINDS[kind])
    assert layer.state_bytes_with(3) == more.state.state_bytes
    assert layer.nbytes > wanted


@pytest.mark.parametrize(
    "how, match",
    [
        ({"bits": 8}, "bits is 8: expected 16, 24 or 32"),
        ({"bits": 16, "in_bytes": False}, "expected activity in integers"),
        ({"readout": "softmax"}, "readout"),
        ({"shrinkage": -1.0}, "shrinkage"),
        ({"shrinkage": "some"}, "shrinkage"),
    ],
)
def test_what_it_cannot_be_is_refused(how: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        SecondOrderLayer(4, **how)
