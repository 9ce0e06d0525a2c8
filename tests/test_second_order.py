"""The second-order layer against plain NumPy: exact sums in any order, few bits, readouts, merging, undoing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.covariance import oas
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from kenyon import KenyonClassifier
from kenyon._kernels import pairs as kernels
from kenyon.errors import ConfigError, InputError, ModelFileError
from kenyon.features import Active
from kenyon.layers import SecondOrderLayer
from kenyon.layers._coactivity import widened
from kenyon.layers._readout import NEVER, oracle_shrinkage

BETA = np.zeros((1, 2), np.float32)
KINDS: dict[str, dict[str, Any]] = {
    "exact": {},
    "24 bits": {"bits": 24},
    "16 bits": {"bits": 16},
    "floats": {"whole": False},
}


def samples(n: int = 300, width: int = 23, n_classes: int = 5, seed: int = 0, density: float = 1.0) -> tuple:
    """Bytes around a prototype of each class, of which a share is not zero, and labels, some withheld."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.clip(rng.integers(30, 226, (n_classes, width))[y] + rng.normal(0, 30, (n, width)), 1, 255).astype(np.uint8)
    X[rng.random((n, width)) >= density] = 0
    y[6::7] = -1
    return X, y


def activity(X: NDArray) -> Active:
    """Dense samples as the active units of a block."""
    n, width = X.shape
    units, values, counts = np.zeros((n, width), np.uint32), np.zeros((n, width), X.dtype), np.zeros(n, np.int64)
    for s in range(n):
        (on,) = np.nonzero(X[s])
        units[s, : len(on)], values[s, : len(on)], counts[s] = on, X[s, on], len(on)
    return units, values, counts


def make(width: int = 23, n_classes: int = 5, **how: Any) -> SecondOrderLayer:
    layer = SecondOrderLayer(width, **how)
    for _ in range(n_classes):
        layer.add_class()
    return layer


def teach(layer: SecondOrderLayer, X: NDArray, y: NDArray, cuts: Sequence[int] = ()) -> SecondOrderLayer:
    """Learn in pieces."""
    for part in np.split(np.arange(len(X)), cuts):
        if part.size:
            active = activity(X[part] if layer.coactivity.values is np.uint8 else X[part].astype(np.float32))
            assert layer.learn(active, 0, len(part), y[part], None, BETA) == len(part)
    return layer


def held(layer: SecondOrderLayer) -> dict[str, tuple[str, bytes]]:
    return {name: (view.dtype.str, view.tobytes()) for name, view in layer.state.views().items()}


def sums_of(X: NDArray, y: NDArray, n_classes: int) -> dict[str, NDArray]:
    known = y >= 0
    X, y = X[known].astype(np.uint64), y[known]
    one_hot = np.eye(n_classes, dtype=np.uint64)[y]
    return {"pairs": (X.T @ X)[np.tril_indices(X.shape[1])], "sums": X.T @ one_hot, "taught": one_hot.sum(axis=0)}


def predictions(layer: SecondOrderLayer, X: NDArray, y: NDArray, cuts: Sequence[int] = ()) -> NDArray:
    """Test, then learn, in pieces: the scores before each sample was learned."""
    out = []
    for part in np.split(np.arange(len(X)), cuts):
        scores = np.empty((len(part), layer.width), np.float32)
        values = X[part] if layer.coactivity.values is np.uint8 else X[part].astype(np.float32)
        layer.learn(activity(values), 0, len(part), y[part], None, BETA, scores)
        out.append(scores[:, : layer.n_neurons])
    return np.concatenate(out)


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
    kernels.add_products(sparse.state.arrays["pairs"], *activity(X), chosen)
    rows = dense.coactivity.dense(activity(X), chosen)
    dense.coactivity.add_in_panels(dense.state.arrays["pairs"], rows)
    for layer in (sparse, dense, teach(make(600), X, y)):
        assert np.array_equal(layer.state.views()["pairs"], wanted["pairs"])


