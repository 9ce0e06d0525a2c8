"""Weights of samples and classes: integers are exact, fractions depend on neither cut nor order."""

import datetime

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import cross_validate

from kenyon import KenyonClassifier, LocalError, Plastic
from kenyon.errors import ConfigError, InputError

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]


def state(clf: KenyonClassifier) -> list[bytes]:
    return [array.tobytes() for array in clf.to_arrays().values()]


@pytest.mark.parametrize("params", [{}, {"rule": "mse", "n_hidden": 300}, {"features": "dense"}], ids=str)
def test_integers_are_repeats(params):
    if params.get("features"):
        params = {**params, "layer": "second-order", "n_hidden": 50}
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = KenyonClassifier(random_state=0, **params).partial_fit(X, y, sample_weight=weights)
    plain = KenyonClassifier(random_state=0, **params).partial_fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert state(weighted) == state(plain)


def test_fractions_in_any_cut_and_of_the_right_sum():
    weights = np.random.default_rng(0).random(len(y)) * 3
    whole = KenyonClassifier(random_state=0).partial_fit(X, y, sample_weight=weights)
    parts = KenyonClassifier(random_state=0)
    for start in range(0, 400, 70):
        part = slice(start, start + 70)
        parts.partial_fit(X[part], y[part], sample_weight=weights[part])
    assert state(whole) == state(parts)
    assert abs(whole.n_samples_learned_ - weights.sum()) < 30


def test_class_weights_count_as_sample_weights(tmp_path):
    by_class = KenyonClassifier(random_state=0, class_weight={3: 4.0, 5: 0}).partial_fit(X, y)
    by_sample = KenyonClassifier(random_state=0).partial_fit(X, y, sample_weight=np.where(y == 3, 4, y != 5))
    assert np.array_equal(by_class.decision_function(X), by_sample.decision_function(X))
    assert by_class.classes_.tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    by_class.save(tmp_path / "model")
    assert KenyonClassifier.load(tmp_path / "model").class_weight == {3: 4.0, 5: 0}


def test_balanced_finds_a_rare_class():
    rng = np.random.default_rng(0)
    labels = (rng.random(2000) < 0.05).astype(int)
    samples = rng.normal(size=(2000, 5)) + labels[:, np.newaxis]
    plain, balanced = (
        KenyonClassifier(random_state=0, class_weight=given).fit(samples[:1000], labels[:1000])
        for given in (None, "balanced")
    )
    rare = labels[1000:] == 1
    found = [np.mean(clf.predict(samples[1000:])[rare]) for clf in (plain, balanced)]
    assert found[1] > found[0] + 0.1


def test_predictions_before_learning_are_one_for_each_sample():
    clf = KenyonClassifier(random_state=0, class_weight={3: 4.0, 5: 0})
    assert clf.test_then_learn(X, y).shape == y.shape


def test_boosting_and_routing():
    boosted = AdaBoostClassifier(KenyonClassifier(random_state=0), n_estimators=3).fit(X[:300], y[:300])
    assert boosted.score(X[300:], y[300:]) > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        clf = clone(KenyonClassifier(random_state=0).set_fit_request(sample_weight=True))
        clf.set_score_request(sample_weight=False)
        found = cross_validate(clf, X, y, params={"sample_weight": (y != 5).astype(int)}, cv=3, return_estimator=True)
        assert 5 not in found["estimator"][0].classes_
        with pytest.raises(TypeError, match="weight_of"):
            clf.set_fit_request(weight_of=True)
        asked = clf.set_predict_proba_request(task=True).set_decision_function_request(task=True)
        asked.set_predict_log_proba_request(task=False)
        assert asked.get_metadata_routing().predict_proba.requests == {"task": True}
    with pytest.raises(RuntimeError, match="metadata routing"):
        KenyonClassifier().set_fit_request(sample_weight=True)


