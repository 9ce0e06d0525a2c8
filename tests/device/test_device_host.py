"""C on this machine against Python: the same state and the same scores, to the bit, and every error that there is."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from building import MODELS, at_random, compiled, exported, make, stream, wrapper

from cases import needs_compiler, slow
from emulated import TRAP
from kenyon import KenyonClassifier, Plastic
from kenyon.errors import ConfigError, MergeError, MergeWarning, ModelFileError
from kenyon.export import device_costs, from_buffer, to_buffer
from kenyon.rules import Rule
from making import composed

pytestmark = needs_compiler

FAST = ("gen", "second order, 16 bits")
"""One model of each kind for `make test`."""

NEVER = -(2**31)
"""The score of a class that has learned nothing."""

_LIBRARIES: dict[tuple[str, str], tuple[Any, KenyonClassifier]] = {}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(wrapper module, model) of a kind, compiled once."""

    def build(name: str, tables: str = "flash", *options: str) -> tuple[Any, KenyonClassifier]:
        if (name, tables) not in _LIBRARIES:
            X, y = stream(40)
            clf = make(name).partial_fit(X, y)
            folder = exported(clf, tmp_path_factory.mktemp("device"), tables=tables, classes=6)
            compiled(folder, "libkenyon.so", "-shared", "-fPIC", *TRAP, *options)
            _LIBRARIES[name, tables] = wrapper(folder), clf
        return _LIBRARIES[name, tables]

    return build


def same(model: Any, clf: KenyonClassifier, X: np.ndarray) -> None:
    """Whether C and Python are in one state and answer alike."""
    assert model.save() == to_buffer(clf)
    layer = clf.parts()[1][-1]
    scale = layer.present_integers().scale if hasattr(layer, "present_integers") else layer.scale  # type: ignore[attr-defined]
    outputs = clf.decision_function(X)
    assert outputs.ndim == 2
    for x, row, label in zip(X, outputs, clf.predict(X), strict=True):
        scores = model.scores(x.tobytes())
        wanted = [NEVER if output < -1e29 else round(output / float(scale)) for output in row.tolist()]
        assert [scores[label] for label in clf.classes_.tolist()] == wanted
        assert model.predict(x.tobytes()) == label


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("gen", "flash"),
        ("second order, 16 bits", "flash"),
        ("gen", "none"),
        slow("second order, 16 bits", "none"),
        *(slow(name, tables) for name in MODELS if name not in FAST for tables in ("flash", "none")),
    ],
)
def test_c_learns_the_same_bits(library: Any, name: str, tables: str) -> None:
    module, start = library(name, tables, *(["-DKENYON_WIDE"] if tables == "flash" else []))
    model, clf = module.Model(), KenyonClassifier.from_arrays(start.to_arrays())
    X, y = stream(160, seed=1)
    same(model, clf, X[:20])
    for x, label in zip(X[:60], y[:60].tolist(), strict=True):
        model.learn(x.tobytes(), label)
    model.learn_many(X[60:].tobytes(), y[60:].tolist())
    clf.partial_fit(X, y)
    same(model, clf, X[-20:])
    if tables == "none":  # vector registers take more room
        assert model.ram == device_costs(clf, classes=6)[tables].ram
    assert model.activity(X[0].tobytes()) == _activity(clf, X[0])


@pytest.mark.parametrize("seed", [0, slow(1), slow(2), slow(3)])
def test_models_drawn_at_random_learn_the_same_bits(seed: int, tmp_path: Path) -> None:
    """Any shape, window, shifts, pooling and bits, one sample at a time and many, with vector registers and without."""
    rng = np.random.default_rng(seed)
    X, y = stream(150, seed=seed)
    clf = KenyonClassifier(**at_random(rng)).partial_fit(X[:50], y[:50])
    folder = exported(clf, tmp_path, tables=str(rng.choice(["flash", "none"])))
    options = ["-DKENYON_WIDE"] if seed % 2 else []
    compiled(folder, "libkenyon.so", "-shared", "-fPIC", *TRAP, *options)
    model = wrapper(folder).Model()
    cuts = sorted(rng.integers(50, 150, 3).tolist())
    model.learn_many(X[50 : cuts[1]].tobytes(), y[50 : cuts[1]].tolist())
    for x, label in zip(X[cuts[1] :], y[cuts[1] :].tolist(), strict=True):
        model.learn(x.tobytes(), label)
    same(model, clf.partial_fit(X[50:], y[50:]), X[:15])


