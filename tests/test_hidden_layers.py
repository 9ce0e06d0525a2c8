"""Hidden layers that learn from their own error: the step as in `kenyon.reference`, the gain, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, Store
from kenyon.layers import LocalErrorLayer, Samples
from kenyon.reference._local_error import LocalError
from kenyon.rules import GEN, INEL
from making import held, make, stream
from second_order import activity


def test_a_layer_is_the_reference() -> None:
    rng = np.random.default_rng(0)
    layer, plain = (
        LocalErrorLayer(n_inputs=12, n_hidden=10, seed=3, rate=0.5),
        LocalError(12, 10, 3, {"hidden_rate": 0.5}),
    )
    layer.add_classes(4)
    for _ in range(4):
        plain.add_class()
    X = np.where(rng.random((30, 12)) < 0.5, rng.random((30, 12)), 0).astype(np.float32)
    y = rng.integers(-1, 4, 30)  # -1: no label
    for x, label in zip(X, y.tolist(), strict=True):
        if label >= 0:
            plain.learn((np.flatnonzero(x), x[x != 0]), label, range(10), [])
    assert layer.learn(Samples(activity(X), 0, 30, y, None, np.zeros((30, 2), np.float32))) == 30
    assert np.array_equal(layer.weights, plain.weights) and not layer.codes[:, 10:].any()


def test_the_step_of_the_reference_goes_down_the_gradient_of_its_own_squared_error() -> None:
    layer = LocalError(12, 10, 3, {"hidden_rate": 1e-2})
    layer.add_class()
    layer.add_class()
    x = np.arange(12), np.random.default_rng(0).random(12).astype(np.float32)

    def error(weights: NDArray[np.float32]) -> float:
        h = np.maximum(x[1] @ weights, 0)
        return float((([0, 1] - layer.readout @ h) ** 2).sum() / 2)

    before = layer.weights.astype(np.float64)
    slopes = np.zeros_like(before)
    for place in np.ndindex(before.shape):
        up, down = before.copy(), before.copy()
        up[place] += 1e-5
        down[place] -= 1e-5
        slopes[place] = (error(up) - error(down)) / 2e-5
    layer.learn(x, 1, range(10), [])
    np.testing.assert_allclose(layer.weights - before, -1e-2 * slopes, atol=1e-6)


def test_weights_begin_at_random_and_follow_from_the_seed() -> None:
    first, same, other = (LocalErrorLayer(500, 40, seed, 1.0).weights for seed in (1, 1, 2))
    assert np.array_equal(first, same) and not np.array_equal(first, other)
    assert abs(first.mean()) < 0.005 and first.var() == pytest.approx(1 / 40, rel=0.05)


def test_each_hidden_layer_helps_on_digits_from_pixels() -> None:
    """Nothing but the delta rule can be learned without one; layers that stay as they began gain less."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order] * 15, y[order]
    scores = {}
    for name, hidden, rate in (("none", (), 1.0), ("frozen", (200,), 0.0), ("one", (200,), 1.0)):
        model = KenyonClassifier("mse", features="identity", hidden_layers=hidden, hidden_rate=rate, random_state=0)
        model.set_params(learning_rate=0.3, scale=False)
        for _ in range(3):
            model.partial_fit(X[:1300].astype(np.uint8), y[:1300])
        scores[name] = model.score(X[1300:].astype(np.uint8), y[1300:])
    assert scores["one"] > scores["none"] + 0.03
    assert scores["one"] > scores["frozen"] + 0.01


@pytest.mark.parametrize("signal", ["auto", "errors", "codes"])
@pytest.mark.parametrize("rule", [GEN(), INEL(20.0, GEN())])
def test_gen_refuses_hidden_layers(rule: object, signal: str) -> None:
    X, y = stream()
    clf = make("mse", rule=rule, hidden_layers=(24,), hidden_signal=signal)
    with pytest.raises(ConfigError, match=r"hidden_layers is \(24,\) and the rule is GEN.*rule such as 'mse'"):
        clf.partial_fit(X, y)
    with pytest.raises(ConfigError, match="hidden_layers"):
        clf.check_params(X.shape[1])


def test_a_file_of_before_the_choice_has_codes(tmp_path: Path) -> None:
    """It holds no `hidden_signal`, as models by codes did, whatever their rule: it is read and learns on as before."""
    X, y = stream()
    clf = make("mse", hidden_layers=(24,), hidden_signal="codes").partial_fit(X, y)
    arrays = clf.to_arrays()
    text = arrays["model"].tobytes().decode()
    assert '"hidden_signal":"codes"' in text
    arrays["model"] = np.frombuffer(text.replace(',"hidden_signal":"codes"', "").encode(), np.uint8)
    older = KenyonClassifier.from_arrays(arrays)
    assert held(older.partial_fit(X, y)) == held(clf.partial_fit(X, y))
    gen = KenyonClassifier.from_arrays(arrays, rule=GEN(), clamp=0.1)  # as a file of GEN with hidden layers is read
    assert gen.partial_fit(X, y).predict(X).shape == y.shape


def test_what_hidden_layers_learn_from_is_part_of_a_run(tmp_path: Path) -> None:
    deep = {"rule": "mse", "hidden_layers": [20]}
    auto, errors, codes = (
        RunConfig("digits", options=deep | more)
        for more in ({}, {"hidden_signal": "errors"}, {"hidden_signal": "codes"})
    )
    assert len({auto.run_id(0), errors.run_id(0), codes.run_id(0)}) == 3
    assert Store(tmp_path).folder(auto, 0).path.name == auto.folder_name(0)