@pytest.mark.parametrize(
    ("weights", "seen"),
    [([1.0], "shape"), ([-1.0] * 400, "-1"), ([np.nan] * 400, "nan"), ([1e9] * 400, "1e"), (["a"] * 400, "not a")],
)
def test_bad_weights_change_nothing(weights, seen):
    clf = KenyonClassifier(random_state=0).partial_fit(X, y)
    before = state(clf)
    with pytest.raises(InputError, match=seen):
        clf.partial_fit(X, y, sample_weight=weights)
    assert state(clf) == before


def test_bad_class_weights():
    for given in ({3: -1.0}, "even", [1.0], {3: "a"}):
        with pytest.raises(ConfigError, match="class_weight"):
            KenyonClassifier(class_weight=given).fit(X, y)
    with pytest.raises(InputError, match="balanced"):
        KenyonClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(InputError, match="zero"):
        KenyonClassifier().fit(X, y, sample_weight=np.zeros(400))


def test_images_come_with_their_shape():
    params = {"shape": (8, 8), "memory_budget": "20KB", "random_state": 0}
    flat = KenyonClassifier(**params).partial_fit(X, y)
    shaped = KenyonClassifier(**params).partial_fit(X.reshape(-1, 8, 8), y)
    assert state(flat) == state(shaped)
    assert np.array_equal(flat.predict(X), shaped.predict(X.reshape(-1, 8, 8)))
    with pytest.raises(InputError, match=r"set shape=\(8, 8\)"):
        KenyonClassifier().fit(X.reshape(-1, 8, 8), y)
    with pytest.raises(InputError, match=r"expected \(n_samples, 8, 8\) or"):
        flat.predict(X.reshape(-1, 4, 16))


def test_what_is_no_number_is_refused_by_name():
    pandas = pytest.importorskip("pandas")
    for values in (["1.5", "red"], [1.5, datetime.date(2020, 1, 1)]):
        with pytest.raises(InputError, match=r"column 'b' holds .* \(sample 1\): expected numbers"):
            KenyonClassifier().fit(pandas.DataFrame({"a": [1.0, 2.0], "b": values}), [0, 1])
    frame = pandas.DataFrame({"a": [1.0, 2.0], "when": pandas.date_range("2020-01-01", periods=2)})
    with pytest.raises(InputError, match="column 'when' is of type datetime64"):
        KenyonClassifier().fit(frame, [0, 1])


def test_surface():
    clf = KenyonClassifier(random_state=0).fit(X, y)
    assert np.allclose(np.exp(clf.predict_log_proba(X[:5])), clf.predict_proba(X[:5]))
    assert "KenyonClassifier" in clf._repr_html_()
    with pytest.raises(TypeError, match=r"KenyonClassifier.__init__\(\) got an unexpected keyword argument 'units'"):
        KenyonClassifier(units=5)


def test_modulation_goes_with_repeated_samples():
    weights, signal = np.arange(len(y)) % 3, np.linspace(0, 1, len(y))
    both = KenyonClassifier(rule="mse", random_state=0).partial_fit(X, y, sample_weight=weights, modulation=signal)
    plain = KenyonClassifier(rule="mse", random_state=0)
    plain.partial_fit(*(np.repeat(a, weights, axis=0) for a in (X, y)), modulation=np.repeat(signal, weights))
    assert state(both) == state(plain)


@pytest.mark.parametrize(
    "params, given, message",
    [
        ({}, 1.5, r"modulation\[0\] is 1.5: expected a number from 0 to 1"),
        ({}, [0.5] * 3, r"modulation has shape \(3,\): expected one for each of 400 samples, \(400,\)"),
        ({}, "much", "modulation holds a value that is not a number"),
        ({"rule": "auto", "layer": "second-order"}, 0.5, "modulation is given for SecondOrderLayer: expected"),
        ({"layer": Plastic(bits=4)}, 0.5, "expected a Plastic layer of 32 bits alone"),
        ({"rule": "mse", "hidden": LocalError((8,))}, 0.5, "modulation is given for hidden layers"),
    ],
)
def test_modulation_that_does_not_fit(params, given, message):
    clf = KenyonClassifier(random_state=0, **({"rule": "gen"} | params)).partial_fit(X, y)
    before = state(clf)
    with pytest.raises(InputError, match=message):
        clf.partial_fit(X, y, modulation=given)
    assert state(clf) == before
