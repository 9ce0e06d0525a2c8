"""scikit-learn's own suite of checks on the classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kenyon import KenyonClassifier
from kenyon.rules import INEL
from making import stream


def order_matters(estimator: KenyonClassifier) -> dict[str, str]:
    """Checks that compare a stream with a shuffled one."""
    reason = "a rule learns from the order of its samples, and sums in floats differ in their last bits"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        KenyonClassifier(random_state=0),
        KenyonClassifier("mse", n_hidden=200, random_state=0),
        KenyonClassifier(INEL(30.0), n_hidden=200, hidden_layers=(20,), random_state=0),
        KenyonClassifier("oja", features="identity"),
    ],
    expected_failed_checks=order_matters,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_in_a_pipeline_and_a_search() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    model = make_pipeline(StandardScaler(), KenyonClassifier(n_hidden=500, random_state=0))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.6
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), KenyonClassifier("mse", n_hidden=2000, random_state=0)),
        {"kenyonclassifier__density": [4, 16], "kenyonclassifier__rule": ["mse", INEL(3.0)]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.8


def test_refitting_forgets_the_names_of_features() -> None:
    import pandas

    X, y = stream()
    frame = pandas.DataFrame(X, columns=[f"pixel {i}" for i in range(40)])
    clf = KenyonClassifier("mse", n_hidden=100, random_state=0).fit(frame, y)
    assert clf.feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(clf.predict(frame), clf.fit(X, y).predict(X))
    assert not hasattr(clf, "feature_names_in_")
