"""What the page's text holds, before any browser reads it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from kenyon.lab.report import ReportData, page_html, write_page
from kenyon.lab.report._html_tables import table_html
from kenyon.lab.tables import Missing, Row, Table
from report.sample import EVIL, RUN, sample

PAGE = page_html(sample())


class Tags(HTMLParser):
    """Every opening tag with its attributes, and all text but scripts' and styles'."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.raw = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.raw = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.raw = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self.raw else data


def test_nothing_comes_from_elsewhere() -> None:
    for tag, attributes in Tags(PAGE).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed"), tag
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(\s*['\"]?(https?:|//|data:)|@import|@font-face", PAGE)


def test_text_cannot_become_markup() -> None:
    tags = [tag for tag, _ in Tags(PAGE).tags]
    assert tags.count("script") == 2 and "img" not in tags
    assert not any(name.startswith("on") for _, attributes in Tags(PAGE).tags for name in attributes)
    assert EVIL in Tags(PAGE).text, "and yet it is there to read"


def test_the_policy_allows_our_script_alone() -> None:
    policy = next(a["content"] for t, a in Tags(PAGE).tags if t == "meta" and "http-equiv" in a) or ""
    assert "default-src 'none'" in policy and re.search(r"script-src 'sha256-[\w+/]{43}='(;|$)", policy)


def test_the_data_are_whole_json() -> None:
    found = re.search(r'<script type="application/json" id="Data">(.*?)</script>', PAGE, re.S)
    assert found and "<" not in found[1]
    data = json.loads(found[1])
    expected = sample().to_dict()
    assert data["figures"] == expected["figures"]
    assert [table["rows"] for table in data["tables"]] == [table["rows"] for table in expected["tables"]]


def test_every_link_leads_somewhere() -> None:
    tags = Tags(PAGE).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids)), "no anchor twice"
    for _, attributes in tags:
        if href := attributes.get("href"):
            assert href[1:] in ids
        for name in ("aria-labelledby", "aria-controls", "for"):
            assert attributes.get(name, ids[0]) in [*ids, "Detail.h"]


@pytest.mark.parametrize(
    "words",
    [
        "Reproduction & <more>",
        "Quick form.",
        "4 of 6",
        "91.57 ± 0.43",
        "paper 83.13 ± 0.90",
        "▲ +8.44",
        "▼ \N{MINUS SIGN}7.50",
        "▼ \N{MINUS SIGN}0.80",
        "= 0.00",
        "440 KB",
        "stand-in",
        "Stand-in: Lite0 for WRN-50",
        "not run",
        "One seed explains it",
        "no EMNIST files here",
        "paper 77.00 ± 0.30",
        "Accuracy of all methods, class-incremental (Table 3)",
        "kenyon run --config runs/a/config.toml",
        'dataset = "mnist"',
        "A <processor>",
        "not installed",
        "2026-01-02 03:04:05 UTC",
        "kenyon reproduce all --quick",
    ],
)
def test_the_page_says(words: str) -> None:
    assert words in " ".join(Tags(PAGE).text.split())


def test_colour_follows_the_difference() -> None:
    cells = re.findall(r'<td class="result (\w*)"(?: style="--d:([\d.]+)")?>', table_html(sample().tables[0]))
    expected = [("better", "0.844"), ("worse", "0.900"), ("better", "0.080"), ("", ""), ("worse", "0.750")]
    assert cells == [*expected, ("", ""), ("same", "0.000")]
    assert table_html(sample().tables[0]).count("<strong>") == 1


def test_numbers_lead_to_their_runs() -> None:
    assert f'href="#Run-{RUN}" data-cell="table-3/0/0"' in PAGE
    assert 'data-cell="table-1/1/2">MSE diverges</a>' in PAGE and 'data-cell="table-1/0/2"' not in PAGE


def test_headings_are_in_order() -> None:
    levels = [int(tag[1]) for tag, _ in Tags(PAGE).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_headline_comes_first() -> None:
    first = re.search(r'<main.*?<h2 id="([^"]+)\.h">([^<]+)', PAGE, re.S)
    assert first and first.groups() == ("bytes-split-mnist", "Accuracy against bytes of state")


def test_an_almost_empty_report_is_a_page() -> None:
    page = page_html(ReportData("nothing"))
    assert "<h1>nothing</h1>" in page and 'id="Tables"' not in page


def test_footnotes_go_beyond_the_alphabet() -> None:
    rows = tuple(Row(f"r{i}", (Missing(f"reason {i}"),)) for i in range(28))
    text = table_html(Table("t", "t", ("c",), rows))
    assert "<sup>z</sup> reason 25" in text and "<sup>aa</sup> reason 26" in text and "<sup>ab</sup> reason 27" in text


def test_the_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write_page(sample(), path)
    assert path.read_text(encoding="utf-8") == PAGE
    write_page(ReportData("other \ud800"), path)
    assert "other ?" in path.read_text(encoding="utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
