"""Numbers for a person to read."""

from __future__ import annotations


def number(value: float | None) -> str:
    """A number with three digits, or all those before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size(value: float | None) -> str:
    """A number of bytes in a suitable unit (powers of 1024)."""
    if value is None:
        return "-"
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def duration(value: float | None) -> str:
    """`0.42 s`, `40 s`, `12 min`, `3.4 h`."""
    if value is None:
        return "?"
    if value < 90:
        return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:.1f} h"
