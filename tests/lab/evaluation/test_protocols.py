"""Streams that do not wait, few labels, tests within the stream, and learning without predicting: by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Curriculum, Stream, from_arrays, load_dataset
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, run
from kenyon.lab.evaluation._asking import Asking
from kenyon.lab.evaluation._pace import Paced
from kenyon.learners.baselines._ncm import NCM

DIGITS = load_dataset("digits")


class Notes:
    """A learner that notes which samples it learned; it predicts how many those were."""

    def __init__(self, info: StreamInfo | None = None, seed: int = 0, batch_size: int = 1) -> None:
        self.batch_size = batch_size
        self.learned: list[int] = []
        self.labels: list[int] = []
        self.state_bytes, self.synaptic_updates, self.feature_operations = 0, 0, 10

    def learn(self, X: Any, y: Any, task: int | None = None) -> None:
        self.learned += X[:, 0].astype(int).tolist()
        self.labels += y.tolist()

    def test_then_learn(self, X: Any, y: Any, task: int | None = None) -> Any:
        self.learn(X, y, task)
        return np.zeros(len(y), np.int64)

    def predict(self, X: Any, task: int | None = None) -> Any:
        return np.full(len(X), len(self.learned))

    def class_scores(self, X: Any, task: int | None = None) -> Any:
        return np.stack([X[:, 1], np.zeros(len(X))], axis=1)

    def asks_for(self, X: Any, task: int | None = None) -> Any:
        return X[:, 0] % 4 == 0

    def end_task(self, last: bool) -> None: ...

    def state(self) -> dict[str, Any]:
        return {"learned": np.array(self.learned)}

    def restore(self, state: dict[str, Any]) -> None:
        self.learned = state["learned"].tolist()


def samples(n: int) -> tuple[Any, Any]:
    X = np.zeros((n, 2), np.float32)
    X[:, 0] = np.arange(n)
    return X, np.arange(n) % 2


@pytest.mark.parametrize(
    ("cost", "batch", "learned"),
    [
        (0.5, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (1.0, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (2.0, 1, [0, 2, 4, 6, 8]),
        (2.5, 1, [0, 3, 6, 9]),  # free in the middle of a sample: it waits for the next to arrive
        (100.0, 1, [0]),
        (2.0, 4, [0, 1, 2, 3]),  # free at 12, and the last two have arrived at 10
    ],
)
@pytest.mark.parametrize("cut", [10, 4, 8])
def test_a_slow_learner_misses_samples(cost: float, batch: int, learned: list[int], cut: int) -> None:
    X, y = samples(10)
    paced = Paced(Notes(batch_size=batch), cost)
    for start in range(0, 10, cut):
        predicted = paced.test_then_learn(X[start : start + cut], y[start : start + cut])
        assert len(predicted) == len(y[start : start + cut])
    assert paced.inner.learned == learned
    assert paced.figures()["learned_share"] == len(learned) / 10
    other = Paced(Notes(batch_size=batch), cost)
    other.restore(paced.state())
    assert other.state()["around.time"].tolist() == paced.state()["around.time"].tolist()


def test_a_measured_learner_misses_samples() -> None:
    """Each batch of 32 takes 0.2 seconds, 200 samples a second arrive: 40 samples later it is free again."""
    clock = iter(np.arange(100) * 0.2)
    X, y = samples(32 * 5)
    paced = Paced(Notes(), None, rate=200.0, clock=lambda: float(next(clock)))
    paced.test_then_learn(X, y)
    assert [first // 32 for first in paced.inner.learned[::32]] == [0, 2, 4]


@pytest.mark.parametrize(("how", "budget"), [("random", 0.2), ("uncertainty", 0.2), ("learner", 0.3), ("random", 1.0)])
@pytest.mark.parametrize("cut", [2560, 512])
def test_labels_stay_within_the_budget(how: str, budget: float, cut: int) -> None:
    X, y = samples(2560)
    X[:, 1] = np.random.default_rng(0).random(2560)
    asking = Asking(Notes(), budget, how, seed=0)
    for start in range(0, 2560, cut):
        asking.test_then_learn(X[start : start + cut], y[start : start + cut])
    given = np.array(asking.inner.labels) >= 0
    counts = np.cumsum(given)
    assert (counts <= np.maximum(budget * np.arange(1, 2561) + 1e-9, 1)).all()
    wanted = 0.25 if how == "learner" else budget
    assert abs(counts[-1] / 2560 - wanted) < 0.03
    if how == "uncertainty":
        assert X[given, 1].mean() < 0.5 * X[~given, 1].mean()  # the small margins
    if how == "learner":
        assert (X[given, 0] % 4 == 0).all()
    np.testing.assert_array_equal(np.array(asking.inner.labels)[given], y[given])


def test_a_learner_without_scores_is_named() -> None:
    with pytest.raises(ConfigError, match="has no asks_for: expected it, or asking = 'random'"):
        info = Curriculum().open(DIGITS).info
        Asking(NCM(info, 0), 0.5, "learner", 0)


def by_hand() -> Stream:
    """Two tasks of one class; a test sample of each."""
    X, y = np.array([[0], [0], [0], [0], [9], [9], [9], [9]], np.float32), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    return Curriculum(n_tasks=2).open(from_arrays(X, y, X[[0, 4]], y[[0, 4]]))


def test_accuracy_at_any_time_by_hand() -> None:
    stream = by_hand()
    result = run(RunConfig(stream, "ncm", test_every=2, tests="last"), [0]).results[0]
    assert result.curve == ((2, 1.0), (4, 1.0), (6, 1.0), (8, 1.0))
    assert result.recall_curve == ((1.0, None), (1.0, None), (1.0, 1.0), (1.0, 1.0))
    assert result.metrics.anytime_accuracy == 1.0 and result.metrics.average_incremental_accuracy is None
    plain = run(RunConfig(stream, "ncm"), [0]).results[0].metrics
    assert plain.anytime_accuracy == plain.average_incremental_accuracy == 1.0


@pytest.mark.parametrize("scenario", ["class-incremental", "task-incremental", "permuted", "i-blurry"])
@pytest.mark.parametrize("learner", ["ncm", "slda"])
def test_the_curve_ends_where_the_matrix_does(scenario: str, learner: str) -> None:
    config = RunConfig("digits", learner, Curriculum(scenario, n_tasks=3, max_per_task=90), test_every=50)
    result = run(config, [0]).results[0]
    assert [point[0] for point in result.curve][-1] == sum(result.n_train)
    if learner == "ncm":  # the other can be stopped after each hundred samples of a task
        assert len(result.curve) == -(-sum(result.n_train) // 50)
    assert result.curve[-1][1] == pytest.approx(result.metrics.sample_accuracy)


def test_large_batches_are_tested_where_they_end() -> None:
    config = RunConfig("digits", "slda", Curriculum(max_per_task=90), {"batch_size": 40}, test_every=10)
    result = run(config, [0]).results[0]
    assert [point[0] for point in result.curve][:5] == [40, 80, 90, 130, 170]
    assert result.metrics.anytime_accuracy == pytest.approx(np.mean([accuracy for _, accuracy in result.curve]))


def test_learning_alone_gives_the_same_model() -> None:
    curriculum = Curriculum(max_per_task=100)
    both, alone = (run(RunConfig("digits", "kenyon", curriculum, prequential=p), [0]).results[0] for p in (True, False))
    assert alone.metrics.prequential_accuracy is None and both.metrics.prequential_accuracy is not None
    assert both.state_sha256 == alone.state_sha256 and both.accuracy_matrix == alone.accuracy_matrix


def test_the_share_of_labels_does_not_depend_on_predictions_before_learning() -> None:
    curriculum = Curriculum(max_per_task=100, labelled=0.5)
    both = [run(RunConfig("digits", "ncm", curriculum, prequential=on), [0]).results[0].metrics for on in (True, False)]
    assert [metrics.labels_given for metrics in both] == [0.5, 0.5]
    assert both[0].prequential_accuracy is not None and both[1].prequential_accuracy is None


def test_budgets_in_a_run(tmp_path: Any) -> None:
    curriculum = Curriculum(max_per_task=100)
    free = run(RunConfig("digits", "ncm", curriculum), [0]).results[0]
    operations = free.metrics.operations_per_sample
    assert operations == 64 + 64  # scaling, and the mean of the class
    assert free.metrics.energy_per_sample == pytest.approx(operations * 4.6e-12)
    config = RunConfig("digits", "ncm", curriculum, compute_budget=operations / 4, label_budget=0.5, test_every=200)
    report = run(config, [0, 1], tmp_path)
    metrics = report.results[0].metrics
    assert 0 < metrics.learned_share < 1
    assert 0 < metrics.labels_given <= 0.5
    assert run(config, [0, 1], tmp_path).to_dict()["curve"] == report.to_dict()["curve"]
    frame = report.to_frame()
    assert frame.loc[0, "learned_share"] == metrics.learned_share
    assert report.matrix_frame().shape == (10, 5)
    assert "<td>labels" not in report._repr_html_() and "ncm on digits, class-incremental" in report._repr_html_()


def test_own_data_and_classes_in_a_store(tmp_path: Any) -> None:
    X, y = DIGITS.train.X[:200], DIGITS.train.y[:200]
    first = run(RunConfig((X, y), NCM), [0], tmp_path).results[0]
    again = run(RunConfig((X, y), "ncm"), [0], tmp_path).results[0]
    other = run(RunConfig((X[::-1], y[::-1]), NCM), [0], tmp_path).results[0]
    assert first.folder == again.folder != other.folder
    assert run(RunConfig((X, y), Notes), [0]).results[0].metrics.operations_per_sample == 10


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rate": 0}, "rate is 0: expected a number above 0"),
        ({"rate": -1.0}, "rate is -1.0: expected a number above 0"),
        ({"compute_budget": 0}, "compute_budget is 0: expected a number above 0"),
        ({"compute_budget": float("nan")}, "compute_budget is nan: expected"),
        ({"compute_budget": 1, "rate": 1}, "compute_budget is 1 and rate is 1: expected one"),
        ({"label_budget": 0.0}, "label_budget is 0.0: expected a number above 0 and at most 1"),
        ({"label_budget": 1.5}, "label_budget is 1.5"),
        ({"asking": "random"}, "asking is 'random' and label_budget is none"),
        ({"asking": "please", "label_budget": 0.5}, "unknown asking 'please'"),
        ({"test_every": -1}, "test_every is -1: expected an integer"),
        ({"test_every": 1.5}, "test_every is 1.5"),
        ({"prequential": 1}, "prequential is 1: expected true or false"),
    ],
)
def test_bad_budgets_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        RunConfig("digits", "ncm", **options)
