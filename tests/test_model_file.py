"""A model file: learning goes on bit for bit, and a damaged file is never taken for a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from cases import slow
from kenyon import KenyonClassifier, LocalError, Plastic
from kenyon.errors import ConfigError, KenyonError, ModelFileError
from kenyon.model import model_file
from kenyon.rules import GEN
from kenyon.utils.modulation import Exponential
from making import CASES, held, make, stream


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_model_goes_on_bit_for_bit(case: str, tmp_path: Path) -> None:
    X, y = stream()
    path = tmp_path / "model.safetensors"
    never_stopped = make(case).partial_fit(X[:41], y[:41])
    never_stopped.save(path)
    loaded = KenyonClassifier.load(path)
    assert held(loaded) == held(never_stopped)
    assert loaded.state_bytes == never_stopped.state_bytes
    assert loaded.synaptic_updates_ == never_stopped.synaptic_updates_
    assert np.array_equal(loaded.predict_proba(X), never_stopped.predict_proba(X))
    assert np.array_equal(loaded.test_then_learn(X[41:], y[41:]), never_stopped.test_then_learn(X[41:], y[41:]))
    assert held(loaded) == held(never_stopped)


def _labels(kind: str, y: Any) -> Any:
    if kind == "strings":
        return np.array([None if label < 0 else f"class {label} é" for label in y], object)
    return y > 2 if kind == "booleans" else y + 1000 * (y >= 0)


@pytest.mark.parametrize("kind", ["strings", "booleans", "numbers"])
@pytest.mark.parametrize("tasks", [(None,), ("a", "b"), (0, 1, 0)])
def test_labels_and_tasks_survive(kind: str, tasks: tuple[Any, ...], tmp_path: Path) -> None:
    X, y = stream()
    labels = _labels(kind, y)
    clf = make("inel", hidden=LocalError((20,)))
    for task in tasks:
        clf.partial_fit(X, labels, task=task)
    clf.save(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model")
    for task in tasks:
        assert loaded.neurons(task) == clf.neurons(task)
        assert loaded.predict(X, task=task).tolist() == clf.predict(X, task=task).tolist()
        loaded.partial_fit(X, labels, task=task)
        clf.partial_fit(X, labels, task=task)
    assert held(loaded) == held(clf)


def test_a_budget_and_automatic_sizes_survive(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("mse", n_hidden="auto", memory_budget="20KB").partial_fit(X, y)
    clf.save(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model")
    assert loaded.weights_.shape == clf.weights_.shape
    assert held(loaded.partial_fit(X, y)) == held(clf.partial_fit(X, y))


def test_functions_are_given_again_when_loading(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("mse", learning_rate=lambda t: 0.2 / (1 + t)).partial_fit(X, y)
    clf.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"layer__learning_rate was the function .*pass layer__learning_rate="):
        KenyonClassifier.load(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model", layer__learning_rate=clf.layer.learning_rate)
    assert held(loaded.partial_fit(X, y)) == held(clf.partial_fit(X, y))


def test_saving_again_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("mse").partial_fit(X, y)
    clf.save(tmp_path / "model")
    first = (tmp_path / "model").read_bytes()
    clf.save(str(tmp_path / "model"))
    assert len((tmp_path / "model").read_bytes()) == len(first)
    clf.partial_fit(X, y).save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() != first
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_labels_a_file_cannot_hold_are_refused_before_writing(tmp_path: Path) -> None:
    X, _ = stream()
    y = np.empty(90, object)
    y[:] = [(i % 2, "x") for i in range(90)]
    clf = make("mse").partial_fit(X, y)
    with pytest.raises(ConfigError, match=r"label \(0, 'x'\) is a tuple: a file holds numbers, strings and booleans"):
        clf.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_file_is_the_state_and_a_little_framing(tmp_path: Path) -> None:
    X, y = stream()
    for case in CASES:
        clf = make(case).partial_fit(X, y)
        clf.save(tmp_path / "model")
        framing = (tmp_path / "model").stat().st_size - clf.state_bytes
        assert 0 <= framing < 2500, f"{case}: {framing} bytes beyond state_bytes"


# ---- damage


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, bytes]]:
    X, y = stream()
    clf = make("two hidden layers", n_hidden=12, hidden=LocalError((4,))).partial_fit(X, y)
    path = tmp_path_factory.mktemp("model") / "model"
    clf.save(path)
    return path.read_bytes(), held(clf)


def _loads(path: Path, content: bytes, original: dict[str, bytes]) -> bool:
    """True if it was refused with ModelFileError, False if the very same model came out."""
    path.write_bytes(content)
    try:
        loaded = KenyonClassifier.load(path)
    except ModelFileError as error:
        assert str(path) in str(error)
        return True
    assert held(loaded) == original, "a damaged file gave another model"
    return False


def test_every_truncation_is_refused(model: tuple[bytes, dict[str, bytes]], tmp_path: Path) -> None:
    content, original = model
    lengths = {*range(0, 40), *range(40, len(content), 13), len(content) - 1}
    assert all(_loads(tmp_path / "cut", content[:length], original) for length in lengths)
    assert not _loads(tmp_path / "whole", content, original)


@pytest.mark.parametrize("n", [100, slow(800)])
def test_flipped_bits_are_refused(model: tuple[bytes, dict[str, bytes]], tmp_path: Path, n: int) -> None:
    content, original = model
    rng = np.random.default_rng(0)
    header = int.from_bytes(content[:8], "little") + 8
    bytes_hit = [*rng.integers(0, len(content), 3 * n // 8).tolist(), *rng.integers(0, header, n - 3 * n // 8).tolist()]
    places = set(zip(bytes_hit, rng.integers(0, 8, n).tolist(), strict=True))
    places |= {(byte, bit) for byte in range(8) for bit in range(8)}
    refused = 0
    for byte, bit in places:
        damaged = bytearray(content)
        damaged[byte] ^= 1 << bit
        refused += _loads(tmp_path / "flipped", bytes(damaged), original)
    assert refused > 0.97 * len(places)


def test_overwritten_and_lengthened_files_are_refused(model: tuple[bytes, dict[str, bytes]], tmp_path: Path) -> None:
    content, original = model
    rng = np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(content)
        first = int(rng.integers(0, len(content)))
        damaged[first : first + 20] = rng.bytes(20)
        _loads(tmp_path / "scrambled", bytes(damaged), original)
    assert _loads(tmp_path / "longer", content + b"x", original)
    assert _loads(tmp_path / "twice", content + content, original)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04}q.", b"PK\x03\x04", b"\xff" * 64, b"{}", b"\0" * 100])
def test_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(ModelFileError, match="not a complete safetensors file"):
        KenyonClassifier.load(tmp_path / "foreign")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ModelFileError, match="no such file"):
            KenyonClassifier.load(path)


def test_safetensors_of_others_are_refused(tmp_path: Path) -> None:
    save_file({"weights.0": np.zeros((3, 3), np.float32)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="not one that Kenyon wrote"):
        KenyonClassifier.load(tmp_path / "other")


def _rewrite(path: Path, edit: Any, version: str = "1") -> None:
    """Change the model's JSON and tensors, with a checksum that is right again."""
    with safe_open(path, framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        model = json.loads(file.metadata()["kenyon.model"])
    edit(model, tensors)
    text = json.dumps(model)
    digest = model_file.digest(text, tensors)
    save_file(tensors, path, {"kenyon.format": version, "kenyon.model": text, "kenyon.sha256": digest})


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    X, y = stream()
    make("mse").partial_fit(X, y).save(tmp_path / "model")
    _rewrite(tmp_path / "model", lambda model, tensors: None, version="2")
    with pytest.raises(ModelFileError, match=r"format '2', expected 1: update Kenyon"):
        KenyonClassifier.load(tmp_path / "model")


def _drop(name: str) -> Any:
    return lambda model, tensors: tensors.pop(name)


def _put(name: str, array: Any) -> Any:
    return lambda model, tensors: tensors.__setitem__(name, array)


def _set(*keys: Any, value: Any) -> Any:
    def edit(model: Any, tensors: Any) -> None:
        for key in keys[:-1]:
            model = model[key]
        model[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _drop("weights.0"),
        _drop("weights.1"),
        _drop("sums.1"),
        _drop("counters"),
        _put("weights.1", np.zeros((3, 3), np.float32)),
        _put("weights.0", np.zeros((12, 5), np.float32)),
        _put("weights.1", np.zeros(3, np.float32)),
        _put("weights.1", np.full((4, 7), np.nan, np.float32)),
        _put("weights.1", np.zeros((4, 7), np.float64)),
        _put("counters", np.zeros(3, np.int64)),
        _put("counters", np.array([-1, 0])),
        _set("params", "rule", value="nothing like it"),
        _set("params", "rule", value={"part": "gen", "b7": 1.0}),
        _set("params", "rule", value=3),
        _set("params", "layer", value={"part": "plastic", "learning_rate": {"schedule": "unheard of"}}),
        _set("params", "colour", value="red"),
        _set("params", value=None),
        _set("seed", value=-1),
        _set("seed", value="x"),
        _set("n_inputs", value=0),
        _set("n_inputs", value=3),
        _set("heads", value=3),
        _set("heads", 0, "neurons", 0, value=99),
        _set("heads", 0, "neurons", 0, value=-1),
        _set("heads", 0, "neurons", 0, value=1),
        _set("heads", 0, "labels", 0, value=["a list"]),
        _set("heads", 0, "labels", 0, value="a string"),
        _set("heads", 0, "labels", value=[]),
        _set("feature_names", value=["a"]),
    ],
)
def test_models_that_do_not_add_up_are_refused(edit: Any, tmp_path: Path) -> None:
    """A right checksum does not make a model: what it holds must fit together."""
    X, y = stream()
    make("two hidden layers", n_hidden=12, density=5, hidden=LocalError((4,))).partial_fit(X, y).save(
        tmp_path / "model"
    )
    _rewrite(tmp_path / "model", edit)
    with pytest.raises(ModelFileError):
        KenyonClassifier.load(tmp_path / "model")


