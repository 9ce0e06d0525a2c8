"""Figures drawn by Matplotlib, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kenyon.errors import require, unknown
from kenyon.lab.figure_tables import figure_table
from kenyon.lab.figures import Figure
from kenyon.lab.plots._draw import draw_figure
from kenyon.lab.table_formats import FORMATS, write_table
from kenyon.utils.system import replace_file

KINDS = ("png", "svg", "pdf")
"""What a picture may be."""
_SUFFIXES = {"csv": "csv", "markdown": "md", "latex": "tex"}
_UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def check_kind(kind: str) -> None:
    """Refuse an unknown format of a picture.

    Example:
        >>> check_kind("pdf")
    """
    if kind not in (*KINDS, *FORMATS):
        raise unknown("picture format", kind, (*KINDS, *FORMATS))


@contextmanager
def _settings(style: Mapping[str, Any]) -> Iterator[None]:
    require("matplotlib", "plot", "drawing a picture")
    from matplotlib import rc_context

    # No random names in an SVG, and below no date. Text is never handed to LaTeX, which is a program: a matplotlibrc in
    # the current folder, which may be a store of somebody else, could ask for it.
    settings: Any = {"svg.hashsalt": "kenyon", **style, "text.usetex": False}
    with rc_context(settings):
        yield


def draw_picture(draw: Callable[[Any], None], size: tuple[float, float], style: Mapping[str, Any] | None = None) -> Any:
    """A Matplotlib figure.

    Args:
        draw: draws on Matplotlib's axes.
        size: width and height in inches.
        style: settings of Matplotlib (`rcParams`) for this figure.

    Example:
        >>> draw_picture(lambda axes: axes.plot([0, 1]), (3, 2)).get_size_inches().tolist()
        [3.0, 2.0]
    """
    with _settings(style or {}):
        from matplotlib.figure import Figure

        # Not a figure of pyplot's: this one needs no display and leaves no global state.
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        figure.draw_without_rendering()  # ticks are made here, with these settings
    return figure


def save_picture(figure: Any, path: Path, style: Mapping[str, Any] | None = None) -> Path:
    """Write a Matplotlib figure; the same drawing gives the same file.

    Args:
        figure: what `draw_picture` gave.
        path: where the picture goes; the suffix says which format. A folder that does not exist is made.
        style: settings of Matplotlib (`rcParams`) for this figure.

    Example:
        >>> from pathlib import Path
        >>> save_picture(draw_picture(lambda axes: axes.plot([0, 1]), (3, 2)), Path("line.svg")).name
        'line.svg'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _settings(style or {}):
        figure.savefig(path, dpi=300 if style else 150, metadata=_UNDATED.get(path.suffix))
    return path


class Picture(NamedTuple):
    """A figure, and the inches it is drawn in."""

    figure: Figure
    size: tuple[float, float]


class Pictures(Mapping[str, Any]):
    """Figures by name. Matplotlib draws one when it is looked up; `save` writes all.

    Args:
        pictures: what is drawn, by name.
        style: settings of Matplotlib (`rcParams`).
        titled: whether a figure's title stands above it.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.plots import plot_report
        >>> from kenyon.lab import Point, ReportData, Scatter
        >>> sizes = Scatter("sizes", "Accuracy against size", "bytes", "%", (Point(1000, 90, "mine"),))
        >>> pictures = plot_report(ReportData("Mine", figures=(sizes,)))
        >>> pictures["sizes"].axes[0].get_xlabel()
        'bytes'
        >>> [path.name for path in pictures.save(Path("pictures"), "svg")]
        ['sizes.svg']
    """

    def __init__(
        self, pictures: Mapping[str, Picture], style: Mapping[str, Any] | None = None, titled: bool = False
    ) -> None:
        self._pictures, self._style, self._titled = dict(pictures), style, titled

    def __getitem__(self, name: str) -> Any:
        if name not in self._pictures:
            raise KeyError(f"there is no picture {name!r}: expected one of {', '.join(self._pictures)}")
        figure, size = self._pictures[name]

        def draw(axes: Any) -> None:
            draw_figure(axes, figure)
            if self._titled:
                axes.set_title(figure.title, fontsize=11)

        return draw_picture(draw, size, self._style)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pictures)

    def __len__(self) -> int:
        return len(self._pictures)

    def __repr__(self) -> str:
        return f"Pictures({', '.join(self._pictures)})"

    def save(self, folder: str | Path, kind: str = "png") -> list[Path]:
        """Write every figure into a folder, each under its name; returns the files.

        Args:
            folder: made if it does not exist.
            kind: `"png"`, `"svg"` or `"pdf"`; or `"csv"`, `"markdown"` or `"latex"` for the numbers as a table.
        """
        check_kind(kind)
        paths = [Path(folder) / f"{name}.{_SUFFIXES.get(kind, kind)}" for name in self]
        for path, (name, picture) in zip(paths, self._pictures.items(), strict=True):
            if kind in FORMATS:
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, write_table(figure_table(picture.figure), kind).encode())
            else:
                save_picture(self[name], path, self._style)
        return paths
