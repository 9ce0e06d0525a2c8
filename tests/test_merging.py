"""One model from several: equal to a single pass to the bit where sums are exact, close to it in few bits."""

from __future__ import annotations

import copy
import threading
import warnings
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from kenyon import KenyonClassifier
from kenyon.errors import InputError, MemoryBudgetError, MergeError, MergeWarning
from kenyon.utils.modulation import InverseTime
from making import held, make, stream

X, Y = stream(120)
EXACT = ("second order, windows", "counting", "counting, windows")


def trained(case: str, samples: NDArray, labels: NDArray, **how: Any) -> KenyonClassifier:
    return make(case).partial_fit(samples, labels, **how)


def by_label(clf: KenyonClassifier) -> dict[Any, Any]:
    """The state without the numbers of the neurons."""
    arrays = {name: array for name, array in clf.to_arrays().items() if name != "model"}
    order = [clf.neurons()[label] for label in sorted(clf.neurons())]
    return {
        name: (array[..., order] if array.ndim and array.shape[-1] == len(order) else array).tobytes()
        for name, array in arrays.items()
    }


def tree(models: list[KenyonClassifier], data: st.DataObject) -> KenyonClassifier:
    """Merge neighbours, in a tree drawn by chance, by either spelling."""
    while len(models) > 1:
        at = data.draw(st.integers(0, len(models) - 2))
        a, b = models[at], models[at + 1]
        models[at : at + 2] = [a.merge(b) if data.draw(st.booleans()) else KenyonClassifier.merge([a, b])]
    return models[0]


# ---- exact


@pytest.mark.parametrize("case", EXACT)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_merged_models_equal_one_pass(case: str, data: st.DataObject) -> None:
    """Any split, any order, any tree; with classes declared even the bytes of the file are the same."""
    part_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    part_of[np.flatnonzero(Y >= 0)[:4]] = range(4)  # every part has a label
    parts = data.draw(st.permutations(range(4)))
    models = [trained(case, X[part_of == part], Y[part_of == part]) for part in parts]
    order = np.concatenate([np.flatnonzero(part_of == part) for part in parts])
    merged = tree(models, data)
    assert held(merged) == held(trained(case, X[order], Y[order])), "not the model of the parts one after the other"
    single = trained(case, X, Y)
    assert by_label(merged) == by_label(single)
    assert np.array_equal(merged.decision_function(X), single.decision_function(X))
    known = [0, 1, 2, 3, 4, 5, 6]
    declared = [trained(case, X[part_of == part], Y[part_of == part], classes=known) for part in parts]
    assert held(tree(declared, data)) == held(trained(case, X, Y, classes=known))


@pytest.mark.parametrize("case", EXACT)
def test_each_class_on_another_machine(case: str) -> None:
    models = [trained(case, X[label == Y], Y[label == Y]) for label in range(7)]
    merged = KenyonClassifier.merge(models)
    single = trained(case, X, Y)
    assert by_label(merged) == by_label(single)
    assert np.array_equal(merged.predict_proba(X), single.predict_proba(X))
    more, labels = stream(50, seed=3)
    assert by_label(merged.partial_fit(more, labels)) == by_label(single.partial_fit(more, labels))


