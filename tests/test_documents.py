"""README and the pages say what docs/results.json, docs/frontier.json and the tuned values have."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from kenyon.lab.report import markdown, open_report

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results.json"


def test_the_main_table_is_that_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import readme_table

    readme = (ROOT / "README.md").read_text()
    assert readme_table.written(readme, open_report(RESULTS)) == readme
    sys.modules.pop("readme_table")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name not in ("changelog.md", "results.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_first_sentence_says_whom_a_page_is_for(page: Path) -> None:
    first = page.read_text(encoding="utf-8").split("\n\n")[1]
    assert re.match(r"(This (page|guide|tutorial)|Kenyon) is for ", first), first[:80]


def test_every_test_that_is_named_exists() -> None:
    for page in (*PAGES, ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"):
        for named in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text(encoding="utf-8")):
            assert (ROOT / named).exists(), f"{page.name} names {named}"


def test_the_text_is_that_of_the_data() -> None:
    assert (ROOT / "docs" / "results.md").read_text() == markdown(open_report(RESULTS))


def test_the_comparison_is_that_of_the_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import frontier_figure

    rows = frontier_figure.read()
    wanted = f"{frontier_figure.MARKS[0]}\n\n{frontier_figure.table(rows)}\n\n{frontier_figure.MARKS[1]}"
    for page in frontier_figure.PAGES:
        assert wanted in page.read_text(encoding="utf-8"), page.name
    assert frontier_figure.colour_table(rows) in frontier_figure.COLOUR_PAGE.read_text(encoding="utf-8")
    assert all(row["state_bytes"] <= frontier_figure.SIZES.get(row["budget"], 10**8) for row in rows)
    sys.modules.pop("frontier_figure")


def test_the_table_of_budgets_has_the_numbers_of_the_frontier() -> None:
    rows = [row for row in json.loads((ROOT / "docs" / "frontier.json").read_text()) if row["learner"] == "Kenyon"]
    text = (ROOT / "docs" / "results" / "bytes.md").read_text(encoding="utf-8")
    for row in rows:
        end = " ± " if len(row["accuracy"]) > 1 else " |"  # a single seed has no deviation
        line = f"| {row['stream']} | {row['budget']} | {np.mean(row['accuracy']):.2f}{end}"
        assert line in text and f"| {row['state_bytes']:,} | {row['working_bytes'] / 1e6:.1f} MB |" in text, row


def test_the_chosen_values_of_the_baselines_are_the_tuned_ones() -> None:
    tuned = tomllib.loads((ROOT / "src" / "kenyon" / "learners" / "baselines" / "tuned.toml").read_text())
    page = (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")
    for scenario in ("class-incremental", "task-incremental"):
        section = page.split(f"### Split-MNIST, {scenario}\n")[1].split("\n#")[0]
        rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in section.splitlines() if line[:3] == "| `"]
        assert rows, scenario
        wanted = []
        for method, _ in rows:
            values = tuned.get(f"{method.strip('`')}/mnist/{scenario}", {}).get("values", {})
            wanted.append([method, ", ".join(f"{name} {value:g}" for name, value in values.items()) or "published"])
        assert rows == wanted, scenario


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.stem)
def test_pages_use_the_terms_of_the_field(page: Path) -> None:
    odd = r"\b(taught|told|whole numbers?|lessons?|alike|(every|no|some)body|a word where)\b"
    assert not re.search(odd, page.read_text(encoding="utf-8"), re.I)


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for path, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        target = page.parent / path if path else page
        made = re.fullmatch(r"reference/(cli|c-api|kenyon[\w.]*)\.md", path.removeprefix("../"))  # by the site
        if path.startswith("https:") or made:
            continue
        assert target.is_file() and (not anchor or anchor in _anchors(target)), (path, anchor)
