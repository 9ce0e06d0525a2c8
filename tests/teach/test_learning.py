"""The page learns, in a real browser: shapes by hand, a stream with Python's bits, and back again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kenyon import KenyonClassifier
from kenyon.apps.teach import default_model, load_digits
from teach.driving import TeachPage, circle, cross

pytestmark = pytest.mark.browser


def same_state(a: KenyonClassifier, b: KenyonClassifier) -> None:
    """Every array of two models, bit by bit."""
    first, second = a.to_arrays(), b.to_arrays()
    assert first.keys() == second.keys()
    for name in first:
        assert first[name].dtype == second[name].dtype and (first[name] == second[name]).all(), name


def test_two_shapes_are_told_apart_after_three_examples_each(page: TeachPage) -> None:
    for k in range(3):
        page.stroke(circle(0.46 + 0.04 * k, 0.5, 0.26 + 0.03 * k))
        page.key("o")
        page.stroke(cross(0.5, 0.46 + 0.04 * k, 0.33 - 0.03 * k))
        page.key("x")
    assert page.classes == {"o": 3, "x": 3}
    for shape, name in ((circle(0.55, 0.5, 0.2), "o"), (cross(0.45, 0.52, 0.25), "x"), (circle(0.5, 0.5, 0.35), "o")):
        page.stroke(shape)
        assert page.guess == name
        page.click("#Clear")
    assert page.number("#Learned") == 6
    assert page.complaints() == []


def test_fingers_draw_too(page: TeachPage) -> None:
    for shape, name in ((circle(), "o"), (cross(), "x")):
        places = [page.at("#Pad", *point) for point in shape]
        for kind, touched in (
            ("touchStart", places[:1]),
            *(("touchMove", [place]) for place in places),
            ("touchEnd", []),
        ):
            points = [{"x": x, "y": y} for x, y in touched]
            page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.key(name)
        assert page.guess == name
    assert page.classes == {"o": 1, "x": 1}


def test_predictions_follow_the_pen(page: TeachPage) -> None:
    for shape, name in ((circle(), "o"), (cross(), "x")):
        page.stroke(shape)
        page.key(name)
    seen = set()
    places = [page.at("#Pad", *point) for point in circle()]
    page.mouse("mousePressed", places[0], button="left", clickCount=1)
    for place in places[1:]:
        page.mouse("mouseMoved", place, button="left", buttons=1)
        seen.add(page.text("#Bars li:first-child .share"))
    page.mouse("mouseReleased", places[-1], button="left", clickCount=1)
    assert len(seen) > 5, "the bars stood still while the pen moved"
    assert page.guess == "o"


@pytest.mark.slow
def test_a_replayed_stream_leaves_the_bits_that_python_has(page: TeachPage) -> None:
    page.replay()
    assert page.complaints() == []
    digits = load_digits()
    ours = default_model().partial_fit(digits.images, digits.labels.astype(str))
    saved = KenyonClassifier.load(page.save())
    same_state(saved, ours)
    assert page.number("#Bytes") == ours.state_bytes
    # the picture of the library: one remembers, the other does not
    share = saved.score(digits.held_out_images, digits.held_out_labels.astype(str))
    own, network = (int(text.rstrip("%")) for text in page.texts(".chart .end"))
    assert own == round(100 * share) and own > 90 > 40 > network
    assert page.count("#OwnChart .task[d]") == page.count("#NetChart .task[d]") == 5
    # an eleventh class, and the ten stay
    page.stroke([(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8), (0.2, 0.2)])
    for _ in range(3):
        page.key("s")
    assert page.guess == "s" and len(page.classes) == 11
    page.click("#Ask")
    asked = float(page.text("#AskSays").split(" %")[0])
    assert asked > 100 * share - 2


def test_one_sample_at_a_time_and_pausing(page: TeachPage) -> None:
    page.click("#Step")
    page.click("#Step")
    assert page.number("#Learned") == 2 and "2 of 5,000" in page.text("#Progress")
    page.click("#Play")
    page.wait(lambda: page.number("#Learned") > 20)
    page.click("#Play")
    stopped = page.number("#Learned")
    assert page.text("#Play") == "Go on" and page.number("#Learned") == stopped < 5_000
    page.click("#Again")
    assert page.number("#Learned") == 0 and page.classes == {}


def test_what_the_page_saves_python_goes_on_with_and_gives_back(page: TeachPage, tmp_path: Path) -> None:
    for shape, name in ((circle(), "ring"), (cross(), "✗ “quoted”")):
        page.stroke(shape)
        page.js("document.getElementById('Name').value = arguments[0]", name)
        page.click("#Naming button")
    model = KenyonClassifier.load(page.save())
    assert set(model.classes_) == {"ring", "✗ “quoted”"} and model.n_samples_learned_ == 2
    digits = load_digits()
    model.partial_fit(digits.images[:300], digits.labels[:300].astype(str))
    path = tmp_path / "more.safetensors"
    model.save(path)
    assert "loaded" in page.drop(path.name, path.read_bytes())
    assert page.classes == {str(label): int(n) for label, n in zip(*_counts(model), strict=True)}
    again = KenyonClassifier.load(page.save())
    same_state(again, model)
    assert (again.predict(digits.held_out_images) == model.predict(digits.held_out_images)).all()


def _counts(model: KenyonClassifier) -> tuple[list[str], np.ndarray]:
    neurons = model.neurons()
    return list(neurons), model.to_arrays()["class_counts.0"][list(neurons.values())]


def test_number_labels_stay_numbers_until_a_name_comes(page: TeachPage, tmp_path: Path) -> None:
    digits = load_digits()
    model = default_model().partial_fit(digits.images[:50], digits.labels[:50])
    path = tmp_path / "numbers.safetensors"
    model.save(path)
    page.drop(path.name, path.read_bytes())
    assert KenyonClassifier.load(page.save()).classes_.tolist() == [0, 1]
    page.stroke(circle())
    page.key("o")
    assert sorted(KenyonClassifier.load(page.save()).classes_) == ["0", "1", "o"]
