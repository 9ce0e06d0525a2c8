"""What the build of the site refuses."""

from __future__ import annotations

import pytest

pytest.importorskip("mkdocs", reason="needs the extra 'docs'")

from mkdocs_hooks import fetched, on_page_markdown


@pytest.mark.parametrize(
    "text, addresses",
    [
        ('<script src="https://cdn.example/a.js"></script>', ["https://cdn.example/a.js"]),
        ("<img alt='x' src='//pictures.example/b.png'>", ["//pictures.example/b.png"]),
        ('<link rel="stylesheet" href="https://fonts.example/c.css">', ["https://fonts.example/c.css"]),
        ("body { background: url(https://pictures.example/d.png) }", ["https://pictures.example/d.png"]),
        ('@import "https://fonts.example/e.css";', ["https://fonts.example/e.css"]),
        ('<a href="https://example.org">to click on</a>', []),
        ('<link rel="canonical" href="https://example.org">', []),
        ('<img src="figures/f.svg"><script src="assets/g.js"></script>', []),
        ('<svg xmlns="http://www.w3.org/2000/svg"></svg>', []),
    ],
)
def test_what_a_page_would_fetch_from_elsewhere(text: str, addresses: list[str]) -> None:
    assert fetched(text) == addresses


def test_reasons_are_for_readers_of_the_source() -> None:
    page = "```sh no-run: it installs\npip install kenyon\n```\n"
    assert on_page_markdown(page) == "```sh\npip install kenyon\n```\n"


def test_a_number_in_a_table_stays_on_one_line() -> None:
    shown = on_page_markdown("| a | 96.5 ± 0.2 | 20 KB |\n96.5 ± 0.2")
    assert shown == "| a | 96.5\xa0±\xa00.2 | 20\xa0KB |\n96.5 ± 0.2"