@pytest.mark.parametrize("array, most", [("pairs", 255 * 255), ("sums", 255), ("taught", 1)])
@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("cut", [0, 3])
def test_sums_go_over_to_64_bits_when_an_entry_needs_them(array: str, most: int, over: int, cut: int) -> None:
    """Five samples of the largest activity end at exactly 2**32 - 1, or one above."""
    layer = make(7, 2)
    layer.state.arrays[array].flat[0] = 2**32 - 1 - 5 * most + over
    layer.state.arrays["taught"][0] = max(layer.state.arrays["taught"][0], 2**32 - 50 if array == "sums" else 0)
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
        layer.unlearn(activity(X[:1]), 0, 1, y[:1])
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
    values = X if KINDS[kind].get("whole", True) else X.astype(np.float32)
    plastic = np.arange(layer.width) < 2
    layer.learn(activity(values), 0, len(X), y, plastic, BETA)
    chosen = np.flatnonzero((y == 0) | (y == 1))
    teach(other, X[chosen], y[chosen])
    assert held(layer) == held(other)


def test_updates_count_pairs_of_active_units() -> None:
    X, y = samples(density=0.4)
    layer = make()
    n = (X[y >= 0] > 0).sum(axis=1)
    active = activity(X)
    layer.learn(active, 0, len(X), y, None, BETA)
    assert layer.updates(active, 0, len(X), y >= 0, 5) == (n * (n + 1) // 2).sum()


def test_activity_of_another_type_is_refused() -> None:
    X, y = samples()
    with pytest.raises(TypeError, match="float32: expected uint8"):
        make().learn(activity(X.astype(np.float32)), 0, len(X), y, None, BETA)


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
    layer = teach(make(41, whole=False), X, y, [50])
    pairs = np.zeros((41, 41), np.float32)
    for x in X[y >= 0]:
        pairs += np.outer(x, x)
    assert np.array_equal(layer.state.views()["pairs"], pairs[np.tril_indices(41)])


def test_float_activity_beyond_reason_is_refused() -> None:
    X, y = samples()
    with pytest.raises(InputError, match=r"1e\+13: expected at most 1e\+12"):
        teach(make(whole=False), np.full_like(X, 1, np.float32) * np.float32(1e13), y)


@pytest.mark.parametrize("bits", [16, 24])
def test_few_bits_are_thinned_before_they_overflow(bits: int) -> None:
    """A long stream of a small layer: entries stay within the bits, and the scatter stays near the exact one."""
    X, y = samples(20_000 if bits == 16 else 60_000, 20, seed=1)
    layer, exact = teach(make(20, bits=bits), X, y), teach(make(20), X, y)
    halvings, doublings = (int(layer.state.views()[name][0]) for name in ("halvings", "doublings"))
    assert halvings > 0 and (bits == 24 or doublings > 0)
    entries = layer.coactivity._unpacked(layer.state.views()["pairs"])
    assert np.abs(entries).max() < 2 ** (bits - 1)
    assert entries[layer.coactivity.diagonal].max() >= 2 ** (bits - 3)
    few, whole = layer.coactivity.moments(layer.state), exact.coactivity.moments(exact.state)
    lower = np.tril_indices(20)
    size = np.trace(whole.scatter) / 20
    np.testing.assert_allclose(few.scatter[lower] / size, whole.scatter[lower] / size, atol=0.3 if bits == 16 else 0.05)
    np.testing.assert_allclose(few.means, whole.means, atol=1.5)
    assert few.n_samples == whole.n_samples and few.n_used < whole.n_samples


def test_entries_of_24_bits_are_packed_and_unpacked() -> None:
    entries = np.array([0, 1, -1, 2**23 - 1, -(2**23), 12345, -54321, 77, 2**23 - 1, -(2**23), -1], np.int32)
    for n in range(1, 12):
        packed, again = np.empty(3 * n, np.uint8), np.empty(n, np.int32)
        kernels.pack_24(entries[:n], packed)
        kernels.unpack_24(packed, again)
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
        ({"bits": 16, "whole": False}, "expected activity in whole numbers"),
        ({"readout": "softmax"}, "readout"),
        ({"shrinkage": -1.0}, "shrinkage"),
        ({"shrinkage": "some"}, "shrinkage"),
    ],
)
def test_what_it_cannot_be_is_refused(how: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        SecondOrderLayer(4, **how)


# ---- readouts


def plain_scores(X: NDArray, y: NDArray, queries: NDArray, kind: str, amount: float) -> NDArray:
    """Scores by definition, of classes 0, 1, ... that all have samples."""
    X, y, queries = X[y >= 0].astype(float), y[y >= 0], queries.astype(float)
    means = np.stack([X[y == j].mean(axis=0) for j in range(y.max() + 1)])
    away = X - means[y]
    W = away.T @ away / len(X)
    centre = means.mean(axis=0)
    if kind == "ridge":
        V = W + (means - centre).T @ (means - centre) / len(means)
        B = np.linalg.solve(V + amount * np.trace(V) / len(V) * np.eye(len(V)), (means - centre).T) / len(means)
        return (queries - centre) @ B + 1 / len(means)
    A = np.linalg.inv(W + amount * np.trace(W) / len(W) * np.eye(len(W)))
    scores = queries @ A @ means.T - np.einsum("ji,ik,jk->j", means, A, means) / 2
    return scores - (queries @ A @ centre - centre @ A @ centre / 2)[:, np.newaxis]


@pytest.mark.parametrize("way", ["exact", "floats"])
@pytest.mark.parametrize("kind", ["discriminant", "ridge"])
@pytest.mark.parametrize("amount", [0.001, 0.5])
def test_readouts_are_those_of_their_definitions(way: str, kind: str, amount: float) -> None:
    X, y = samples(400, density=0.8)
    layer = teach(make(readout=kind, shrinkage=amount, **KINDS[way]), X, y)
    queries = samples(50, seed=9)[0]
    active = activity(queries if way == "exact" else queries.astype(np.float32))
    scores = layer.forward(active, 0, 50)[:, :5]
    wanted = plain_scores(X, y, queries, kind, amount)
    np.testing.assert_allclose(scores, wanted, rtol=2e-3, atol=2e-3)
    assert np.array_equal(layer.forward(active, 20, 31)[:, :5], scores[20:31])


def test_the_discriminant_is_that_of_scikit_learn_without_priors() -> None:
    X, y = samples(500)
    chosen = np.concatenate([np.flatnonzero(y == j)[:60] for j in range(5)])  # theirs weighs scatter by the priors
    X, y = X[chosen], y[chosen]
    scores = teach(make(shrinkage=0.0), X, y).forward(activity(X), 0, len(X))[:, :5]
    theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=np.full(5, 0.2)).fit(X, y).decision_function(X)
    ours, theirs = (s - s.mean(axis=1, keepdims=True) for s in (scores, theirs))
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_the_shrinkage_that_it_chooses_is_that_of_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(0, np.arange(1, 13), (40, 12))
    X -= X.mean(axis=0)
    rho = oas(X, assume_centered=True)[1]
    assert oracle_shrinkage(X.T @ X, 40) == pytest.approx(rho / (1 - rho))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shrinkage", [0.0, 0.001, "auto"])
