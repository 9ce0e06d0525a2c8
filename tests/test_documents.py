"""README and docs/results.md say what docs/results.json has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kenyon.report import markdown, open_report

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results.json"


def test_the_main_table_is_that_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import readme_table

    readme = (ROOT / "README.md").read_text()
    assert readme_table.written(readme, open_report(RESULTS)) == readme
    sys.modules.pop("readme_table")


def test_the_text_is_that_of_the_data() -> None:
    assert (ROOT / "docs" / "results.md").read_text() == markdown(open_report(RESULTS))
