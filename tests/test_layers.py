"""Learning layers: random codes, local targets, growth, and a forward pass in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon import LocalError
from kenyon.layers import LocalErrorLayer, clamp_bounds
from kenyon.layers import PlasticLayer as Layer
from kenyon.rules import INEL, MSE, OJA
from making import make, stream


@pytest.mark.parametrize("width", [2, 9, 64])
def test_each_class_has_its_own_balanced_code(width: int) -> None:
    layer, other = (LocalErrorLayer(5, width, seed, 1.0) for seed in (1, 2))
    layer.add_classes(10)
    other.add_classes(10)
    codes = np.sign(layer.codes[:, :width])
    assert (np.abs(layer.codes[:, :width]) == np.float32(1) / np.sqrt(np.float32(width))).all()
    assert ((codes > 0).sum(axis=1) == width // 2).all()
    assert not layer.codes[:, width:].any()
    if width == 64:
        assert len({row.tobytes() for row in codes}) == 10
        assert not np.array_equal(layer.codes, other.codes)


def test_the_output_layer_grows_and_keeps_what_it_has() -> None:
    rng = np.random.default_rng(0)
    layer = Layer(7, INEL(1.0, OJA()), clamp_bounds(None, "symmetric"))
    for n in range(1, 20):
        before = layer.weights.copy()
        layer.add_class()
        assert layer.n_neurons == n and layer.width % 8 == 0 and layer.width >= n
        assert np.array_equal(layer.weights[:, : n - 1], before)
        assert (layer.weights[:, n - 1] == np.float32(0.01)).all()
        np.testing.assert_allclose(layer.state.arrays["sums"][n - 1], 0.07, rtol=1e-6)
        layer.state.arrays["weights"][:, n - 1] = rng.random(7)


def test_deep_scores_are_a_chain_of_rectified_layers() -> None:
    X, y = stream()
    clf = make("mse", hidden=LocalError((24, 9))).partial_fit(X, y)
    engine = clf._core.engine
    units, values, counts = engine.features.activate(X[:20], engine.features.workspace())
    x = np.zeros((20, 117))
    for s in range(20):
        x[s, units[s, : counts[s]].astype(int)] = values[s, : counts[s]]
    for layer in engine.layers[:-1]:
        x = np.maximum(x @ layer.weights, 0)
        length = np.linalg.norm(x, axis=1, keepdims=True)
        x /= np.where(length, length, 1)
    order = [clf.neurons()[label] for label in clf.classes_.tolist()]
    np.testing.assert_allclose(clf.decision_function(X[:20]), (x @ engine.layers[-1].weights)[:, order], atol=1e-5)


@pytest.mark.parametrize("rule", [MSE(), OJA()])
def test_hidden_layers_do_not_depend_on_the_layers_after_them(rule: object) -> None:
    """The signal is local: the first layer's weights are the same whatever follows."""
    X, y = stream()
    shallow, deep = (make("mse", rule=rule, hidden=LocalError(h)).partial_fit(X, y) for h in ((24,), (24, 9)))
    assert np.array_equal(shallow._core.engine.layers[0].weights, deep._core.engine.layers[0].weights)


def test_synaptic_updates_are_the_synapses_visited() -> None:
    X, y = stream()
    known = y >= 0
    clf = make("gen").partial_fit(X, y)
    features = clf._core.engine.features
    active = 0
    for first in range(0, 90, 32):
        n = len(X[first : first + 32])
        counts = features.activate(X[first : first + 32], features.workspace())[2][:n]
        active += int(counts[known[first : first + 32]].sum())
    assert clf.synaptic_updates_ == active, "GEN visits the labelled neuron's active synapses"
    assert make("gen-dense").partial_fit(X, y).synaptic_updates_ == 117 * np.count_nonzero(known)
    declared = make("mse").partial_fit(X[:1], y[:1], classes=range(7)).partial_fit(X, y)
    again = declared.synaptic_updates_
    assert declared.partial_fit(X, y).synaptic_updates_ - again == 7 * active
