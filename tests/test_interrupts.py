"""An interrupted call is all or nothing: an exception at every line of it, one line at a time.

A line that runs again and again is stopped the first two times and the last time it runs. After every fifth stop the
call is made again. `make test` stops a few calls at every tenth line, `make test-all` all of them at every line.
"""

from __future__ import annotations

import copy
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np
import pytest

from cases import slow
from kenyon import KenyonClassifier
from making import held, make, stream
from stopping import HOME, Lines, Stop, stop_at

X, Y = stream()
MORE = np.where(Y == 6, 9, Y)  # brings a class of its own


def moments(lines: Lines) -> list[int]:
    """Each line of a call, by when it runs the first, the second and the last time; moments count from 1."""
    when: dict[tuple[str, int], list[int]] = {}
    for moment, line in enumerate(lines, 1):
        when.setdefault(line, []).append(moment)
    return sorted({moment for runs in when.values() for moment in (*runs[:2], runs[-1])})


def learn_many(clf: KenyonClassifier) -> None:
    clf.partial_fit(X, MORE)


def learn_one(clf: KenyonClassifier) -> None:
    clf.learn_one(X[0], int(Y[0]))


def predict_first(clf: KenyonClassifier) -> None:
    clf.test_then_learn(X[:20], MORE[:20])


CALLS = {"partial_fit": learn_many, "learn_one": learn_one, "test_then_learn": predict_first}
CASES = ["gen", "gen-dense", "mse", "mean", "inel", "oja", "schedule", "two hidden layers"]
CASES += ["few bits", "counting in few bits", "integers", "integers, counting"]
CASES += ["scaled", "table", "memory", "memory, windows"]
CASES += ["second order", "second order, windows", "second order, 16 bits", "integers, second order"]


FEW = [("gen", "partial_fit"), ("mse", "learn_one"), ("few bits", "test_then_learn"), ("second order", "partial_fit")]


@pytest.mark.parametrize(
    ("case", "call", "step"),
    [(case, call, 10) for case, call in FEW] + [slow(case, call, 1) for case in CASES for call in CALLS],
)
def test_a_call_stopped_at_any_line_is_before_or_after(case: str, call: str, step: int) -> None:
    slower = {"half_life": 60} if "memory" in case else {}  # or most of the time goes into fading
    start = make(case, **slower).partial_fit(X[:60], Y[:60])
    before = held(start)
    CALLS[call](copy.deepcopy(start))  # whatever is compiled on first use is compiled now
    done = copy.deepcopy(start)
    with stop_at(-1) as lines:
        CALLS[call](done)
    after = held(done)
    assert before != after and len(lines) > 20
    stopped = 0
    chosen = moments(lines)[::step]
    for number, line in enumerate(chosen):
        clf = copy.deepcopy(start)
        with stop_at(line):
            try:
                CALLS[call](clf)
            except Stop:
                stopped += 1
        now = held(clf)
        assert now in (before, after), f"stopped at line {line} of {len(lines)}, the model is neither before nor after"
        if now == before and number % 5 == 0:
            CALLS[call](clf)
            assert held(clf) == after, f"the call that was stopped at line {line} could not be repeated"
    assert stopped > 0.9 * len(chosen)


def test_a_row_that_renews_the_calibration_stopped_at_any_line_is_learned_or_not() -> None:
    rows, number = X.astype(np.float64), 40
    start = make("table").partial_fit(rows[:number], Y[:number])
    while not (table := start._core.engine.table) or not table.due:
        start.learn_one(rows[number], int(Y[number]))
        number += 1
    before, done = held(start), copy.deepcopy(start)
    with stop_at(-1) as lines:
        done.learn_one(rows[number], int(Y[number]))
    after, found = held(done), set()
    for line in moments(lines)[::2]:
        clf = copy.deepcopy(start)
        with stop_at(line), suppress(Stop):
            clf.learn_one(rows[number], int(Y[number]))
        found.add(now := tuple(sorted(held(clf).items())))
        assert dict(now) in (before, after)
        if dict(now) == before:
            assert held(clf.learn_one(rows[number], int(Y[number]))) == after
    assert len(found) == 2


@pytest.mark.slow
@pytest.mark.parametrize("case", ["gen", "mse"])
def test_a_first_call_stopped_at_any_line_leaves_no_trace(case: str) -> None:
    with stop_at(-1) as lines:
        done = make(case).partial_fit(X[:20], Y[:20])
    for line in moments(lines)[::3]:
        clf = make(case)
        before = dict(vars(clf))
        with stop_at(line):
            try:
                clf.partial_fit(X[:20], Y[:20])
            except Stop:
                assert vars(clf) == before or held(clf) == held(done)


@pytest.mark.slow
def test_under_a_memory_budget_a_stopped_call_can_be_repeated() -> None:
    budget = make("gen", memory_budget=9_999, expected_classes=1).partial_fit(X, MORE).state_bytes
    start = make("gen", memory_budget=budget, expected_classes=1).partial_fit(X[:5], Y[:5])
    with stop_at(-1) as lines:
        copy.deepcopy(start).partial_fit(X, MORE)
    for line in moments(lines)[::5]:
        clf = copy.deepcopy(start)
        with stop_at(line), suppress(Stop):
            clf.partial_fit(X, MORE)
        clf.partial_fit(X, MORE)
        assert clf.state_bytes <= budget


@pytest.mark.slow
def test_an_undo_that_is_itself_stopped_is_made_good_by_the_next_call() -> None:
    start = make("mse").partial_fit(X[:60], Y[:60])
    before = held(start)
    clf = copy.deepcopy(start)
    with stop_at(-1) as lines:
        copy.deepcopy(start).partial_fit(X, MORE)
    first = len(lines) // 2
    with stop_at(first) as executed, suppress(Stop):
        clf.partial_fit(X, MORE)
    for line in range(first + 1, len(executed) + 1):
        clf = copy.deepcopy(start)
        seen = [0]

        def trace(frame: FrameType, event: str, argument: object, seen: list[int] = seen, line: int = line) -> Any:
            if not frame.f_code.co_filename.startswith(HOME):
                return None
            if event == "line":
                seen[0] += 1
                if seen[0] in (first, line):
                    raise Stop
            return trace

        sys.settrace(trace)
        try:
            clf.partial_fit(X, MORE)
        except Stop:
            pass
        finally:
            sys.settrace(None)
        assert held(clf) == before, f"stopped twice, at lines {first} and {line}"
