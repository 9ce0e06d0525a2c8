"""The feature layer against `kenyon.reference`, and the block path against the single-sample path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kenyon import core
from kenyon.features import (
    BLOCK,
    Active,
    DenseProjection,
    Features,
    IdentityUnits,
    RampUnits,
)
from kenyon.reference import _features
from kenyon.reference._activity import Active as PlainActive
from making import plain_spec, sparse_units, window_units


def samples(n: int, width: int, kind: str, seed: int = 0) -> NDArray:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (n, width)).astype(np.uint8)
    X[rng.random(X.shape) < 0.4] = 0
    return X if kind == "bytes" else (X / np.float32(100) - np.float32(0.7)).astype(np.float32)


def dense(active: Active, n: int, n_units: int) -> NDArray[np.float32]:
    """x_e of each sample; checks that units are ascending and distinct."""
    units, values, counts = active
    out = np.zeros((n, n_units), np.float32)
    for s in range(n):
        mine = units[s, : counts[s]].astype(np.int64)
        assert (np.diff(mine) > 0).all()
        out[s, mine] = values[s, : counts[s]]
    return out


def run(features: Features, X: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(as one block, sample by sample)."""
    block = dense(features.activate(X, features.workspace()), len(X), features.n_outputs)
    scratch = features.workspace()
    singles = [dense(features.activate(x[np.newaxis], scratch), 1, features.n_outputs) for x in X]
    return block, np.concatenate(singles)


def plain(make: Callable[..., Any], X: NDArray, n_units: int, **how: Any) -> NDArray[np.float32]:
    """x_e of each sample by the reference."""
    how = {"n_inputs": X.shape[1], "n_hidden": n_units, "arithmetic": "float", "root": False} | how
    how["density"] = how.pop("n_connections", None)
    features: Callable[[NDArray], PlainActive] = make(plain_spec(**how), how.get("seed", 0))
    out = np.zeros((len(X), n_units), np.float32)
    for row, (units, values) in zip(out, map(features, X), strict=True):
        row[units] = values
    return out


@settings(max_examples=60, deadline=None)
@given(
    n_units=st.one_of(st.integers(1, 80), st.sampled_from([96, 128, 257])),
    n_inputs=st.integers(1, 60),
    share=st.floats(0.01, 1),
    inhibitory=st.sampled_from([0.0, 0.3, 1.0]),
    threshold=st.sampled_from([None, 0.0, 1.3, -0.5]),
    unit_norm=st.booleans(),
    kind=st.sampled_from(["bytes", "floats"]),
    n=st.sampled_from([1, 2, 8, 9, 31, 32]),
    seed=st.integers(0, 2**31),
)
def test_features_are_the_reference_and_blocks_are_singles(
    n_units: int,
    n_inputs: int,
    share: float,
    inhibitory: float,
    threshold: float | None,
    unit_norm: bool,
    kind: str,
    n: int,
    seed: int,
) -> None:
    k = max(1, round(share * n_inputs))
    how: dict[str, Any] = {"inhibitory": inhibitory, "threshold": threshold, "unit_norm": unit_norm, "seed": seed}
    X = samples(n, n_inputs, kind, seed % 1000)
    block, singles = run(sparse_units(n_inputs, n_units, k, **how), X)
    np.testing.assert_array_equal(block, singles)
    np.testing.assert_array_equal(block, plain(_features.Sparse, X, n_units, n_connections=k, **how))


@pytest.mark.parametrize(
    ("k", "inhibitory", "narrow"),
    [(128, 0.0, True), (129, 0.0, False), (400, 0.0, False), (256, 0.5, True), (258, 0.5, False), (140, 0.95, False)],
)
def test_sums_near_16_bits_are_exact(k: int, inhibitory: float, narrow: bool) -> None:
    how: dict[str, Any] = {"threshold": None, "unit_norm": False, "inhibitory": inhibitory, "seed": 1}
    features = sparse_units(400, 70, k, **how)
    assert (features._byte_sums is np.int16) == narrow
    X = np.full((20, 400), 255, np.uint8)
    X[1::2] = samples(10, 400, "bytes")
    block, singles = run(features, X)
    np.testing.assert_array_equal(block, singles)
    np.testing.assert_array_equal(block, plain(_features.Sparse, X, 70, n_connections=k, **how))


