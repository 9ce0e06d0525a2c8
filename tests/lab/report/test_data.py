"""What a report may hold, and what is said where it may not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kenyon.errors import DataError
from kenyon.lab.report import ReportData, read_report, write_report
from kenyon.lab.tables import Result, Table, Value
from report.sample import sample

CELL = ("tables", 0, "rows", 0, "cells", 0)


def test_a_report_survives_its_file(tmp_path: Path) -> None:
    write_report(sample(), tmp_path / "report.json")
    assert read_report(tmp_path / "report.json") == sample()
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"], "nothing temporary is left"


def test_what_has_a_default_may_be_left_out() -> None:
    assert ReportData.from_dict({"format": 1, "title": "t"}) == ReportData("t")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("format",), 2, ["format = 2", "reads format 1"]),
        (("titel",), "x", ["'titel'", "did you mean 'title'"]),
        (("title",), 3, ["report.title = 3", "text"]),
        (("quick",), 1, ["report.quick = 1", "true or false"]),
        (("machine", "cores"), [], ["report.machine['cores'] = []"]),
        ((*CELL, "mean"), "91", ["tables[0].rows[0].cells[0].mean = '91'", "finite number"]),
        ((*CELL, "mean"), float("nan"), ["mean = nan", "finite number"]),
        ((*CELL, "kind"), "resul", ["kind = 'resul'", "result, paper, missing, text, empty"]),
        ((*CELL, "n"), 0, ["n = 0", "at least one"]),
        ((*CELL, "n"), 2.5, ["n = 2.5", "an integer"]),
        ((*CELL, "better"), "up", ["better = 'up'", "'higher', 'lower' or null"]),
        ((*CELL, "paper"), 83.1, ["paper = 83.1", "a table"]),
        ((*CELL, "runs"), ["no-such-run"], ["table-3", "'no-such-run'", "not among the runs"]),
        (("tables", 0, "columns"), ["one"], ["row 'Kenyon GEN' has 4 cells for 1 columns"]),
        (("tables", 0, "id"), "Table 3", ["id = 'Table 3'", "lower-case letters"]),
        (("tables", 1, "id"), "table-3", ["two tables or figures have the id 'table-3'"]),
        (("figures", 0, "type"), "pie", ["type = 'pie'", "heatmap, lines, scatter"]),
        (("figures", 0, "points", 0, "x"), 0, ["x = 0.0 on a logarithmic axis", "above zero"]),
        (("figures", 2, "series", 0, "y"), [1.0], ["'rising' has 100 x for 1 y"]),
        (("figures", 2, "series", 0, "band"), [[1.0], [2.0]], ["band of series 'rising'", "two lists of 100"]),
        (("figures", 3, "values"), [[1.0]], ["2 rows of 2 columns"]),
    ],
)
def test_damage_is_refused_by_place(place: tuple[Any, ...], value: Any, words: list[str]) -> None:
    damaged = copy.deepcopy(sample().to_dict())
    part = damaged
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    with pytest.raises(DataError) as error:
        ReportData.from_dict(damaged)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"title": "t"}', '{"format": 1}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"report\.json is damaged"):
        read_report(path)


def test_the_file_is_strict_json(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not finite"):
        write_report(ReportData("t", machine={"cores": float("inf")}), tmp_path / "report.json")
    assert not list(tmp_path.iterdir())
    write_report(sample(), tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["tables"][0]["rows"][0]["cells"][0]["kind"] == "result"


def test_mistakes_in_code_are_found_too() -> None:
    with pytest.raises(DataError, match="better"):
        Result(1.0, better="more")
    with pytest.raises(DataError, match="id"):
        Table("", "t", (), ())
    assert Result(91.5, paper=Value(90.0)).difference == 1.5