def _activity(clf: KenyonClassifier, x: np.ndarray) -> bytes:
    features = clf.parts()[0]
    units, values, counts = features.activate(x[np.newaxis], features.workspace())
    activity = np.zeros(features.n_outputs, np.uint8)
    activity[units[0, : counts[0]]] = values[0, : counts[0]]
    return activity.tobytes()


@pytest.mark.parametrize("each", [1, 3])
def test_a_readout_solved_in_steps_is_that_of_a_prediction(library: Any, each: int) -> None:
    module, start = library("second order, 16 bits")
    model, clf = module.Model(), KenyonClassifier.from_arrays(start.to_arrays())
    X, y = stream(120, seed=6)
    for first in range(0, 120, 40):  # after many samples, and after one
        for part in (slice(first, first + 39), slice(first + 39, first + 40)):
            model.learn_many(X[part].tobytes(), y[part].tolist())
            clf.partial_fit(X[part], y[part])
            left = [model.solve_step(each) for _ in range(4)]
            assert left == [max(0, 4 - each * k) for k in range(1, 5)] and model.solve_step(each) == 0
            same(model, clf, X[:9])


def test_a_step_leaves_the_state_and_predictions_finish_it(library: Any) -> None:
    module, _ = library("second order, 16 bits")
    asked, model = module.Model(), module.Model()
    X, y = stream(60, seed=7)
    for x, label in zip(X, y.tolist(), strict=True):
        asked.learn(x.tobytes(), label)
        assert asked.solve_step(1) == 3
        model.learn(x.tobytes(), label)
    assert asked.save() == model.save()
    assert [asked.predict(x.tobytes()) for x in X] == [model.predict(x.tobytes()) for x in X]


def test_few_bits_go_on_for_long(library: Any) -> None:
    """As long as it takes for entries to be halved, steps doubled and levels halved."""
    for name in ("second order, 16 bits", "mean"):
        module, start = library(name)
        model, clf = module.Model(), KenyonClassifier.from_arrays(start.to_arrays())
        X, y = stream(3000, seed=2)
        for x, label in zip(X, y.tolist(), strict=True):
            model.learn(x.tobytes(), label)
        clf.partial_fit(X, y)
        same(model, clf, X[:9])
        arrays = clf.to_arrays()
        changed = {"halvings.0", "doublings.0", "exponents.0"} & set(arrays)
        assert changed and all(arrays[one].max() > 0 for one in changed)


def test_from_python_to_the_device_and_back(library: Any, tmp_path: Path) -> None:
    for name in ("second order, 16 bits", "gen"):
        module, start = library(name)
        X, y = stream(60, seed=3)
        model = module.Model(empty=True)
        assert model.labels == [] and model.trained() == {}
        model.load(to_buffer(start))
        model.add_class(99)
        for x, label in zip(X, np.where(y == 7, 99, y).tolist(), strict=True):
            model.learn(x.tobytes(), label)
        back = from_buffer(start, model.save())
        assert 99 in back.classes_
        clf = KenyonClassifier.from_arrays(start.to_arrays())
        clf.partial_fit(X[:1], np.array([-1]), classes=[99]).partial_fit(X, np.where(y == 7, 99, y))
        assert to_buffer(back) == to_buffer(clf)
        back.save(tmp_path / "model")
        again = KenyonClassifier.load(tmp_path / "model").partial_fit(X, y)
        assert to_buffer(again) == to_buffer(clf.partial_fit(X, y))


def test_classes_are_forgotten_and_renamed(library: Any) -> None:
    for name in ("second order, 16 bits", "mean"):
        module, start = library(name)
        model = module.Model()
        label = model.labels[1]
        model.forget_class(label)
        clf = KenyonClassifier.from_arrays(start.to_arrays()).forget(label)
        labels = list(clf.neurons())
        X, y = stream(50, seed=4)
        X, y = X[y != label], y[y != label]
        same(model, clf, X[:9])
        for x, other in zip(X, y.tolist(), strict=True):
            model.learn(x.tobytes(), other)
        same(model, clf.partial_fit(X, y), X[:9])
        model.rename_class(labels[0], 1234)
        assert model.labels == [1234, *labels[1:]]


