"""Tables and numbers for a person to read: tables have lines on a terminal, and plain columns elsewhere."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from kenyon.lab.evaluation import Summary
from kenyon.utils.wording import number

_WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


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
    for line in _plain_lines(columns, rows, left):
        print(line)


def print_wide_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose last column may be long: where a row is wider than the terminal, that cell stands below it.

    No cell is ever cut.
    """
    left = [i in (0, len(columns) - 1) or _are_words([row[i] for row in rows]) for i in range(len(columns))]
    head, *lines = _plain_lines(columns, rows, left)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(head)
    for line, row in zip(lines, rows, strict=True):
        if width is None or len(line) <= width or len(columns) < 2:
            print(line)
            continue
        print(line[: len(line) - len(row[-1])].rstrip())
        print(textwrap.fill(row[-1], max(width, 20), initial_indent="    ", subsequent_indent="    ", **_WHOLE_WORDS))


def _plain_lines(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    widths = [max(len(line[i]) for line in [columns, *rows]) for i in range(len(columns))]
    lines = []
    for line in [columns, *rows]:
        cells = zip(line, widths, left, strict=True)
        lines.append("  ".join(c.ljust(width) if words else c.rjust(width) for c, width, words in cells).rstrip())
    return lines


def _are_words(cells: Sequence[str]) -> bool:
    return any(cell[:1].isalpha() for cell in cells) and not any(cell[:1].isdigit() for cell in cells)


def share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def shares(summary: Summary) -> str:
    """`mean ± sd` in percent."""
    return share(summary.mean) + ("" if summary.std is None else f" ± {100 * summary.std:.2f}")


def numbers(summary: Summary) -> str:
    """`mean ± sd`."""
    return number(summary.mean) + ("" if not summary.std else f" ± {number(summary.std)}")
