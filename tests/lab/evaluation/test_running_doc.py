"""What the documentation says of runs is so: its tables against the code, its examples run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.workers import make_config
from kenyon.cli import app
from kenyon.cli._run import EXTRA
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import METRICS, RunConfig, config_keys, run
from kenyon.lab.evaluation._store import RESULTS

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("running.md", "reference/configuration.md", "reference/runs.md")
TEXT = "\n".join((DOCS / name).read_text() for name in PAGES)


def table(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    section = TEXT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def code(language: str) -> str:
    return TEXT.split(f"```{language}\n", 1)[1].split("```", 1)[0]


def first_words(rows: list[list[str]]) -> list[str]:
    return [row[0].strip("`") for row in rows]


def test_every_configuration_key_is_there_with_its_default() -> None:
    rows = table("Keys")
    assert sorted(first_words(rows)) == sorted([*config_keys(), *EXTRA])
    defaults = Curriculum().to_dict()
    stated = {row[0].strip("`"): row[2].strip("`") for row in rows}
    for key, value in defaults.items():
        if key != "seed":
            assert tomllib.loads(f"v = {stated[key]}")["v"] == value, key


def test_every_file_of_a_run_is_there(tmp_path: Path) -> None:
    files = set(first_words(table("The runs store")))
    folder = run(make_config(max_per_task=10), [0], tmp_path).results[0].folder
    assert folder is not None
    assert {path.name for path in folder.iterdir()} == files - {"checkpoint.safetensors", "model.safetensors"}
    assert set(RESULTS) < files


def test_every_json_key_is_there() -> None:
    report = run(make_config(max_per_task=10), [0]).to_dict()
    assert sorted(first_words(table("The JSON document"))) == sorted(report)


def test_every_metric_is_there_with_its_formula() -> None:
    descriptions = {row[0].strip("`"): row[1] for row in table("The JSON document")}
    for name, metric in METRICS.items():
        assert descriptions[name] == metric.description


@pytest.mark.parametrize("language", ["sh", "python", "toml"])
def test_the_examples_run(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if language == "python":
        exec(compile(code("python"), "running.md", "exec"), {})
        return
    if language == "sh":
        args = shlex.split(code("sh"))[1:]
    else:
        (tmp_path / "file.toml").write_text(code("toml"))
        args = ["run", "--config", "file.toml"]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert "final accuracy" in result.stdout
    assert len(list((tmp_path / "runs").iterdir())) == (5 if language == "sh" else 3)


def test_the_defaults_of_the_command_are_those_stated() -> None:
    assert RunConfig("digits").learner == "kenyon"
    assert RunConfig("digits").tests == "all"
