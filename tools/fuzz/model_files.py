"""Model files, damaged as they are (raw) or changed inside with a checksum that is right again (signed)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save as to_safetensors

from fuzz.mutate import deep, mutated_bytes, mutated_value
from fuzz.target import Target
from kenyon import KenyonClassifier, LocalError, Plastic, SecondOrder, Sparse, Windows
from kenyon.errors import KenyonError, ModelFileError
from kenyon.model import model_file
from kenyon.rules import GEN, INEL, OJA
from kenyon.utils.modulation import Exponential, InverseTime, OverCount, Step

WIDTH, N = 6, 30
FEW, SHAPED = Sparse(density=3), {"features": Windows(threshold=None), "shape": (2, 3)}
MODELS: dict[str, dict[str, Any]] = {
    "gen": {"rule": GEN(b1=Exponential(0.02, 0.1), b2=Step(-1.0, 0.9, 7)), "features": FEW},
    "oja": {"rule": OJA(), "layer": Plastic(learning_rate=OverCount(0.5)), "features": FEW},
    "mean": {"rule": "mean", "features": Sparse(density=0.5)},
    "inel": {"rule": INEL(InverseTime(20.0, 0.01), GEN()), "features": FEW},
    "hidden layers": {"rule": INEL(20.0), "hidden": LocalError((4, 3)), "features": FEW},
    "identity": {"rule": "mse", "features": "identity", "layer": Plastic(decay=0.1), "n_hidden": "auto"},
    "windows": {"rule": "mse", "features": Windows((2, 3), window=2, shifts=1), "axes": "hw"},
    "4 bits": {"rule": "gen", "layer": Plastic(bits=4), "features": FEW},
    "3 bits": {"rule": "mean", "layer": Plastic(bits=3), "features": FEW},
    "second-order": {"layer": "second-order", "features": FEW},
    "dense": {"layer": SecondOrder(readout="ridge", shrinkage="auto"), "features": "dense"},
    "exact": {"layer": "second-order", **SHAPED},
    "counting": {"layer": "counting", "features": FEW},
    "fading": {"layer": SecondOrder(half_life=20), "features": FEW},
    "scaled": {"rule": "gen", "scale": True, "missing": "absent", "features": FEW},
    "ramps": {"layer": "second-order", "features": "ramps", "scale": True},
    "integer": {"rule": "gen", "layer": Plastic(bits=4, arithmetic="integer"), "shape": (2, 3)},
    "16 bits": {"layer": SecondOrder(bits=16), **SHAPED},
    "24 bits": {"layer": SecondOrder(bits=24), **SHAPED},
}

TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")
NAMES = ("weights.0", "weights.9", "sums.0", "counts.0", "pairs.0", "working.0.layer__readout", "counters", "x", "")


def stream() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """A few small samples of three classes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (N, WIDTH), dtype=np.uint8), rng.integers(0, 3, N)


def signed(model: str, tensors: dict[str, NDArray], version: str = "1") -> bytes:
    """A model file of this content, with its right checksum."""
    digest = model_file.digest(model, tensors)
    return to_safetensors(tensors, {"kenyon.format": version, "kenyon.model": model, "kenyon.sha256": digest})


