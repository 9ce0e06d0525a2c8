"""The page as a file: what is in it, which models it takes, and that its learner is what the sources say."""

from __future__ import annotations

import json
import re
import sys
import threading
import urllib.request
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kenyon.apps.teach
from kenyon import KenyonClassifier
from kenyon.apps.teach import TASKS, default_model, load_digits, make_server, page_html, write_page
from kenyon.apps.teach._module import DIGEST, digest_of
from kenyon.apps.teach._page import SENSES, default_sources
from kenyon.cli import app
from kenyon.errors import ConfigError, MissingExtraError
from making import composed

FOLDER = Path(kenyon.apps.teach.__file__).parent


def data_of(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="Data">(.*?)</script>', page)
    return json.loads(text)


def test_the_digits_are_a_stream_of_five_tasks() -> None:
    digits = load_digits()
    assert digits.images.shape == (5_000, 784) and digits.held_out_images.shape == (1_000, 784)
    for k, task in enumerate(TASKS):
        labels, counts = np.unique(digits.labels[1_000 * k : 1_000 * (k + 1)], return_counts=True)
        assert tuple(labels) == task and (counts == 500).all()
    assert (np.bincount(digits.held_out_labels) == 100).all()
    learned = {image.tobytes() for image in digits.images}
    assert not learned & {image.tobytes() for image in digits.held_out_images}, "held out means never learned"


def test_the_page_is_one_small_file_that_asks_for_nothing(page_file: Path) -> None:
    page = page_file.read_text(encoding="utf-8")
    assert page_file.stat().st_size < 4_000_000
    assert "default-src 'none'" in page
    without_data = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    links = re.findall(r"(?:src|href)\s*=\s*\"([^\"]*)\"", without_data)
    assert all(link.startswith(("#", "data:")) for link in links), links
    assert "LeCun" in page and "Share Alike 3.0" in page


def test_the_learner_in_the_package_is_of_these_sources() -> None:
    known = json.loads((FOLDER / DIGEST).read_text())["sources"]
    assert known == {sense: digest_of(default_sources(sense)) for sense in SENSES}, "run tools/build_learner.py"


def test_the_learner_in_the_package_is_what_the_sources_give() -> None:
    pytest.importorskip("ziglang", reason="needs the extra 'teach'")
    known = json.loads((FOLDER / DIGEST).read_text())
    if version("ziglang") != known["ziglang"]:
        pytest.skip(f"built by ziglang {known['ziglang']}, and {version('ziglang')} is installed")
    from build_learner import build

    for name, content in build().items():
        assert content == (FOLDER / name).read_bytes(), f"{name}: run tools/build_learner.py"


def test_a_trained_model_goes_on_in_the_page(tmp_path: Path) -> None:
    digits = load_digits()
    model = default_model().partial_fit(digits.images[:100], digits.labels[:100])
    model.save(tmp_path / "model.safetensors")
    data = data_of(page_html(KenyonClassifier.load(tmp_path / "model.safetensors")))
    assert data["state"] is not None and data_of(page_html())["state"] is None
    assert data["module"] == data_of(page_html())["module"], "the same sources, so nothing is compiled"


def small_model(**options: object) -> KenyonClassifier:
    images = np.random.default_rng(0).integers(0, 256, (20, 64), np.uint8)
    given = {"memory_budget": "6KB", "shape": (8, 8), "arithmetic": "integer", "random_state": 0, **options}
    return KenyonClassifier(**composed(**given)).partial_fit(images, np.arange(20) % 3)


def test_another_model_is_compiled_for_its_page() -> None:
    pytest.importorskip("ziglang", reason="needs the extra 'teach'")
    data = data_of(page_html(small_model()))
    assert data["shape"] == [8, 8] and data["digits"]["shape"] == [8, 8]
    assert data["module"] != data_of(page_html())["module"]


def test_without_a_compiler_another_model_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(MissingExtraError, match="ziglang"):
        page_html(small_model())
    assert page_html(), "the model of the package needs no compiler"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arithmetic": "float"}, "arithmetic='float'"),
        ({"shape": (64,)}, "expected images"),
        ({"shape": (4, 4, 4)}, "expected images"),
    ],
)
def test_a_model_that_no_page_can_go_on_with_is_refused(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        page_html(small_model(**options))


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    out = tmp_path / "new" / "page.html"
    done = CliRunner().invoke(app, ["teach", "--no-open", "--out", str(out)])
    assert done.exit_code == 0 and str(out) in done.output.replace("\n", "")
    assert out.read_text(encoding="utf-8") == page_html()
    missing = CliRunner().invoke(app, ["teach", str(tmp_path / "none.safetensors"), "--no-open"])
    assert missing.exit_code != 0


def test_the_page_is_served_on_this_machine_only(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    with make_server(page) as server:
        assert server.server_address[0] == "127.0.0.1"
        with pytest.raises(ConfigError, match="cannot be had"):
            make_server(page, server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
                assert answer.read().decode() == page
        finally:
            server.shutdown()
            thread.join()
