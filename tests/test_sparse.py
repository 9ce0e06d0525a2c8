"""Samples as sparse matrices: the same model as from arrays, in time that the values alone decide."""

import numpy as np
import pytest
import scipy.sparse as sp

from kenyon import KenyonClassifier
from kenyon.errors import InputError


@pytest.fixture(scope="module")
def counts() -> tuple[sp.csr_array, np.ndarray]:
    """Bags of 300 words, four classes with ten words of their own each."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 400)
    X = rng.random((400, 300)) < 0.01
    for _ in range(4):
        X[np.arange(400), 10 * y + rng.integers(0, 10, 400)] = True
    return sp.csr_array(X * rng.integers(1, 4, X.shape).astype(float)), y


def state(clf: KenyonClassifier) -> list[bytes]:
    return [array.tobytes() for array in clf.to_arrays().values()]


def test_sparse_defaults_learn_words(counts):
    X, y = counts
    clf = KenyonClassifier(random_state=0).partial_fit(X[:300], y[:300])
    assert clf.score(X[300:], y[300:]) > 0.85


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array])
def test_any_format_and_any_cut_give_the_same_bits(counts, kind):
    X, y = counts
    whole = KenyonClassifier(random_state=0).partial_fit(kind(X), y)
    parts = KenyonClassifier(random_state=0)
    for start, stop in ((0, 1), (1, 200), (200, 400)):
        parts.partial_fit(X[start:stop], y[start:stop])
    assert state(whole) == state(parts)
    assert np.array_equal(whole.decision_function(X), parts.decision_function(X.toarray()))


@pytest.mark.parametrize(
    "params",
    [
        {"rule": "mean", "features": "identity", "layer": "counting", "readout": "bayes"},
        {"rule": "mse", "features": "identity"},
        {"rule": "mse", "n_hidden": 200},
        {"layer": "second-order", "n_hidden": 50},
    ],
    ids=str,
)
def test_sparse_is_as_dense(counts, params):
    X, y = counts
    sparse = KenyonClassifier(random_state=0, **params)
    dense = KenyonClassifier(random_state=0, **params)
    assert np.array_equal(sparse.test_then_learn(X, y), dense.test_then_learn(X.toarray(), y))
    assert np.array_equal(sparse.predict_proba(X), dense.predict_proba(X.toarray()))


def test_bytes_and_duplicates(counts):
    X, y = counts
    as_bytes = KenyonClassifier(random_state=0).partial_fit(X.astype(np.uint8), y)
    assert state(as_bytes) == state(KenyonClassifier(random_state=0).partial_fit(X, y))
    twice = sp.csr_matrix((np.ones(3), np.array([5, 2, 5]), np.array([0, 3])), shape=(1, 300))
    once = sp.csr_matrix((np.array([1.0, 2.0]), np.array([2, 5]), np.array([0, 2])), shape=(1, 300))
    assert np.array_equal(as_bytes.decision_function(twice), as_bytes.decision_function(once))
    assert twice.nnz == 3


def test_saved_and_merged(counts, tmp_path):
    X, y = counts
    first, second = (KenyonClassifier(random_state=0).partial_fit(X[s], y[s]) for s in (slice(200), slice(200, 400)))
    merged = KenyonClassifier.merge([first, second])
    merged.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    whole = KenyonClassifier(random_state=0).partial_fit(X, y)
    assert np.array_equal(again.decision_function(X), whole.decision_function(X))
    assert np.array_equal(again.unlearn(X[200:], y[200:]).decision_function(X), first.decision_function(X))


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda X: X * np.inf, "infinity"),
        (lambda X: X * np.nan, "NaN"),
        (lambda X: -X, "negative"),
        (lambda X: X[:, :20], "20 features"),
        (lambda X: X[:0], "shape"),
        (lambda X: X.astype(complex), "complex"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_matrices_change_nothing(counts, change, seen):
    X, y = counts
    clf = KenyonClassifier(random_state=0).partial_fit(X, y)
    before = state(clf)
    bad = change(X)
    with pytest.raises(InputError, match=seen):
        clf.partial_fit(bad, y[: bad.shape[0]])
    assert state(clf) == before