def code_of(call: Any) -> int:
    """The number of the error that a call ends with, 0 for none."""
    try:
        call()
    except ValueError as error:
        return error.code  # type: ignore[attr-defined]
    return 0


def test_what_is_refused_changes_nothing(library: Any) -> None:
    module, start = library("gen")
    other = to_buffer(library("mean")[1])
    model, x, good = module.Model(), bytes(64), to_buffer(start)
    broken = bytes([*good[:50], good[50] ^ 1, *good[51:]])
    calls = {
        "unknown label": (lambda: model.learn(x, 5000), -1),
        "many, one unknown": (lambda: model.learn_many(3 * x, [model.labels[0], model.labels[1], 5000]), -1),
        "forget nothing": (lambda: model.forget_class(5000), -1),
        "rename nothing": (lambda: model.rename_class(5000, 1), -1),
        "known": (lambda: model.add_class(model.labels[0]), -2),
        "no class for no label": (lambda: model.add_class(-1), -2),
        "taken": (lambda: model.rename_class(model.labels[0], model.labels[1]), -2),
        "short": (lambda: model.load(good[:-1]), -5),
        "nothing": (lambda: model.load(b""), -5),
        "format": (lambda: model.load(b"X" + good[1:]), -6),
        "version": (lambda: model.load(good[:4] + b"\x02\x00" + good[6:]), -7),
        "model": (lambda: model.load(other), -8),
        "damaged": (lambda: model.load(broken), -9),
        "merging": (lambda: model.merge(good), -12),
        "unlabelled": (lambda: model.learn(x, -1), 0),
        "many unlabelled": (lambda: model.learn_many(20 * x, 20 * [-1]), 0),
    }
    before = model.save()
    for what, (call, code) in calls.items():
        assert code_of(call) == code, what
        assert model.save() == before, what
    assert code_of(lambda: module.Model(empty=True).predict(x)) == -4
    for label in range(1000, 1002):
        model.add_class(label)
    before = model.save()
    assert code_of(lambda: model.add_class(1002)) == -3 and model.save() == before
    with pytest.raises(ValueError, match="the samples have 65 bytes: expected 64 for each label"):
        model.learn_many(x + x[:1], [0])
    with pytest.raises(ModelFileError, match="checksum"):
        from_buffer(start, broken)
    with pytest.raises(ModelFileError, match="expected b'KNYN'"):
        from_buffer(start, b"X" + good[1:])


@pytest.mark.parametrize("name", ["second order, 16 bits", slow("second order, 24 bits"), "gen", "mean"])
def test_forged_buffers_are_refused_by_both_or_by_none(library: Any, name: str) -> None:
    """Random bytes with a true checksum, then any label: C and Python agree on what a state is, and C never trips."""
    module, start = library(name)
    good, rng = to_buffer(start), np.random.default_rng(6)
    X, y = stream(3, seed=7)
    codes = set()
    for case in range(300):
        forged = bytearray(good[:-4])
        for _ in range(rng.integers(1, 5)):
            at = rng.integers(0, len(forged)) if case % 2 else rng.integers(0, 90)
            forged[at] = rng.integers(0, 256)
        forged += struct.pack("<I", zlib.crc32(bytes(forged)))
        model = module.Model()
        code = code_of(lambda model=model, forged=forged: model.load(bytes(forged)))
        codes.add(code)
        try:
            from_buffer(start, bytes(forged))
            assert code in (0, -3)
        except ModelFileError as error:
            assert code < 0, error
        if not code:
            for x, label in zip(X, [*y[:2].tolist(), int(rng.integers(-(2**31), 2**31))], strict=True):
                known = label == -1 or label in model.labels
                assert code_of(lambda model=model, x=x, label=label: model.learn(x.tobytes(), label)) == known - 1
            model.predict(X[0].tobytes())
    assert {0, -5, -8, -10} <= codes, codes


@pytest.mark.parametrize("name", ["second order, 16 bits", slow("second order, 24 bits"), "mean", slow("mean, series")])
def test_devices_merge_as_python_does(library: Any, name: str) -> None:
    module, start = library(name)
    X, y = stream(400, seed=8)
    first, second = module.Model(empty=True), module.Model(empty=True)
    for model, some in ((first, slice(0, 300)), (second, slice(300, 400))):
        for x, label in zip(X[some], y[some].tolist(), strict=True):
            if label not in model.labels:
                model.add_class(label)
            model.learn(x.tobytes(), label)
    second.add_class(1000)
    a, b = from_buffer(start, first.save()), from_buffer(start, second.save())
    first.merge(second.save())
    with pytest.warns(MergeWarning):
        a.merge(b)
    same(first, a, X[:9])
    empty = module.Model(empty=True)
    empty.merge(first.save())
    assert set(empty.labels) == set(first.labels)


