"""Plan, run, resume, fail, report: on the embedded digits and in empty stores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.data.streams import Curriculum, load_dataset
from kenyon.lab.evaluation import RunConfig, run
from kenyon.lab.report import ReportData, read_report
from kenyon.lab.tables import Missing, Result
from kenyon.paper.reproduce import EXPERIMENTS, Experiment, Reproduction, Setting, experiments, find_experiments
from kenyon.paper.reproduce._jobs import StoredRun, execute
from kenyon.paper.reproduce._setting import SAMPLE
from kenyon.paper.reproduce._wanted import Line, Runs, Sheet
from kenyon.paper.tables import paper_table
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import Workers
from reproduce.jobs import Touch

SMALL = {"rule": "mse", "n_hidden": 50}


@pytest.fixture(autouse=True)
def no_real_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("KENYON_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


class Ended(Watch):
    """Keeps how each job ended."""

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}

    def finished(self, event: Event) -> None:
        self.jobs[event.job] = event.message

    def failed(self, event: Event) -> None:
        self.jobs[event.job] = "failed"


def small(scenario: str = "class-incremental", seeds: tuple[int, ...] = (0, 1), **options: object) -> Runs:
    return Runs(RunConfig("digits", "kenyon", Curriculum(scenario, max_per_task=60), {**SMALL, **options}), seeds)


def sheet(*cells: Runs, name: str = "small") -> Experiment:
    lines = tuple(Line(f"row {i}", (cell,)) for i, cell in enumerate(cells))
    return Experiment(name, "nothing", lambda setting: [Sheet(name, name, ("accuracy",), lines)])


def test_a_job_that_two_experiments_want_is_planned_once(tmp_path: Path) -> None:
    shared = small()
    made = Reproduction([sheet(shared), sheet(shared, small(n_hidden=60), name="other")], Setting(tmp_path))
    plan = made.plan()
    assert [entry.experiment for entry in plan.entries] == ["small", "small", "other", "other"]
    assert [job.seed for job in plan.left if isinstance(job, StoredRun)] == [0, 0, 1, 1]
    assert plan.unknown == 0 and plan.seconds > 0
    assert {entry.estimate.basis for entry in plan.entries} == {"recorded"}


def test_what_the_store_has_is_not_run_again_and_sets_the_pace(tmp_path: Path) -> None:
    cell = small()
    run(cell.config, [0], tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/metrics.json")}
    made = Reproduction([sheet(cell)], Setting(tmp_path))
    plan = made.plan()
    assert [entry.state for entry in plan.entries] == ["done", "to do"]
    assert plan.entries[1].estimate.basis == "store"
    outcome = made.run(plan)
    assert not outcome.failures and not made.plan().left
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert made.run(made.plan()).report.tables == outcome.report.tables


def test_a_job_that_fails_is_named_with_its_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    made = Reproduction([sheet(small(features__density=65), small())], Setting(tmp_path))
    watch = Ended()
    outcome = made.run(made.plan(), watch)
    assert [how == "failed" for how in watch.jobs.values()] == [True, False, True, False]
    bad, good = (row.cells[0] for row in outcome.report.tables[0].rows)
    assert isinstance(bad, Missing) and "density is 65" in bad.reason
    assert bad.command and "features__density=65" in bad.command
    assert isinstance(good, Result) and good.n == 2
    first, second = (outcome.report.runs[name].config for name in good.runs)
    assert "n_hidden = 50" in first and second == f"# As {good.runs[0]}, but for\nseeds = [1]\n"
    assert len(outcome.failures) == 2 and outcome.page.exists()
    assert [row.label for row in outcome.report.tables[-1].rows] == list(outcome.failures)


@pytest.mark.slow
def test_a_process_that_dies_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    jobs = [Touch("one", dies=True), Touch("two")]
    watch = Ended()
    failures = execute(jobs, tmp_path, None, watch, Workers(2))
    assert list(failures) == ["one"]
    assert failures["one"].startswith("WorkerDiedError: its process died (exit code 3)")
    assert watch.jobs == {"one": "failed", "two": "touched"}
    assert jobs[1].done(tmp_path)


def test_without_data_everything_is_missing_with_its_reason_and_command(tmp_path: Path) -> None:
    made = Reproduction(list(EXPERIMENTS.values()), Setting(tmp_path / "runs"))
    assert not made.plan().entries
    report = made.write({}).report
    cells = [cell for table in report.tables for row in table.rows for cell in row.cells]
    gaps = [cell for cell in cells if isinstance(cell, Missing)]
    assert len(gaps) > 150 and not any(isinstance(cell, Result) for cell in cells)
    assert any("MNIST is not in the data directory" in gap.reason for gap in gaps)
    assert any(gap.command and gap.command.startswith("kenyon run --dataset emnist-digits") for gap in gaps)


TABLES = {
    "table-1": ("single_configurations", ("Acc.",)),
    "table-2": ("single_accuracies", None),
    "table-3": ("comparison", None),
    "table-4": ("transfer", None),
    "table-5": ("effective_dimension", None),
    "table-6": ("centroid_distances", None),
    "table-7": ("class_configurations", ("Acc.",)),
    "table-8": ("comparison_extended", None),
    "ablations": ("ablations", None),
}


@pytest.fixture(scope="module")
def empty_report(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """Every experiment, none of them run."""
    folder = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KENYON_DATA", str(folder))
        return Reproduction(list(EXPERIMENTS.values()), Setting(folder / "runs")).write({}).report


@pytest.mark.parametrize("shown", TABLES)
def test_every_number_of_a_table_of_the_paper_stands_beside_its_cell(shown: str, empty_report: ReportData) -> None:
    (name, only), report = TABLES[shown], empty_report
    table = next(table for table in report.tables if table.id == shown)
    paper = paper_table(name)
    assert paper.source == table.source
    beside = [cell.paper.mean for row in table.rows for cell in row.cells if isinstance(cell, Missing) and cell.paper]
    for row in paper.rows:
        for column, value in zip(paper.columns, row.values, strict=True):
            if value is not None and (only is None or column in only):
                numbers = value if shown == "table-6" else value[:1]
                assert set(numbers) <= set(beside), (row.label, column)
    labels = [row.label.split(",")[0] for row in table.rows]
    assert {row.label.split(",")[0] for row in paper.rows} <= set(labels)


@pytest.mark.slow
def test_quick_on_the_digits_reports_the_stores_numbers(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", "weights", "configurations", "--quick", "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert "configurations" in result.stdout and "expected with 1 at a time" in result.stdout
    store = tmp_path / "runs-quick"
    report = read_report(store / "report.json")
    assert report.quick and report.command == "kenyon reproduce weights configurations --quick"
    results = [cell for table in report.tables for row in table.rows for cell in row.cells if isinstance(cell, Result)]
    assert len(results) >= 3
    for cell in results:
        metrics = [json.loads((store / name / "metrics.json").read_text())["metrics"] for name in cell.runs]
        assert cell.mean == pytest.approx(100 * sum(m["accuracy"] for m in metrics) / len(metrics))
        assert cell.stand_in == "the embedded digits in place of MNIST"
        assert [report.runs[name].accuracy for name in cell.runs] == [m["accuracy"] for m in metrics]
    assert [figure.id for figure in report.figures if figure.id.startswith("weights")]
    again = CliRunner().invoke(app, ["reproduce", "weights", "configurations", "--quick", "--workers", "1"])
    assert again.exit_code == 0 and "nothing is left to run" in again.stdout


def test_plan_runs_nothing_and_as_is_only_writes(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra 'baselines'")
    arguments = ["reproduce", "comparison", "--quick", "--out", "here"]
    result = CliRunner().invoke(app, [*arguments, "--plan"])
    assert result.exit_code == 0 and "to do   digits-class-incremental-der-s0" in result.stdout
    assert not (tmp_path / "here").exists()
    result = CliRunner().invoke(app, [*arguments, "--as-is", "--results", "docs/results"])
    assert result.exit_code == 0, result.output
    assert [path.name for path in sorted((tmp_path / "here").iterdir())] == ["report.html", "report.json"]
    assert read_report(tmp_path / "docs" / "results.json") == read_report(tmp_path / "here" / "report.json")
    assert "| DER++ |" in (tmp_path / "docs" / "results.md").read_text()


def test_the_exit_code_is_1_where_something_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "_ROWS", (sheet(small(features__density=65), small()),))
    result = CliRunner().invoke(app, ["reproduce", "--workers", "1"])
    assert result.exit_code == 1 and "report.json holds 2 tables" in result.stdout


def test_names_and_folders_that_are_not_there() -> None:
    result = CliRunner().invoke(app, ["reproduce", "comparisons"])
    assert result.exit_code == 2 and "did you mean 'comparison'" in result.stderr
    result = CliRunner().invoke(app, ["reproduce", "--data-dir", "nowhere"])
    assert result.exit_code == 1 and "nowhere is not there" in result.stderr
    assert [e.name for e in find_experiments(["search", "comparison"])] == ["comparison", "search"]
    assert find_experiments([]) == find_experiments(["all", "search"]) == list(EXPERIMENTS.values())


def test_a_quick_sample_has_as_many_of_each_class(tmp_path: Path) -> None:
    path = Setting(tmp_path, quick=True).sample("digits")
    dataset = load_dataset(str(path))
    assert path.name == "digits.npz" and dataset.shape == (8, 8) and dataset.n_classes == 10
    assert len(dataset.train) <= SAMPLE["train"]
    whole = load_dataset("digits")
    assert (dataset.train.X[:20] == whole.train.X[:20]).all() and (dataset.train.y[:20] == whole.train.y[:20]).all()
