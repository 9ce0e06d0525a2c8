"""The store: what it holds, that nothing runs twice, and that a damaged run is named."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.workers import MEASURED, content, make_config
from kenyon.errors import DataError
from kenyon.lab.evaluation import METRICS, Metrics, RunConfig, RunResult, Store, run
from kenyon.utils.events import Event, Watch


class Count(Watch):
    def __init__(self) -> None:
        self.runs = 0

    def opened(self, event: Event) -> None:
        self.runs += 1


def test_a_run_s_folder_holds_everything_in_open_formats(tmp_path: Path) -> None:
    config = make_config(max_per_task=40, labelled=0.5)
    report = run(config, [2], tmp_path)
    folder, result = Store(tmp_path).folder(config, 2), report.results[0]
    assert result.folder == folder.path
    values = folder.config()
    assert values.pop("seeds") == [2]
    assert RunConfig.from_dict(values) == config
    sessions = json.loads(folder.file("environment.json").read_text())
    assert len(sessions) == 1
    assert {"python", "processor", "cores", "threads", "packages", "started", "system"} == set(sessions[0])
    assert sessions[0]["packages"]["numpy"] == np.__version__
    outcomes = np.load(folder.file("prequential.npy"), allow_pickle=False)
    assert outcomes.shape == (sum(result.n_train),) == (200,)
    labelled = outcomes[outcomes != 255]
    assert labelled.mean() == pytest.approx(result.metrics.prequential_accuracy)
    assert len(labelled) == 100
    means = np.load(folder.file("weights.npy"), allow_pickle=False)
    assert means.shape == (5 * (40 // 7), 10)
    assert result.weights_stride == 7
    rows = list(csv.reader(folder.file("accuracy_matrix.csv").read_text().splitlines()))
    assert rows[0] == ["after_task", "task_1", "task_2", "task_3", "task_4", "task_5"]
    assert [[float(cell) for cell in row[1:]] for row in rows[2:]] == result.accuracy_matrix
    assert [float(cell) for cell in rows[1][1:]] == result.accuracy_before
    assert not folder.file("checkpoint.safetensors").exists()
    stored = json.loads(folder.file("metrics.json").read_text())
    assert set(stored["metrics"]) == set(METRICS)
    assert RunResult.from_dict(stored, folder.path) == result


def test_metrics_are_what_was_counted(tmp_path: Path) -> None:
    result = run(make_config(max_per_task=40), [0], tmp_path).results[0]
    m = result.metrics
    R = np.array(result.accuracy_matrix)
    assert m.accuracy == pytest.approx(R[-1].mean())
    assert m.sample_accuracy == pytest.approx(np.average(R[-1], weights=result.n_test))
    assert m.state_bytes == 64 * 10 * 8 + 32
    assert m.synaptic_updates_per_sample == 640
    assert m.samples_per_second >= m.samples_per_second_overall > 0
    assert m.learn_seconds + m.test_seconds <= m.total_seconds
    assert m.peak_memory_bytes >= 0


def test_the_same_run_is_not_run_twice_unless_asked(tmp_path: Path) -> None:
    config, count = make_config(max_per_task=20), Count()
    first = run(config, [0, 1], tmp_path, watch=count)
    assert count.runs == 2
    second = run(config, [1, 0, 2], tmp_path, watch=count)
    assert count.runs == 3
    assert [result.seed for result in second.results] == [1, 0, 2]
    assert second.results[1] == first.results[0]
    before = content(Store(tmp_path).folder(config, 0))
    run(config, [0], tmp_path, again=True, watch=count)
    assert count.runs == 4
    assert content(Store(tmp_path).folder(config, 0)) == before


def test_a_store_and_no_store_give_the_same(tmp_path: Path) -> None:
    config = make_config(max_per_task=20)
    kept, forgotten = run(config, [0], tmp_path).to_dict(), run(config, [0]).to_dict()
    for name in (*MEASURED, "folders"):
        del kept[name], forgotten[name]
    assert kept == forgotten


def test_the_store_lists_complete_and_incomplete_runs(tmp_path: Path) -> None:
    config = make_config(max_per_task=20)
    run(config, [0, 1], tmp_path)
    Store(tmp_path).folder(config, 1).clear()
    (tmp_path / "something else").mkdir()
    assert [(folder.config()["seeds"], folder.complete) for folder in Store(tmp_path).runs()] == [
        ([0], True),
        ([1], False),
    ]
    with pytest.raises(DataError, match="no complete run"):
        Store(tmp_path).folder(config, 1).result()


@pytest.mark.parametrize("damage", ["", "{}", '{"format": 99}', "[1", '{"format": 1, "metrics": {}}'])
def test_damaged_results_are_named(tmp_path: Path, damage: str) -> None:
    config = make_config(max_per_task=20)
    run(config, [0], tmp_path)
    Store(tmp_path).folder(config, 0).file("metrics.json").write_text(damage)
    with pytest.raises(DataError, match=r"metrics\.json is damaged"):
        run(config, [0], tmp_path)
    assert isinstance(run(config, [0], tmp_path, again=True).results[0].metrics, Metrics)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", "<b>0</b>"),
        ("seed", 1.5),
        ("tested_on", 3),
        ("tasks", [["a"], ["b"]]),
        ("n_train", ["9"]),
        ("accuracy_matrix", [["0.5"]]),
        ("accuracy_matrix", []),
        ("accuracy_before", [0.5]),
        ("recalls", ["0.5"]),
        ("recalls", 0.5),
        ("metrics", {"accuracy": "0.5"}),
        ("options", [1]),
        ("state_sha256", None),
    ],
)
def test_results_of_another_type_are_damaged(tmp_path: Path, key: str, value: object) -> None:
    config = make_config(max_per_task=10)
    run(config, [0], tmp_path)
    path = Store(tmp_path).folder(config, 0).file("metrics.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match=r"metrics\.json is damaged"):
        Store(tmp_path).folder(config, 0).result()
