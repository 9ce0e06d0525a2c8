"""Displays: every kind of job sends the same events, and both displays show them."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.cli._progress import Display, LineDisplay, LiveDisplay
from kenyon.lab.evaluation import Tally
from kenyon.utils.events import KINDS, Event, Watch

TALLY = Tally(
    np.array([[0, 0], [4, 1], [4, 2]]), row=1, learned=50, labelled=50, predicted=50, hits=40, learn_seconds=0.5
)
EVENTS = [
    Event("planned", total=4, done=1, message="evaluations", score=0.5),
    Event("note", message="the disk is full"),
    Event("progress", "features of the test set", done=30, total=60, message="images"),
    Event("started", "evaluation 1 (second-order)", "second-order"),
    Event("started", "evaluation 2 (gen)", "gen"),
    Event("finished", "evaluation 1 (second-order)", "second-order", seconds=2.0, score=0.91),
    Event("failed", "evaluation 2 (gen)", "gen", error=ValueError("no number")),
    Event("finished", "evaluation 3 (gen)", "gen", message="at chance", seconds=1.0),
]


def test_every_kind_of_event_has_a_method() -> None:
    assert all(callable(getattr(Watch, kind)) for kind in KINDS)
    assert {event.kind for event in EVENTS} <= set(KINDS)


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with LineDisplay() as display:
        for event in EVENTS:
            display(event)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [
        "4 evaluations; 1 are done", "the disk is full", "features of the test set: 30 of 60 images",
    ]  # fmt: skip
    assert lines[3].startswith("[2/4] evaluation 1 (second-order): accuracy 91.00 % in 2 s, about ")
    assert lines[4:] == [
        "[3/4] evaluation 2 (gen): FAILED: ValueError: no number",
        "[4/4] evaluation 3 (gen): at chance in 1 s",
    ]


def test_a_single_configuration_shows_its_tasks_and_leaves_failures_to_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with LineDisplay(single=True) as display:
        display(Event("planned", total=1, message="runs"))
        display(Event("opened", seed=3, tally=TALLY))
        display(Event("tested", tally=TALLY, n_test=[4, 4]))
        display(Event("failed", "seed 3", error=ValueError("no number")))
    assert capsys.readouterr().err.splitlines() == [
        "seed 3: continues after 50 samples",
        "seed 3: task 1 of 2 learned, accuracy on the tasks so far 100.00 %",
    ]


def test_the_live_view_shows_jobs_of_any_kind() -> None:
    from rich.console import Console

    display = LiveDisplay()
    console = Console(width=100, color_system=None)
    for event in EVENTS:
        display(event)
        with console.capture():
            console.print(display._render())
    display(Event("started", "seed 3", "ncm"))
    display.opened(Event("opened", seed=3, info=type("Info", (), {"n_train": 100}), n_test=[4, 4], tally=TALLY))
    with console.capture() as shown:
        console.print(display._render())
    text = shown.get()
    assert "4 of 4 evaluations, 1 failed, 1 running, best 91.00 %" in text
    assert "task 1 of 2, 100 samples/s, accuracy 80.0%" in text


def test_a_quiet_display_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Display() as display:
        for event in EVENTS:
            display(event)
    assert capsys.readouterr() == ("", "")


def test_the_tasks_of_a_run_have_twenty_lines_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    display = LineDisplay(single=True)
    for row in range(1, 101):
        tally = type("Tally", (), {"row": row, "accuracies": lambda self, n: np.ones((101, 100))})()
        display.tested(Event("tested", n_test=[4] * 100, tally=tally))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 20 and lines[-1].startswith("seed 0: task 100 of 100 learned")
