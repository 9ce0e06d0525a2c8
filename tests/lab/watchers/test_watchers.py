"""Logs against the real packages: what a run says is what they have."""

from __future__ import annotations

import logging
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kenyon.data.streams import Curriculum, load_dataset
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, RunResult, Store, run, run_dataset
from kenyon.lab.watchers import WATCHERS, Watches, check_watcher, open_watcher, usual_watch
from kenyon.utils.events import Event, Watch

CONFIG = RunConfig("digits", "ncm", Curriculum(max_per_task=30))
OWN = """
from kenyon.lab.watchers import Log

class Lines(Log):
    def tested(self, event):
        with open(self.folder / "lines.txt", "a") as file:
            file.write(f"{self.config['learner']} {self.seed} {event.tally.row}\\n")

class NoWatch:
    pass
"""


class Stopped(Exception):
    """What the machine does to a run now and then."""


class StopAfter(Watch):
    def __init__(self, row: int) -> None:
        self.row = row

    def tested(self, event: Event) -> None:
        if event.tally.row == self.row:
            raise Stopped


def stop_and_go_on(store: Path, log: str) -> RunResult:
    """A run that is stopped after its second task, with a checkpoint at every pause, and then goes on."""
    folder = Store(store).folder(CONFIG, 0)
    folder.path.mkdir(parents=True)
    args: dict[str, Any] = {"folder": folder, "checkpoint_seconds": 0.0, "checkpoint_share": float("inf")}

    def watch() -> Watch:
        return open_watcher(log, folder.path, folder.path.name, CONFIG.to_dict(), 0)

    with pytest.raises(Stopped):
        run_dataset(CONFIG, 0, load_dataset("digits"), watch=Watches([watch(), StopAfter(2)]), **args)
    last = watch()
    result = run_dataset(CONFIG, 0, load_dataset("digits"), watch=last, **args)
    last(Event("finished", result=result))
    return result


def so_far(result: RunResult) -> list[float]:
    """The mean accuracy on the tasks so far, after each."""
    return [sum(row[: i + 1]) / (i + 1) for i, row in enumerate(result.accuracy_matrix)]  # type: ignore[arg-type]


def scalars(folder: Path, tag: str) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


@pytest.mark.parametrize("workers", [1, 2])
def test_tensorboard_has_the_curves_of_every_run(tmp_path: Path, workers: int) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra 'tensorboard'")
    report = run(CONFIG, [0, 1], tmp_path, log=["tensorboard"], workers=workers)
    for result in report.results:
        assert result.folder is not None
        steps = scalars(result.folder, "accuracy_so_far")
        assert [step for step, _ in steps] == [30, 60, 90, 120, 150]
        assert [value for _, value in steps] == pytest.approx(so_far(result), abs=1e-6)
        assert scalars(result.folder, "final/accuracy")[0][1] == pytest.approx(result.metrics.accuracy, abs=1e-6)
        assert scalars(result.folder, "prequential_accuracy")[-1][0] == 150
    assert len(scalars(tmp_path / report.results[0].folder.name, "accuracy/task_5")) == 6


def test_tensorboard_goes_on_in_the_same_curves_and_starts_over_with_again(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra 'tensorboard'")
    result = stop_and_go_on(tmp_path, "tensorboard")
    folder = Store(tmp_path).folder(CONFIG, 0).path
    steps = scalars(folder, "accuracy_so_far")
    assert [step for step, _ in steps] == [30, 60, 90, 120, 150]
    assert [value for _, value in steps] == pytest.approx(so_far(result), abs=1e-6)
    run(CONFIG, [0], tmp_path, log=["tensorboard"], again=True)
    assert len(list((folder / "tensorboard").iterdir())) == 1


def test_a_log_of_your_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    report = run(CONFIG, [3], "runs", log=["own.py:Lines"])
    assert report.results[0].folder is not None
    lines = (report.results[0].folder / "lines.txt").read_text().splitlines()
    assert lines == [f"ncm 3 {row}" for row in range(6)]
    with pytest.raises(ConfigError, match=r"not a subclass of kenyon.lab.watchers.Watch"):
        run(CONFIG, [3], "other", log=["own.py:NoWatch"])
    with pytest.raises(ConfigError, match="did you mean 'tensorboard'"):
        run(CONFIG, [3], "other", log=["tensorbord"])
    with pytest.raises(ConfigError, match="without a store"):
        run(CONFIG, [3], log=["own.py:Lines"])
    assert not Path("other").exists()


def test_every_row_of_the_table_is_a_class_or_says_what_to_install() -> None:
    from kenyon.errors import MissingExtraError

    for name, spec in WATCHERS.items():
        try:
            assert issubclass(check_watcher(name), Watch)
        except MissingExtraError as error:
            assert f"kenyon[{spec.extra}]" in str(error)


def test_mlflow_has_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs the extra 'mlflow'")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    result = stop_and_go_on(tmp_path, "mlflow")
    run(CONFIG, [1, 2], tmp_path, log=["mlflow"])
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}")
    (experiment,) = [e for e in client.search_experiments() if e.name == "kenyon"]
    runs = {run.data.params["seed"]: run for run in client.search_runs([experiment.experiment_id])}
    assert sorted(runs) == ["0", "1", "2"] and {run.info.status for run in runs.values()} == {"FINISHED"}
    assert runs["0"].data.params["learner"] == "ncm" and runs["0"].data.params["options.metric"] == "euclidean"
    assert runs["0"].data.metrics["final/accuracy"] == pytest.approx(result.metrics.accuracy)
    history = {m.step: m.value for m in client.get_metric_history(runs["0"].info.run_id, "accuracy_so_far")}
    assert [history[step] for step in (30, 60, 90, 120, 150)] == pytest.approx(so_far(result))


