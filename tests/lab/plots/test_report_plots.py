"""A report's plots of points as pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cases import slow
from kenyon.errors import DataError
from kenyon.lab.figures import Heatmap, Lines, Point, Scatter
from kenyon.lab.plots import plot_report
from kenyon.lab.plots._draw import draw_scatter, frontier
from report.sample import sample

POINTS = tuple(
    Point(x, y, name) for x, y, name in [(4, 90, "d"), (1, 50, "a"), (2, 40, "b"), (3, 80, "c"), (3, 70, "e")]
)


def test_the_frontier_is_what_nothing_beats() -> None:
    assert [point.name for point in frontier(POINTS)] == ["a", "c", "d"]


@pytest.mark.parametrize("kind", [slow("png"), "svg"])
def test_every_scatter_is_drawn_and_the_same_twice(kind: str, tmp_path: Path) -> None:
    report = replace(sample(), figures=(Scatter("bytes", "Bytes", "state", "accuracy", POINTS, x_log=True),))
    first, second = (plot_report(report).save(tmp_path / name, kind) for name in ("one", "two"))
    assert [path.name for path in first] == [f"bytes.{kind}"]
    assert first[0].read_bytes() == second[0].read_bytes()
    assert first[0].stat().st_size > 5000


def test_a_report_without_figures_is_named() -> None:
    with pytest.raises(DataError, match="no figure to draw"):
        plot_report(replace(sample(), figures=()))


def test_ours_has_a_colour_of_its_own_and_every_group_its_look() -> None:
    from matplotlib.figure import Figure

    points = tuple(Point(float(n + 1), 50.0, f"method {n}", f"group {n}") for n in range(14))
    axes = Figure().add_subplot()
    draw_scatter(axes, Scatter("many", "many", "x", "y", points))
    looks = [(bars[0].get_color(), bars[0].get_marker()) for bars in axes.containers]
    assert len(set(looks)) == 14 and [colour for colour, _ in looks].count(looks[0][0]) == 1


def test_no_name_covers_another_or_a_point() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points = tuple(Point(1.0 + n / 20, 50.0 + n % 3 / 10, f"a method with a name {n}", "group") for n in range(20))
    axes = Figure(layout="constrained").add_subplot()
    draw_scatter(axes, Scatter("many", "many", "x", "y", points))
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    places = axes.transData.transform([(point.x, point.y) for point in points])
    assert 2 <= len(boxes) < 20
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])
    assert not any(box.contains(*place) for box in boxes for place in places)


def test_every_kind_of_figure_is_drawn(tmp_path: Path) -> None:
    report = sample()
    assert {type(figure) for figure in report.figures} == {Heatmap, Lines, Scatter}
    pictures = plot_report(report).save(tmp_path, "svg")
    assert [path.stem for path in pictures] == [figure.id for figure in report.figures]


def test_a_figure_is_matplotlibs_and_has_the_size_and_the_style_of_its_file() -> None:
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    report, before = (
        replace(sample(), figures=(Scatter("bytes", "Bytes", "state", "accuracy", POINTS),)),
        dict(rcParams),
    )
    pictures = plot_report(report)
    figure = pictures["bytes"]
    assert isinstance(figure, Figure) and list(pictures) == ["bytes"] and len(pictures) == 1
    assert figure.get_size_inches().tolist() == [8, 4.8] and figure.axes[0].get_title() == "Bytes"
    assert dict(rcParams) == before
    with pytest.raises(KeyError, match="no picture 'byte': expected one of bytes"):
        pictures["byte"]


def test_ticks_keep_the_type_of_a_paper_when_they_are_drawn_elsewhere() -> None:
    from kenyon.lab.plots import draw_picture

    figure = draw_picture(lambda axes: axes.plot([0, 1000]), (3, 2), {"xtick.labelsize": 3})
    figure.draw_without_rendering()
    assert {label.get_size() for label in figure.axes[0].get_xticklabels()} == {3}
