"""Numbers as a person reads them, and how far ours are from the paper's."""

from __future__ import annotations

from kenyon.lab.tables import PaperValue, Result, Table, Value
from kenyon.utils.wording import duration, scale_of_bytes

MINUS = "\N{MINUS SIGN}"
FULL_COLOUR = {"%": 10.0}
"""The difference, by unit, at which the colour is full; for other units it is the size of the paper's number."""


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """The divisor and the unit (powers of 1000) in which a number of bytes reads best; other units stay as they are."""
    return scale_of_bytes(value) if unit == "B" else (1.0, unit)


def unit_of_column(table: Table, column: int) -> str | None:
    """The unit that all numbers of a column share, so that the heading can show it; None where they differ."""
    units = {c.unit for row in table.rows if isinstance(c := row.cells[column], (Result, PaperValue))}
    return units.pop() if len(units) == 1 and not units & {"B", "s"} else None


def _decimals(value: float, unit: str) -> int:
    if unit == "%":
        return 2
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3


def number(value: float, unit: str = "", like: float | None = None) -> str:
    """A number without its unit, with as many decimals as `like` has where that is given."""
    reference = value if like is None else like
    divisor, word = scale_of(reference, unit)
    shown = value / divisor
    if unit != "%" and like is None and shown == int(shown) and abs(shown) < 1e15:
        return f"{int(shown):,}".replace("-", MINUS)
    if like is None and shown and abs(shown) < 0.001 and unit != "%":
        text = f"{shown:.2g}"
    else:
        text = f"{shown:,.{_decimals(reference / divisor, word)}f}"
    return text.replace("-", MINUS)


def deviation(value: Result | PaperValue | Value, unit: str) -> str:
    """`" ± 0.30"`, or nothing."""
    return "" if value.std is None else f" ± {number(value.std, unit, like=value.mean)}"


def with_unit(value: Result | PaperValue | Value, unit: str) -> str:
    """`"94.21 ± 0.30 %"`; seconds as a duration."""
    if unit == "s":
        return duration(value.mean)
    word = scale_of(value.mean, unit)[1]
    return number(value.mean, unit) + deviation(value, unit) + (f" {word}" if word else "")


def signed(difference: float, unit: str, like: float) -> str:
    """`"+2.11"`, in the unit and with the decimals of `like`."""
    text = number(difference, unit, like=like)
    return text if text.startswith(MINUS) or not difference else f"+{text}"


def judged(cell: Result) -> tuple[str, float]:
    """How a result compares with the paper's: `"better"`, `"worse"` or `"same"`, and how strongly, from 0 to 1.

    `""` where there is nothing to compare with.
    """
    difference = cell.difference
    if difference is None or cell.better is None or cell.paper is None:
        return "", 0.0
    gain = difference if cell.better == "higher" else -difference
    full = FULL_COLOUR.get(cell.unit) or max(abs(cell.paper.mean), 1e-12)
    return "same" if gain == 0 else "better" if gain > 0 else "worse", min(1.0, abs(gain) / full)
