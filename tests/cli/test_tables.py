"""`kenyon show` and `kenyon compare` at the width of a terminal, and in the formats of a paper."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kenyon.cli import app
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, Store, run_all


def kenyon(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store")
    stream = Curriculum(max_per_task=20)
    configs = [RunConfig("digits", "ncm", stream), RunConfig("digits", "slda", stream)]
    many = {
        "rule": "oja",
        "density": 0.2,
        "threshold": 1.5,
        "learning_rate": 0.03,
        "features": "sparse",
        "decay": 0.001,
    }
    configs += [RunConfig("digits", "kenyon", stream, o) for o in ({"n_hidden": 60}, {"n_hidden": 80, **many})]
    run_all(configs, [0, 1, 2], path)
    return path


def on_terminal(columns: int, *args: str) -> str:
    """What a command prints to a terminal so wide."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    here = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "kenyon.cli", *args]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=here) as process:
        os.close(theirs)
        printed = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            printed += piece
    os.close(ours)
    assert process.returncode == 0, printed
    return printed.decode().replace("\r\n", "\n")


def test_nothing_is_cut_at_80_columns(store: Path) -> None:
    printed = on_terminal(80, "show", str(store))
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split()[:3] == ["learner", "accuracy,", "%"] and "forgetting, %" in lines[0]
    for column in ("state", "time", "seeds", "options"):
        assert column in lines[0]
    for words in ("rule=oja", "density=0.2", "threshold=1.5", "learning_rate=0.03", "decay=0.001", "n_hidden=60"):
        assert words in printed
    assert printed.count(" ± ") == 8 and "…" not in printed
    assert "shrinkage" not in printed, "options of one learner that differ from another's are not of interest"


def test_columns_order_and_conditions(store: Path) -> None:
    result = kenyon(
        "show", str(store), "--columns", "learner,n_hidden,accuracy", "--where", "learner=kenyon", "--sort", "n_hidden"
    )
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [["kenyon", "60"], ["kenyon", "80"]]
    other = kenyon(
        "show", str(store), "--where", "learner=kenyon", "--sort", "n_hidden", "--reverse", "--columns", "n_hidden"
    )
    assert other.stdout.split() == ["n_hidden", "80", "60"]
    wrong = kenyon("show", str(store), "--columns", "learner,acuracy")
    assert wrong.exit_code == 2 and "did you mean 'accuracy'" in wrong.stderr
    both = kenyon("show", str(store), "--csv", "--latex")
    assert both.exit_code == 2 and "--csv and --latex" in both.stderr


def test_formats(store: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(kenyon("show", str(store), "--csv").stdout)))
    assert len(rows) == 4 and all(1 < float(row["accuracy"]) <= 100 for row in rows)
    assert kenyon("show", str(store), "--latex").stdout.startswith("% digits, class-incremental\n\\begin{tabular}")
    assert kenyon("show", str(store), "--markdown").stdout.startswith("| learner |")


def test_compare(store: Path) -> None:
    result = kenyon("compare", "ncm", "slda", "--store", str(store))
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[1].startswith("ncm") and "95% interval" in result.stdout
    found = json.loads(kenyon("compare", "ncm", "slda", "--store", str(store), "--json").stdout)
    assert found["pairs"][0]["seeds"] == [0, 1, 2]
    several = kenyon("compare", "--store", str(store))
    assert several.exit_code == 2 and "n_hidden" in several.stderr and "kenyon,rule=" in several.stderr
    chosen = kenyon("compare", "--store", str(store), "--where", "n_hidden!=60")
    assert chosen.exit_code == 0 and "p (Holm)" in chosen.stdout
    assert r"\begin{tabular}" in kenyon("compare", "ncm", "slda", "--store", str(store), "--latex").stdout
    assert max(map(len, on_terminal(80, "compare", "ncm", "slda", "--store", str(store)).splitlines())) <= 82


@pytest.mark.slow
def test_a_store_is_drawn_as_a_comparison(store: Path, tmp_path: Path) -> None:
    result = kenyon("plot", str(store), "--format", "pdf", "--out", str(tmp_path))
    assert [Path(line).name.rpartition("-")[2] for line in result.stdout.splitlines()] == [
        "accuracy.pdf", "bytes.pdf", "forgetting.pdf",
    ]  # fmt: skip
    folder = Store(store).runs()[0]
    kept = folder.file("metrics.json").read_text()
    folder.file("metrics.json").write_text("{")
    damaged = kenyon("plot", str(store), "--out", str(tmp_path))
    folder.file("metrics.json").write_text(kept)
    assert damaged.exit_code == 0 and f"left out {folder.path.name}" in damaged.stderr
