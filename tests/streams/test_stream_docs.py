"""The examples in the documentation run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kenyon.data.streams import DATASETS, SCENARIOS, Curriculum
from kenyon.data.streams._sources import SOURCES

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "datasets.md", "exec"), {})


def test_the_tables_name_everything():
    for name in (*DATASETS, *SCENARIOS, *Curriculum.__dataclass_fields__):
        assert f"`{name}`" in PAGE or name == "scenario"
    for source in SOURCES.values():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{source.name}`"))
        assert f"| {source.n_train:,} / {source.n_test:,} | {len(source.class_names)} |" in row
