"""The C sources that the page gives along, compiled for this machine: they predict what the page predicted."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kenyon import KenyonClassifier
from kenyon.apps.teach import load_digits
from teach.driving import TeachPage

pytestmark = pytest.mark.browser

GO_ON = """
#include "kenyon.h"
#include "kenyon_state.h"
static kenyon_model model;
int start(void) { kenyon_init(&model); return kenyon_load(&model, kenyon_state, sizeof kenyon_state); }
int guess(const unsigned char *sample)
{
    int32_t label = 0;
    const int error = kenyon_predict(&model, sample, &label);
    return error < 0 ? error : label;
}
"""


def test_the_zip_compiles_and_predicts_the_same(page: TeachPage, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="needs the extra 'teach'")
    page.js("document.getElementById('Speed').value = 4")
    page.click("#Play")
    page.wait(lambda: page.number("#Learned") > 1_200)
    page.click("#Play")
    model = KenyonClassifier.load(page.save())
    archive = page.save("#SaveC", "kenyon-c.zip")
    with zipfile.ZipFile(archive) as files:
        assert files.testzip() is None
        files.extractall(tmp_path)
    folder = tmp_path / "kenyon"
    names = json.loads((folder / "labels.json").read_text())
    (folder / "go_on.c").write_text(GO_ON)
    flags = "-std=c99 -O1 -shared -fPIC -nostdlib -Wall -Werror -o go_on.so"
    command = [sys.executable, "-m", "ziglang", "cc", *flags.split(), "kenyon.c", "go_on.c"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "go_on.so"))
    assert library.start() == 0
    images = load_digits().held_out_images[::10]
    guesses = [names[str(library.guess(image.tobytes()))] for image in images]
    assert guesses == model.predict(images).tolist()
