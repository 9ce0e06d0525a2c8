"""The page on machines that have less, or more: no WebAssembly, a camera, a compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from teach.driving import TeachPage

pytestmark = pytest.mark.browser

DARK = (
    "return document.getElementById('Seen').getContext('2d').getImageData(0, 0, 28, 28).data"
    ".some((value, k) => k % 4 < 3 && value < 200)"
)
"""Whether something dark is in the picture that the learner sees."""


def test_without_webassembly_the_page_says_so(page: TeachPage, page_file: Path) -> None:
    gone = page.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "delete globalThis.WebAssembly"}
    )
    try:
        page.open(page_file)
        assert "no WebAssembly" in page.wait(lambda: page.text("#Broken"))
        assert not page.js("return document.getElementById('Broken').hidden")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", gone)


def test_the_camera_is_an_input(page_file: Path, tmp_path: Path) -> None:
    page = TeachPage("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
    page.downloads = tmp_path
    try:
        page.start(page_file)
        page.click("[data-input=camera]")
        page.wait(lambda: page.text("#InputSays"))
        page.wait(lambda: page.js(DARK))
        page.key("c")
        assert page.classes == {"c": 1} and page.guess == "c"
        page.click("[data-input=draw]")
        assert page.js("return document.getElementById('Seen').hidden")
    finally:
        page.driver.quit()


def test_a_camera_that_is_refused_is_said(page: TeachPage) -> None:
    page.click("[data-input=camera]")
    said = page.wait(lambda: page.text("#InputSays"))
    assert said.startswith("The camera") and "--serve" in said
    assert page.js("return document.querySelector('[data-input=draw]').ariaChecked") == "true"
