"""Runs of an earlier report stand in for those that the store lacks, as long as they would be the same runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.figures import Lines
from kenyon.lab.report import write_report
from kenyon.lab.tables import Cell, Missing, Result, Text
from kenyon.paper.reproduce import Earlier, Experiment, Reproduction, Setting
from kenyon.paper.reproduce._trials import trial
from kenyon.paper.reproduce._wanted import Gap, Line, Runs, Sheet, Wanted

CELL = Runs(
    RunConfig("digits", "kenyon", Curriculum(max_per_task=60), {"rule": "mse", "n_hidden": 50}), (0, 1), paper=None
)
OTHER = replace(CELL, config=replace(CELL.config, options={"rule": "mse", "n_hidden": 60}))


def sheet(cell: Wanted) -> Experiment:
    return Experiment("small", "nothing", lambda setting: [Sheet("s", "s", ("accuracy",), (Line("row", (cell,)),))])


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Earlier:
    made = Reproduction([sheet(CELL)], Setting(tmp_path_factory.mktemp("store")))
    return Earlier.read(made.run(made.plan(), lambda *_: None).path)


def test_a_report_from_an_earlier_one_has_the_same_numbers_and_runs(earlier: Earlier, tmp_path: Path) -> None:
    made = Reproduction([sheet(CELL)], Setting(tmp_path, earlier=earlier)).write({})
    assert made.report.tables == earlier.report.tables
    assert made.report.runs == earlier.report.runs  # the second seed refers to the first, as before
    assert "seeds = [1]" in earlier.runs[list(earlier.runs)[1]].config


def test_a_run_that_would_be_another_one_now_is_missing(earlier: Earlier, tmp_path: Path) -> None:
    cell = Reproduction([sheet(OTHER)], Setting(tmp_path, earlier=earlier)).write({}).report.tables[0].rows[0].cells[0]
    assert isinstance(cell, Missing)


def test_the_store_comes_first_and_the_rest_is_filled_in(earlier: Earlier, tmp_path: Path) -> None:
    only = Reproduction([sheet(replace(CELL, seeds=(0,)))], Setting(tmp_path))
    only.run(only.plan(), lambda *_: None)
    cell = Reproduction([sheet(CELL)], Setting(tmp_path, earlier=earlier)).write({}).report.tables[0].rows[0].cells[0]
    assert isinstance(cell, Result) and cell.n == 2
    assert cell.mean == pytest.approx(earlier.report.tables[0].rows[0].cells[0].mean)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("rate", "measured"), [(1e-6, Result), (0.1, Text)], ids=["a trial that ends well", "one that diverges"]
)
def test_what_has_no_run_stands_while_its_command_is_the_same(
    rate: float, measured: type[Cell], tmp_path: Path
) -> None:
    def table(rate: float) -> Experiment:
        options = {"rule": "mse", "n_hidden": 50, "unit_norm": False, "layer__learning_rate": rate}
        return sheet(trial(replace(CELL.config, options=options)))

    def only_cell(setting: Setting, rate: float) -> Cell:
        return Reproduction([table(rate)], setting).write({}).report.tables[0].rows[0].cells[0]

    made = Reproduction([table(rate)], Setting(tmp_path / "before"))
    earlier = Earlier.read(made.run(made.plan(), lambda *_: None).path)
    kept = only_cell(Setting(tmp_path / "now", earlier=earlier), rate)
    assert isinstance(kept, measured) and kept == earlier.report.tables[0].rows[0].cells[0]
    assert isinstance(only_cell(Setting(tmp_path / "now", earlier=earlier), 0.2), Missing)
    assert isinstance(only_cell(Setting(tmp_path / "now"), rate), Missing)


def test_figures_that_cannot_be_drawn_are_taken_over_while_their_runs_stand(earlier: Earlier) -> None:
    name = next(iter(earlier.report.runs))
    fuller, lost = (Lines(own, own, "x", "y", (), runs=(name,)) for own in ("fuller", "lost"))
    kept = Earlier(replace(earlier.report, figures=(fuller, lost)))
    assert kept.figures([replace(fuller, runs=())]) == [fuller, lost]
    assert kept.figures([replace(fuller, title="new")]) == [replace(fuller, title="new"), lost]
    changed = replace(earlier.report.runs[name], config=earlier.report.runs[name].config.replace("50", "51"))
    gone = replace(earlier.report, figures=(lost,), runs={**earlier.report.runs, name: changed})
    assert Earlier(gone).figures([]) == []


def test_what_takes_long_counts_where_the_earlier_report_has_it(earlier: Earlier, tmp_path: Path) -> None:
    setting = Setting(tmp_path, earlier=earlier)
    assert setting.on_request(CELL, asked=False, reason="it takes long") == CELL
    assert not isinstance(setting.on_request(OTHER, asked=False, reason="it takes long"), Runs)


def test_runs_of_a_data_set_that_is_gone_stand(
    earlier: Earlier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Setting, "dataset", lambda self, name: None)

    def cell(setting: Setting, seeds: tuple[int, ...]) -> Wanted:
        return setting.runs("digits", "class-incremental", options=CELL.config.options, max_per_task=60, seeds=seeds)

    with_report = Setting(tmp_path, earlier=earlier)
    assert cell(with_report, (0, 1)) == replace(CELL, paper=None)
    for setting, seeds in ((with_report, (0, 1, 2)), (Setting(tmp_path), (0, 1))):
        gap = cell(setting, seeds)
        assert isinstance(gap, Gap) and "not in the data directory" in gap.reason


def test_only_what_neither_has_is_run(earlier: Earlier, tmp_path: Path) -> None:
    more = Reproduction([sheet(replace(CELL, seeds=(0, 1, 2)))], Setting(tmp_path, earlier=earlier))
    plan = more.plan()
    assert [entry.state for entry in plan.entries] == ["done", "done", "to do"]
    cell = more.run(plan, lambda *_: None).report.tables[0].rows[0].cells[0]
    assert isinstance(cell, Result) and cell.n == 3
    assert len(list(tmp_path.glob("*/metrics.json"))) == 1


def test_the_command_takes_a_report_with_and_without_runs_of_its_own(earlier: Earlier, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    write_report(earlier.report, known)
    options = ["reproduce", "search", "--quick", "--out", str(tmp_path / "store"), "--earlier", str(known)]
    for more in (["--plan"], ["--as-is"]):
        result = CliRunner().invoke(app, [*options, *more])
        assert result.exit_code == 0, result.output
