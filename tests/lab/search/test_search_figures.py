"""The figures of a search are figures of the one model: drawn, listed and shown on a page as any other."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kenyon.errors import DataError
from kenyon.lab.figures import Bars, Lines, Scatter
from kenyon.lab.plots import plot_search
from kenyon.lab.report import markdown, open_report, page_html
from kenyon.lab.search import DONE, FAILED, Evaluation, Outcome, SearchFolder, parse_space, search_figures
from kenyon.lab.search._log import Log

SPACE = """
[rule]
values = ["mse", "gen"]
[n_hidden]
low = 10
high = 1000
log = true
[gen.rule__b1]
low = 0.0
high = 2.0
"""
POINTS = (("mse", 10, math.nan, 0.5), ("gen", 100, 1.0, 0.9), ("gen", 1000, 2.0, None), ("mse", 100, math.nan, 0.7))


@pytest.fixture
def folder(tmp_path: Path) -> SearchFolder:
    found = SearchFolder(tmp_path / "search")
    found.path.mkdir()
    found.begin({"method": "random"}, SPACE)
    log = Log(found.log_path, parse_space(SPACE))
    for number, (rule, n_hidden, b1, accuracy) in enumerate(POINTS):
        outcome = Outcome(FAILED if accuracy is None else DONE, accuracy, "" if accuracy else "diverged", 1.0)
        point = {"rule": rule, "n_hidden": n_hidden, "gen.rule__b1": b1}
        log.append(Evaluation(number, point, outcome, 10.0 * number, "holdout"))
    log.close()
    return found


def test_the_figures_hold_what_the_log_says(folder: SearchFolder) -> None:
    figures = search_figures(folder)
    trajectory, parallel, importance = figures.values()
    assert isinstance(trajectory, Scatter) and isinstance(parallel, Lines) and isinstance(importance, Bars)
    assert trajectory.frontier and {p.group for p in trajectory.points} == {"gen", "gen, failed", "mse"}
    assert sorted((p.x, p.y) for p in trajectory.points) == [(0, 50), (10, 90), (20, 0), (30, 70)]
    best, rest = parallel.series[-1], parallel.series[:-1]
    assert best.y == pytest.approx((1.0, 0.5, 0.5, 1.0)) and not best.faint and all(line.faint for line in rest)
    assert rest[0].y[2] is None, "an inactive parameter is a gap"
    assert len(parallel.x_names) == 4 and parallel.x_names[1] == "n_hidden (10 to 1000, log)"
    assert set(importance.names) == {"rule", "n_hidden", "gen.rule__b1"}
    assert list(importance.values) == sorted(importance.values, reverse=True)


def test_a_search_is_drawn_listed_and_shown_on_a_page(folder: SearchFolder, tmp_path: Path) -> None:
    pictures = plot_search(folder).save(tmp_path, "svg")
    assert [path.name for path in pictures] == ["trajectory.svg", "parallel.svg", "importance.svg"]
    assert "#1f77b4" in pictures[0].read_text() and "#2ca02c" in pictures[0].read_text(), "MSE blue, GEN green"
    report = open_report(folder.path)
    assert [figure.id for figure in report.figures] == ["trajectory", "parallel", "importance"]
    assert [row.label for row in report.tables[0].rows] == ["gen", "mse"]
    text = markdown(report)
    assert "Which parameters mattered" in text and "| n\\_hidden |" in text
    page = page_html(report)
    assert '"type":"bars"' in page and "drawBars" in page


def test_every_figure_is_written_as_numbers_too(folder: SearchFolder, tmp_path: Path) -> None:
    paths = {kind: plot_search(folder).save(tmp_path, kind) for kind in ("csv", "markdown", "latex")}
    assert [path.name for path in paths["csv"]] == ["trajectory.csv", "parallel.csv", "importance.csv"]
    assert {path.suffix for own in paths.values() for path in own} == {".csv", ".md", ".tex"}
    head, *lines = paths["csv"][0].read_text().splitlines()
    assert (
        head == "label,seconds_of_searching,accuracy_held_out" and lines[0] == "evaluation 1,10,90" and len(lines) == 4
    )
    assert len(paths["csv"][1].read_text().splitlines()) == 1 + 4, "a row for each parameter, and one for the accuracy"
    assert paths["latex"][2].read_text().startswith(r"\begin{tabular}")
    assert "n\\_hidden" in paths["markdown"][2].read_text()


def test_a_search_without_a_score_has_nothing_to_draw(tmp_path: Path) -> None:
    empty = SearchFolder(tmp_path)
    empty.begin({"method": "random"}, SPACE)
    with pytest.raises(DataError, match="nothing to draw"):
        search_figures(empty)
