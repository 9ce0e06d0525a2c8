"""Tables in any order: units of the inputs that change at steps, and sums that are re-expressed with them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from kenyon import KenyonClassifier
from kenyon.features import RampUnits, Rescaling
from kenyon.features._rescaling import bell
from kenyon.model.units import BEYOND, LAST, SETTLED, Units
from making import composed, held

Both = tuple[NDArray[np.float64], NDArray[np.int64]]


def halves(X: NDArray, y: NDArray, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Half of the samples to learn, shuffled and class by class, and the other half."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    learned, tested = np.split(order, [len(y) // 2])
    by_class = [learned[y[learned] == label] for label in rng.permutation(np.unique(y))]
    return learned, np.concatenate(by_class), tested


@pytest.mark.parametrize(("load", "floor"), [(load_iris, 0.93), (load_wine, 0.95), (load_breast_cancer, 0.95)])
def test_class_by_class_is_as_good_as_shuffled(load: Any, floor: float) -> None:
    X, y = load(return_X_y=True)
    scores = []
    for seed in range(8):
        *orders, tested = halves(X, y, seed)
        models = [KenyonClassifier(random_state=seed).partial_fit(X[order], y[order]) for order in orders]
        scores.append([model.score(X[tested], y[tested]) for model in models])
    shuffled, by_class = np.mean(scores, axis=0)
    assert by_class > floor and by_class > shuffled - 0.015


def test_fit_scales_by_all_samples_whatever_their_order() -> None:
    X, y = load_wine(return_X_y=True)
    *orders, tested = halves(X, y, 0)
    shuffled, by_class = (KenyonClassifier(random_state=0).fit(X[order], y[order]) for order in orders)
    ours, theirs = shuffled.decision_function(X[tested]), by_class.decision_function(X[tested])
    assert np.allclose(ours, theirs, atol=1e-3 * np.abs(ours).max())
    learned = orders[0]
    assert np.allclose(shuffled._core.engine.scaler.centres, X[learned].mean(axis=0), rtol=0.05)
    for far in (1e4, -1e9):
        with_outlier = X[learned].copy()
        with_outlier[0, 3] = far
        assert KenyonClassifier(random_state=0).fit(with_outlier, y[learned]).score(X[tested], y[tested]) > 0.95


def sensors(n: int = 900, seed: int = 0) -> Both:
    """Four classes with curved borders in six inputs, on scales from 0.001 to 100."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1, (n, 6))
    return (z + 5) * 10.0 ** np.arange(-3, 3), (z[:, 0] ** 2 + z[:, 1] > 1) * 2 + (z[:, 2] > z[:, 3])


@pytest.mark.parametrize("at", [0, 1, 5, 20, 63, 300])
def test_one_outlier_leaves_no_more_than_a_trace(at: int) -> None:
    X, y = sensors()
    plain = KenyonClassifier(random_state=0).partial_fit(X[:600], y[:600]).score(X[600:], y[600:])
    X[at, 2] = 1e4
    assert KenyonClassifier(random_state=0).partial_fit(X[:600], y[:600]).score(X[600:], y[600:]) > plain - 0.03


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_a_stream_recovers_from_other_units(factor: float) -> None:
    X, y = sensors(2000)
    plain = KenyonClassifier(random_state=0).partial_fit(X[:1500], y[:1500]).score(X[1500:], y[1500:])
    X[:100] *= factor
    assert KenyonClassifier(random_state=0).partial_fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > plain - 0.12


# ---- any cut, and the state


@pytest.mark.parametrize("cut", [1, 3, 64, 200])
def test_any_cut_gives_the_same_bits(cut: int) -> None:
    X, y = sensors(700)
    X[:100] *= 1e3  # so that an input begins again
    X[::50, 3] = np.nan
    labels = np.where(np.arange(700) % 9 == 8, -1, y)
    params: dict[str, Any] = {"missing": "absent", "unlabelled": -1, "random_state": 0}
    whole, pieces = (
        KenyonClassifier(**composed(**params), n_jobs=3).partial_fit(X, labels),
        KenyonClassifier(**composed(**params)),
    )
    for start in range(0, 700, cut):
        pieces.partial_fit(X[start : start + cut], labels[start : start + cut])
    assert held(whole) == held(pieces)


def test_predictions_made_while_learning_do_not_depend_on_the_cut() -> None:
    X, y = sensors(200)
    whole, pieces = KenyonClassifier(random_state=0), KenyonClassifier(random_state=0)
    wanted = whole.test_then_learn(X, y)
    found = [pieces.test_then_learn(X[i : i + 11], y[i : i + 11]) for i in range(0, 200, 11)]
    assert np.array_equal(np.concatenate(found), wanted) and held(whole) == held(pieces)


def test_a_call_that_fails_puts_units_and_sums_back(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sensors(200)
    clf = KenyonClassifier(random_state=0).partial_fit(X[:10], y[:10])
    before, steps = held(clf), itertools.count()
    plain = RampUnits.rescaled

    def fails(self: RampUnits, *args: Any) -> Any:
        if next(steps):
            raise KeyboardInterrupt
        return plain(self, *args)

    monkeypatch.setattr(RampUnits, "rescaled", fails)
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X[10:], y[10:])
    assert held(clf) == before
    monkeypatch.undo()
    assert held(clf.partial_fit(X[10:], y[10:])) == held(KenyonClassifier(random_state=0).partial_fit(X, y))


