"""The report as Markdown."""

from __future__ import annotations

import re

import pytest

from kenyon.lab.figures import Lines, Series
from kenyon.lab.report import ReportData, markdown
from kenyon.lab.tables import Row, Table, Text
from report.sample import sample

TEXT = markdown(sample())


@pytest.mark.parametrize(
    "line",
    [
        "# Reproduction &amp; &lt;more>",
        "## Class-incremental comparison",
        "*Accuracy of all methods, class-incremental (Table 3)*",
        "|  | Split-MNIST | Split-EMNIST | forgetting | state |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| *ours* |  |  |  |  |",
        "| Kenyon GEN | **91.57 ± 0.43 %** (paper 83.13, +8.44) | 61.00 ± 0.20 % stand-in [1] "
        "(paper 70.00, \N{MINUS SIGN}9.00) | 3.20 ± 0.50 % (paper 4.00, \N{MINUS SIGN}0.80) | 440 KB |",
        "1. Stand-in: Lite0 for WRN-50",
        "2. One seed explains it",
        "3. no EMNIST files here",
        "kenyon run --dataset emnist",
        "## Accuracy matrix, Kenyon",
        "| 1 | 99.00 |  |",
        "| NCM | 2.66 KB | 84.2 |",
        "kenyon reproduce all --quick",
        "| cores | 2 |",
    ],
)
def test_the_markdown_has_the_line(line: str) -> None:
    assert line in TEXT.splitlines()


def test_missing_cells_have_their_reason_and_the_papers_number() -> None:
    assert "| not run [3] (paper 77.00) |" in TEXT and "\N{MINUS SIGN}7.50) [2] |" in TEXT


def test_words_about_a_run_have_its_command_among_those_of_the_table() -> None:
    configurations = TEXT[TEXT.index("## Configurations") :]
    commands = configurations[configurations.index("<summary>Commands</summary>") :]
    assert "kenyon run --rule mse --clamp off" in commands[: commands.index("</details>")]


def test_no_text_becomes_html() -> None:
    outside_code = re.sub(r"^(`{3,}).*?^\1$", "", TEXT, flags=re.S | re.M)
    folds = {'<details markdown="1" open>', '<details markdown="1">', "<summary>", "</summary>", "</details>"}
    assert set(re.findall(r"<[a-z/][^>]*>", outside_code)) == folds


def test_text_stays_in_its_cell_and_code_in_its_block() -> None:
    table = Table("t", "t", ("c",), (Row("a|b\nc", (Text("*x* `y`"),)),))
    text = markdown(ReportData("t", (table,), command="one ``` two"))
    assert r"| a\|b c | \*x\* \`y\` |" in text.splitlines()
    assert "````\none ``` two\n````" in text


def test_lines_are_a_table_at_the_ends_of_tasks() -> None:
    series = (Series("class 0", (10, 20, 30), (0.5, 0.25, 0.125)), Series("class 1", (20, 30), (None, 1.0)))
    figure = Lines("w", "Weights", "samples", "mean weight", series, source="Figure 4", marks=(15.0,))
    lines = markdown(ReportData("t", figures=(figure,))).splitlines()
    assert {"## Weights", "*Figure 4*", "| samples | class 0 | class 1 |"} <= set(lines)
    assert "| 15 | 0.5 |  |" in lines and "| 30 | 0.125 | 1 |" in lines
