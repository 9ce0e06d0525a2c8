"""The examples of the gallery: their cells, and that each runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gallery


def test_cells_are_text_and_code() -> None:
    source = "# %% [markdown]\n# # Title\n#\n# text\n\n# %%\nimport sys\n\n# %%\nprint(1)\n"
    assert list(gallery.cells(source)) == [
        ("markdown", "# Title\n\ntext"),
        ("code", "import sys"),
        ("code", "print(1)"),
    ]


def test_every_example_has_a_title_and_ends_in_a_picture_or_a_table() -> None:
    assert len(gallery.names()) >= 8
    for name in gallery.names():
        parts = list(gallery.cells((gallery.FOLDER / f"{name}.py").read_text(encoding="utf-8")))
        assert parts[0][0] == "markdown" and parts[0][1].startswith("# "), name
        assert parts[-1][0] == "code" and ("plt.show()" in parts[-1][1] or "print(" in parts[-1][1]), name


@pytest.mark.slow
@pytest.mark.parametrize("name", gallery.names())
def test_the_example_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(gallery.FOLDER / f"{name}.py")]
    if name == "river_stream":
        pytest.importorskip("river", reason="needs the extra 'river'")
    if name == "images_by_backbone":
        pytest.importorskip("onnxruntime", reason="needs the extra 'backbones'")
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "MPLBACKEND": "agg"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