def test_a_readout_is_there_at_every_count(kind: str, shrinkage: Any) -> None:
    """No sample, one, one of each of two classes, a unit that is never active, all samples the same."""
    X, y = samples()
    X[:, 3] = 0
    how = {**KINDS[kind], "shrinkage": shrinkage}
    values = X if KINDS[kind].get("whole", True) else X.astype(np.float32)
    for n in (0, 1, 2, 3, 30):
        layer = teach(make(**how), X[:n], y[:n])
        scores = layer.forward(activity(values), 0, len(X))[:, :5]
        never = np.array([(y[:n] == j).sum() == 0 for j in range(5)])
        assert np.isfinite(scores).all()
        assert (scores[:, never] == NEVER).all() and (scores[:, ~never] > NEVER).all()
    twice = teach(make(**how), np.repeat(X[:2], 4, axis=0), np.repeat([0, 1], 4))
    assert np.array_equal(twice.forward(activity(values[:2]), 0, 2).argmax(axis=1), [0, 1])


def test_weights_and_their_means() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    (weights, offsets) = layer.weights, layer._present().offsets[:5]
    assert weights.shape == (23, 5) and weights.dtype == np.float32
    np.testing.assert_allclose(
        X @ weights + offsets, layer.forward(activity(X), 0, len(X))[:, :5], rtol=1e-3, atol=1e-3
    )
    wanted = [X[y == j].mean() for j in range(5)]
    np.testing.assert_allclose(layer.weight_means(), wanted)


