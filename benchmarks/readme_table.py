"""Write README's main table from the data of a full reproduction.

    kenyon reproduce --results docs/results
    python benchmarks/readme_table.py

Every method on Split-MNIST: class- and task-incremental accuracy with the paper's beside it, and the bytes it keeps.
The test of the documents holds README to it.
"""

from __future__ import annotations

from pathlib import Path

from kenyon.lab.report import Empty, Missing, ReportData, Result, Row, open_report

ROOT = Path(__file__).resolve().parent.parent
TABLE = "table-8"
COLUMNS = ("Class-incremental, Split-MNIST", "Task-incremental, Split-MNIST")
SIZES = (
    "Kenyon, 500 units",
    "Kenyon, 2,000 units",
    "Kenyon, 40,000 units",
    "Kenyon, 20 KB",
    "Kenyon, 160 KB",
    "Kenyon, 1 MB",
)
"""Rows of the table of what is kept, class-incremental alone."""
MARKS = ("<!-- main table: written by benchmarks/readme_table.py -->", "<!-- end of main table -->")


def table(report: ReportData) -> str:
    """The methods that were run, best class-incremental accuracy first; the paper's own configurations are left out."""
    sheet = next(table for table in report.tables if table.id == TABLE)
    places = [sheet.columns.index(column) for column in COLUMNS]
    rows = [(row, [row.cells[place] for place in places]) for row in sheet.rows if not row.label.startswith("Ours")]
    kept = next(table for table in report.tables if table.id == "memory")
    rows += [(row, [row.cells[0], Empty()]) for row in kept.rows if row.label in SIZES]
    rows = [(row, cells) for row, cells in rows if any(isinstance(cell, Result) for cell in cells)]
    rows.sort(key=lambda item: -(item[1][0].mean if isinstance(item[1][0], Result) else 0.0))
    head = "| | class-incremental, % | paper | task-incremental, % | paper | state |"
    return "\n".join([head, "|---|---|---|---|---|---|", *(_line(report, *item) for item in rows)])


def _line(report: ReportData, row: Row, cells: list) -> str:
    words = [f"**{row.label}**" if row.label.startswith("Kenyon") else row.label]
    for cell in cells:
        ours = "-"
        if isinstance(cell, Result):
            ours = f"{cell.mean:.2f}" + (f" ± {cell.std:.2f}" if cell.std is not None else "")
        paper = cell.paper if isinstance(cell, Result | Missing) else None
        words += [ours, f"{paper.mean:.2f}" if paper else "-"]
    sizes = [report.runs[name].metrics["state_bytes"] for c in cells if isinstance(c, Result) for name in c.runs]
    return f"| {' | '.join([*words, _size(max(sizes))])} |"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} KB"


def written(readme: str, report: ReportData) -> str:
    """README with its main table made anew."""
    before, rest = readme.split(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{table(report)}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main() -> None:
    path = ROOT / "README.md"
    path.write_text(written(path.read_text(), open_report(ROOT / "docs" / "results.json")))


if __name__ == "__main__":
    main()
