"""The dense projection, in floats and in bytes, and the weights a neuron begins with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, Plastic
from kenyon.errors import ConfigError, MemoryBudgetError
from kenyon.features import DenseProjection
from kenyon.reference._features import Dense
from making import composed, plain_spec


def samples(n: int, kind: str) -> NDArray:
    X = np.random.default_rng(0).integers(0, 256, (n, 50)).astype(np.uint8)
    X[3] = 0
    return X if kind == "bytes" else (X / np.float32(100) - np.float32(0.7)).astype(np.float32)


def labels(n: int) -> NDArray[np.int64]:
    return np.arange(n) % 3


@pytest.mark.parametrize("kind", ["bytes", "floats"])
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("activity", ["float", "byte"])
def test_the_projection_is_the_reference(kind: str, root: bool, activity: str) -> None:
    X = samples(40, kind)
    features = DenseProjection(50, 20, root=root, activity=activity, seed=3)
    plain = Dense(plain_spec(n_inputs=50, n_hidden=20, root=root, in_bytes=activity == "byte"), seed=3)
    units, values, counts = features.activate(X, features.workspace())
    assert (counts[:40] == 20).all() and (units[0] == np.arange(20)).all()
    np.testing.assert_array_equal(values[:40], np.array([plain(x)[1] for x in X]), strict=True)
    if kind == "bytes":
        assert (values[3] == (128 if activity == "byte" else 0)).all()  # nothing was there to be summed


def test_bytes_do_not_depend_on_the_block() -> None:
    X = samples(40, "floats")
    features = DenseProjection(50, 20, activity="byte")
    block, scratch = features.activate(X, features.workspace())[1][:40].copy(), features.workspace()
    singles = [features.activate(X[s : s + 1], scratch)[1][0].copy() for s in range(40)]
    np.testing.assert_array_equal(block, singles)


def units(classifier: KenyonClassifier) -> int:
    """Units that a memory budget had room for."""
    return len(classifier.weights_)


def few_bits(**more: object) -> KenyonClassifier:
    options = {"layer": "second-order", "features": "dense", "root": True, "bits": 16, "random_state": 0} | more
    return KenyonClassifier(**composed(**options))


@pytest.mark.parametrize("bits", [16, 24])
def test_few_bits_learn_a_dense_projection_in_any_chunking(bits: int, tmp_path: Path) -> None:
    X, y = samples(300, "floats"), labels(300)
    whole = few_bits(bits=bits, n_hidden=30).partial_fit(X, y)
    pieces = few_bits(bits=bits, n_hidden=30)
    for start in (0, 1, 2, 7, 150):
        stop = {0: 1, 1: 2, 2: 7, 7: 150, 150: 300}[start]
        pieces.partial_fit(X[start:stop], y[start:stop])
    for name, array in whole.to_arrays().items():
        np.testing.assert_array_equal(array, pieces.to_arrays()[name], name)
    whole.save(tmp_path / "model")
    np.testing.assert_array_equal(KenyonClassifier.load(tmp_path / "model").predict(X), whole.predict(X))


def test_few_bits_hold_more_units_than_floats_and_fewer_than_classes() -> None:
    X, y = samples(200, "floats"), np.arange(200) % 90
    narrow = few_bits(memory_budget="20KB", expected_classes=90).partial_fit(X, y)
    assert 16 <= units(narrow) < 90 and narrow.state_bytes <= 20_000
    X, y = samples(200, "floats"), labels(200)
    sizes = [units(few_bits(memory_budget="20KB", bits=bits).partial_fit(X, y)) for bits in (16, 24, 32)]
    assert sizes[0] > sizes[1] > sizes[2]
    with pytest.raises(MemoryBudgetError, match="expected at least"):
        few_bits(memory_budget="1KB").partial_fit(X, y)


def test_the_kind_of_activity_is_named() -> None:
    with pytest.raises(ConfigError, match=r"unknown activity 'bits'.*byte"):
        DenseProjection(5, 2, activity="bits")


def test_a_neuron_begins_with_the_weights_it_is_given() -> None:
    X, y = samples(60, "bytes"), labels(60)

    def mean(**options: object) -> float:
        made = KenyonClassifier("mse", n_hidden=100, random_state=0, layer=Plastic(learning_rate=1e-4, **options))
        return float(made.partial_fit(X, y).weight_means_.mean())

    assert mean(initial_weight=0.0) == mean()
    assert mean(initial_weight=0.05) == pytest.approx(0.05, abs=0.001)
    assert mean(initial_weight=0.05, clamp=0.01) == pytest.approx(0.01, abs=1e-6)


def test_weights_of_few_bits_begin_at_zero_and_say_so() -> None:
    with pytest.raises(ConfigError, match=r"initial_weight is 0\.1 and bits is 4"):
        KenyonClassifier(n_hidden=100, layer=Plastic(initial_weight=0.1, bits=4)).partial_fit(
            samples(9, "bytes"), labels(9)
        )
