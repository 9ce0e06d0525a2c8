"""What a person can do on the page beside teaching, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from kenyon import KenyonClassifier
from kenyon.apps.teach import default_model, load_digits
from teach.driving import TeachPage, circle, cross

pytestmark = pytest.mark.browser

NARROW = (360, 740)
NAMED = "document.getElementById('Name').value = arguments[0]; document.querySelector('#Naming button').click()"
READ = ("h1", ".lead", ".facts dt", ".note", "#Said", "#Bars .name", "#Play", "#Step", "footer p", "td input")


@pytest.fixture
def trained(page: TeachPage) -> TeachPage:
    """The page after two classes with two examples each."""
    for radius in (0.3, 0.2):
        for shape, name in ((circle(radius=radius), "o"), (cross(y=0.4, radius=radius), "x")):
            page.stroke(shape)
            page.key(name)
    return page


def test_classes_are_renamed_forgotten_and_brought_back(trained: TeachPage) -> None:
    page = trained
    rename = (
        "const input = document.querySelector('#Classes input'); input.value = arguments[0];"
        "input.dispatchEvent(new Event('change'))"
    )
    page.js(rename, "ring")
    assert page.classes == {"ring": 2, "x": 2}
    page.js(rename, "x")
    assert "already" in page.text("#ClassSays") and page.classes == {"ring": 2, "x": 2}
    path = page.save()
    before, python = path.read_bytes(), KenyonClassifier.load(path).forget("x")
    page.click("#Classes tr:nth-child(2) button")
    assert page.classes == {"ring": 2}
    forgotten = KenyonClassifier.load(page.save()).to_arrays()
    for name, array in python.to_arrays().items():
        assert (array == forgotten[name]).all(), f"{name}: Python forgets as the page does"
    page.stroke(cross())
    assert page.guess == "ring"
    page.click("#Undo")
    assert page.save().read_bytes() == before
    page.click("#Empty")
    assert page.classes == {} and page.number("#Learned") == 0
    page.click("#Undo")
    assert page.classes == {"ring": 2, "x": 2}


def test_inside_one_sees_units_windows_and_weights(trained: TeachPage) -> None:
    page = trained
    assert "units answer" in page.text("#UnitSays")
    pixels = "const c = document.querySelector(arguments[0]); return c.toDataURL()"
    unmarked = page.js(pixels, "#Units")
    page.js("document.getElementById('Units').focus()")
    page.key("ArrowRight")
    assert page.text("#UnitSays").startswith("Unit ") and "adds 8 inputs" in page.text("#UnitSays")
    assert page.js(pixels, "#Units") != unmarked
    assert page.js(pixels, "#Before") != page.js(pixels, "#After"), "the last sample changed the weights"
    page.js("const s = document.getElementById('Class'); s.value = 'o'; s.dispatchEvent(new Event('change'))")
    assert "“o”" in page.text("#WeightSays")


def damaged_files(tmp_path: Path, good: bytes) -> dict[str, bytes]:
    digits = load_digits()
    floats = KenyonClassifier(rule="mean", n_hidden=200, random_state=0)
    floats.partial_fit(digits.images[:20], digits.labels[:20]).save(tmp_path / "floats")
    other = default_model().set_params(random_state=1)
    other.partial_fit(digits.images[:20], digits.labels[:20]).save(tmp_path / "other")
    middle = len(good) // 2
    return {
        "empty": b"",
        "text": b"Dear page, this is a letter.",
        "zeros": bytes(1000),
        "half": good[:middle],
        "one bit": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "long": (2**62).to_bytes(8, "little") + good[8:],
        "foreign": save({"weights": np.zeros(3, np.float32)}),
        "version": good.replace(b'"kenyon.format":"1"', b'"kenyon.format":"9"'),
        "floats": (tmp_path / "floats").read_bytes(),
        "another model": (tmp_path / "other").read_bytes(),
    }


def test_a_damaged_or_foreign_file_gets_a_sentence_and_nothing_is_lost(trained: TeachPage, tmp_path: Path) -> None:
    page = trained
    good = page.save().read_bytes()
    said = {name: page.drop(f"{name}.safetensors", content) for name, content in damaged_files(tmp_path, good).items()}
    for name, text in said.items():
        assert text.endswith((".", "FILE")) and "loaded" not in text and "undefined" not in text, (name, text)
    assert "kenyon teach" in said["another model"] and "integers" in said["floats"]
    assert "not one that Kenyon wrote" in said["foreign"]
    assert page.save().read_bytes() == good
    assert page.classes == {"o": 2, "x": 2} and page.complaints() == []


def test_no_request_leaves_the_page(trained: TeachPage) -> None:
    page = trained
    assert page.js("return performance.getEntriesByType('resource').length") == 0
    tries = {
        "fetch": "fetch('https://example.org/').then(() => done('sent'), () => done('refused'))",
        "image": "const i = new Image(); i.onload = () => done('sent'); i.onerror = () => done('refused');"
        "i.src = 'https://example.org/x.png'",
        "beacon": "let r; try { r = new WebSocket('wss://example.org/') } catch { return done('refused') }"
        "r.onopen = () => done('sent'); r.onerror = () => done('refused')",
    }
    for name, code in tries.items():
        seen = page.driver.execute_async_script(f"const done = arguments[arguments.length - 1]; {code}")
        assert seen == "refused", name
    refused = page.complaints()
    assert len(refused) >= len(tries) and all("Content Security Policy" in text for text in refused[: len(tries)])


def test_it_fits_a_narrow_screen(page: TeachPage, page_file: Path) -> None:
    page.start(page_file, NARROW)
    page.stroke(circle())
    page.key("o")
    assert page.js("return document.documentElement.scrollWidth") <= NARROW[0]
    small = page.js(
        "return [...document.querySelectorAll('button, select, input:not([type=file])')].filter((e) => e.offsetParent)"
        ".filter((e) => { const r = e.getBoundingClientRect(); return r.height < 20 || r.right > innerWidth })"
        ".map((e) => e.id || e.textContent)"
    )
    assert small == []


def test_everything_is_reached_and_done_by_keyboard(page: TeachPage) -> None:
    page.js("document.body.tabIndex = -1; document.body.focus()")
    reached = []
    for _ in range(30):
        page.key("Tab")
        reached.append(page.js("return document.activeElement.id"))
    for wanted in ("Pad", "Clear", "Name", "Play", "Step", "Speed", "Units", "SaveModel", "SaveC", "File"):
        assert wanted in reached, wanted
    page.js("document.getElementById('Pad').focus()")
    for shape, name in (("ArrowRight", "h"), ("ArrowDown", "v")):
        page.key(" ")
        for _ in range(8):
            page.key(shape)
        page.key(" ")
        page.key(name)
    assert page.classes == {"h": 1, "v": 1}
    page.key("Escape")
    page.key(" ")
    for _ in range(8):
        page.key("ArrowDown")
    page.key(" ")
    assert page.guess == "v"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(page: TeachPage, page_file: Path, scheme: str) -> None:
    page.start(page_file, scheme=scheme)
    page.stroke(circle())
    page.key("o")
    for selector in READ:
        ink, ground = _rgb(page.colour(selector, "color")), _rgb(_ground(page, selector))
        assert _contrast(ink, ground) >= 4.5, (selector, ink, ground)
    assert (_luminance(_rgb(page.colour("body"))) > 0.5) == (scheme == "light")


def _ground(page: TeachPage, selector: str) -> str:
    code = (
        "let e = document.querySelector(arguments[0]), c;"
        "do { c = getComputedStyle(e).backgroundColor; e = e.parentElement }"
        "while (/, 0\\)$|transparent/.test(c) && e);"
        "return c"
    )
    return page.js(code, selector)


def _rgb(colour: str) -> list[float]:
    return [float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3]]


def _luminance(rgb: list[float]) -> float:
    parts = [c / 255 for c in rgb]
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _contrast(a: list[float], b: list[float]) -> float:
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_a_full_model_says_so_and_stays_as_it_is(page: TeachPage) -> None:
    page.stroke(circle())
    for k in range(36):
        page.js(NAMED, f"n{k}")
    full = page.save().read_bytes()
    page.key("x")
    assert "All 36 places" in page.text("#Said")
    for button in ("#Step", "#Play"):
        page.click(button)
        page.wait(lambda: "All 36 places" in page.text("#Progress"))
    assert page.save().read_bytes() == full and page.complaints() == []


def test_names_count_and_the_budget_holds(page: TeachPage) -> None:
    page.stroke(circle())
    for k in range(36):
        page.js(NAMED, f"{k} is a name of as many letters as one has".ljust(40)[:40])
    assert "budget of 20,000 bytes" in page.text("#Said")
    assert 19_000 < page.number("#Bytes") <= 20_000
    KenyonClassifier.load(page.save())


def test_motion_is_an_input(page: TeachPage) -> None:
    page.click("[data-input=motion]")
    move: Callable[[str], None] = lambda code: page.js(  # noqa: E731
        "for (let k = 0; k < 40; k++) { const t = k / 4; dispatchEvent(new DeviceMotionEvent('devicemotion',"
        f"{{accelerationIncludingGravity: {code}}})) }}"
    )
    gestures = {"s": "{x: 15 * Math.sin(t), y: 0, z: 9.8}", "u": "{x: 0, y: 12 * Math.cos(2 * t), z: -9.8}"}
    for name, code in gestures.items():
        move(code)
        page.key(name)
    assert page.classes == {"s": 1, "u": 1}
    move(gestures["u"])
    assert page.guess == "u"
