"""How a picture is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kenyon.errors import require, unknown
from kenyon.lab.figure_tables import figure_table
from kenyon.lab.figures import Figure
from kenyon.lab.plots._draw import draw_figure
from kenyon.lab.table_formats import FORMATS, write_table
from kenyon.utils.system import replace_file

Draw = Callable[[Any], None]
"""Draws on Matplotlib's axes."""
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


def save_picture(draw: Draw, path: Path, size: tuple[float, float], style: Mapping[str, Any] | None = None) -> Path:
    """Draw one picture and write it; the same drawing gives the same file.

    Args:
        draw: what to draw.
        path: where the picture goes; the suffix says which format. A folder that does not exist is made.
        size: width and height in inches.
        style: settings of Matplotlib (`rcParams`) for this picture.

    Example:
        >>> from pathlib import Path
        >>> save_picture(lambda axes: axes.plot([0, 1]), Path("line.svg"), (3, 2)).name
        'line.svg'
    """
    require("matplotlib", "plot", "drawing a picture")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    # No random names in an SVG, and below no date. Text is never handed to LaTeX, which is a program: a matplotlibrc in
    # the current folder, which may be a store of somebody else, could ask for it.
    settings: Any = {"svg.hashsalt": "kenyon", **(style or {}), "text.usetex": False}
    with rc_context(settings):
        # Not a figure of pyplot's: this one needs no display and leaves no global state.
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(path, dpi=300 if style else 150, metadata=_UNDATED.get(path.suffix))
    return path


def save_figure(
    figure: Figure,
    folder: Path,
    name: str,
    kind: str,
    size: tuple[float, float],
    style: Mapping[str, Any] | None = None,
    titled: bool = False,
) -> Path:
    """Draw a figure, or write its numbers as a table, into a folder.

    Args:
        figure: the figure.
        folder, name: where it goes; the suffix follows from the kind.
        kind: one of `KINDS`, or of the formats of a table: `csv`, `markdown`, `latex`.
        size, style: as in `save_picture`.
        titled: whether the title stands above the picture.
    """
    if kind in FORMATS:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{_SUFFIXES.get(kind, kind)}"
        replace_file(path, write_table(figure_table(figure), kind).encode())
        return path

    def draw(axes: Any) -> None:
        draw_figure(axes, figure)
        if titled:
            axes.set_title(figure.title, fontsize=11)

    return save_picture(draw, folder / f"{name}.{kind}", size, style)
