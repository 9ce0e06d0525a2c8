"""Probabilities that can be believed, and an estimate of the accuracy."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kenyon import KenyonClassifier
from kenyon.errors import ConfigError, InputError, ModelFileError

X, y = load_digits(return_X_y=True)


def state(clf: KenyonClassifier) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in clf.to_arrays().items()}


def test_log_loss_is_below_that_of_logistic_regression():
    clf = KenyonClassifier(random_state=0).fit(X[:900], y[:900])
    peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(X[:900], y[:900])
    assert log_loss(y[900:], clf.predict_proba(X[900:])) < log_loss(y[900:], peer.predict_proba(X[900:]))


def test_few_samples_leave_doubt():
    samples, labels = load_iris(return_X_y=True)
    first = KenyonClassifier(random_state=0).partial_fit(samples[[0, 60, 120, 1, 61]], labels[[0, 60, 120, 1, 61]])
    assert first.predict_proba(samples).min() > 0.03


@pytest.mark.parametrize("cut", [1, 7, 128])
def test_any_cut_gives_the_same_bits(cut):
    n = 60 if cut == 1 else 300
    whole = KenyonClassifier(random_state=0)
    parts = KenyonClassifier(random_state=0, n_jobs=2)
    whole.test_then_learn(X[:n], y[:n])
    for start in range(0, n, cut):
        parts.partial_fit(X[start : min(start + cut, n)], y[start : min(start + cut, n)])
    assert state(whole) == state(parts)


def test_saved_it_goes_on(tmp_path):
    whole = KenyonClassifier(random_state=0).partial_fit(X[:300], y[:300])
    KenyonClassifier(random_state=0).partial_fit(X[:137], y[:137]).save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model").partial_fit(X[137:300], y[137:300])
    assert state(whole) == state(again)
    size = sum(array.nbytes for name, array in whole.to_arrays().items() if name != "model")
    assert whole.state_bytes == size + len(whole.to_arrays()["model"])


def test_a_call_that_fails_changes_nothing():
    clf = KenyonClassifier(random_state=0).partial_fit(X[:200], y[:200])
    before = state(clf)
    bad = X[200:260].copy()
    bad[-1, 0] = 1e29
    with pytest.raises(InputError):
        clf.partial_fit(np.where(bad > 1e28, np.inf, bad), y[200:260])
    assert state(clf) == before


def test_estimate_of_all_and_of_a_class():
    clf = KenyonClassifier(random_state=0).partial_fit(X[:900], y[:900])
    every, one = clf.accuracy_estimate(), clf.accuracy_estimate(8)
    assert every.low < clf.score(X[900:], y[900:]) + 0.03 and every.low < every.accuracy < every.high
    assert one.high - one.low > every.high - every.low
    assert clf.accuracy_estimate(level=0.99).low < every.low
    with pytest.raises(InputError, match="level"):
        clf.accuracy_estimate(level=2.0)
    with pytest.raises(InputError, match="not a class"):
        clf.accuracy_estimate("a")
    with pytest.raises(ConfigError, match="ramps"):
        KenyonClassifier("mse", n_hidden=50).partial_fit(X[:50], y[:50]).accuracy_estimate()


@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
def test_merged_counts_add_up():
    first = KenyonClassifier(random_state=0).partial_fit(X[:400][y[:400] < 7], y[:400][y[:400] < 7])
    second = KenyonClassifier(random_state=0).partial_fit(X[400:800], y[400:800])
    both = KenyonClassifier.merge([first, second])
    alone = max(clf.accuracy_estimate().n_effective for clf in (first, second))
    assert both.accuracy_estimate().n_effective > alone
    assert log_loss(y[900:], both.predict_proba(X[900:])) < 0.5
    both.partial_fit(X[800:], y[800:])
    assert both.score(X, y) > 0.9


def test_classes_forgotten_joined_and_renamed():
    clf = KenyonClassifier(random_state=0).partial_fit(X[:600], y[:600])
    counted = [clf.accuracy_estimate(label).n_effective for label in (3, 5, 8)]
    clf.forget(5).join([3, 8], 3).rename(9, 99)
    assert clf.accuracy_estimate(3).n_effective == pytest.approx(counted[0] + counted[2], rel=0.1)
    clf.partial_fit(X[600:900][y[600:900] < 3], y[600:900][y[600:900] < 3])
    assert clf.predict_proba(X[900:]).shape == (897, 8)


def test_forged_calibration_is_refused():
    clf = KenyonClassifier(random_state=0).partial_fit(X[:100], y[:100])
    arrays = clf.to_arrays()
    arrays["hits.calibration"] = arrays["hits.calibration"] + 1e6
    with pytest.raises(ModelFileError, match="calibration"):
        KenyonClassifier.from_arrays(arrays)