@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
def test_models_in_different_units_are_merged_in_common_ones() -> None:
    X, y = sensors(1200)
    X[:, 5] = np.where(y == 0, 7.0, 9.0)  # constant in each part
    known = [y[:900] == 0, y[:900] > 0]
    parts = [KenyonClassifier(random_state=0).partial_fit(X[:900][own], y[:900][own]) for own in known]
    merged = KenyonClassifier.merge(parts)
    assert merged.score(X[900:], y[900:]) > parts[1].score(X[900:], y[900:]) + 0.1
    assert merged._core.engine.scaler.deviations[5] == 2.0


# ---- the parts


def test_units_as_the_text_says() -> None:
    units, every = Units(1), np.ones(1, bool)
    samples = np.array([5.0, 5.0, 7.0, 5.0, 6.0, 1e6])[:, np.newaxis]
    scaled = [float(units.count(x[np.newaxis], every)[0][0, 0]) for x in samples[:3]]
    assert scaled == [0, 0, 0] and (units.centres[0], units.deviations[0]) == (5, 2)
    _, ((after, change),) = units.count(samples[3:4], every)  # the fourth: moments 5.5 and sqrt(3) / 2
    assert after == 1 and units.centres[0] == 5.5 and np.isclose(units.deviations[0], np.sqrt(3) / 2)
    assert np.isclose(change.factors[0], 4 / np.sqrt(3)) and np.isclose(change.offsets[0], -1 / np.sqrt(3))
    limit = 2 * np.sqrt(4 * BEYOND) - 4
    assert np.isclose(units.scale(samples[5:])[0, 0], limit), "a value is at most so far out"


def test_units_stay_after_the_last_step_but_for_inputs_that_begin_to_vary() -> None:
    rng = np.random.default_rng(0)
    samples = np.stack([rng.normal(0, 1, LAST + 100), np.full(LAST + 100, 3.0)], axis=1)
    units = Units(2)
    units.count(samples, np.ones(len(samples), bool))
    before = units.kept()
    scaled, changes = units.count(np.array([[50.0, 3.0], [1.0, 8.0], [1.0, 8.0]]), np.ones(3, bool))
    assert not changes and scaled[:, 1].tolist() == [0, 0, 1]
    for name in ("centres.scale", "widths.scale"):
        assert units.kept()[name][0] == before[name][0]
    assert SETTLED < LAST


def test_bells_moments_are_those_of_three_uniform_numbers() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (400_000, 3)).sum(axis=1)
    for a in (-2.9, -1.2, 0.0, 0.7, 2.5, 3.5):
        above = np.maximum(X + a, 0)
        wanted = above.mean(), (above > 0).mean(), (above**2).mean()
        assert np.allclose([float(value[0]) for value in bell(np.array([a]))], wanted, atol=0.01)


def test_sums_are_re_expressed() -> None:
    """Inputs exactly; ramps closely, for classes that are bells; those of other inputs as they were."""
    rng = np.random.default_rng(0)
    ramps, n = RampUnits(3, 43, seed=1), 4000
    classes = np.arange(n) % 2
    z = rng.normal(0, 1, (n, 3)) + np.array([[0.5, 0, -0.3], [-1, 1, 0]])[classes]
    change = Rescaling(np.array([0.5, 1.0, 2.0]), np.array([0.3, 0.0, -1.0]), np.zeros(3))

    def activity(z: NDArray) -> NDArray:
        matrix, offsets = ramps.matrix()
        return np.concatenate([z, np.maximum(z @ matrix - offsets, 0)], axis=1)

    def sums(x: NDArray) -> tuple[NDArray, NDArray]:
        return x.T @ x, np.stack([x[classes == j].sum(axis=0) for j in (0, 1)], axis=1)

    counts = np.array([n / 2, n / 2])
    pairs, totals = ramps.rescaled(change, *sums(activity(z)), counts)
    wanted, wanted_totals = sums(activity(z * change.factors + change.offsets))
    assert np.allclose(pairs[:3, :3], wanted[:3, :3]) and np.allclose(totals[:3], wanted_totals[:3])
    assert np.allclose(pairs, pairs.T) and np.linalg.eigvalsh(pairs).min() > -1e-6
    scale = np.sqrt(np.diag(wanted))
    apart = np.abs((pairs - wanted) / np.outer(scale, scale))
    assert np.median(apart) < 0.02 and np.quantile(apart, 0.95) < 0.15
    assert np.abs(totals - wanted_totals).max() < 0.02 * n
    unmoved = [u for u in range(40) if set(ramps._inputs[u, : ramps._sizes[u]]) == {1}]
    plain = sums(activity(z))[0]
    assert unmoved and np.array_equal(pairs[3 + unmoved[0], 3 + unmoved[0]], plain[3 + unmoved[0], 3 + unmoved[0]])