def test_threads_that_ask_at_once_get_the_same() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    active = activity(X)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: layer.forward(active, 0, len(X)).tobytes(), range(8)))
    assert len(set(answers)) == 1


@pytest.mark.parametrize("how", [{}, {"bits": 16}, {"bits": 24}, {"shrinkage": "auto"}], ids=str)
def test_digits_one_class_after_the_other(how: dict[str, Any]) -> None:
    X, y = load_digits(return_X_y=True)
    X = (X * 15).astype(np.uint8)
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[:500], order[500:]
    train = train[np.argsort(y[train], kind="stable")]
    layer = teach(make(64, 10, **how), X[train], y[train])
    assert (layer.forward(activity(X[test]), 0, 500)[:, :10].argmax(axis=1) == y[test]).mean() > 0.93


# ---- predictions while learning


@settings(max_examples=15, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_while_learning_depend_on_no_cuts(kind: str, data: st.DataObject) -> None:
    X, y = samples(300, seed=data.draw(st.integers(0, 9)))
    cuts = sorted(data.draw(st.lists(st.integers(1, 299), max_size=5, unique=True)))
    one, other = make(**KINDS[kind]), make(**KINDS[kind])
    assert np.array_equal(predictions(one, X, y), predictions(other, X, y, cuts))
    assert held(one) == held(other)


def test_a_run_that_resumes_predicts_what_it_would_have() -> None:
    X, y = samples(400)
    whole = predictions(make(), X, y)
    for stop in (1, 7, 150, 333):
        layer, other = make(), make(n_classes=0)
        first = predictions(layer, X[:stop], y[:stop])
        layer.forward(activity(X), 0, 9)  # asking in between changes nothing
        other.load({name + ".0": array for name, array in layer.state.views().items()}, ".0", 5)
        other.load_working(layer.working_arrays())
        assert np.array_equal(np.concatenate([first, predictions(other, X[stop:], y[stop:])]), whole)
    assert make().working_arrays() == {}
    with pytest.raises(ModelFileError, match=r"offsets is missing or of another kind: expected float32 \(5,\)"):
        make().load_working(layer.working_arrays() | {"offsets": np.zeros(4, np.float32)})


@pytest.mark.parametrize("width", [6, 130])
def test_the_readout_is_refreshed_as_often_as_documented(width: int) -> None:
    X, y = samples(3000, width)
    y[:] = np.arange(3000) % 5
    layer = make(width)
    times: list[int] = []
    present = layer._present
    layer._present = lambda: (times.append(int(layer.state.arrays["taught"].sum())), present())[1]  # type: ignore[method-assign]
    predictions(layer, X, y)
    counts = {5 * (c - 1) + j + 1 for c in (1, 2, 4, 8, 16, 32, 64) for j in range(5)}  # class j has c samples then
    wanted = [0]
    for t in range(1, 3000):
        pending = any(wanted[-1] < count <= t for count in counts)
        near = pending and t - wanted[-1] >= max(1, width // 64, t // 512)
        if near or t - wanted[-1] >= max(8, width // 8, t // 16):
            wanted.append(t)
    assert times == wanted and len(times) < 160


def test_samples_learned_without_a_prediction_end_the_service_of_a_readout() -> None:
    X, y = samples(300)
    layer = make()
    predictions(layer, X[:100], y[:100])
    teach(layer, X[100:140], y[100:140])
    scores = predictions(layer, X[140:150], y[140:150])
    fresh = teach(make(), X[:140], y[:140])
    assert np.array_equal(scores[0], fresh.forward(activity(X[140:141]), 0, 1)[0, :5])


def test_a_new_class_is_not_predicted_before_its_first_sample() -> None:
    X, y = samples(100, n_classes=8)
    layer = make(n_classes=8)
    predictions(layer, X, y)
    layer.add_class()  # beyond the padding
    scores = np.empty((1, layer.width), np.float32)
    layer.learn(activity(X[:1]), 0, 1, np.array([8]), None, BETA, scores)
    assert scores[0, 8] == NEVER and np.isfinite(scores[0, :8]).all()
    layer.learn(activity(X[:1]), 0, 1, np.array([8]), None, BETA, scores)
    assert scores[0, :9].argmax() == 8


# ---- merging and unlearning


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_merged_states_equal_the_state_of_one_pass(data: st.DataObject) -> None:
    """Any split, classes split as well, in any order of merging, each part with neurons in an order of its own."""
    X, y = samples(data.draw(st.integers(0, 200)), 11, seed=data.draw(st.integers(0, 9)))
    part_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))), int)
    merged = make(11)
    for part in data.draw(st.permutations(range(4))):
        own = part_of == part
        classes = [*dict.fromkeys(y[own & (y >= 0)].tolist())]
        layer = make(11, len(classes))
        labels = np.array([classes.index(c) if c >= 0 else -1 for c in y[own].tolist()], np.int64)
        teach(layer, X[own], labels)
        merged.merge(layer.state, np.array(classes, np.int64))
    assert held(merged) == held(teach(make(11), X, y))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_unlearned_samples_leave_the_state_as_if_they_had_never_come(data: st.DataObject) -> None:
    X, y = samples(data.draw(st.integers(1, 200)), 11, seed=data.draw(st.integers(0, 9)), density=0.7)
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    layer = teach(make(11), X, y)
    layer.unlearn(activity(X[gone]), 0, int(gone.sum()), y[gone])
    assert held(layer) == held(teach(make(11), X[~gone], y[~gone]))


