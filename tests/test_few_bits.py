"""Weights of few bits against `kenyon.reference`, bit by bit; cuts, packing, growth and undoing."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from math import comb, isqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import all_pairs
from kenyon import core
from kenyon.errors import ConfigError
from kenyon.features import Active
from kenyon.layers import FewBitLayer, Samples, clamp_bounds
from kenyon.reference._few_bit_weights import FewBitWeights
from kenyon.rules import GEN, MEAN, Rule
from making import NUMPY_2, plain_spec
from outside_rule import Leaky

RULES: dict[str, tuple[Rule, float, tuple[float | None, str]]] = {
    "gen": (GEN(b2=-0.3), 0.1, (0.2, "symmetric")),
    "gen, fast": (GEN(b2=-1.0), 5.0, (0.02, "symmetric")),
    "gen, slow": (GEN(b2=-0.05), 1e-4, (0.1, "symmetric")),
    "gen, downhill": (GEN(b2=0.5), 0.1, (0.2, "symmetric")),
    "gen, positive": (GEN(b2=-0.3), 0.1, (0.2, "positive")),
    "mean": (MEAN(), 1.0, (None, "symmetric")),
    "mean, low cap": (MEAN(0.02), 1.0, (None, "symmetric")),
    "leaky": (Leaky(leak=0.25), 0.1, (0.2, "symmetric")),
}


def layer_of(name: str, bits: int, n_units: int, in_bytes: bool, seed: int = 9) -> FewBitLayer:
    rule, rate, bounds = RULES[name]
    return FewBitLayer(n_units, rule, clamp_bounds(*bounds), bits, seed, rate, in_bytes)


def samples(n: int, n_units: int, in_bytes: bool, seed: int = 0) -> Active:
    """Sparse activity; the third sample has none, the fourth is as loud as can be."""
    rng = np.random.default_rng(seed)
    units, counts = np.zeros((n, n_units), np.uint32), np.zeros(n, np.int64)
    values = np.zeros((n, n_units), np.uint8 if in_bytes else np.float32)
    for s in range(n):
        mine = np.flatnonzero(rng.random(n_units) < (0.0 if s == 2 else 1.0 if s == 3 else 0.3))
        loud = rng.integers(1, 256, mine.size) if s != 3 else np.full(mine.size, 255)
        counts[s] = mine.size
        units[s, : mine.size] = mine
        values[s, : mine.size] = loud if in_bytes else loud / max(1.0, float(np.linalg.norm(loud)))
    return units, values, counts


def beta_of(name: str, n: int) -> NDArray[np.float32]:
    rule, rate, _ = RULES[name]
    return np.tile(np.array([rate, 0.0, *rule.parameters.values()], np.float32), (n, 1))


def sample_of(active: Active, s: int) -> tuple[NDArray[np.int64], NDArray]:
    units, values, counts = active
    return units[s, : counts[s]].astype(np.int64), values[s, : counts[s]]


@NUMPY_2
@all_pairs(name=list(RULES), bits=[8, 4, 3, 2], n_units=[1, 13, 50], in_bytes=[True, False])
def test_every_bit_is_as_defined(name: str, bits: int, n_units: int, in_bytes: bool) -> None:
    """Classes come one after the other, beyond the padding of eight; some may not learn, some samples have no label."""
    n, rng = 60, np.random.default_rng(bits)
    layer = layer_of(name, bits, n_units, in_bytes)
    rule, rate, (clamp, kind) = RULES[name]
    how = {"rule": rule, "bits": bits, "clamp": clamp, "clamp_kind": kind, "learning_rate": rate, "in_bytes": in_bytes}
    plain = FewBitWeights(n_units, 9, plain_spec(**how))
    active, beta = samples(n, n_units, in_bytes), beta_of(name, n)
    labels = np.where(rng.random(n) < 0.1, -1, rng.integers(0, 1 + np.arange(n) * 11 // n))
    labels[0], labels[-5] = 0, 10
    for s, label in enumerate(labels.tolist()):
        while layer.n_neurons <= label:
            layer.add_class()
            plain.add_class()
        width, sample = layer.n_neurons, sample_of(active, s)
        plastic = np.arange(layer.width) < width
        plastic[1] = s % 5 != 0
        outputs = np.empty((1, layer.width), np.float32)
        scores = layer.scores(active, s, s + 1)[0, :width]
        assert np.array_equal(scores.astype(np.float32) * layer.scale, plain.outputs(sample))
        assert layer.learn(Samples(active, s, s + 1, labels, plastic, beta), outputs) == s + 1
        assert np.array_equal(outputs[0, :width], scores.astype(np.float32) * layer.scale)
        if label >= 0 and plastic[label]:
            plain.learn(sample, label, [label], list(beta[s]))
        views, wanted = layer.state.views(), plain.arrays()
        assert views.keys() == wanted.keys()
        assert all(np.array_equal(views[key], wanted[key]) for key in views), f"sample {s}"
    assert not layer.state.arrays["weights"][:, layer.n_neurons :].any(), "padding was touched"
    assert np.array_equal(layer.levels, np.array(plain.levels).T)
    assert layer.state.state_bytes == -(-n_units * bits // 8) * 11 + 11 * (4 + ("exponents" in views))
    if n_units > 1 and "slow" not in name:
        assert len(np.unique(layer.levels)) > 1, "nothing was learned"


@pytest.mark.parametrize("in_bytes", [True, False], ids=["bytes", "floats"])
@pytest.mark.parametrize("name", ["gen", "mean"])
def test_any_cut_gives_the_same_bits(name: str, in_bytes: bool) -> None:
    n, rng = 90, np.random.default_rng(1)
    active, beta, labels = samples(n, 37, in_bytes), beta_of(name, n), rng.integers(-1, 9, n)

    def learned(edges: list[int], wanted: bool) -> tuple[dict[str, bytes], NDArray]:
        layer = layer_of(name, 3, 37, in_bytes)
        for _ in range(9):
            layer.add_class()
        seen = np.zeros((n, layer.width), np.float32)
        for first, last in pairwise(edges):
            layer.learn(Samples(active, first, last, labels, None, beta), seen[first:last] if wanted else None)
        return {key: array.tobytes() for key, array in layer.state.arrays.items()}, seen

    at_once, before = learned([0, n], wanted=True)
    for edges in ([0, 1, 2, 50, n], [0, 33, 33, 34, n], list(range(n + 1))):
        assert learned(edges, wanted=False)[0] == at_once
        again, seen = learned(edges, wanted=True)
        assert again == at_once and np.array_equal(seen, before)


@pytest.mark.parametrize("in_bytes", [True, False], ids=["bytes", "floats"])
@pytest.mark.parametrize("name", ["gen", "mean"])
def test_a_neuron_is_what_it_has_learned_whatever_the_others_have(name: str, in_bytes: bool) -> None:
    active, beta, labels = samples(60, 37, in_bytes), beta_of(name, 60), np.arange(60) % 4
    mixed, alone = layer_of(name, 4, 37, in_bytes), layer_of(name, 4, 37, in_bytes)
    for layer in (mixed, alone):
        for _ in range(4):
            layer.add_class()
    mixed.learn(Samples(active, 0, 60, labels, None, beta))
    alone.learn(Samples(active, 0, 60, np.where(labels == 2, 2, -1), None, beta))
    assert np.array_equal(mixed.levels[:, 2], alone.levels[:, 2]) and alone.levels[:, 2].any()


def test_the_chance_of_a_seed_never_changes() -> None:
    """What a model learns after it is loaded depends on these numbers, so they are part of its format."""
    assert [core.chance(7, i) for i in range(3)] == CHANCE_OF_7
    assert core.key_of(3, 5, 2) == KEY_3_5_2


CHANCE_OF_7 = [588686121, 1937383562, 4286812467]
KEY_3_5_2 = 71476561


@pytest.mark.parametrize("in_bytes", [True, False], ids=["bytes", "floats"])
@pytest.mark.parametrize(("bits", "n_steps"), [(8, 60), (4, 12), (3, 6), (2, 3)])
def test_rounding_is_right_on_average(bits: int, n_steps: int, in_bytes: bool) -> None:
    """A thousand synapses take steps of a tenth of a level."""
    n_units, top = 1000, 2 ** (bits - 1) - 1
    rate = 0.1 / top / 1000 * n_units**0.5
    layer = FewBitLayer(n_units, GEN(b2=-1000.0), clamp_bounds(1.0, "symmetric"), bits, rate=rate, in_bytes=in_bytes)
    layer.add_class()
    activity = np.full((1, n_units), 50, np.uint8) if in_bytes else np.full((1, n_units), n_units**-0.5, np.float32)
    active = np.arange(n_units, dtype=np.uint32)[np.newaxis], activity, np.array([n_units])
    beta = np.array([[rate, 0.0, 0.0, -1000.0]], np.float32)
    for _ in range(n_steps):
        layer.learn(Samples(active, 0, 1, np.zeros(1, np.int64), None, beta))
    wanted = sum(min(top, k) * _binomial(n_steps, k, 0.1) for k in range(n_steps + 1))
    assert abs(layer.levels.mean() - wanted) < 0.1 * wanted


def _binomial(n: int, k: int, p: float) -> float:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize("in_bytes", [True, False], ids=["bytes", "floats"])
@pytest.mark.parametrize("name", ["gen", "mean"])
def test_a_call_is_undone(name: str, in_bytes: bool) -> None:
    active, beta = samples(60, 37, in_bytes), beta_of(name, 60)
    layer = layer_of(name, 3, 37, in_bytes)
    for _ in range(7):
        layer.add_class()
    layer.learn(Samples(active, 0, 20, np.arange(60) % 7, None, beta))
    before = {key: array.tobytes() for key, array in layer.state.views().items()}
    undo = layer.mark()
    undo.note(active, 20, 40)
    layer.learn(Samples(active, 20, 40, np.arange(60) % 7, None, beta))
    for _ in range(3):  # one fits into the padding, the others do not
        layer.add_class()
        undo.note(active, 40, 60)
        layer.learn(Samples(active, 40, 60, np.arange(60) % layer.n_neurons, None, beta))
    assert {key: array.tobytes() for key, array in layer.state.views().items()} != before
    for _ in range(2):
        undo.undo()
        assert {key: array.tobytes() for key, array in layer.state.views().items()} == before
        assert layer.n_classes == layer.n_neurons == 7


def test_weights_are_levels_at_their_scale() -> None:
    active = samples(60, 37, True)
    for name in ("gen", "mean"):
        layer = layer_of(name, 4, 37, True)
        layer.add_class()
        layer.add_class()
        layer.learn(Samples(active, 0, 60, np.arange(60) % 2, None, beta_of(name, 60)))
        rule, levels = layer.rule, layer.levels.astype(np.float64)
        if name == "gen":
            wanted = levels * 0.2 / 7
        else:
            e = layer.state.views()["exponents"].astype(float)
            cap = 0.3 / np.sqrt(37)
            wanted = np.minimum(levels * 2**e * cap / 15 / 30, cap)
            assert (e == 5).all(), "thirty samples take five halvings"
        assert np.allclose(layer.weights, wanted, rtol=1e-5), rule
        assert np.allclose(layer.weight_means(), wanted.mean(axis=0), rtol=1e-5)
        assert layer.weights.dtype == np.float32 and layer.weights.shape == (37, 2)
        x = np.zeros((60, 37))
        for s in range(60):
            units, values = sample_of(active, s)
            x[s, units] = values
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
        assert np.allclose(layer.forward(active, 0, 60)[:, :2], x @ wanted, atol=2e-2 * np.abs(x @ wanted).max())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies_go_on_alike(duplicate) -> None:
    active, beta = samples(60, 37, True), beta_of("mean", 60)
    layer = layer_of("mean", 2, 37, True)
    layer.add_class()
    layer.learn(Samples(active, 0, 30, np.zeros(60, np.int64), None, beta))
    twin = duplicate(layer)
    for one in (layer, twin):
        one.learn(Samples(active, 30, 60, np.zeros(60, np.int64), None, beta))
    assert np.array_equal(twin.state.arrays["weights"], layer.state.arrays["weights"])
    assert twin.state.arrays["weights"] is not layer.state.arrays["weights"]


@pytest.mark.parametrize("in_bytes", [True, False])
def test_activity_of_the_other_kind_is_refused(in_bytes: bool) -> None:
    layer, active = layer_of("gen", 3, 37, in_bytes), samples(5, 37, not in_bytes)
    layer.add_class()
    for call in (
        lambda: layer.forward(active, 0, 5),
        lambda: layer.learn(Samples(active, 0, 5, ZEROS, None, beta_of("gen", 5))),
    ):
        with pytest.raises(
            ConfigError, match=r"the features give activity in (uint8|float32): expected (bytes|float32)"
        ):
            call()


ZEROS = np.zeros(5, np.int64)


@pytest.mark.parametrize("root", [1, 2, 255, 4095, 65_535, 262_143])
@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_the_length_of_a_sample_is_rounded_down(root: int, beside: int) -> None:
    square = root * root + beside
    whole, ones = divmod(square, 255 * 255)
    sample = np.array([255] * whole + [1] * ones, np.uint8)
    expected = 2**32 // isqrt(2**8 * square) if square else 0
    assert core.reciprocal_of(sample) == expected
