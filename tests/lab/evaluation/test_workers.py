"""Seeds in other processes: the same bits as in this one, the same store, and the same errors."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.workers import content, make_config
from kenyon.cli import app
from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation import RunConfig, Store, load_learner, run, run_all, state_hash
from kenyon.utils.events import Event, Watch


class Seen(Watch):
    def __init__(self) -> None:
        self.n_started, self.seeds, self.opened_here = 0, list[int](), False

    def started(self, event: Event) -> None:
        self.n_started += 1

    def opened(self, event: Event) -> None:
        self.opened_here = True

    def finished(self, event: Event) -> None:
        self.seeds.append(event.result.seed)


def test_the_number_of_workers_changes_nothing_that_is_kept(tmp_path: Path) -> None:
    config, seeds, watch = make_config(max_per_task=40), [2, 0, 1], Seen()
    one = run(config, seeds, tmp_path / "one")
    two = run(config, seeds, tmp_path / "two", workers=2, watch=watch)
    assert [result.seed for result in two.results] == seeds
    for seed in seeds:
        folders = [Store(tmp_path / name).folder(config, seed) for name in ("one", "two")]
        assert content(folders[0]) == content(folders[1])
    assert {result.folder.parent for result in two.results if result.folder} == {tmp_path / "two"}
    assert one.accuracy_matrix == two.accuracy_matrix
    assert (watch.n_started, sorted(watch.seeds), watch.opened_here) == (3, [0, 1, 2], False)


@pytest.mark.slow
def test_what_is_complete_needs_no_worker(tmp_path: Path) -> None:
    config, watch = make_config(max_per_task=40), Seen()
    run(config, [0], tmp_path)
    before = Store(tmp_path).folder(config, 0).file("metrics.json").stat().st_mtime_ns
    run(config, [0], tmp_path, workers=2, watch=watch)
    assert (watch.n_started, watch.seeds) == (0, [0])
    report = run(config, [0, 1], tmp_path, workers=2, watch=watch)
    assert watch.n_started == 1
    assert len(report.results) == 2
    assert Store(tmp_path).folder(config, 0).file("metrics.json").stat().st_mtime_ns == before
    run(config, [0], tmp_path, workers=2, again=True)
    assert Store(tmp_path).folder(config, 0).file("metrics.json").stat().st_mtime_ns > before


@pytest.mark.slow
def test_without_a_store_results_come_back_all_the_same() -> None:
    configs = [make_config(max_per_task=40), make_config("domain-incremental", max_per_task=40)]
    here, there = run_all(configs, [0, 1]), run_all(configs, [0, 1], workers=3)
    assert [report.config for report in there] == [report.config for report in here]
    for one, two in zip(here, there, strict=True):
        assert [r.state_sha256 for r in one.results] == [r.state_sha256 for r in two.results]


@pytest.mark.slow
def test_a_seed_that_another_process_works_on_is_waited_for(tmp_path: Path) -> None:
    config = make_config(max_per_task=40)
    folder = Store(tmp_path).folder(config, 0)
    with folder.locked(wait=True):
        reports = []
        thread = threading.Thread(target=lambda: reports.append(run(config, [0, 1, 2], tmp_path, workers=1 + 1)))
        thread.start()
        others = [Store(tmp_path).folder(config, seed) for seed in (1, 2)]
        while thread.is_alive() and not all(other.complete for other in others):
            thread.join(0.1)
        assert thread.is_alive()
        assert not folder.complete
    thread.join(60)
    assert [result.seed for result in reports[0].results] == [0, 1, 2]


def test_an_error_in_a_worker_is_raised_here(tmp_path: Path) -> None:
    bad = RunConfig("digits", "kenyon", Curriculum(max_per_task=40), {"rule": "mse", "features__density": 65})
    with pytest.raises(ConfigError, match="density is 65"):
        run(bad, [0, 1], tmp_path, workers=2)
    lost = RunConfig(str(tmp_path / "lost.npz"))
    with pytest.raises(DataError, match="no file or folder"):
        run(lost, [0, 1], tmp_path / "store", workers=2)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_the_command_takes_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["run", "--max-per-task", "40", "--seeds", "2", "--n-hidden", "50"]
    result = CliRunner().invoke(app, [*command, "--workers", "2"])
    assert result.exit_code == 0, result.output
    assert "[2/2] seed " in result.stderr
    assert "seed 1: accuracy" in result.stderr
    again = CliRunner().invoke(app, command)
    assert again.stdout == result.stdout
    for options, message in (
        (["--workers", "0"], "workers is 0"),
        (["--engine", "dask"], "unknown engine 'dask'"),
        (["--address", "there:1"], "only the engine 'ray' has one"),
    ):
        refused = CliRunner().invoke(app, [*command, *options])
        assert refused.exit_code == 2
        assert message in refused.stderr


def test_the_columns_of_a_table_reach_every_worker_and_the_learner_loads_back(tmp_path: Path) -> None:
    table, store = tmp_path / "mine.csv", tmp_path / "runs"
    table.write_text("a,b,kind,user\n" + "".join(f"{i},{i % 7},{i % 2},{i // 20}\n" for i in range(40)))
    words = ["run", "--dataset", table, "--label", "kind", "--domain", "user", "--learner", "ncm"]
    words += ["--scenario", "domain-incremental", "--seeds", "2", "--workers", "2", "--out", store, "--save-model"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    folders = Store(store).runs()
    assert len(folders) == 2
    for folder in folders:
        assert state_hash(load_learner(folder).state()) == folder.result().state_sha256