def test_more_inputs_than_16_bits_can_number() -> None:
    how: dict[str, Any] = {"threshold": None, "unit_norm": False, "inhibitory": 0.0, "seed": 1}
    X = samples(9, 70_000, "bytes")
    block, singles = run(sparse_units(70_000, 5, 3, **how), X)
    np.testing.assert_array_equal(block, singles)
    np.testing.assert_array_equal(block, plain(_features.Sparse, X, 5, n_connections=3, **how))


@pytest.mark.parametrize("unit_norm", [True, False])
@pytest.mark.parametrize("kind", ["bytes", "floats"])
def test_identity(kind: str, unit_norm: bool) -> None:
    X = samples(BLOCK, 37, kind)
    X[3] = 0
    block, singles = run(IdentityUnits(37, unit_norm=unit_norm), X)
    np.testing.assert_array_equal(block, singles)
    np.testing.assert_array_equal(block, plain(_features.Identity, X, 37, unit_norm=unit_norm))


def test_every_unit_has_its_own_distinct_inputs() -> None:
    features = sparse_units(50, 200, 11, inhibitory=0.4, seed=9)
    assert features._n_excitatory == 7
    assert all(len(set(row)) == 11 for row in features.inputs.tolist())
    assert len({tuple(row) for row in features.inputs.tolist()}) > 190
    used = np.bincount(features.inputs.ravel(), minlength=50)
    assert used.min() > 20, "some inputs are hardly used"


def test_the_projection_of_a_seed_never_changes() -> None:
    """A model file keeps the seed alone, so these numbers are part of its format."""
    features = sparse_units(20, 3, 4, inhibitory=0.5, seed=12345)
    assert features.inputs.tolist() == SEED_12345
    code = np.zeros(8, np.uint8)
    core.draw_code(7, 2, 4, np.empty(8, np.uint32), code)
    assert code.tolist() == CODE_7_2


SEED_12345 = [[2, 4, 1, 5], [7, 10, 0, 2], [9, 17, 3, 10]]
CODE_7_2 = [0, 1, 0, 0, 1, 1, 1, 0]


def test_dark_and_flat_samples_answer_with_silence() -> None:
    features = sparse_units(30, 64, 5, threshold=1.0, seed=0)
    for X in (np.zeros((12, 30), np.uint8), np.full((12, 30), 200, np.uint8), np.zeros((12, 30), np.float32)):
        block, singles = run(features, X)
        assert not block.any() and not singles.any()


def test_unbearable_values_are_found() -> None:
    for kind in (np.float32, np.float64):
        for X in (np.ones((3, 5), kind), np.ones((5, 3), kind).T, np.ones((6, 10), kind)[::2, ::2]):
            assert core.first_unbearable(X, 1e30, False) == -1
            for value in (np.nan, np.inf, -np.inf, 2e30, np.nextafter(kind(1e30), kind(np.inf))):
                X[2, 4] = value
                assert core.first_unbearable(X, 1e30, False) == 2 * 5 + 4
                assert core.first_unbearable(X, 1e30, True) == (-1 if np.isnan(value) else 2 * 5 + 4)


@pytest.mark.parametrize("kind", ["bytes", "floats"])
def test_every_instruction_set_gives_the_same_bits(kind: str) -> None:
    X, best = samples(BLOCK, 784, kind), core.isa()
    layers: list[Features] = [
        sparse_units(784, 1000, 31, inhibitory=0.3, threshold=1.0, seed=1),
        sparse_units(784, 300, 200, threshold=1.0, seed=1),
        window_units((28, 28), 300, 16, window=6, shifts=2, pooling="sum", root=True, activity="byte", threshold=1.0),
        window_units((28, 28), 300, 9, window=6, shifts=1, pooling="max", threshold=1.0),
        window_units((28, 28), 20, 300, window=28, shifts=4, pooling="sum"),
        RampUnits(784, 300),
        IdentityUnits(784),
        DenseProjection(784, 50, activity="byte"),
    ]
    for features in layers:
        seen = []
        for name in core.isas():
            core.use_isa(name)
            try:
                seen += [run(features, X)]
            finally:
                core.use_isa(best)
        for block, singles in seen:
            np.testing.assert_array_equal(block, singles)
            np.testing.assert_array_equal(block, seen[0][0])
