"""Samples that are taken out again, and sums that are narrowed to few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import KenyonClassifier, LocalError
from kenyon.errors import ConfigError, InputError, MergeError
from making import held, make, stream

X, Y = stream(120)
EXACT = ("second order, windows", "counting", "counting, windows")
KNOWN = list(range(7))


def trained(case: str, some: Any, **how: Any) -> KenyonClassifier:
    return make(case).partial_fit(X[some], Y[some], **how)


@pytest.mark.parametrize("case", EXACT)
@settings(max_examples=20, deadline=None)
@given(gone=st.lists(st.booleans(), min_size=len(X), max_size=len(X)))
def test_the_model_is_as_if_the_samples_had_never_come(case: str, gone: list[bool]) -> None:
    """To the bit; classes without samples are kept where they were declared."""
    out = np.array(gone)
    model = trained(case, slice(None), classes=KNOWN)
    before = held(model)
    if out.any():
        model.unlearn(X[out], Y[out], keep_classes=True)
    rest = make(case).partial_fit(X[~out], Y[~out], classes=KNOWN) if not out.all() else None
    assert rest is None or held(model) == held(rest)
    if out.any():
        model.partial_fit(X[out], Y[out])
    assert held(model) == before


@pytest.mark.parametrize("case", EXACT)
def test_a_class_without_samples_is_forgotten(case: str) -> None:
    of_three = Y == 3
    model = trained(case, slice(None)).unlearn(X[of_three], Y[of_three])
    assert held(model) == held(trained(case, ~of_three)) and 3 not in model.classes_
    model.unlearn(X[~of_three], Y[~of_three])
    with pytest.raises(Exception, match="not fitted"):
        model.predict(X)
    assert held(model.partial_fit(X, Y)) == held(trained(case, slice(None))), "not as before its first sample"


def test_a_task_without_samples_is_forgotten() -> None:
    model = make(EXACT[0]).partial_fit(X[:60], Y[:60], task="a")
    before = held(model)
    model.partial_fit(X[60:], Y[60:], task="b")
    assert held(model.unlearn(X[60:], Y[60:], task="b")) == before and model.tasks_ == ["a"]


@pytest.mark.parametrize("case", EXACT)
def test_what_was_never_learned_is_refused(case: str) -> None:
    model = trained(case, slice(None))
    before = held(model)
    bright = np.full((1, X.shape[1]), 255, np.uint8)
    bright[:, ::3] = 7
    first = np.flatnonzero(Y == 0)[:1]
    for samples, labels, kind, match in (
        (np.repeat(X[first], 200, axis=0), np.repeat(0, 200), MergeError, "would fall below zero"),
        (bright, [6], MergeError, "would fall below zero"),
        (X[first], [9], MergeError, "label 9 was never learned: expected one of"),
        (X[first, :-1], [0], InputError, "39 features"),
        (X[first], [0, 0], InputError, "expected one label for each of 1 samples"),
    ):
        with pytest.raises(kind, match=match):
            model.unlearn(samples, labels)
    with pytest.raises(InputError, match="task 'x' was never learned"):
        model.unlearn(X, Y, task="x")
    assert held(model) == before


@pytest.mark.parametrize("case", ["mean", "counting in few bits", "second order", "second order, 16 bits"])
def test_sums_that_are_not_exact_refuse(case: str) -> None:
    model = trained(case, slice(None))
    before = held(model)
    with pytest.raises(MergeError, match="nothing can be taken out again"):
        model.unlearn(X[:3], Y[:3])
    assert held(model) == before


# ---- narrowing


@pytest.mark.parametrize("bits", [4, 3])
@pytest.mark.parametrize("case", ["counting", "counting, windows"])
def test_what_is_merged_and_then_narrowed_equals_one_pass_that_is_narrowed(case: str, bits: int) -> None:
    parts = [trained(case, slice(part, None, 3), classes=KNOWN) for part in range(3)]
    merged, single = KenyonClassifier.merge(parts), trained(case, slice(None), classes=KNOWN)
    narrow = merged.narrowed(bits)
    assert held(narrow) == held(single.narrowed(bits))
    assert narrow.state_bytes < merged.state_bytes / 2 and narrow.n_samples_learned_ == merged.n_samples_learned_
    again = KenyonClassifier.from_arrays(narrow.to_arrays())
    assert held(again.partial_fit(X, Y)) == held(narrow.partial_fit(X, Y)), "a narrowed model is a model"


def test_narrowed_sums_are_close_to_those_learned_in_few_bits() -> None:
    X, Y = stream(900)
    known = Y >= 0
    wide = make("counting").partial_fit(X, Y)
    few = wide.narrowed(4)
    learned = make("counting in few bits", bits=4).partial_fit(X, Y)
    assert np.abs(few.weights_ - wide.weights_).mean() < 0.1 * wide.weights_.mean()
    hits = [np.mean(model.predict(X)[known] == Y[known]) for model in (wide, few, learned)]
    assert max(hits) - min(hits) < 0.02


def test_scaled_inputs_stay_scaled() -> None:
    X, Y = stream(300, kind="float64")
    wide = make("counting", scale=True).partial_fit(X * 50 + 7, Y)
    few = wide.narrowed(8)
    assert np.mean(few.predict(X * 50 + 7) == wide.predict(X * 50 + 7)) > 0.95


def test_only_wide_sums_are_narrowed_and_only_to_few_bits() -> None:
    with pytest.raises(ConfigError, match="expected layer='counting'"):
        trained("second order, windows", slice(None)).narrowed(4)
    with pytest.raises(ConfigError, match="expected 8, 4, 3 or 2"):
        trained("counting", slice(None)).narrowed(32)


@pytest.mark.parametrize(
    "how, match",
    [
        ({"hidden": LocalError((5,))}, "hidden has widths"),
        ({"unit_norm": False}, "unit_norm"),
        ({"features": "identity"}, "never negative"),
    ],
)
def test_what_cannot_be_counted_is_refused(how: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        make("counting", **how).partial_fit(X, Y)