def wandb_records(file: Path) -> Iterator[bytes]:
    """The records of a file of W&B: after 7 bytes of its own a log of LevelDB, in blocks of 32 KiB."""
    data, place, whole = file.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if (rest := 32768 - place % 32768) < 7:  # the end of a block is left empty
            place += rest
            continue
        length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # all of it, or its last piece
            yield whole
            whole = b""


def test_wandb_has_the_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="needs the extra 'wandb'")
    from wandb.proto import wandb_internal_pb2

    monkeypatch.delenv("WANDB_MODE", raising=False)
    report = run(CONFIG, [0, 1], tmp_path, log=["wandb"])
    files = sorted((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert len(files) == 2
    by_seed = {}
    for file in files:
        found: dict[str, str] = {}
        curve: list[float] = []
        records: list[Any] = []
        while "exit" not in [record.WhichOneof("record_type") for record in records]:  # another process writes them
            records = [wandb_internal_pb2.Record.FromString(data) for data in wandb_records(file)]
        for record in records:
            for item in (*record.history.item, *record.summary.update, *record.run.config.update):
                found[item.key or "/".join(item.nested_key)] = item.value_json
            curve += [float(i.value_json) for i in record.history.item if "accuracy_so_far" in (i.key, *i.nested_key)]
        by_seed[int(found["seed"])] = (float(found["final/accuracy"]), curve, found["learner"])
    for result in report.results:
        accuracy, curve, learner = by_seed[result.seed]
        assert accuracy == pytest.approx(result.metrics.accuracy) and learner == '"ncm"'
        assert curve == pytest.approx(so_far(result))


def test_pythons_logger_has_the_curves_of_every_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kenyon"):
        result = run(CONFIG, [0], tmp_path, log=["logging"]).results[0]
    assert result.folder is not None
    records = [record for record in caplog.records if record.name == f"kenyon.{result.folder.name}"]
    assert [record.levelname for record in records] == ["INFO"] * 8  # the beginning, six tests, the end
    assert records[-2].getMessage().startswith("tested after 5 of 5 tasks: accuracy_so_far 0.")
    assert records[-2].values["accuracy_so_far"] == pytest.approx(so_far(result)[-1])  # type: ignore[attr-defined]
    assert records[-1].values["final/accuracy"] == result.metrics.accuracy  # type: ignore[attr-defined]


class Handle:
    """What `IPython.display.display` gives, with everything that was shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def __call__(self, data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw and display_id
        self.update(data, raw)
        return self

    def update(self, data: dict[str, str], raw: bool) -> None:
        self.shown.append(data["text/html"])


def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    handle, shell = Handle(), type("ZMQInteractiveShell", (), {})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=handle))
    run(CONFIG, [0, 1])
    assert handle.shown[0].startswith('<progress value="0.000" max="2"></progress> 0 of 2 runs')
    assert any("1 of 2 runs, seed 1" in text and 'value="1.' in text for text in handle.shown)
    assert handle.shown[-1] == "", "the bar goes away"
    monkeypatch.undo()
    run(CONFIG, [0])
    assert handle.shown[-1] == "" and type(usual_watch()) is Watch