@pytest.mark.parametrize(
    "what, change",
    [
        ("taught", lambda X, y: (np.repeat(X[:1], 300, axis=0), np.repeat(y[:1], 300))),
        ("sums", lambda X, y: (X[:1], (y[:1] + 1) % 5)),
        ("pairs", lambda X, y: (X[:1] * 0 + np.uint8(255), y[:1])),
        ("a class without samples", lambda X, y: (X[y == y[0]] // 2, y[y == y[0]])),
    ],
)
def test_what_was_never_learned_is_not_unlearned(what: str, change: Any) -> None:
    X, y = samples(60, density=0.1)
    X[y != y[0]] = 0
    layer = teach(make(), X, y)
    before, scores = held(layer), layer.forward(activity(X), 0, 60)
    others, labels = change(X, y)
    with pytest.raises(InputError, match=r"expected samples that were learned"):
        layer.unlearn(activity(others), 0, len(others), labels)
    assert held(layer) == before and np.array_equal(layer.forward(activity(X), 0, 60), scores)


def test_what_does_not_add_up_is_not_merged() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    before = held(layer)
    huge = make()
    huge.state.arrays["pairs"][0] = 2**32 - 1
    huge.merge(copy.deepcopy(huge.state), np.arange(5))
    huge.state.arrays["pairs"][0] = np.uint64(2**64 - 1)
    for other, neurons, match in (
        (make(22), np.arange(5), "22 units: expected 23"),
        (make(whole=False), np.arange(5), "no exact sums"),
        (make(bits=16), np.arange(5), "no exact sums"),
        (make(), np.arange(4), "expected 5 different ones below 5"),
        (make(), np.array([0, 1, 2, 3, 3]), "expected 5 different ones below 5"),
        (make(), np.array([0, 1, 2, 3, 5]), "expected 5 different ones below 5"),
        (huge, np.arange(5), "expected sums of samples that were learned"),
    ):
        with pytest.raises(InputError, match=match):
            layer.merge(other.state, neurons)
        assert held(layer) == before
    for kind in ("16 bits", "24 bits", "floats"):
        other = make(**KINDS[kind])
        with pytest.raises(ConfigError, match="cannot merge"):
            other.merge(other.state, np.arange(5))
        with pytest.raises(ConfigError, match="cannot unlearn"):
            other.unlearn(activity(X), 0, len(X), y)


# ---- undoing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("density", [0.05, 1.0])
@pytest.mark.parametrize("asked", [False, True])
def test_a_call_is_undone_whatever_it_did(kind: str, density: float, asked: bool) -> None:
    """Few samples and many, with classes that fit the padding and classes beyond it, undone once and twice."""
    X, y = samples(300, 60, n_classes=7, density=density)
    layer = make(60, 7, **KINDS[kind])
    predictions(layer, X[:100], y[:100])
    values = X if KINDS[kind].get("whole", True) else X.astype(np.float32)
    queries = activity(values)
    wanted, scores = held(layer), layer.forward(queries, 0, 9)
    following = predictions(copy.deepcopy(layer), X[100:], y[100:])
    singles = [(s, s + 1) for s in range(100, 120)]
    for blocks, n_new in (
        ([(100, 101)], 0),
        (singles[:5], 0),
        (singles, 0),
        ([*singles[:3], (103, 105), (105, 300)], 0),
        ([(100, 110), (110, 300)], 1),
        (singles[:2], 1),
        ([(100, 300)], 4),
    ):
        undo = layer.mark()
        for number, (a, b) in enumerate(blocks):
            for _ in range(n_new):
                layer.add_class()
            undo.note(queries, a, b)
            room = np.empty((b - a, layer.width), np.float32) if asked else None
            labels = np.full(300, 6 + n_new) if number else y
            layer.learn(queries, a, b, labels, None, BETA, room)
        assert held(layer) != wanted
        for _ in range(2):
            undo.undo()
            assert held(layer) == wanted and layer.n_classes == layer.n_neurons == 7
            assert np.array_equal(layer.forward(queries, 0, 9), scores)
    assert np.array_equal(predictions(layer, X[100:], y[100:]), following)


@pytest.mark.parametrize("array", ["pairs", "sums", "taught"])
def test_widening_is_undone(array: str) -> None:
    X, y = samples(200)
    layer = make()
    layer.state.arrays[array].flat[0] = layer.state.arrays["taught"][0] = 2**32 - 1
    before = held(layer)
    undo = layer.mark()
    for a in range(0, 200, 40):
        undo.note(activity(X), a, a + 40)
        layer.learn(activity(X), a, a + 40, np.zeros_like(y), None, BETA)
    assert layer.state.views()[array].dtype == np.uint64
    undo.undo()
    assert held(layer) == before
    teach(layer, X[:1], np.zeros(1, np.int64))
    assert layer.state.views()[array].dtype == np.uint64


@pytest.mark.parametrize("kind", KINDS)
def test_copies_go_on_alike(kind: str) -> None:
    X, y = samples()
    layer = make(**KINDS[kind])
    predictions(layer, X[:150], y[:150])
    layer.mark()
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert np.array_equal(predictions(other, X[150:], y[150:]), predictions(copy.deepcopy(layer), X[150:], y[150:]))


# ---- in the classifier


def classifier(**params: Any) -> KenyonClassifier:
    kind = "kenyon.layers:SecondOrderLayer"
    return KenyonClassifier(
        **{"layer": kind, "n_hidden": 150, "density": 8, "threshold": 0.5, "random_state": 0, **params}
    )


def digits() -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Samples to learn, one class after the other, and others."""
    X, y = load_digits(return_X_y=True)
    X = (X * 15).astype(np.uint8)
    order = np.argsort(y[:1200], kind="stable")
    return X[order], y[order], X[1200:], y[1200:]


def test_a_classifier_learns_saves_and_loads(tmp_path: Path) -> None:
    X, y, more, labels = digits()
    clf = classifier().partial_fit(X, y)
    assert clf.score(more, labels) > 0.85
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert again.state_bytes == clf.state_bytes
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))
    for model in (clf, again):
        model.partial_fit(more, labels)
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_checkpoint_goes_on_with_the_same_predictions(n_jobs: int) -> None:
    X, y, *_ = digits()
    whole = classifier()
    wanted = whole.test_then_learn(X, y)
    assert (wanted == y).mean() > 0.8
    clf = classifier(n_jobs=n_jobs)
    found = [clf.test_then_learn(X[:333], y[:333])]
    arrays = clf.to_arrays(working=True)
    assert set(clf.to_arrays()) < set(arrays)
    clf = KenyonClassifier.from_arrays(arrays)
    assert set(clf.to_arrays(working=True)) == set(arrays)
    found += [clf.test_then_learn(X[333:900], y[333:900]), clf.test_then_learn(X[900:], y[900:])]
    assert np.array_equal(np.concatenate(found), wanted)
    assert clf.state_bytes == whole.state_bytes
    for extra, match in (("working.1.readout", "no such layer"), ("working.0.readout", "of another kind")):
        with pytest.raises(ModelFileError, match=match):
            KenyonClassifier.from_arrays({**arrays, extra: np.zeros(3, np.float32)})
