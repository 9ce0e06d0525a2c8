"""Numbers as tables write them, and how far they are from the paper's."""

from __future__ import annotations

import pytest

from kenyon.lab.table_formats import judged, number, signed, with_unit
from kenyon.lab.tables import Result, Value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (94.2149, "%", "94.21"),
        (100, "%", "100.00"),
        (-3.5, "%", "\N{MINUS SIGN}3.50"),
        (440_468, "B", "440"),
        (2_656, "B", "2.66"),
        (1_250_000, "B", "1.25"),
        (999, "B", "999"),
        (12_345.6, "", "12,346"),
        (3, "", "3"),
        (0.04, "", "0.040"),
        (12.34, "MB", "12.3"),
        (0.00012, "", "0.00012"),
        (0, "", "0"),
    ],
)
def test_numbers(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (Value(94.2, 0.3), "%", "94.20 ± 0.30 %"),
        (Value(94.2), "", "94.2"),
        (Value(1_250_000, 2_000), "B", "1.25 ± 0.00 MB"),
        (Value(440_468), "B", "440 KB"),
    ],
)
def test_with_deviation_and_unit(value: Value, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


def test_differences_have_a_sign() -> None:
    assert [signed(d, "%", like=90.0) for d in (2.111, -2.0, 0.0)] == ["+2.11", "\N{MINUS SIGN}2.00", "0.00"]
    assert signed(-200_000, "B", like=1_000_000) == "\N{MINUS SIGN}0.20"


@pytest.mark.parametrize(
    ("mean", "paper", "unit", "better", "verdict"),
    [
        (91, 86, "%", "higher", ("better", 0.5)),
        (91, 86, "%", "lower", ("worse", 0.5)),
        (50, 90, "%", "higher", ("worse", 1.0)),
        (50, 50, "%", "higher", ("same", 0.0)),
        (3, 4, "MB", "lower", ("better", 0.25)),
        (3, 0, "", "lower", ("worse", 1.0)),
        (3, 4, "MB", None, ("", 0.0)),
        (3, None, "%", "higher", ("", 0.0)),
    ],
)
def test_judging(mean: float, paper: float | None, unit: str, better: str | None, verdict: tuple[str, float]) -> None:
    cell = Result(mean, unit=unit, paper=None if paper is None else Value(paper), better=better)
    assert judged(cell) == verdict
