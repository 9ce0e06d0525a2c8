"""Streams as they are: rare classes, classes that come back, late labels, drifts; tables with empty labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kenyon.data.streams import Curriculum, Dataset, from_arrays, load_dataset
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation import RunConfig, run

DIGITS = load_dataset("digits")


def labels(curriculum: Curriculum, dataset: Dataset = DIGITS) -> list[np.ndarray]:
    return [episode.train()[1] for episode in curriculum.open(dataset).episodes]


def test_a_long_tail_thins_classes_in_their_order() -> None:
    (y,) = labels(Curriculum("single-task", long_tail=0.1, class_order=(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)))
    (full,) = labels(Curriculum("single-task"))
    shares = np.bincount(y) / np.bincount(full)
    assert np.allclose(shares, 0.1 ** (np.arange(9, -1, -1) / 9), atol=0.01)
    (again,) = labels(Curriculum("single-task", long_tail=0.1, class_order=(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)))
    assert np.array_equal(y, again)


def test_classes_come_back_with_other_samples() -> None:
    stream = Curriculum("class-incremental", repeats=3).open(DIGITS)
    assert [episode.classes for episode in stream.episodes[:5]] == [e.classes for e in stream.episodes[5:10]]
    rows = [episode._train[1].rows(0, episode.n_train) for episode in stream.episodes]
    assert len(stream.episodes) == 15 and len(np.unique(np.concatenate(rows))) == len(DIGITS.train.y)


@pytest.mark.parametrize("at_random", [False, True])
def test_a_label_comes_late_but_comes(at_random: bool) -> None:
    curriculum = Curriculum("single-task", delay=50, random_delay=at_random)
    (episode,) = curriculum.open(DIGITS).episodes
    X, y = episode.train()
    n = len(DIGITS.train.y)
    assert len(y) == 2 * n and (y == -1).sum() == n
    waits = []
    first = {x.tobytes(): t for t, x in reversed(list(enumerate(X))) if y[t] == -1}
    for t in np.flatnonzero(y >= 0):
        waits.append(t - first[X[t].tobytes()])
    assert min(waits) > 0 and np.array_equal(episode.train(100, 200)[1], y[100:200])
    assert (np.std(waits[100:-100]) > 10) == at_random


def test_in_a_drift_the_classes_change_places_and_tests_follow() -> None:
    stream = Curriculum("drift", n_tasks=3).open(DIGITS)
    true = {x.tobytes(): y for x, y in zip(DIGITS.train.X[:], DIGITS.train.y, strict=True)}
    for task, episode in enumerate(stream.episodes):
        X, y = episode.train()
        assert [(true[x.tobytes()] + task) % 10 for x in X] == y.tolist()
        assert np.array_equal(episode.test()[1], (DIGITS.test.y + task) % 10)
    gradual = Curriculum("gradual-drift", n_tasks=2, blur=0.5).open(DIGITS).episodes[0]
    X, y = gradual.train()
    turned = np.array([(label - true[x.tobytes()]) % 10 for x, label in zip(X, y, strict=True)])
    early, late = np.array_split(turned, 2)
    assert late.mean() > 0 and early.mean() < late.mean() < 1


def test_a_virtual_drift_changes_inputs_and_no_label() -> None:
    first, second = Curriculum("virtual-drift", n_tasks=2).open(DIGITS).episodes
    assert np.array_equal(first.test()[0], DIGITS.test.X[:]) and np.array_equal(second.test()[1], DIGITS.test.y)
    X = second.test()[0]
    assert X.dtype == np.uint8 and 0.5 < X.sum() / DIGITS.test.X[:].sum() < 0.99
    assert np.array_equal(second.train(5, 20)[0], second.train()[0][5:20])


def test_runs_have_the_matching_metrics() -> None:
    report = run(RunConfig("digits", "ncm", Curriculum("single-task", long_tail=0.02)), [0], keep_learners=True)
    result, (learner,) = report.results[0], report.learners
    tail = result.metrics
    test = DIGITS.test
    right = np.asarray(learner.predict(test.X[:])) == test.y
    assert result.recalls == tuple(float(right[test.y == c].mean()) for c in range(10))
    assert min(result.recalls) == tail.lowest_recall and report.to_dict()["recalls"] == list(result.recalls)  # type: ignore[type-var]
    assert tail.lowest_recall < tail.balanced_accuracy and 0 < tail.kappa < tail.balanced_accuracy
    drifting = run(RunConfig("digits", "kenyon", Curriculum("drift"), {"n_hidden": 300}), [0])
    drift = drifting.results[0].metrics
    assert drifting.results[0].recalls == () and drifting.to_dict()["recalls"] == []
    assert 0 <= drift.accuracy_after_drift <= 1 and drift.kappa is None


def test_the_order_of_classes_by_their_names() -> None:
    dataset = from_arrays(np.random.default_rng(0).random((60, 3)), ["cat", "dog", "emu"] * 20)
    stream = Curriculum("class-incremental", class_order=("emu", "cat", "dog")).open(dataset)
    assert [episode.classes for episode in stream.episodes] == [(2,), (0,), (1,)]
    with pytest.raises(ConfigError, match=r"unknown class 'cta'.*did you mean 'cat'"):
        Curriculum("class-incremental", class_order=("emu", "cta", "dog")).open(dataset)


def test_arrays_and_data_sets_straight_into_a_run() -> None:
    X, y = DIGITS.train.X[:], DIGITS.train.y
    by_arrays, by_set = (run(RunConfig(data, "ncm"), [0]) for data in ((X, y), from_arrays(X, y)))
    assert by_arrays.results[0].metrics.accuracy == by_set.results[0].metrics.accuracy > 0.7
    with pytest.raises(ConfigError, match=r"(?s)dataset is \[array.*: expected a name or a path, or a Dataset"):
        RunConfig([X, y], "ncm")


def test_empty_labels_are_samples_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{i % 2 + i / 100},{i % 3},{'' if i % 4 == 3 else 'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "train.csv").write_text("\n".join(["width,height,kind", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    dataset = load_dataset("own", label="kind")  # a folder that exists, without a slash
    assert dataset.class_names == ("a", "b") and (dataset.train.y == -1).sum() == 10 and (dataset.test.y >= 0).all()
    (y,) = labels(Curriculum("single-task"), dataset)
    assert (y == -1).sum() == 10
    assert all((part >= 0).all() for part in labels(Curriculum("class-incremental"), dataset))
    report = run(RunConfig("own", "kenyon", Curriculum("single-task"), label="kind"), [0])
    assert report.results[0].metrics.accuracy > 0.5
    with pytest.raises(DataError, match=r"no column 'knd'.*did you mean 'kind'"):
        run(RunConfig("own", label="knd"), [0])
