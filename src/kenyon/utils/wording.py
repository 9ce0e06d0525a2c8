"""Numbers as text, and names for files and anchors."""

from __future__ import annotations

import re


def slug(*words: str) -> str:
    """Lower-case letters, digits and hyphens, for the name of a file or an anchor; empty where nothing is left.

    Example:
        >>> slug("MNIST, 10 classes", "kenyon")
        'mnist-10-classes-kenyon'
    """
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def scale_of_bytes(value: float) -> tuple[float, str]:
    """The divisor and the unit in which a number of bytes is written: powers of 1,000 throughout the package.

    Example:
        >>> scale_of_bytes(20_000)
        (1000.0, 'KB')
    """
    units = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))
    return next(((divisor, unit) for divisor, unit in units if abs(value) >= divisor), (1.0, "B"))


def number(value: float | None) -> str:
    """A number with three digits, or all those before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size(value: float | None) -> str:
    """A number of bytes in a suitable unit.

    Example:
        >>> size(429_100), size(12)
        ('429.1 KB', '12 B')
    """
    if value is None:
        return "-"
    divisor, unit = scale_of_bytes(value)
    return f"{value / divisor:.0f} {unit}" if unit == "B" else f"{value / divisor:.1f} {unit}"


def duration(value: float | None) -> str:
    """`0.42 s`, `40 s`, `12 min`, `3.4 h`."""
    if value is None:
        return "?"
    if value < 90:
        return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:.1f} h"
