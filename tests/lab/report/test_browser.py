"""The page in a real browser: opened from its file, read, pointed at, zoomed, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kenyon.lab.figures import Bars, Lines, Series
from kenyon.lab.report import ReportData, report_of_runs, write_page
from kenyon.lab.table_formats import number
from kenyon.lab.tables import Result
from report.browser import DESK, PHONE, Browser
from report.sample import EVIL, sample

pytestmark = pytest.mark.browser

POOR_CONTRAST = """
const paint = (...colours) => {
  const context = document.createElement("canvas").getContext("2d");
  for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
  const shares = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255);
  const [r, g, b] = shares.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const page = getComputedStyle(document.body).backgroundColor;
const texts = document.querySelectorAll("main p, td .num, td .paper, td .diff, td .sd, th, nav a, .legend button");
return [...texts].map((e) => {
  const back = getComputedStyle(e.closest("td") ?? e).backgroundColor;
  const [a, b] = [paint(page, back), paint(page, back, getComputedStyle(e).color)];
  return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.className, e.textContent.slice(0, 40)];
}).filter(([ratio]) => ratio < 4.5)
"""
"""Script that lists the texts with less than 4.5 to 1 against what is behind them (WCAG AA)."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.driver.quit()


@pytest.fixture(scope="module")
def sample_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "sample.html"
    write_page(sample(), path)
    return path


@pytest.fixture(scope="module")
def report(store: Path) -> ReportData:
    return report_of_runs(store)