class ModelFiles(Target):
    """Read by `KenyonClassifier.load`: a ModelFileError, or a model that holds what the file holds and can go on."""

    name: ClassVar[str] = "model-files"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._path, self._again = folder / "model.safetensors", folder / "again.safetensors"
        self._X, self._y = stream()
        self._models: list[tuple[bytes, dict[str, bytes], dict[str, Any], dict[str, NDArray]]] = []
        for number, (name, params) in enumerate(MODELS.items()):
            task = (None, 0, "a task")[number % 3]
            labels = np.array(["a", "b", "c"])[self._y] if number % 2 else self._y
            clf = KenyonClassifier(**{"n_hidden": 9, "random_state": 3, **params})
            clf.partial_fit(self._X, labels, task=task).save(self._path)
            if name == "gen":
                clf.partial_fit(self._X, labels, task="another").save(self._path)
            with safe_open(self._path, framework="np") as file:
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  not a dict
                model = json.loads(file.metadata()["kenyon.model"])
            self._models.append((self._path.read_bytes(), _held(clf), model, tensors))

    def case(self, rng: random.Random) -> str:
        content, original, model, tensors = rng.choice(self._models)
        if rng.random() < 0.3:
            return self._raw(mutated_bytes(content, rng), original)
        return self._signed(model, dict(tensors), rng)

    def _raw(self, content: bytes, original: dict[str, bytes]) -> str:
        loaded = self._load(content)
        if loaded is None:
            return "raw, refused"
        if _held(loaded) != original:
            raise AssertionError("a damaged file gave another model")
        return "raw, the same model"

    def _signed(self, model: Any, tensors: dict[str, NDArray], rng: random.Random) -> str:
        if rng.random() < 0.6:
            model = mutated_value(model, rng)
        if rng.random() < 0.5:
            change_tensors(tensors, rng)
        text = json.dumps(model)
        if rng.random() < 0.02:
            text = rng.choice(("", "{", "null", "[" * 100_000, json.dumps(deep(900)), text[:-1], text * 2, "1" * 5000))
        try:
            file = signed(text, tensors)
        except UnicodeEncodeError:
            return "signed, refused"  # text that no file can hold
        loaded = self._load(file)
        if loaded is None:
            return "signed, refused"
        _check_content(loaded, model, tensors)
        self._use(loaded)
        return "signed, a model"

    def _load(self, content: bytes) -> KenyonClassifier | None:
        self._path.write_bytes(content)
        try:
            return KenyonClassifier.load(self._path)
        except ModelFileError as error:
            if str(self._path) not in str(error):
                raise AssertionError(f"the file is not named: {error}") from error
            return None

    def _use(self, model: KenyonClassifier) -> None:
        """It is saved and read again as it is; then it predicts and learns, or says why not."""
        model.save(self._again)
        if _held(KenyonClassifier.load(self._again)) != _held(model):
            raise AssertionError("saved and loaded again it is another model")
        if model.n_features_in_ != WIDTH:
            return
        task = model.tasks_[-1]
        try:
            model.predict(self._X[:3], task=task)
            before = _held(model)
            model.learn_one(self._X[0], model.predict(self._X[:1], task=task)[0], task=task)
            before = _held(model)
            model.test_then_learn(self._X[:4], [None] * 4, task=task)
        except KenyonError:
            return
        if (
            getattr(model.spec_.layer, "half_life", None) is None and _held(model) != before
        ):  # what fades is written anew in other units at times
            raise AssertionError("samples without a label changed the model")


def _held(model: KenyonClassifier) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model.to_arrays().items()}


def _check_content(model: KenyonClassifier, wanted: Any, tensors: dict[str, NDArray]) -> None:
    """A model that was accepted holds every array of the file, value by value, and its labels."""
    seen = model.to_arrays()
    told = json.loads(seen.pop("model").tobytes())
    if seen.keys() != tensors.keys():
        raise AssertionError(f"the file holds {sorted(tensors)}, the model {sorted(seen)}")
    for name, array in tensors.items():
        if seen[name].shape != array.shape or not np.array_equal(seen[name], array):
            raise AssertionError(f"{name} is not what the file holds")
    for key in ("seed", "n_inputs", "feature_names", "heads"):
        if json.dumps(told[key]) != json.dumps(wanted[key]):
            raise AssertionError(f"{key} is {told[key]!r}, the file says {wanted[key]!r}")


def change_tensors(tensors: dict[str, NDArray], rng: random.Random) -> None:
    """Make one of the arrays another: other values, another type, shape or name, or none."""
    with np.errstate(all="ignore"):
        _change_one(tensors, rng.choice(sorted(tensors)), rng)


def _change_one(tensors: dict[str, NDArray], name: str, rng: random.Random) -> None:
    old, kind = tensors[name], rng.randrange(8)
    if kind == 0:
        del tensors[name]
    elif kind == 1:
        tensors[rng.choice(NAMES)] = tensors.pop(name)
    elif kind == 2:
        tensors[rng.choice(NAMES)] = old.copy()
    elif kind == 3:
        tensors[name] = np.zeros(old.shape, rng.choice(TYPES))
    elif kind == 4:
        shape = [rng.choice((0, 1, 2, 3, 4, 9, 10, size)) for size in old.shape] + [1] * rng.choice((0, 0, 1))
        tensors[name] = np.resize(old, shape[rng.choice((0, 0, 1)) :]) if old.size else old
    elif kind == 5 and old.size:
        tensors[name] = new = old.copy()
        value = rng.choice((0, 1, -1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 1e38, 1e300, np.nan, np.inf, -np.inf))
        new.flat[rng.randrange(new.size)] = np.array(value).astype(new.dtype)
    elif kind == 6 and old.size:
        tensors[name] = np.frombuffer(rng.randbytes(old.nbytes), old.dtype).reshape(old.shape)
    else:
        tensors[name] = old.astype(rng.choice(TYPES))
