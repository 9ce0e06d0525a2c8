"""Numbers at the ends of their types: labels of 64 bits, tasks of NumPy, scores beyond float32; modes of files."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kenyon import KenyonClassifier, LocalError
from kenyon.errors import ConfigError, DivergenceError, InputError, KenyonError
from kenyon.lab.evaluation import RunConfig, run
from kenyon.utils.system import replacing
from making import composed, held

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 256, (60, 6), dtype=np.uint8), np.arange(60) % 3


def make(**params: Any) -> KenyonClassifier:
    return KenyonClassifier(**composed(**{"rule": "gen", "n_hidden": 20, "density": 3, "random_state": 0, **params}))


# ---- labels

LABELS: dict[str, tuple[list[int], Any]] = {
    "uint64": ([2**64 - 1, 2**64 - 2, 5], np.uint64),
    "int64": ([2**63 - 1, 2**63 - 2, -(2**63)], np.int64),
    "both": ([2**64 - 1, -5, 7], object),
    "beyond": ([10**30, 10**30 + 1, -(10**40)], object),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_keep_every_bit(case: str, tmp_path: Path) -> None:
    values, dtype = LABELS[case]
    y = np.array(values, dtype)[Y]
    clf = make().fit(X, y)
    assert clf.classes_.tolist() == sorted(values) and clf.classes_.dtype == dtype
    assert set(clf.predict(X).tolist()) <= set(values) and clf.predict(X).dtype == dtype
    assert clf.score(X, y) == np.mean([a == b for a, b in zip(clf.predict(X).tolist(), y.tolist(), strict=True)])
    told = make().test_then_learn(X, y)
    assert told[0] == -1 and set(told.tolist()) <= {-1, *values}
    clf.learn_one(X[0], y[0])
    assert len(clf.classes_) == 3
    clf.save(tmp_path / "model")
    assert held(KenyonClassifier.load(tmp_path / "model")) == held(clf)


# ---- tasks


@pytest.mark.parametrize(
    ("task", "plain"), [(np.int64(3), 3), (np.uint8(3), 3), (np.str_("a"), "a"), (np.bool_(True), True)]
)
def test_tasks_of_numpy_are_plain_ones(task: Any, plain: Any, tmp_path: Path) -> None:
    clf = make().partial_fit(X, Y, task=task)
    clf.partial_fit(X, Y, task=plain).learn_one(X[0], 0, task=task)
    assert clf.tasks_ == [plain] and type(clf.tasks_[0]) is type(plain)
    assert np.array_equal(clf.predict(X, task=task), clf.predict(X, task=plain))
    clf.save(tmp_path / "model")
    assert KenyonClassifier.load(tmp_path / "model").tasks_ == [plain]


@pytest.mark.parametrize("given", [[1], ([1],), {"a": 1}])
def test_what_is_not_hashable_is_neither_a_task_nor_a_label(given: Any) -> None:
    clf = make().partial_fit(X, Y)
    with pytest.raises(InputError, match="expected a hashable task"):
        clf.learn_one(X[0], 0, task=given)
    with pytest.raises(InputError, match="label"):
        clf.learn_one(X[0], given)


def test_tasks_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"task \[1\] is a list: expected a hashable task"):
        make().partial_fit(X, Y, task=[1])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"task \[1\] is a list"):
        make().partial_fit(X, Y).predict(X, task=[1])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="finite numbers only"):
        make().partial_fit(X, Y, task=float("nan")).save(tmp_path / "model")


# ---- overflow


@pytest.mark.parametrize(
    "params",
    [
        {"rule": "mse", "features": "identity", "clamp": None},
        {"rule": "mse", "threshold": None, "clamp": None},
        {"rule": "oja", "clamp": 1e30},
        {"rule": "mse", "hidden": LocalError((4,)), "clamp": None},
        {"layer": "second-order", "features": "identity"},
        {"layer": "second-order", "features": "dense"},
    ],
)
@pytest.mark.parametrize("scale", [1e10, 1e20, 1e27, 9e29])
def test_scores_are_finite_or_a_named_error(params: dict[str, Any], scale: float) -> None:
    """Inputs near 1e27 without unit_norm gave NaN."""
    large = (X / 255.0 * scale).astype(np.float32)
    for trained in (large[:1], X[:30].astype(np.float32)):
        clf = make(unit_norm=False, **params)
        try:
            clf.partial_fit(trained, Y[: len(trained)], classes=[0, 1, 2])
        except KenyonError:
            continue
        for ask in (clf.decision_function, clf.predict_proba, clf.predict):
            try:
                assert np.isfinite(ask(large)).all()
            except DivergenceError as error:
                assert "float32" in str(error)


def test_an_overflow_names_the_sample() -> None:
    clf = make(rule="mse", features="identity", unit_norm=False, clamp=None)
    clf.partial_fit(np.full((1, 6), 1e27, np.float32), [0], classes=[0, 1])
    before = held(clf)
    some = np.ones((3, 6))
    some[2] = 1e29
    with pytest.raises(DivergenceError, match=r"scores of sample 2, whose largest value is 1e\+29, pass what float32"):
        clf.predict(some)
    assert held(clf) == before and clf.predict(some[:2]).shape == (2,)


# ---- modes


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no modes")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o027])
def test_files_have_the_mode_that_the_umask_says(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        make().fit(X, Y).save(tmp_path / "model")
        run(RunConfig("digits", "ncm", options={}), [0], tmp_path / "store")
        with replacing(tmp_path / "by others") as temporary:  # as safetensors does: a file of its own put in its place
            other = tmp_path / "other"
            other.touch(0o600)
            other.replace(temporary)
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
    finally:
        os.umask(before)
    assert len(files) > 5
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o666 & ~umask}


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no modes")
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    clf, path = make().fit(X, Y), tmp_path / "model"
    clf.save(path)
    path.chmod(0o640)
    clf.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