def test_a_rule_that_does_not_add_up_is_not_merged_in_python_either(library: Any) -> None:
    clf = library("gen")[1]
    with pytest.raises(MergeError):
        KenyonClassifier.from_arrays(clf.to_arrays()).merge(clf)


@dataclass(frozen=True)
class Rising(Rule):
    """A rule from outside: it rises while the score is low, by a share of what is left to the top."""

    gated = True
    clamp = 0.2

    @staticmethod
    def delta(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def,override]
        return x_m * x_e * (1 - w) * (x_o < 100)

    @staticmethod
    def integer_step(z, q, n, rate):  # type: ignore[no-untyped-def,override]
        """With everything that may stand in a step."""
        left = max(0, 7 - abs(q), -1)
        if z > 4_000_000 and n > 2:
            left = 0
        return rate * left // 3 if n**q == 0 else -rate

    def integer_constants(self, level: float, rate: float, fraction: int) -> tuple[int, ...]:
        return (round(rate * 2**16),)


def test_a_rule_from_outside_is_exported_by_itself(tmp_path: Path) -> None:
    X, y = stream(80)
    clf = KenyonClassifier(Rising(), layer=Plastic(bits=4, arithmetic="integer"), n_hidden=70, random_state=0)
    with pytest.raises(ConfigError, match=r"integer_step of the rule Rising cannot be compiled: it has 'n \*\* q'"):
        exported(clf.partial_fit(X[:40], y[:40]), tmp_path)
    better = type("Better", (Rising,), {"integer_step": staticmethod(_better_step)})
    clf = KenyonClassifier(better(), layer=Plastic(bits=4, arithmetic="integer"), n_hidden=70, random_state=0)
    folder = exported(clf.partial_fit(X[:40], y[:40]), tmp_path)
    compiled(folder, "libkenyon.so", "-shared", "-fPIC", *TRAP)
    model = wrapper(folder).Model()
    for x, label in zip(X[40:], y[40:].tolist(), strict=True):
        model.learn(x.tobytes(), label)
    same(model, clf.partial_fit(X[40:], y[40:]), X[:9])


def _better_step(z, q, n, rate):  # type: ignore[no-untyped-def]
    """With everything that may stand in a step."""
    left = max(0, 7 - abs(q), -1)
    if z > 4_000_000 and n > 2:
        left = 0
    return rate * left // 3 if n != 5 else -rate


@pytest.mark.parametrize(
    "given",
    [
        {"rule": "mse", "n_hidden": 150},
        slow({"rule": "gen", "n_hidden": 150, "bits": 4}),
        slow({"rule": "mean", "n_hidden": 100, "shape": (8, 8)}),
        {"layer": "second-order", "shape": (8, 8), "n_hidden": 40},
        slow({"layer": "second-order", "n_hidden": 60, "threshold": 0.5}),
        {"features": "patches", "shape": (4, 4, 4), "n_hidden": 40, "size": 3, "shifts": 1, "grid": 2},
    ],
)
def test_a_float_model_predicts_only_and_says_so(given: dict[str, Any], tmp_path: Path) -> None:
    X, y = stream(200)
    clf = KenyonClassifier(**composed(**given), random_state=0).partial_fit(X[:120], y[:120])
    folder = exported(clf, tmp_path)
    assert "It predicts only" in (folder / "README.md").read_text()
    compiled(folder, "libkenyon.so", "-shared", "-fPIC", *TRAP)
    module = wrapper(folder)
    model = module.Model()
    found = [model.predict(x.tobytes()) for x in X[120:]]
    assert np.mean(found == clf.predict(X[120:])) > 0.95
    many = lambda: model.learn_many(bytes(64), [0])  # noqa: E731
    for call in (
        lambda: model.learn(bytes(64), 0),
        many,
        lambda: model.add_class(5),
        model.save,
        lambda: model.load(b"x"),
    ):
        assert code_of(call) == -11
    with pytest.raises(ConfigError, match="arithmetic='float'"):
        to_buffer(clf)
