"""Write README's table of results from the data of a full reproduction.

    kenyon reproduce --results docs/results
    python benchmarks/readme_table.py

The methods of `SHOWN` on Split-MNIST: class-incremental accuracy and the bytes a method keeps. docs/results.md has
every method. A test compares README with this.
"""

from __future__ import annotations

from pathlib import Path

from kenyon.lab.report import ReportData, open_report
from kenyon.lab.tables import Result

ROOT = Path(__file__).resolve().parent.parent
TABLE = "table-8"
COLUMN = "Class-incremental, Split-MNIST"
SHOWN = {
    "memory": ("Kenyon, 20 KB", "Kenyon, 160 KB", "Kenyon, 1 MB"),
    TABLE: ("Kenyon", "iid-offline", "RanDumb", "DER++", "FlyModel", "SLDA", "ER", "NCM", "Online EWC"),
}
"""Rows by the id of their table."""
NAMES = {"Kenyon": "Kenyon, local rule GEN", "iid-offline": "MLP, shuffled data, five passes"}
MARKS = ("<!-- main table: written by benchmarks/readme_table.py -->", "<!-- end of main table -->")


def table(report: ReportData) -> str:
    """One line per method, the most accurate first."""
    found: list[tuple[str, Result]] = []
    for sheet in report.tables:
        place = sheet.columns.index(COLUMN) if sheet.id == TABLE else 0
        for row in sheet.rows:
            cell = row.cells[place]
            if row.label in SHOWN.get(sheet.id, ()) and isinstance(cell, Result):
                found.append((row.label, cell))
    found.sort(key=lambda item: -item[1].mean)
    head = "| | accuracy, % | state |"
    return "\n".join([head, "|---|---|---|", *(_line(report, *item) for item in found)])


def _line(report: ReportData, label: str, cell: Result) -> str:
    name = NAMES.get(label, label)
    accuracy = f"{cell.mean:.1f}" + (f" ± {cell.std:.1f}" if cell.std is not None else "")
    size = _size(max(report.runs[run].metrics["state_bytes"] for run in cell.runs))
    return f"| {f'**{name}**' if name.startswith('Kenyon') else name} | {accuracy} | {size} |"


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
