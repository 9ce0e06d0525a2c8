"""Values that try to be markup, in every field of a report: refused, or shown as the text they are."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cases import slow
from kenyon.errors import DataError, KenyonError
from kenyon.lab.evaluation import Store
from kenyon.lab.report import ReportData, Run, markdown, page_html, report_of_runs
from kenyon.lab.tables import Result, Row, Table
from kenyon.utils.system import to_toml
from report.sample import sample
from report.test_page import Tags

EVIL = "\"'><img src=x onerror=alert(1)></td></table></script><script>alert(1)</script>`*_[x](javascript:x)|\n# x\n"
STARTS = ("# heading", "> quotation", "- list", "+ list", "1. list", "2) list", "~~~ fence", "=====", "---")
TAGS = {tag for tag, _ in Tags(page_html(sample())).tags}


def swapped(value: Any, by: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The same with one value in it replaced: a place and the outcome, for every place that holds one.

    Members of a list have the same place where they are of one type, so a dictionary of the outcomes has one of each.
    """
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for where, item in swapped(getattr(value, field.name), by, f"{place}.{field.name}"):
                try:
                    yield where, replace(value, **{field.name: item})
                except (DataError, TypeError):
                    continue  # cannot even be made
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(by, str):
                yield f"{place}[{key!r}] as a key", {k if k != key else by: v for k, v in value.items()}
            for where, other in swapped(item, by, f"{place}[{key!r}]"):
                yield where, value | {key: other}
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            for where, other in swapped(item, by, f"{place}[{type(item).__name__}]"):
                yield where, (*value[:i], other, *value[i + 1 :])
    else:
        yield place, by


HOSTILE = dict(swapped(sample(), EVIL, "report"))


def drawn(report: ReportData) -> tuple[str, str] | None:
    try:
        return page_html(report), markdown(report)
    except DataError as error:
        assert str(error).startswith("report"), "it says where"
        return None


def check_no_markup(page: str, text: str, place: str) -> None:
    tags = Tags(page).tags
    assert {tag for tag, _ in tags} <= TAGS and len(re.findall("<script", page)) == 2, place
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes), place
    assert all((attributes.get("href") or "#").startswith("#") for _, attributes in tags), place
    outside_code = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.S | re.M)
    folded = {f'<details markdown="1"{opened}>' for opened in ("", " open")}
    allowed = {*folded, "<summary>", "</summary>", "</details>"}
    assert set(re.findall(r"<[a-z/!][^>]*>", outside_code)) <= allowed, place
    assert not re.search(r"(?<!\\)\]\(", outside_code) and "\n# x" not in outside_code, place


def test_no_field_becomes_markup() -> None:
    shown = {place: both for place, report in HOSTILE.items() if (both := drawn(report))}
    refused = HOSTILE.keys() - shown.keys()
    assert len(shown) > 50 and len(refused) > 20
    assert any(place.endswith(".seed") for place in refused), "a seed is a number"
    for place, both in shown.items():
        check_no_markup(*both, place)


def test_the_name_of_a_run_does_not_become_markup() -> None:
    name = EVIL.replace("/", "|")  # a run is a folder of the store: a name with a slash is refused
    cell = Result(1.0, runs=(name,), command=EVIL)
    report = ReportData("t", (Table("t", "t", ("c",), (Row("r", (cell,)),)),), runs={name: Run("", "", 0)})
    check_no_markup(page_html(report), markdown(report), "runs")


@pytest.mark.parametrize("value", [None, *map(slow, [True, 3, 2.5, float("nan"), [], {}])], ids=repr)
def test_a_value_of_another_type_is_drawn_or_refused_with_its_place(value: Any) -> None:
    for report in dict(swapped(sample(), value, "report")).values():
        drawn(report)


@pytest.mark.parametrize("text", STARTS)
def test_a_paragraph_stays_a_paragraph(text: str) -> None:
    report = replace(sample(), subtitle=text, tables=tuple(replace(table, note=text) for table in sample().tables))
    assert text not in markdown(report).splitlines()
    unescaped = re.sub(r"\\(.)", r"\1", markdown(report))
    assert unescaped.splitlines().count(text) == 1 + len(report.tables), "and yet it is there to read"


@pytest.mark.parametrize("file", ["metrics.json", slow("run.json"), slow("config.toml")])
def test_no_field_of_a_run_becomes_markup(file: str, store: Path, tmp_path: Path) -> None:
    """Each is shown as text, or the run is left out, or the error is one of ours."""
    source = next(run for run in Store(store).runs() if run.complete)
    text = source.file(file).read_text()
    values = tomllib.loads(text) if file.endswith("toml") else json.loads(text)
    outcomes = []
    for number, (place, changed) in enumerate(dict(leaves(values, EVIL, file)).items()):
        run = shutil.copytree(source.path, tmp_path / str(number) / source.path.name)
        as_toml = file.endswith("toml") and isinstance(changed, dict)
        (run / file).write_text(to_toml(changed) if as_toml else json.dumps(changed))
        try:
            report = report_of_runs(run.parent)
            check_no_markup(page_html(report), markdown(report), place)
            outcomes.append("shown")
        except KenyonError:
            outcomes.append("refused")
    assert len(outcomes) > 5 and "refused" in outcomes


def leaves(value: Any, by: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The same JSON with one value or key replaced, for every place; one for all members of a list."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{place}.{key} as a key", {k if k != key else by: v for k, v in value.items()}
            for where, other in leaves(item, by, f"{place}.{key}"):
                yield where, value | {key: other}
    elif isinstance(value, list) and value:
        for where, other in leaves(value[0], by, f"{place}[]"):
            yield where, [other, *value[1:]]
    yield place, by


def test_the_folder_of_a_run_does_not_become_markup(store: Path, tmp_path: Path) -> None:
    source = next(run for run in Store(store).runs() if run.complete)
    run = shutil.copytree(source.path, tmp_path / "store" / "<img src=x onerror=alert(1)>")
    for path in (run, run.parent):
        report = report_of_runs(path)
        assert list(report.runs) == [run.name]
        check_no_markup(page_html(report), markdown(report), str(path))