def test_the_rewriting_itself_is_sound(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("mse").partial_fit(X, y)
    clf.save(tmp_path / "model")
    _rewrite(tmp_path / "model", lambda model, tensors: None)
    assert held(KenyonClassifier.load(tmp_path / "model")) == held(clf)


def test_overrides_are_parameters(tmp_path: Path) -> None:
    X, y = stream()
    make("mse").partial_fit(X, y).save(tmp_path / "model")
    loaded = KenyonClassifier.load(tmp_path / "model", layer=Plastic(learning_rate=Exponential(0.1, 0.01)), rule=GEN())
    assert loaded.get_params()["rule"] == GEN()
    with pytest.raises(KenyonError):
        KenyonClassifier.load(tmp_path / "model", colour="red")


def test_parameters_set_after_learning_began_are_not_saved_as_if_they_had_been_in_force(tmp_path):
    X, y = np.arange(60, dtype=np.uint8).reshape(6, 10), np.array([0, 1, 0, 1, 0, 1])
    one = KenyonClassifier("mse", n_hidden=40, layer=Plastic(learning_rate=0.1), random_state=0).partial_fit(X, y)
    one.set_params(layer__learning_rate=1.5)
    one.save(tmp_path / "model")
    two = KenyonClassifier.load(tmp_path / "model")
    assert two.layer.learning_rate == 0.1
    assert np.array_equal(one.partial_fit(X, y).weights_, two.partial_fit(X, y).weights_)


def test_saving_where_it_cannot_be_saved_says_what_was_asked_for(tmp_path: Path) -> None:
    X, y = stream()
    clf = make("gen").partial_fit(X, y)
    with pytest.raises(FileNotFoundError, match=r"m.safetensors cannot be written: there is no folder .*such"):
        clf.save(tmp_path / "no" / "such" / "m.safetensors")
    with pytest.raises(IsADirectoryError, match=r"is a folder: expected the name of a file"):
        clf.save(tmp_path)
    assert not list(tmp_path.iterdir())
