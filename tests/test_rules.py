"""Rules: their layers against `kenyon.reference`, their equations, what they declare, and rules from outside."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from cases import all_pairs
from kenyon import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.layers import PlasticLayer as Layer
from kenyon.layers import Samples, clamp_bounds
from kenyon.model.plain import with_options
from kenyon.reference._plastic import Plastic
from kenyon.rules import GEN, INEL, MEAN, MSE, OJA, Rule, get_rule
from kenyon.testing import check_rule
from making import NUMPY_2, RULES, held, make, plain_spec, stream
from outside_rule import Leaky

RATE = 0.1


@pytest.mark.parametrize(
    ("rule", "equation"),
    [
        (MSE(), lambda x_e, x_o, x_m, w: (x_m - x_o) * x_e),
        (GEN(b1=0.05, b2=-0.5), lambda x_e, x_o, x_m, w: x_m * (x_e - 0.05) * (x_o + 0.5)),
        (OJA(b1=0.7), lambda x_e, x_o, x_m, w: x_m * (x_e * x_o - 0.7 * x_o**2 * w)),
        (MEAN(), lambda x_e, x_o, x_m, w: x_m * x_e),
    ],
    ids=["mse", "gen", "oja", "mean"],
)
def test_a_rule_is_its_equation(rule: Rule, equation: Callable[..., float]) -> None:
    for synapse in itertools.product((0.0, 0.3), (-0.4, 0.9), (0.0, 1.0), (-0.2, 0.5)):
        assert rule.delta(*synapse, *rule.parameters.values()) == pytest.approx(equation(*synapse))  # type: ignore[arg-type]


LAYERS: dict[str, Rule] = {
    "mse": MSE(),
    "gen": GEN(),
    "gen, dense": GEN(b1=0.05, b2=-0.5),
    "oja": OJA(),
    "oja, event-driven": OJA(b1=0.0),
    "mean": MEAN(2.5),
    "leaky": Leaky(),
    "window on mse": INEL(30.0),
    "window on gen": INEL(25.0, GEN()),
    "window on dense gen": INEL(25.0, GEN(b1=0.05)),
    "window on oja": INEL(200.0, OJA()),
    "window left open": INEL(0.0),
}


@NUMPY_2
@all_pairs(
    name=list(LAYERS),
    n_units=[1, 33, 150],
    bounds=[(None, "symmetric"), (0.04, "symmetric"), (0.04, "positive")],
)
def test_a_layer_is_the_reference(name: str, n_units: int, bounds: tuple[float | None, str]) -> None:
    rule = LAYERS[name]
    rng = np.random.default_rng(5)
    n, n_classes = 24, 11
    layer = Layer(n_units, rule, clamp_bounds(*bounds))
    for _ in range(n_classes):
        layer.add_class()
    plastic = rng.random(layer.width) < 0.8
    plastic[layer.n_neurons :] = False
    x = np.where(rng.random((n, n_units)) < 0.4, rng.random((n, n_units)), 0).astype(np.float32)
    active = np.zeros((n, n_units), np.uint32), np.zeros((n, n_units), np.float32), np.count_nonzero(x, axis=1)
    for s in range(n):
        active[0][s, : active[2][s]] = np.flatnonzero(x[s])
        active[1][s, : active[2][s]] = x[s, np.flatnonzero(x[s])]
    labels = rng.integers(-1, n_classes, n)
    parameters = list(rule.plasticity.parameters.values())
    beta = np.tile(np.array([RATE, rule.window or 0.0, *parameters], np.float32), (n, 1))
    how = {
        "rule": rule,
        "clamp": bounds[0],
        "clamp_kind": bounds[1],
        "learning_rate": RATE,
        "initial_weight": "auto",
    } | {"output": "linear"}
    plain = Plastic(n_units, 4, plain_spec(**how))
    for _ in range(n_classes):
        plain.add_class()
    # a literal in a rule of your own is a float64 to the compiler, and a float32 to NumPy
    slack = 1e-6 if name == "leaky" else 0.0
    for s in range(n):
        outputs = np.empty((1, layer.width), np.float32)
        sample = active[0][s, : active[2][s]].astype(np.int64), active[1][s, : active[2][s]]
        np.testing.assert_allclose(layer.forward(active, s, s + 1)[0, : layer.n_neurons], plain.outputs(sample), slack)
        assert layer.learn(Samples(active, s, s + 1, labels, plastic, beta), outputs) == s + 1
        np.testing.assert_allclose(outputs[0, : layer.n_neurons], plain.outputs(sample), slack)
        if labels[s] >= 0:
            plain.learn(sample, int(labels[s]), np.flatnonzero(plastic).tolist(), list(beta[s]))
        views, wanted = layer.state.views(), plain.arrays()
        assert views.keys() == wanted.keys()
        for key, array in wanted.items():
            np.testing.assert_allclose(views[key], array, slack, slack, err_msg=f"{key} after sample {s}")
    assert (labels >= 0).any() and not layer.state.arrays["weights"][:, layer.n_neurons :].any(), "padding was touched"


def test_the_window_freezes_some_synapses_and_not_others() -> None:
    """Guards the test above: with these betas the window really cuts."""
    X, y = stream()
    free, windowed = (make(rule).partial_fit(X, y).weights_ for rule in ("mse", "inel"))
    assert not np.array_equal(free, windowed)
    open_window = make("mse", rule=INEL(0.0)).partial_fit(X, y).weights_
    np.testing.assert_array_equal(open_window, free)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_keeps_its_word(name: str) -> None:
    check_rule(RULES[name])


@dataclasses.dataclass(frozen=True)
class _NotGated(Rule):
    gated: ClassVar[bool] = True

    @staticmethod
    def delta(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def,override]
        return x_e * (x_m - x_o)


@dataclasses.dataclass(frozen=True)
class _NotEventDriven(Rule):
    @staticmethod
    def delta(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def,override]
        return x_m - w


@dataclasses.dataclass(frozen=True)
class _NotFinite(Rule):
    @staticmethod
    def delta(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def,override]
        return x_e * np.inf


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [(_NotGated(), "declares gated"), (_NotEventDriven(), "declares event_driven"), (_NotFinite(), "gave")],
)
def test_check_rule_finds_a_false_declaration(rule: Rule, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_rule(rule)


def test_a_rule_from_outside_runs_by_name_and_is_saved(tmp_path: Path) -> None:
    X, y = stream()
    by_name, by_object = (make("mse", rule=rule).partial_fit(X, y) for rule in ("leaky", Leaky(leak=0.5)))
    assert np.array_equal(by_name.weights_, by_object.weights_)
    assert by_name.score(X[y >= 0], y[y >= 0]) > 0.5
    by_object.save(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model")
    assert loaded.rule == Leaky(leak=0.5)
    assert held(loaded.partial_fit(X, y)) == held(by_object.partial_fit(X, y))


def test_a_window_goes_on_a_rule_from_outside() -> None:
    X, y = stream()
    plain, windowed = (make("mse", rule=rule).partial_fit(X, y).weights_ for rule in (Leaky(), INEL(5.0, Leaky())))
    assert not np.array_equal(plain, windowed)


def test_lookup() -> None:
    assert get_rule("GEN") == GEN()
    assert get_rule(MSE()) == MSE()
    assert with_options(GEN(), {"b1": 0.5}, "rule") == GEN(b1=0.5)
    with pytest.raises(ConfigError, match=r"unknown rule 'gem'.*gen.*did you mean 'gen'"):
        get_rule("gem")
    with pytest.raises(ConfigError, match=r"rule GEN has no option 'b3': it has b1, b2"):
        with_options(GEN(), {"b3": 1.0}, "rule")
    with pytest.raises(ConfigError, match=r"rule is 3: expected a name"):
        get_rule(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"'mse' is taken by"):

        class Thief(Rule):
            name: ClassVar[str] = "mse"

    assert get_rule("mse") == MSE()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GEN(b1=float("nan")), r"gen.b1 is nan: expected a finite number"),
        (lambda: GEN(b2=float("inf")), r"gen.b2 is inf"),
        (lambda: GEN(b1=1e300), r"gen.b1 is 1e\+300"),
        (lambda: GEN(b1="x"), r"gen.b1 is 'x': expected a number, a schedule or a function of time"),
        (lambda: OJA(b1=None), r"oja.b1 is None"),
        (lambda: OJA(b1=True), r"oja.b1 is True"),
        (lambda: OJA(b1=1j), r"oja.b1 is 1j"),
        (lambda: INEL(beta=-1.0), r"inel.beta is -1.0: expected a finite number from 0"),
        (lambda: INEL(rule="inel"), r"inel.rule is INEL.*: expected a rule without a window"),
        (lambda: INEL(rule=INEL()), r"expected a rule without a window"),
    ],
)
def test_parameters_out_of_range(build, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build()
