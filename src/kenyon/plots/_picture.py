"""How a picture is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kenyon.errors import require

Draw = Callable[[Any], None]
"""Draws on Matplotlib's axes."""


def save_picture(draw: Draw, path: Path, size: tuple[float, float]) -> Path:
    """Draw one picture and write it; the same drawing gives the same file.

    Args:
        draw: what to draw.
        path: where the picture goes; the suffix says which format. A folder that does not exist is made.
        size: width and height in inches.
    """
    require("matplotlib", "plot", "drawing a picture")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "kenyon"}):  # no random names in an SVG, and below no date
        # Not a figure of pyplot's: this one needs no display and leaves no global state.
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path
