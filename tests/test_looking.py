"""Looking at a store, a report or a search imports, compiles and opens nothing that they name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation import RunConfig, Store, group_runs, run
from kenyon.lab.evaluation._identity import id_of
from kenyon.lab.plots import plot_run
from kenyon.lab.report import ReportData, Run, open_report
from kenyon.lab.search import SearchFolder
from kenyon.paper.reproduce import Earlier
from kenyon.utils.outside import is_imported, load_class, looking
from kenyon.utils.system import read_toml, to_toml

WATCHED = """
import sys
from pathlib import Path

seen = []

def watch(event, arguments):
    if event in ("open", "import", "compile", "exec"):
        words = " ".join(str(argument)[:300] for argument in arguments[:2])
        if any(name in words for name in ("store.pkg", "store/pkg", "evil.py", "mine.csv", "net.onnx")):
            seen.append(f"{event} {words}")

from kenyon.cli import main

sys.addaudithook(watch)
for line in Path("commands").read_text().splitlines():
    sys.argv = ["kenyon", *line.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            print("failed:", line, end.code)
print("seen:", seen)
"""


def write_run(store: Path, learner: str, **changes: Any) -> None:
    """A run of the nearest-class-mean learner that says it is another."""
    run(RunConfig("digits", "ncm", Curriculum(max_per_task=10)), [0], store)
    folder = next(found for found in Store(store).runs() if "ncm" in found.path.name)
    config = read_toml(folder.file("config.toml")) | {"learner": learner} | changes
    folder.file("config.toml").write_text(to_toml(config))
    sources = {"store.pkg.mod": "0" * 64, "store/evil.py": "1" * 64}
    values = json.loads(folder.file("run.json").read_text())["values"]
    values |= {"learner": learner, "sources": sources} | changes
    name = id_of(values, 0)
    folder.file("run.json").write_text(json.dumps({"format": 1, "run": name, "seed": 0, "values": values}))
    metrics = json.loads(folder.file("metrics.json").read_text()) | {"run": name}
    folder.file("metrics.json").write_text(json.dumps(metrics))
    folder.path.rename(store / f"own-{len(Store(store).runs())}")


@pytest.fixture
def hostile(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the store in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("made")
    store = tmp_path / "store"
    (store / "pkg").mkdir(parents=True)
    harm = "open('harm', 'w')\nclass Learner: pass\n"
    for file in ("pkg/__init__.py", "pkg/mod.py", "evil.py"):
        (store / file).write_text(harm)
    (store / "mine.csv").write_text("width,label\n1,a\n2,b\n")
    (store / "net.onnx").write_bytes(b"x")
    (store / "__init__.py").write_text("")
    backbone = {"name": "store/net.onnx", "resolution": 8, "normalisation": "imagenet"}
    write_run(store, "store.pkg.mod:Learner")
    write_run(store, "store/evil.py:Learner", dataset="store/mine.csv")
    write_run(store, "kenyon", options={"rule": "store.pkg.mod:Rule", "layer": "store/evil.py:Layer"})
    write_run(store, "slda", backbone=backbone)
    search = store / "searches" / "digits-class-incremental-ambs-s0"
    search.mkdir(parents=True)
    search.joinpath("search.toml").write_text("")
    search.joinpath("space.toml").write_text(
        '[rule]\nvalues = ["store.pkg.mod:Rule"]\n[density]\nlow = 0.1\nhigh = 0.2\n'
    )
    head = "number,status,accuracy,seconds,finished,protocol,reason,rule,density\n"
    search.joinpath("evaluations.csv").write_text(head + "0,done,0.5,1.0,1.0,held-out,,store.pkg.mod:Rule,0.15\n")
    return tmp_path


def test_no_command_that_looks_touches_what_a_store_names(hostile: Path) -> None:
    commands = ["show store", "show store --json", "show store --columns learner,rule,layer", "show store/own-1"]
    commands += ["compare --store store", "plot store --out out", "plot store --runs --out out", "report store"]
    commands += ["report store --markdown out.md", "reproduce weights --quick --out store --as-is", "data list"]
    (hostile / "commands").write_text("\n".join(commands))
    src = Path(__file__).parents[1] / "src"
    surroundings = os.environ | {"PYTHONPATH": f"{src}{os.pathsep}{hostile}"}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=hostile, env=surroundings, capture_output=True, text=True
    )
    assert not (hostile / "harm").exists()
    assert "seen: []" in done.stdout, done.stdout + done.stderr
    assert "failed" not in done.stdout, done.stdout + done.stderr


def test_runs_of_two_versions_of_a_class_are_told_apart(hostile: Path) -> None:
    groups = group_runs(Store(hostile / "store").runs()).groups
    assert {group.value("source") for group in groups if "sources" in group.values} != {None}
    assert not any(group.outdated for group in groups), "what is not imported is not judged"


def test_a_search_of_a_rule_from_outside_is_read(hostile: Path) -> None:
    folder = SearchFolder(hostile / "store" / "searches" / "digits-class-incremental-ambs-s0")
    assert [evaluation.choice for evaluation in folder.evaluations()] == ["store.pkg.mod:Rule"]
    assert not (hostile / "harm").exists()


def test_the_runs_of_an_earlier_report_name_no_code(hostile: Path) -> None:
    """A figure of somebody's report is left out rather than followed to the code or the data of its runs."""
    report = open_report(hostile / "store")
    assert report.figures
    assert Earlier(report).figures(()) == []
    assert not (hostile / "harm").exists()


@pytest.mark.parametrize("name", ["../other", "/etc", "", "..", "a/b"])
def test_a_report_names_runs_within_its_store(name: str) -> None:
    with pytest.raises(DataError, match="expected the name of a folder in the store"):
        ReportData("Mine", runs={name: Run("", "", 0)})


@pytest.mark.parametrize("broken", [{"sources": [1]}, {"content": 3}, {"backbone": {}}, {"options": "x"}])
def test_values_of_other_types_are_damage(hostile: Path, broken: dict[str, Any]) -> None:
    folder = Store(hostile / "store").runs()[0]
    record = json.loads(folder.file("run.json").read_text())
    record["values"] |= broken
    record["run"] = id_of(record["values"], record["seed"])
    folder.file("run.json").write_text(json.dumps(record))
    damaged = group_runs([folder]).damaged
    assert len(damaged) == 1 and "is damaged" in damaged[0][1]


def test_looking_ends_where_it_began() -> None:
    with looking():
        assert load_class("collections:Counter", "rule").__name__ == "Counter", "it is imported already"
        with looking(), pytest.raises(ConfigError, match="is code that is not imported"):
            load_class("this_never_was:Class", "rule")
        with pytest.raises(ConfigError, match="is code that is not imported"):
            load_class("antigravity:Class", "rule")
    assert not is_imported("antigravity:Class")
    with pytest.raises(ConfigError, match="there is no module"):
        load_class("this_never_was:Class", "rule")


def test_no_picture_is_set_by_latex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matplotlibrc in the current folder, which may be a store, must not start a program."""
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setitem(matplotlib.rcParams, "text.usetex", True)
    monkeypatch.setenv("PATH", "")
    run(RunConfig("digits", "ncm", Curriculum(max_per_task=10)), [0], tmp_path)
    assert plot_run(Store(tmp_path).runs()[0]).save(tmp_path / "out")
