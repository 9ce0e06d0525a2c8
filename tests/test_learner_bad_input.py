"""Bad input: a named error that says what was seen and what was wanted, and a state that did not move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kenyon import KenyonClassifier, LocalError
from kenyon.errors import ConfigError, DivergenceError, InputError, KenyonError
from kenyon.model.options import OPTIONS
from kenyon.rules import GEN, OJA
from kenyon.utils.modulation import InverseTime, Step
from making import held, make, stream

X, Y = stream()


def _floats(value: float) -> Any:
    samples = X.astype(np.float64)
    samples[57, 3] = value
    return samples


BAD_SAMPLES = {
    "NaN": (_floats(np.nan), r"contains NaN \(sample 57, feature 3\): expected finite numbers"),
    "infinity": (_floats(np.inf), r"contains infinity \(sample 57, feature 3\)"),
    "minus infinity": (_floats(-np.inf), r"contains infinity"),
    "huge": (_floats(1e35), r"contains 1e\+35"),
    "float32 NaN": (_floats(np.nan).astype(np.float32), r"contains NaN"),
    "too wide": (np.zeros((90, 41), np.uint8), r"41 features.* 40"),
    "too narrow": (np.zeros((90, 39)), r"39 features.* 40"),
    "empty": (np.zeros((0, 40), np.uint8), r"0 sample"),
    "no features": (np.zeros((90, 0)), r"0 feature"),
    "one dimension": (np.zeros(40), r"2D array"),
    "three dimensions": (np.zeros((90, 40, 1)), r"shape \(90, 40, 1\)"),
    "text": (np.full((90, 40), "word"), r"word"),
    "objects": (np.full((90, 40), None, object), r"NaN"),
    "complex": (np.zeros((90, 40), complex), r"[Cc]omplex"),
    "ragged": ([[1.0] * 40] * 89 + [[1.0] * 39], r"."),
}


@pytest.mark.parametrize("name", BAD_SAMPLES)
@pytest.mark.parametrize("method", ["partial_fit", "test_then_learn", "predict", "predict_proba", "decision_function"])
def test_bad_samples(name: str, method: str) -> None:
    samples, message = BAD_SAMPLES[name]
    clf = make("mse").partial_fit(X, Y)
    before = held(clf)
    arguments = (samples, Y) if method in ("partial_fit", "test_then_learn") else (samples,)
    with pytest.raises(InputError, match=message):
        getattr(clf, method)(*arguments)
    assert held(clf) == before


@pytest.mark.parametrize("name", [name for name in BAD_SAMPLES if not name.startswith("too")])
def test_bad_samples_in_the_first_call_leave_no_trace(name: str) -> None:
    clf = make("mse")
    before = dict(vars(clf))
    with pytest.raises(InputError):
        clf.partial_fit(BAD_SAMPLES[name][0], Y)
    assert vars(clf) == before
    clf.partial_fit(X, Y)
    assert held(clf) == held(make("mse").partial_fit(X, Y))


BAD_LABELS = {
    "too few": (Y[:-1], r"y has shape \(89,\): expected one label for each of 90 samples"),
    "too many": (np.append(Y, 0), r"\(91,\)"),
    "two dimensions": (np.zeros((90, 2), int), r"\(90, 2\)"),
    "none at all": (None, r"y to be passed"),
    "strings after numbers": (np.array(["a"] * 90), r"label 'a' is a string: expected a number"),
    "booleans after numbers": (Y > 2, r"is a boolean: expected a number"),
    "True among ones": ([1] * 89 + [True], r"label True is a boolean: expected a number"),
    "mixed": (np.array([1, "a"] * 45, object), r"label 'a' is a string: expected a number"),
    "fractions": (Y + 0.5, r"Unknown label type.*is not an integer"),
    "fractions in objects": (np.array([0.5] * 90, object), r"is not an integer"),
    "infinite": (np.full(90, np.inf), r"is not an integer"),
    "unhashable": (np.array([{}] * 90, object), r"label \{\} of sample 0 is a dict: expected a hashable label"),
}


@pytest.mark.parametrize("name", BAD_LABELS)
@pytest.mark.parametrize("case", ["mse", "gen"])
def test_bad_labels(name: str, case: str) -> None:
    labels, message = BAD_LABELS[name]
    clf = make(case).partial_fit(X, Y)
    before = held(clf)
    with pytest.raises(InputError, match=message):
        clf.partial_fit(X, labels)
    with pytest.raises(InputError):
        clf.partial_fit(X, labels, task="new")
    if name in ("too few", "too many", "two dimensions", "none at all"):
        with pytest.raises(InputError, match=message):
            make(case).fit(X, labels)
    assert held(clf) == before


@pytest.mark.parametrize("label", [True, np.True_, "a", 0.5, (1, 2), [1]])
@pytest.mark.parametrize("sample", [X[0], X[0].astype(float)])
def test_bad_labels_of_a_single_sample(label: Any, sample: Any) -> None:
    clf = make("mse").partial_fit(X, Y)
    before = held(clf)
    with pytest.raises(InputError):
        clf.learn_one(sample, label)
    assert held(clf) == before


def test_a_single_sample_is_one_dimensional() -> None:
    clf = make("mse").partial_fit(X, Y)
    for sample, message in (
        (X[:1], "2 dimensions: expected one"),
        (X[0, :39], "39 features"),
        (np.float64(1), "0 dim"),
    ):
        with pytest.raises(InputError, match=message):
            clf.learn_one(sample, 1)


def test_no_label_in_the_first_call() -> None:
    clf = make("mse")
    with pytest.raises(InputError, match="no sample has a label: expected at least one"):
        clf.partial_fit(X, np.full(90, -1))
    assert not clf.__sklearn_is_fitted__()
    clf.partial_fit(X, np.full(90, -1), classes=[0, 1])
    assert clf.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    "ask",
    [
        lambda clf: clf.predict(X),
        lambda clf: clf.predict_proba(X),
        lambda clf: clf.decision_function(X),
        lambda clf: clf.score(X, Y),
        lambda clf: clf.state_bytes,
        lambda clf: clf.working_bytes,
        lambda clf: clf.weights_,
        lambda clf: clf.neurons(),
        lambda clf: clf.synaptic_updates_,
        lambda clf: clf.save("never written"),
    ],
)
def test_nothing_is_asked_of_a_model_that_has_learned_nothing(ask: Any) -> None:
    with pytest.raises(NotFittedError, match="has learned nothing"):
        ask(make("mse"))


def test_a_task_that_was_never_learned() -> None:
    clf = make("mse").partial_fit(X, Y, task="a")
    for task in ("b", None):
        with pytest.raises(InputError, match=rf"task {task!r} was never learned: expected one of 'a'"):
            clf.predict(X, task=task)


BAD_PARAMETERS: dict[str, list[Any]] = {
    "rule": ["gem", 3, None, GEN],
    "n_hidden": [0, -1, 2.5, "many", True, None, np.nan],
    "density": [0, 0.0, -0.1, 1.5, 41, -1, "half", None, True, np.nan],
    "inhibitory": [-0.1, 1.1, "half", None, np.nan, True],
    "threshold": [np.nan, np.inf, "high", 1000, True],
    "learning_rate": [-0.1, np.nan, np.inf, "fast", None, True, 1e9, 1j, [0.1], InverseTime(-1.0), lambda t: "x"],
    "clamp": [0, -1, np.nan, np.inf, "tight", True, 1j, [1.0]],
    "clamp_kind": ["negative", None, 3],
    "hidden": [3, "24", (0,), ("a",)],
    "features": ["thick"],
    "unit_norm": ["yes", None, 1],
    "memory_budget": [0, -1, "lots", "0KB", "512XB", 1.5, True, [], "-5KB"],
    "expected_classes": [0, -1, 1.5, "ten", None, True],
    "n_jobs": [0, 1.5, "all", True],
    "random_state": [-1, "seed", 1.5, 2**40],
    "epochs": [0, -1, 1.5, "one", None],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, many in BAD_PARAMETERS.items() for value in many])
def test_parameters_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        make("mse", **{name: value}).fit(X, Y)
    assert name in str(caught.value) or (callable(value) and "rate" in str(caught.value))
    assert "expected" in str(caught.value)
    if name not in OPTIONS:  # an option of a part, which refuses it at once
        return
    clf = make("mse", **{name: value})
    before = dict(vars(clf))
    if name != "epochs":
        with pytest.raises(ConfigError):
            clf.partial_fit(X, Y)
    assert vars(clf) == before


def test_an_unknown_parameter() -> None:
    with pytest.raises(TypeError, match="colour"):
        KenyonClassifier(colour="red")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="colour"):
        make("mse").set_params(colour="red")


@pytest.mark.parametrize(
    "params",
    [
        {"rule": GEN(), "clamp": None, "learning_rate": 1.0},
        {"rule": GEN(b1=-0.1), "clamp": None, "learning_rate": 1.0},
        {"rule": "mse", "learning_rate": 50.0, "hidden": LocalError((10,))},
        {"rule": OJA(), "clamp": None, "learning_rate": 90.0},
        {"rule": "mse", "learning_rate": 50.0},
        {"rule": "mse", "learning_rate": 0.1, "unit_norm": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [1, 90, 450])
def test_a_rule_that_diverges_says_so_and_undoes_the_call(params: dict[str, Any], size: int) -> None:
    clf = make("mse", **params)
    clf.partial_fit(X[:1], Y[:1])
    many, labels = np.tile(X, (5, 1)), np.tile(Y, 5)
    before = held(clf)
    with pytest.raises(DivergenceError, match=r"Set clamp \(for example clamp=0.1\)"):
        for _ in range(20):
            for first in range(0, 450, size):
                clf.partial_fit(many[first : first + size], labels[first : first + size])
                before = held(clf)
    assert held(clf) == before
    for layer in clf._core.engine.layers:
        assert np.isfinite(layer.weights).all()
    assert np.isfinite(clf.decision_function(X)).all()


def test_a_first_call_that_diverges_leaves_no_trace() -> None:
    clf = make("mse", rule=GEN(), clamp=None, learning_rate=10.0)
    with pytest.raises(DivergenceError):
        clf.partial_fit(np.tile(X, (20, 1)), np.tile(Y, 20))
    assert not clf.__sklearn_is_fitted__() and not hasattr(clf, "n_features_in_")


def _fails_late(t: int) -> float:
    if t == 60:
        raise ZeroDivisionError("a function of the user's own")
    return 0.1


@pytest.mark.parametrize("rate", [_fails_late, lambda t: 0.1 if t < 60 else np.nan])
@pytest.mark.parametrize("case", ["mse", "gen", "two hidden layers"])
def test_a_schedule_that_fails_in_the_middle_is_undone(case: str, rate: Any) -> None:
    clf = make(case, learning_rate=rate, clamp=0.1).partial_fit(X[:20], Y[:20])
    before = held(clf)
    with pytest.raises(ConfigError, match=r"at time 60: expected finite numbers"):
        clf.partial_fit(X[20:], Y[20:])
    assert held(clf) == before
    assert clf.classes_.size == len(set(Y[:20].tolist()) - {-1})


def test_steps_have_a_length() -> None:
    with pytest.raises(ConfigError, match=r"step.every is 0"):
        Step(0.1, 0.5, 0)


def test_every_error_is_one_of_ours() -> None:
    for error in (InputError, ConfigError, DivergenceError):
        assert issubclass(error, KenyonError)
