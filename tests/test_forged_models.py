"""Model files that were made to do harm: a right checksum proves nothing, and what a file asks for is not believed.

The long version of the last test is `make fuzz`.
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cases import slow
from fuzz.model_files import ModelFiles, signed, stream
from fuzz.target import folder_in_memory, run_here
from kenyon import KenyonClassifier, Plastic, Sparse
from kenyon.errors import ConfigError, ModelFileError
from kenyon.model import model_file
from kenyon.utils.modulation import Exponential, InverseTime
from making import composed

X, Y = stream()
MOST = 300 << 20
"""Bytes that reading a small file may take."""

Edit = Callable[[dict[str, Any], dict[str, Any]], None]


def forge(path: Path, edit: Edit, **params: Any) -> None:
    clf = KenyonClassifier(**composed(**{"n_hidden": 4, "density": 3, "random_state": 3, **params})).partial_fit(X, Y)
    text, tensors = model_file.to_arrays(clf._core)
    model = json.loads(text)
    edit(model, tensors)
    path.write_bytes(signed(json.dumps(model), tensors))


def params(**values: Any) -> Edit:
    """Set parameters; `layer__clamp` is an option of the part `layer`."""

    def edit(model: dict[str, Any], tensors: dict[str, Any]) -> None:
        for name, value in values.items():
            part, _, option = name.partition("__")
            if option:
                default = {"layer": "plastic", "features": "sparse", "hidden": "local-error"}[part]
                model["params"].setdefault(part, {"part": default})[option] = value
            else:
                model["params"][name] = value

    return edit


def top(**values: Any) -> Edit:
    return lambda model, tensors: model.update(values)


def head(**values: Any) -> Edit:
    return lambda model, tensors: model["heads"][0].update(values)


def both(*edits: Edit) -> Edit:
    def edit(model: dict[str, Any], tensors: dict[str, Any]) -> None:
        for one in edits:
            one(model, tensors)

    return edit


def classes(n: int) -> Edit:
    def edit(model: dict[str, Any], tensors: dict[str, Any]) -> None:
        model["heads"][0].update(labels=list(range(n)), neurons=list(range(n)))
        model["params"]["n_hidden"] = model["units"] = 1
        tensors["weights.0"] = np.zeros((1, n), np.float32)

    return edit


def nested(depth: int) -> dict[str, Any]:
    rule: dict[str, Any] = {"part": "gen"}
    for _ in range(depth):
        rule = {"part": "inel", "rule": rule}
    return rule


FORGED: dict[str, tuple[Edit, str]] = {
    "a projection of gigabytes": (both(top(n_inputs=2**24), params(features__density=2**24)), "expected at most"),
    "wider than any sample": (top(n_inputs=2**24 + 1), "a width from 1"),
    "a width that is no number": (top(n_inputs=True), "a width from 1"),
    "a wide hidden layer": (params(rule="mse", hidden__widths=[2**31 - 1]), "weights.0 is"),
    "hidden layers without end": (params(rule="mse", hidden__widths=[2] * 100_000), "expected|missing"),
    "a wide border": (
        both(top(n_inputs=6), params(shape=[2, 3], features={"part": "windows", "shifts": 2**30})),
        "places",
    ),
    "threads": (params(n_jobs=4096), "no n_jobs"),
    "a seed of its own": (params(random_state=3), "no random_state"),
    "no heads": (top(heads=[]), "one at least"),
    "a head without labels": (head(labels=[], neurons=[]), "expected"),
    "labels twice": (head(labels=[1, 1, 2]), "different labels"),
    "labels of text for a list": (head(labels="abc"), "lists of labels"),
    "labels that are not whole": (head(labels=[0.5, 1.5, 2.5]), "labels of one kind"),
    "labels that are no numbers": (head(labels=[float("nan")] * 3), "labels of one kind"),
    "a task that is no number": (head(task=float("nan")), "tasks that are"),
    "a task that is a list": (head(task=[1]), "tasks that are"),
    "neurons that are true": (head(neurons=[True, False, 2]), "its own neuron"),
    "an unknown part": (top(code="x"), "the parts of a model"),
    "another number of units": (params(n_hidden=5), "n_hidden is 5 and the model has 4 units"),
    "units that are no number": (top(units=True), "number of units"),
    "counters that overflow": (lambda model, tensors: tensors["counters"].fill(2**63 - 1), "counters from 0 to"),
    "a rule in a rule in a rule": (params(rule=nested(300)), "too deeply|expected|rule"),
    "a clamp beyond float32": (params(layer__clamp=1e39), "clamp is"),
    "a number beyond float64": (params(layer__decay=10**400), "decay is"),
    "a schedule of lists": (params(layer__learning_rate={"schedule": "exponential", "value": [1]}), "learning_rate"),
    "a schedule of text": (params(layer__learning_rate={"schedule": "step", "every": "x"}), "step.every"),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_file_is_refused_before_it_takes_memory(case: str, tmp_path: Path) -> None:
    edit, reason = FORGED[case]
    forge(tmp_path / "model", edit)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=reason):
            KenyonClassifier.load(tmp_path / "model")
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def test_many_classes_take_memory_in_proportion(tmp_path: Path) -> None:
    forge(tmp_path / "model", classes(20_000))
    tracemalloc.start()
    try:
        assert len(KenyonClassifier.load(tmp_path / "model").classes_) == 20_000
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def test_json_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 200_000, '{"params":' * 200_000, "9" * 5000, '"\\ud800', ""):
        (tmp_path / "model").write_bytes(signed(text, {"counters": np.zeros(2, np.int64)}))
        with pytest.raises(ModelFileError, match="model"):
            KenyonClassifier.load(tmp_path / "model")


def test_counts_that_would_overflow_are_refused(tmp_path: Path) -> None:
    def last(model: dict[str, Any], tensors: dict[str, Any]) -> None:
        tensors["counts.0"][:] = 2**32 - 1

    for rule in ({"rule": "mean"}, {"rule": "gen", "bits": 4}):
        forge(tmp_path / "model", last, **rule)
        with pytest.raises(ModelFileError, match="counts"):
            KenyonClassifier.load(tmp_path / "model")


# ---- code


def test_a_file_never_imports_the_code_that_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = tmp_path / "evil_code.py"
    evil.write_text(f"open({str(tmp_path / 'harm')!r}, 'w')\nclass Evil: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in (f"{evil}:Evil", "evil_code.py:Evil", "evil_code:Evil"):
        inside = {"part": "inel", "beta": 3.0, "rule": {"part": name}}
        around = {"part": name, "rule": {"part": "gen"}}
        rules = (name, {"part": name}, inside, around)
        for what in (*(params(rule=rule) for rule in rules), params(layer=name)):
            forge(tmp_path / "model", what)
            with pytest.raises(ModelFileError, match="which is code: import it first, or pass"):
                KenyonClassifier.load(tmp_path / "model")
    assert not (tmp_path / "harm").exists() and "evil_code" not in sys.modules


def test_code_that_the_caller_has_imported_is_used(tmp_path: Path) -> None:
    layer = f"{Path(__file__).parent / 'outside_layer.py'}:Hits"
    clf = KenyonClassifier(layer=layer, n_hidden=9, features=Sparse(density=3), random_state=0).partial_fit(X, Y)
    clf.save(tmp_path / "model")
    assert KenyonClassifier.load(tmp_path / "model").classes_.tolist() == [0, 1, 2]


# ---- what a caller vouches for


def test_a_caller_who_gives_the_features_vouches_for_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kenyon.model import model_check

    clf = KenyonClassifier("gen", n_hidden=40, features=Sparse(density=1.0), random_state=0).partial_fit(X, Y)
    clf.save(tmp_path / "model")
    monkeypatch.setattr(model_check, "DRAWN", 100)
    monkeypatch.setattr(model_check, "PER_BYTE", 0)
    with pytest.raises(ModelFileError, match="Pass features"):
        KenyonClassifier.load(tmp_path / "model")
    assert np.array_equal(
        KenyonClassifier.load(tmp_path / "model", features=Sparse(density=1.0)).predict(X), clf.predict(X)
    )


def test_many_classes_are_loaded_at_once(tmp_path: Path) -> None:
    """Adding them one by one took the cube of their number: minutes for a few thousand."""
    y = np.arange(3000)
    wide = np.random.default_rng(0).integers(0, 256, (3000, 6), dtype=np.uint8)
    clf = KenyonClassifier("gen", n_hidden=4, features=Sparse(density=3), random_state=0).partial_fit(X[:1], Y[:1])
    text, tensors = model_file.to_arrays(clf._core)
    model = json.loads(text)
    model["heads"][0].update(labels=y.tolist(), neurons=y.tolist())
    tensors["weights.0"] = np.resize(tensors["weights.0"], (4, 3000))
    (tmp_path / "model").write_bytes(signed(json.dumps(model), tensors))
    assert KenyonClassifier.load(tmp_path / "model").predict(wide[:5]).shape == (5,)


# ---- schedules that run away later


@pytest.mark.parametrize("rate", [Exponential(0.1, -1000.0), InverseTime(0.1, -0.5), Exponential(0.1, -30.0)])
def test_a_schedule_that_overflows_is_a_named_error(rate: Any) -> None:
    clf = KenyonClassifier(
        "mse", layer=Plastic(learning_rate=rate), n_hidden=9, features=Sparse(density=3), random_state=0
    ).partial_fit(X[:1], Y[:1])
    before = clf.weights_.tobytes()
    with pytest.raises(ConfigError, match=r"a schedule gave .*inf.* expected finite numbers"):
        clf.partial_fit(X, Y)
    assert clf.weights_.tobytes() == before


# ---- by the thousand


@pytest.mark.parametrize("n", [300, slow(1_500)])
def test_hostile_files_by_the_hundred(n: int) -> None:
    with folder_in_memory() as folder:
        counts, failures = run_here(ModelFiles(folder), seed=0, cases=range(n))
    assert not failures, f"{len(failures)} failed, the first is case {failures[0].case}:\n{failures[0].what}"
    assert (
        counts["signed, a model"] > n // 20 and counts["raw, refused"] > n // 4 and counts["signed, refused"] > n // 4
    )
