"""The page, written once, and a browser for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kenyon.apps.teach import write_page
from teach.driving import TeachPage


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `kenyon teach` writes it."""
    path = tmp_path_factory.mktemp("page") / "teach.html"
    write_page(path)
    return path


@pytest.fixture(scope="session")
def _one_browser() -> Iterator[TeachPage]:
    page = TeachPage()
    yield page
    page.driver.quit()


@pytest.fixture
def page(_one_browser: TeachPage, page_file: Path, tmp_path: Path) -> TeachPage:
    """The page, just opened; what it saves goes to a folder of the test."""
    _one_browser.downloads = tmp_path
    _one_browser.start(page_file)
    return _one_browser