@pytest.fixture(scope="module")
def store_page(report: ReportData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "store.html"
    write_page(report, path)
    return path


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("page", ["sample_page", "store_page"])
def test_it_opens_without_complaint_and_fits(
    browser: Browser, page: str, size: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    browser.open(request.getfixturevalue(page), size)
    assert browser.complaints() == []
    assert browser.js("return document.documentElement.scrollWidth") <= size[0]
    assert browser.js("return document.body.scrollWidth") <= size[0]


def test_markup_in_names_does_nothing(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.js("document.querySelectorAll('[data-cell]')[4].click()")
    assert EVIL in browser.texts("#Detail")[0]
    assert browser.js("return window.evil") is None and browser.count("main img, dialog img") == 0


def test_tables_hold_the_stores_numbers(browser: Browser, store_page: Path, report: ReportData) -> None:
    browser.open(store_page)
    for table in report.tables:
        rows = browser.js(
            "return [...document.querySelectorAll(arguments[0])].map((r) => [...r.cells].map((c) => c.textContent))",
            f"#{table.id} tbody tr:not(.group)",
        )
        assert [row[0] for row in rows] == [row.label for row in table.rows]
        for shown, row in zip(rows, table.rows, strict=True):
            for text, cell in zip(shown[1:], row.cells, strict=True):
                assert text.startswith(number(cell.mean, cell.unit) if isinstance(cell, Result) else "not run")


def test_every_plot_is_drawn(browser: Browser, store_page: Path, report: ReportData) -> None:
    browser.open(store_page)
    for figure in report.figures:
        kind = {"scatter": ".point", "lines": ".line", "heatmap": ".cell"}[figure.tag[1]]
        marks = browser.count(f'[data-figure="{figure.id}"] svg.surface {kind}')
        expected = {
            "scatter": lambda f: len(f.points),
            "lines": lambda f: len(f.series),
            "heatmap": lambda f: len(f.rows) * len(f.columns),
        }[figure.tag[1]](figure)
        assert marks == expected, figure.id
    paths = browser.js("return [...document.querySelectorAll('path.line')].map((p) => p.getAttribute('d'))")
    assert paths and not any("NaN" in path or "undefined" in path for path in paths)


def test_pointing_reads_the_lines(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.mouse("mouseMoved", browser.at("#stream .surface", 0.55))
    (text,) = browser.texts("#stream .readout:not([hidden])")
    assert text.startswith("samples ") and "rising" in text and "with a gap" in text
    x = int(text.removeprefix("samples ").split("with")[0])
    assert f"{50 + (x - 1) / 4:.2f}" in text and f"{90 - (x - 1) / 10:.2f}" in text
    assert browser.count("#stream .pointer .dot") == 2
    browser.mouse("mouseMoved", (2, 2))
    assert browser.count("#stream .readout:not([hidden])") == 0


def view(browser: Browser, figure: str) -> list[str]:
    return browser.texts(f"#{figure} .frame text:not(.label)")


def test_lines_zoom_by_drag_wheel_and_keys(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    whole = view(browser, "stream")
    start, end = browser.at("#stream .surface", 0.4), browser.at("#stream .surface", 0.6)
    browser.mouse("mousePressed", start, button="left", clickCount=1)
    browser.mouse("mouseMoved", ((start[0] + end[0]) / 2, start[1]), button="left")
    assert browser.count("#stream .selection") == 1
    browser.mouse("mouseMoved", end, button="left")
    browser.mouse("mouseReleased", end, button="left", clickCount=1)
    dragged = view(browser, "stream")
    assert dragged != whole and "10" not in dragged and "50" in dragged and browser.count("#stream .zoomed") == 1
    for n in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            browser.mouse(kind, start, button="left", clickCount=n)
    assert view(browser, "stream") == whole, "a double click shows all"
    browser.mouse("mouseWheel", start, deltaX=0, deltaY=-400)
    wheeled = view(browser, "stream")
    assert wheeled != whole
    browser.key("0")
    assert view(browser, "stream") == whole
    browser.key("+")
    assert view(browser, "stream") != whole
    browser.click("#stream .tools button:last-child")
    assert view(browser, "stream") == whole


def test_a_wheel_over_an_untouched_plot_scrolls_the_page(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    whole, before = view(browser, "stream"), browser.at("#stream .surface")
    browser.mouse("mouseWheel", before, deltaX=0, deltaY=-300)
    assert view(browser, "stream") == whole


def test_pinching_zooms(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page, PHONE)
    whole = view(browser, "stream")
    x, y = browser.at("#stream .surface")
    for kind, spread in (("touchStart", 20), ("touchMove", 40), ("touchMove", 90), ("touchEnd", 0)):
        points = [{"x": x - spread, "y": y, "id": 0}, {"x": x + spread, "y": y, "id": 1}] if spread else []
        browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert view(browser, "stream") != whole


def test_the_legend_hides_series(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.click("#stream .legend button")
    assert browser.count("#stream svg.surface .line") == 1
    assert browser.js("return document.querySelector('#stream .legend button').getAttribute('aria-pressed')") == "false"
    browser.click("#stream .legend button")
    assert browser.count("#stream svg.surface .line") == 2


def test_the_frontier_joins_what_nothing_beats(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    best = "[...document.querySelectorAll('#bytes-split-mnist .point.best')].map((p) => p.getAttribute('aria-label'))"
    names = browser.js(f"return {best}")
    assert [name.split(":")[0] for name in names] == ["Kenyon GEN", "NCM"]
    assert browser.count("#bytes-split-mnist .frontier") == 1
    assert {"10 KB", "1 MB"} <= set(view(browser, "bytes-split-mnist"))
    browser.click("#bytes-split-mnist .legend button")
    assert [name.split(":")[0] for name in browser.js(f"return {best}")] == [
        "NCM",
        f"ER {EVIL}",
    ]


def test_pointing_at_and_clicking_a_point(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    point = "#bytes-split-mnist .point.best[role=button]"
    browser.mouse("mouseMoved", browser.at(point))
    (text,) = browser.texts("#bytes-split-mnist .readout:not([hidden])")
    for words in ("Kenyon GEN", "91.57", "0.43", "440 KB", "five seeds"):
        assert words in text
    browser.click(point)
    assert browser.js("return document.getElementById('Detail').open")
    assert 'dataset = "mnist"' in browser.texts("#Detail")[0]


def test_tabs_show_one_figure_each(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    assert (
        browser.js("return document.getElementById('bytes-split-cifar-10').checkVisibility({visibilityProperty: true})")
        is False
    )
    browser.click("[id='bytes-split-cifar-10.tab']")
    assert browser.js(
        "return document.getElementById('bytes-split-cifar-10').checkVisibility({visibilityProperty: true})"
    )
    browser.key("ArrowLeft")
    assert browser.js("return document.activeElement.id") == "bytes-split-mnist.tab"


def test_a_heat_map_is_read_by_pointing(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    assert browser.texts("#matrix-0 .surface text")[-3:] == ["2", "90.0", "95.5"]
    browser.mouse("mouseMoved", browser.at("#matrix-0 .cell"))
    assert "99.00" in browser.texts("#matrix-0 .readout:not([hidden])")[0]
    assert browser.colour("#transfer .negative", "fill") != browser.colour(
        "#transfer .positive:not([style*='--p:0'])", "fill"
    )


def test_one_table_is_open_at_a_time(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    shown = "return [...document.querySelectorAll('.table')].filter((t) => t.querySelector('[open]')).map((t) => t.id)"
    every = browser.js("return [...document.querySelectorAll('.table')].map((t) => t.id)")
    assert browser.js(shown) == every[:1]
    browser.click(f'nav a[href="#{every[-1]}"]')
    assert browser.js(f"return new Promise((r) => setTimeout(() => r((() => {{ {shown} }})()), 50))") == every[-1:]


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_many_lines_and_long_names_fit(browser: Browser, tmp_path: Path, size: tuple[int, int]) -> None:
    """Twelve of many lines are drawn, the others when asked for; bars begin at one place and names are whole."""
    lines = Lines(
        "many", "Many", "samples", "accuracy, %", tuple(Series(f"s{k}", (0.0, 1.0), (1.0, k)) for k in range(30))
    )
    names = ("a learner with a name that is longer than a phone is wide", "short")
    bars = Bars("bars", "Bars", "forgetting, %", names, (3.0, 1.5), unit="%")
    write_page(ReportData("Many", figures=(lines, bars)), tmp_path / "page.html")
    browser.open(tmp_path / "page.html", size)
    assert browser.count("#many path.line") == 12
    assert "12 of 30 lines are drawn" in browser.texts("#many .legend .note")[0]
    browser.click("#many .legend button:nth-of-type(30)")
    assert browser.count("#many path.line") == 13
    places = "return [...document.querySelectorAll('#bars rect')].map((r) => r.getBoundingClientRect().left)"
    assert len(set(browser.js(places))) == 1
    out = "return [...document.querySelectorAll('#bars text')].some((t) => t.getBoundingClientRect().left < 0)"
    assert not browser.js(out)
    assert browser.js("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (
            "table-3/0/0",
            ["Kenyon GEN", "91.57", "paper 83.13", "+8.44", "kenyon run --dataset mnist --seeds 5", "seeds = [0]"],
        ),
        ("table-3/0/1", ["Stand-in: Lite0 for WRN-50"]),
        ("table-3/1/1", ["Not run here: no EMNIST files here.", "kenyon run --dataset emnist"]),
        ("table-1/1/2", ["CIFAR-10, rule", "MSE diverges", "kenyon run --rule mse --clamp off"]),
    ],
)
def test_numbers_open_their_runs(browser: Browser, sample_page: Path, cell: str, words: list[str]) -> None:
    browser.open(sample_page)
    browser.js("document.querySelector(arguments[0]).open = true", f"#{cell.partition('/')[0]} > details")
    browser.click(f'[data-cell="{cell}"]')
    assert browser.js("return document.getElementById('Detail').open")
    text = browser.texts("#Detail")[0]
    for word in words:
        assert word in text
    browser.key("Escape")
    browser.js("document.getElementById('Detail').open && document.getElementById('Detail').close()")


def test_dark_and_light_follow_the_system_and_the_button(browser: Browser, sample_page: Path) -> None:
    light = browser.open(sample_page, scheme="light").colour("body")
    cell, line = browser.colour("td.better"), browser.colour("#stream .line", "stroke")
    dark = browser.open(sample_page, scheme="dark").colour("body")
    assert dark != light
    assert browser.colour("td.better") != cell and browser.colour("#stream .line", "stroke") != line
    browser.click("#Theme")
    assert browser.colour("body") == light
    browser.media("dark", "print")
    assert browser.colour("body", "color-scheme") == "light", "paper is white"
    assert browser.js("return getComputedStyle(document.querySelector('.behind')).visibility") == "visible"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_colour(browser: Browser, sample_page: Path, scheme: str) -> None:
    browser.open(sample_page, scheme=scheme)
    assert browser.js(POOR_CONTRAST) == []


def test_runs_can_be_filtered_and_linked_to(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.js(
        "const f = document.getElementById('Filter'); f.value = 'ER incremental'; f.dispatchEvent(new Event('input'))"
    )
    assert browser.texts("details.run:not([hidden]) summary code") == ["mnist-class-incremental-er-s0-ba9876543210"]
    browser.js("location.hash = document.querySelector('details.run').id")
    assert browser.js("return new Promise((r) => setTimeout(() => r(document.querySelector('details.run').open), 50))")


def test_keys_reach_everything(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    reachable = "a[href], button, input, summary, [tabindex='0']"
    assert browser.count(f"main :is({reachable})") > 30
    assert browser.js(
        "return [...document.querySelectorAll('.scroll, svg.surface:not(.heat)')].every((e) => e.tabIndex === 0)"
    )
    assert browser.js(
        "return [...document.querySelectorAll('button')].every((b) => b.textContent.trim() || b.ariaLabel)"
    )


def test_commands_can_be_copied(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.click("#Made .copy")
    code = "return new Promise((r) => setTimeout(() => r(document.querySelector('#Made .copy').textContent), 200))"
    assert browser.js(code) == "Copied"
