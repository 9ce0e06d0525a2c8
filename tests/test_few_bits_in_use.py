"""Weights of few bits in a classifier and in its file, and what cannot be learned in them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, Plastic
from kenyon.data.streams import load_dataset
from kenyon.errors import ConfigError, ModelFileError
from kenyon.features import Setting
from kenyon.layers import FewBitLayer, clamp_bounds
from kenyon.rules import GEN, INEL, MEAN, MSE, OJA, Rule
from kenyon.testing import check_rule
from kenyon.utils.modulation import InverseTime, OverCount
from making import held, make, stream
from outside_rule import Leaky

# ---- in a classifier


def digits() -> tuple[NDArray, NDArray, NDArray[np.bool_]]:
    train = load_dataset("digits").train
    X, y = np.asarray(train.X[:]), np.asarray(train.y)
    return X, y, np.random.default_rng(0).random(len(y)) < 0.3


@pytest.mark.parametrize(
    ("rule", "bits", "loss"), [("gen", 8, 0.02), ("gen", 3, 0.05), ("mean", 8, 0.02), ("mean", 3, 0.05)]
)
def test_few_bits_cost_little(rule: str, bits: int, loss: float) -> None:
    X, y, out = digits()
    exact, few = (
        KenyonClassifier(rule, n_hidden=4000, random_state=0, layer=Plastic(bits=b)).partial_fit(X[~out], y[~out])
        for b in (32, bits)
    )
    assert few.score(X[out], y[out]) > exact.score(X[out], y[out]) - loss
    assert few.state_bytes < exact.state_bytes * bits / 32 * 1.05


def test_the_model_file_holds_the_packed_weights(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("gen", bits=3).partial_fit(X, y)
    clf.save(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model")
    assert loaded.to_arrays()["weights.0"].shape == (-(-117 * 3 // 8), 7)
    assert held(loaded) == held(clf) and np.array_equal(loaded.weights_, clf.weights_)
    assert held(loaded.partial_fit(X, y)) == held(clf.partial_fit(X, y))
    assert clf.state_bytes == sum(len(part) for part in held(clf).values())


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weights.0", lambda a: a.__setitem__((0, 0), 0b100), r"expected levels from -3 to 3"),
        ("weights.0", lambda a: a.__setitem__((-1, 0), 0x80), r"expected zeros behind the last unit"),
        ("counts.0", lambda a: a.__setitem__(0, 2**31), r"expected counts up to 2147483647"),
    ],
)
def test_arrays_that_no_layer_could_have_are_refused(name: str, change, message: str) -> None:
    X, y = stream()
    arrays = make("gen", bits=3).partial_fit(X, y).to_arrays()
    change(arrays[name])
    with pytest.raises(ModelFileError, match=message):
        KenyonClassifier.from_arrays(arrays)


# ---- what is refused


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FewBitLayer(9, GEN(), BOUNDS, 5), r"bits is 5: expected 8, 4, 3, 2, or 32"),
        (lambda: FewBitLayer(9, GEN(), BOUNDS, True), r"bits is True"),
        (lambda: FewBitLayer(9, MSE(), BOUNDS, 4), r"rule is MSE\(\), which cannot .*: expected one of gen.*mean"),
        (lambda: FewBitLayer(9, OJA(), BOUNDS, 4), r"rule is OJA\(b1=1.0\), which cannot"),
        (lambda: FewBitLayer(9, INEL(9.0, GEN()), BOUNDS, 4), r"rule is INEL\(.*which cannot"),
        (lambda: FewBitLayer(9, GEN(b1=0.01), BOUNDS, 4), r"b1=0.01.*changes synapses without activity.*GEN\(b1=0.0\)"),
        (
            lambda: FewBitLayer(9, GEN(), clamp_bounds(None, "symmetric"), 4),
            r"clamp is None and the rule 'gen' needs one",
        ),
        (lambda: FewBitLayer(9, GEN(b2=InverseTime(-1, 1)), BOUNDS, 4, in_bytes=True), r"gen.b2 is InverseTime"),
        (lambda: FewBitLayer(9, GEN(), BOUNDS, 4, rate=OverCount(1.0), in_bytes=True), r"learning_rate is OverCount"),
        (lambda: FewBitLayer(40_000, MEAN(), BOUNDS, 8, in_bytes=True), r"40,000 units: expected at most 33,025"),
    ],
)
def test_what_cannot_be_learned_in_few_bits_is_said(build, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build()


BOUNDS = clamp_bounds(0.1, "symmetric")


def test_what_a_classifier_cannot_learn_in_integers_is_said() -> None:
    part = Plastic(GEN(), clamp=0.1, bits=4, learning_rate=0.1)
    setting = Setting(9, in_bytes=True)
    layer = part.build(9, 3, setting)
    assert isinstance(layer, FewBitLayer) and layer.in_bytes and part.declare(setting) == layer.state.declared
    with pytest.raises(ConfigError, match="unit_norm is False: expected True"):
        part.build(9, 3, dataclasses.replace(setting, unit_norm=False))
    with pytest.raises(ConfigError, match=r"hidden has widths of \(9,\)"):
        part.build(9, 3, dataclasses.replace(setting, hidden=(9,)))


@dataclasses.dataclass(frozen=True)
class _OffByTwo(Leaky):
    """Not entered in the table of rules, which goes by a name of its own."""

    @staticmethod
    def integer_step(z, q, n, rate, decay):  # type: ignore[no-untyped-def,override]
        return 2 * rate - decay * q


@dataclasses.dataclass(frozen=True)
class _Squared(Leaky):
    @staticmethod
    def delta(x_e, x_o, x_m, w, leak):  # type: ignore[no-untyped-def,override]
        return x_m * x_e * x_e * (1 - leak * w)


@pytest.mark.parametrize(
    ("rule", "complaint"), [(_OffByTwo(), "integer_step of _OffByTwo"), (_Squared(), "not proportional to x_e")]
)
def test_check_rule_finds_a_false_step(rule: Rule, complaint: str) -> None:
    check_rule(Leaky())
    with pytest.raises(AssertionError, match=complaint):
        check_rule(rule)


def test_floats_may_be_learned_with_schedules() -> None:
    X, y = stream()
    for more in (
        {"learning_rate": InverseTime(0.1, 0.1)},
        {"learning_rate": OverCount(0.5)},
        {"rule": GEN(b2=InverseTime(-1, 1))},
    ):
        clf, other = make("gen", bits=8, **more).partial_fit(X, y), make("gen", bits=8).partial_fit(X, y)
        assert clf.weights_.any() and not np.array_equal(clf.weights_, other.weights_)