def test_merging_leaves_the_others_alone_and_says_when_it_is_exact() -> None:
    a, b, c = (trained(EXACT[0], X[part::3], Y[part::3]) for part in range(3))
    before = [held(model) for model in (a, b, c)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", MergeWarning)
        new = KenyonClassifier.merge(iter([a, b, c]))
        assert [held(model) for model in (a, b, c)] == before
        assert a.merge(b, c) is a
    assert held(a) == held(new) and [held(b), held(c)] == before[1:]
    new.partial_fit(X, Y)
    assert held(a) != held(new), "the new model shares its state with an old one"


def test_tasks_and_labels_of_any_kind_are_united() -> None:
    words = np.array(["ant", "bee", "cat", "dog", "eel", "fox", "gnu"])[Y]
    known = Y >= 0
    first, second = make(EXACT[0]), make(EXACT[0])
    first.partial_fit(X[known][:40], words[known][:40], task="x").partial_fit(X[:3], words[:3], task=1)
    second.partial_fit(X[known][40:], words[known][40:], task="y").partial_fit(X[5:9], words[5:9], task="x")
    single = copy.deepcopy(first)
    single.partial_fit(X[known][40:], words[known][40:], task="y").partial_fit(X[5:9], words[5:9], task="x")
    assert held(first.merge(second)) == held(single) and first.tasks_ == ["x", 1, "y"]


def test_two_models_merge_into_each_other_at_once() -> None:
    a, b = (trained(EXACT[0], X[part::2], Y[part::2]) for part in range(2))
    threads = [threading.Thread(target=lambda a=a, b=b: a.merge(b)) for a, b in ((a, b), (b, a)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "two merges wait for each other"


# ---- in few bits


STATISTICAL = ("mean", "counting in few bits", "second order", "second order, 16 bits", "second order, 24 bits")


@pytest.mark.parametrize("case", STATISTICAL)
def test_a_merge_that_is_not_exact_is_close_and_says_so(case: str) -> None:
    X, Y = stream(600)
    known = Y >= 0
    models = [trained(case, X[part::4], Y[part::4]) for part in range(4)]
    with pytest.warns(MergeWarning, match="not equal to the bit"):
        merged = KenyonClassifier.merge(models)
    single = trained(case, X, Y)
    assert merged.n_samples_learned_ == single.n_samples_learned_
    a, b = (np.mean(model.predict(X)[known] == Y[known]) for model in (merged, single))
    assert abs(a - b) < 0.03
    assert np.corrcoef(merged.decision_function(X).ravel(), single.decision_function(X).ravel())[0, 1] > 0.95


def test_models_that_fade_merge_and_say_that_they_differ_from_one_pass() -> None:
    parts = [make("counting", half_life=30).partial_fit(X, Y) for _ in range(2)]
    with pytest.warns(MergeWarning, match="fades in each model"):
        parts[0].merge(parts[1])


def test_models_that_scaled_their_inputs_differently_are_close_and_say_so() -> None:
    X, Y = stream(600, kind="float64")
    X = X * np.linspace(1, 50, X.shape[1]) + 7
    known = Y >= 0

    def scaled(some: Any) -> KenyonClassifier:
        return make("counting", scale=True).partial_fit(X[some], Y[some])

    parts, single = [scaled(slice(part, None, 4)) for part in range(4)], scaled(slice(None))
    before = [held(model) for model in parts]
    with pytest.warns(MergeWarning, match="each model scaled its inputs by moments"):
        merged = KenyonClassifier.merge(parts)
    assert [held(model) for model in parts] == before, "a part was changed"
    assert merged.unlike_one_pass() is not None and single.n_samples_learned_ == merged.n_samples_learned_
    a, b = (np.mean(model.predict(X)[known] == Y[known]) for model in (merged, single))
    assert a > b - 0.03
    twins = [copy.deepcopy(parts[0]), parts[0]]  # moments that stand still, and are the same
    with warnings.catch_warnings():
        warnings.simplefilter("error", MergeWarning)
        KenyonClassifier.merge(twins)


@pytest.mark.parametrize("case", ["counting in few bits", "second order, 16 bits", "second order, 24 bits"])
@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
def test_few_bits_merge_the_same_way_round_and_nothing_adds_nothing(case: str) -> None:
    a, b = (trained(case, X[part::2], Y[part::2], classes=range(7)) for part in range(2))
    assert held(KenyonClassifier.merge([a, b])) == held(KenyonClassifier.merge([b, a]))
    nothing = trained(case, X[:1], [-1], classes=range(7))
    assert held(KenyonClassifier.merge([a, nothing])) == held(a) == held(KenyonClassifier.merge([nothing, a]))


# ---- refused


@pytest.mark.parametrize("case", ["mse", "gen", "oja", "inel", "inel-gen", "few bits", "one hidden layer"])
def test_a_rule_for_which_it_has_no_meaning_refuses(case: str) -> None:
    a, b = trained(case, X, Y), trained(case, X, Y)
    before = held(a)
    for refused in (lambda: a.merge(b), lambda: KenyonClassifier.merge([a, b])):
        with pytest.raises(MergeError, match=r"do not add up.*\(mean\)|hidden_layers"):
            refused()
    with pytest.raises(MergeError, match=r"do not add up|hidden_layers"):
        a.unlearn(X, Y)
    assert held(a) == before


@pytest.mark.parametrize(
    "other, match",
    [
        (lambda: make(EXACT[0], random_state=4).partial_fit(X, Y), "seed 3 in the first and 4 in the second"),
        (
            lambda: make(EXACT[0], shrinkage=0.1, readout="ridge").partial_fit(X, Y),
            "layer__readout 'discri.*; layer__shrinkage 0.001",
        ),
        (lambda: make(EXACT[0], n_hidden=60).partial_fit(X, Y), "features__units 117 in the first and 60"),
        (lambda: make(EXACT[0], bits=16).partial_fit(X, Y), "layer__bits 32 in the first and 16"),
        (lambda: make("second order").partial_fit(X, Y), r"shape \(5, 8\) in the first and None"),
        (lambda: make(EXACT[1]).partial_fit(X, Y), "layer 'SecondOrder' in the first and 'Counting'"),
        (lambda: make(EXACT[0], shape=(5, 9)).partial_fit(*stream(width=45)), "width of 40 in the first and 45"),
        (lambda: make(EXACT[0]).partial_fit(X, [f"c{y}" for y in Y]), "kind 'number' in the first and 'string'"),
    ],
)
def test_models_that_differ_are_refused_and_the_error_says_in_what(other: Any, match: str) -> None:
    clf, second = trained(EXACT[0], X, Y), other()
    before = held(clf), held(second)
    with pytest.raises(MergeError, match=match):
        clf.merge(second)
    assert (held(clf), held(second)) == before


def test_what_is_no_model_or_has_learned_nothing_is_refused(tmp_path: Path) -> None:
    clf = trained(EXACT[0], X, Y)
    before = held(clf)
    for refused, kind, match in (
        (lambda: clf.merge(), InputError, "no model"),
        (lambda: KenyonClassifier.merge([]), InputError, "no model"),
        (lambda: clf.merge("model.safetensors"), InputError, "model 1 is a str"),
        (lambda: clf.merge(clf), MergeError, "model 1 is among the models twice"),
        (lambda: clf.merge(make(EXACT[0])), NotFittedError, "not fitted"),
        (lambda: make(EXACT[0]).merge(clf), NotFittedError, "not fitted"),
    ):
        with pytest.raises(kind, match=match):
            refused()
    assert held(clf) == before
    moving = [make("mean", learning_rate=InverseTime(1.0)).partial_fit(X, Y) for _ in range(2)]
    with pytest.raises(MergeError, match="learning_rate moves with time"):
        moving[0].merge(moving[1])


def test_a_memory_budget_holds_for_what_is_merged() -> None:
    how = {"memory_budget": "40KB", "expected_classes": 4, "bits": 32}
    a, b = (make(EXACT[0], n_hidden=117, **how).partial_fit(X[c == Y][:5], Y[c == Y][:5]) for c in (0, 1))
    before = held(a)
    many = make(EXACT[0], **how)
    for label in range(10, 200):
        try:
            many.partial_fit(X[:1], [label])
        except MemoryBudgetError:
            break
    with pytest.raises(MemoryBudgetError, match="more class"):
        a.merge(b, many)
    assert held(a) == before


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("case", [*EXACT, "second order, 16 bits", "counting in few bits"])
@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
def test_a_merge_that_is_interrupted_leaves_the_model_as_it_was(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (trained(case, X[label == Y], Y[label == Y]) for label in (0, 1))
    before, wanted = held(a), a.decision_function(X)
    layer = type(a.parts()[1][-1])
    merge = layer.merge

    def late(self: Any, *arguments: Any) -> None:
        merge(self, *arguments)
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(layer, "merge", late)
        with pytest.raises(Interrupted):
            a.merge(b)
    assert held(a) == before and np.array_equal(a.decision_function(X), wanted)
    assert sorted(a.merge(b).neurons()) == [0, 1]


def test_counts_beyond_32_bits_add_up() -> None:
    a = trained(EXACT[0], X, Y)
    arrays = a.to_arrays()
    arrays["class_counts.0"] = arrays["class_counts.0"].copy()
    arrays["class_counts.0"][0] = 2**32 - 1
    parts = [KenyonClassifier.from_arrays(arrays) for _ in range(3)]
    total = reduce(lambda one, other: one.merge(other), parts)
    assert total.to_arrays()["class_counts.0"][0] == 3 * (2**32 - 1)
