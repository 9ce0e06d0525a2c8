"""Tables and numbers for a person to read: tables have lines on a terminal, and plain columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kenyon.evaluation import Summary


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table to stdout: the first column and text are aligned left, numbers right."""
    left = [i == 0 or _are_words([row[i] for row in rows]) for i in range(len(columns))]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left")
        for column, words in zip(columns, left, strict=True):
            table.add_column(column, justify="left" if words else "right")
        for row in rows:
            table.add_row(*row)
        Console().print(table)
        return
    if title:
        print(title)
    widths = [max(len(line[i]) for line in [columns, *rows]) for i in range(len(columns))]
    for line in [columns, *rows]:
        cells = zip(line, widths, left, strict=True)
        print("  ".join(cell.ljust(width) if words else cell.rjust(width) for cell, width, words in cells).rstrip())


def _are_words(cells: Sequence[str]) -> bool:
    return any(cell[:1].isalpha() for cell in cells) and not any(cell[:1].isdigit() for cell in cells)


def share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def shares(summary: Summary) -> str:
    """`mean ± sd` in percent."""
    return share(summary.mean) + ("" if summary.std is None else f" ± {100 * summary.std:.2f}")


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def numbers(summary: Summary) -> str:
    """`mean ± sd`."""
    return number(summary.mean) + ("" if not summary.std else f" ± {number(summary.std)}")


def size(value: float | None) -> str:
    """A number of bytes in a suitable unit (powers of 1024)."""
    if value is None:
        return "-"
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
