"""Tables on the screen: with lines on a terminal, and plain columns elsewhere."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from kenyon.errors import ConfigError
from kenyon.lab.table_formats import screen_rows, write_table
from kenyon.lab.tables import Table

_WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def print_table(table: Table, wide: bool = False) -> None:
    """Print a table to stdout: the first column and text are aligned left, numbers right.

    Args:
        table: the table, its note below it.
        wide: whether its last column may be long: where a row is wider than the terminal, that cell stands below it.
    """
    columns, rows = screen_rows(table)
    last = len(columns) - 1
    left = [i == 0 or (wide and i == last) or _are_words([row[i] for row in rows]) for i in range(len(columns))]
    if table.title and (wide or not sys.stdout.isatty()):
        print(table.title)
    if wide:
        _print_wide(columns, rows, left)
    elif sys.stdout.isatty():
        _print_rich(columns, rows, left, table.title)
    else:
        print("\n".join(_plain_lines(columns, rows, left)))
    if table.note:
        print(f"\n{table.note}")


def print_as(table: Table, *, csv: bool, latex: bool, markdown: bool) -> None:
    """Print a table in the one form that was asked for, or for a person."""
    wanted = [form for form, given in (("csv", csv), ("latex", latex), ("markdown", markdown)) if given]
    if len(wanted) > 1:
        raise ConfigError(f"--{wanted[0]} and --{wanted[1]} are given: expected one of them")
    if wanted:
        print(write_table(table, wanted[0]), end="")
    else:
        print_table(table, wide=True)


def print_text_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print a table of text."""
    print_table(Table.of_text(columns, rows, title))


def _print_rich(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool], title: str) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    table = RichTable(title=title or None, title_justify="left")
    for column, words in zip(columns, left, strict=True):
        table.add_column(column, justify="left" if words else "right")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _print_wide(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool]) -> None:
    """No cell is ever cut."""
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
