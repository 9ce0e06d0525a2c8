"""The page hears: words of a recording are learned through a microphone that plays it, and then recognised."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from kenyon import KenyonClassifier
from kenyon.apps.teach import default_model, page_html, write_page
from kenyon.data.streams._fsdd import read_wav
from kenyon.utils.system import find_data_dir
from teach.driving import TeachPage

QUIET = np.zeros(4800, np.int16)
TAUGHT, ASKED = range(5, 8), 9
"""Takes that are learned, and one that is recognised."""


@pytest.mark.parametrize("sense", ["sound", "motion"])
def test_a_page_of_a_sense_has_its_learner_and_no_digits(sense: str) -> None:
    html = page_html(sense=sense)
    assert '"digits":null' in html and f'"kind":"{sense}"' in html and len(html) < 600_000
    assert default_model(sense).front is not None


def recording(folder: Path) -> tuple[Path, list[str]]:
    """Ten digits of one speaker, three takes each, then one more of each; and what is said."""
    words = [(digit, take) for take in TAUGHT for digit in range(10)] + [(digit, ASKED) for digit in range(10)]
    place = find_data_dir() / "fsdd" / "recordings"
    parts = [QUIET]
    for digit, take in words:
        parts += [read_wav(place / f"{digit}_jackson_{take}.wav", 8000), QUIET]
    path = folder / "words.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(np.concatenate(parts).astype("<i2").tobytes())
    return path, [str(digit) for digit, _ in words]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.real_data
def test_ten_words_are_learned_and_then_recognised(tmp_path: Path) -> None:
    """Names are given in the page at the moment at which a word was heard, whatever the load of this machine."""
    path, said = recording(tmp_path)
    write_page(tmp_path / "teach.html", sense="sound")
    flags = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    page = TeachPage(*flags, f"--use-file-for-fake-audio-capture={path}%noloop")
    page.downloads = tmp_path
    try:
        page.start(tmp_path / "teach.html", ready="kenyon-ready")
        page.js(
            """
            window.said = arguments[0]; window.found = [];
            addEventListener("kenyon-heard", ({ detail }) => {
              const k = found.push(detail) - 1;
              if (k >= said.length - 10) return;
              document.getElementById("Name").value = said[k];
              document.querySelector("#Naming button").click();
            });""",
            said,
        )
        page.click("#Listen")
        page.wait(lambda: page.js("return found.length") >= len(said))
        assert page.classes == {str(digit): len(TAUGHT) for digit in range(10)}
        hits = sum(one == other for one, other in zip(page.js("return found")[-10:], said[-10:], strict=True))
        assert hits >= 8, "of ten words after three examples of each"
        drawn = "const c = document.getElementById('Pad'); return new Set(c.getContext('2d')"
        assert page.js(drawn + ".getImageData(0, 0, c.width, c.height).data).size") > 20, "the spectrogram is drawn"
        model = KenyonClassifier.load(page.save())
        assert model.front == default_model("sound").front and len(model.classes_) == 10
        assert page.save("#SaveC", "kenyon-c.zip").stat().st_size > 10_000
    finally:
        page.driver.quit()


@pytest.mark.browser
def test_motions_are_learned_and_then_recognised(tmp_path: Path) -> None:
    """Readings come as the events that a phone gives."""
    write_page(tmp_path / "teach.html", sense="motion")
    page = TeachPage()
    page.downloads = tmp_path
    move = """
        const [name, strength, period, n] = arguments;
        document.getElementById("Name").value = name;
        window.found = [];
        for (let t = 0; t < n; t++) {
          const x = strength * Math.sin((2 * Math.PI * t) / period), none = { alpha: 0, beta: 0, gamma: 0 };
          const reading = { accelerationIncludingGravity: { x, y: 0.1 * x, z: 9.81 }, rotationRate: none };
          dispatchEvent(new DeviceMotionEvent("devicemotion", reading));
        }
        return found;"""
    kinds = {"rest": (0, 1), "slow": (6, 40), "fast": (12, 9)}
    try:
        page.start(tmp_path / "teach.html", ready="kenyon-ready")
        page.js('window.found = []; addEventListener("kenyon-heard", ({ detail }) => found.push(detail))')
        page.click("#Listen")
        page.wait(lambda: page.text("#Listen") == "Stop")
        page.click("#Every")
        for name, how in kinds.items():
            page.js(move, name, *how, 700)
        assert page.classes.keys() == kinds.keys() and min(page.classes.values()) >= 5
        for name, how in kinds.items():
            assert page.js(move, "", *how, 700)[-1] in (name, None), (
                "an event when it begins, and none while it goes on"
            )
            assert page.guess == name
        assert not page.complaints()
    finally:
        page.driver.quit()
