"""C on emulated ARM cores and as WebAssembly: the same bits as in Python, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from building import at_random, make, stream

from cases import needs
from emulated import ArmDevice, WasmDevice
from kenyon import KenyonClassifier, Plastic
from kenyon.export import device_costs, export_model, to_buffer

pytestmark = [needs("ziglang"), pytest.mark.slow]


KINDS = [
    pytest.param("m0plus", "second order, 16 bits", marks=needs("unicorn")),
    pytest.param("m4", "second order, 24 bits", marks=needs("unicorn")),
    pytest.param("m0plus", "mean", marks=needs("unicorn")),
    pytest.param("m4", "gen", marks=needs("unicorn")),
    pytest.param("wasm", "second order, 16 bits", marks=needs("wasmtime")),
    pytest.param("wasm", "mean, series", marks=needs("wasmtime")),
]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_every_core_learns_the_same_bits(kind: str, name: str, tmp_path: Path) -> None:
    X, y = stream(60)
    clf = make(name).partial_fit(X[:20], y[:20])
    export_model(clf, "c", tmp_path, tables="none" if name == "gen" else "flash")
    device: Any = WasmDevice(tmp_path) if kind == "wasm" else ArmDevice(tmp_path, kind)
    assert device.save() == to_buffer(clf)
    for x, label in zip(X[20:], y[20:].tolist(), strict=True):
        assert device.learn(x.tobytes(), label) == 0
    clf.partial_fit(X[20:], y[20:])
    assert device.save() == to_buffer(clf)
    neurons = [clf.neurons()[label] for label in clf.classes_.tolist()]
    layer: Any = clf.parts()[1][-1]
    scale = float(layer.present_integers().scale if hasattr(layer, "present_integers") else layer.scale)
    for x, row in zip(X[:6], clf.decision_function(X[:6]), strict=True):
        scores = device.scores(x.tobytes())
        assert [scores[j] for j in neurons] == [round(output / scale) for output in row.tolist()]
    assert device.learn(X[0].tobytes(), 5000) == -1


@pytest.mark.parametrize(
    ("kind", "seed"),
    [pytest.param("m4", 10, marks=needs("unicorn")), pytest.param("wasm", 11, marks=needs("wasmtime"))],
)
def test_models_drawn_at_random_learn_the_same_bits(kind: str, seed: int, tmp_path: Path) -> None:
    X, y = stream(50, seed=seed)
    clf = KenyonClassifier(**at_random(np.random.default_rng(seed))).partial_fit(X[:20], y[:20])
    export_model(clf, "c", tmp_path)
    device: Any = WasmDevice(tmp_path) if kind == "wasm" else ArmDevice(tmp_path, kind)
    for x, label in zip(X[20:], y[20:].tolist(), strict=True):
        assert device.learn(x.tobytes(), label) == 0
    assert device.save() == to_buffer(clf.partial_fit(X[20:], y[20:]))


@needs("unicorn")
def test_a_model_of_4_kb_fits_a_part_with_8_kb(tmp_path: Path) -> None:
    """64 inputs and 4 classes: the model and the stack of every call, learning and predicting."""
    X, y = stream(30)
    clf = make("second order, 16 bits").partial_fit(X, y)
    assert clf.state_bytes <= 4000
    export_model(clf, "c", tmp_path)
    device = ArmDevice(tmp_path, "m0plus")
    assert device.ram == device_costs(clf)["flash"].ram
    sample, numbers = device.call("kenyon_the_sample"), device.call("kenyon_the_numbers")
    stack = max(
        device.stack_of("kenyon_learn", device.model, sample, int(y[0])),
        device.stack_of("kenyon_predict", device.model, sample, numbers),
    )
    assert device.ram + len(X[0]) + stack <= 8 * 1024


@needs("unicorn")
def test_a_model_of_20_kb_learns_within_its_bounds(tmp_path: Path) -> None:
    """28 x 28 bytes: 32 KB of RAM in all, and three million instructions for a sample on a Cortex-M4."""
    X = np.random.default_rng(0).integers(0, 256, (40, 784)).astype(np.uint8)
    clf = KenyonClassifier(memory_budget="20KB", shape=(28, 28), random_state=0)
    clf.partial_fit(X, np.arange(40) % 10)
    export_model(clf, "c", tmp_path)
    device = ArmDevice(tmp_path, "m4")
    assert device.learn(X[0].tobytes(), 3) == 0
    assert device.instructions <= 3_000_000
    sample, numbers = device.call("kenyon_the_sample"), device.call("kenyon_the_numbers")
    stack = max(
        device.stack_of("kenyon_learn", device.model, sample, 3),
        device.stack_of("kenyon_predict", device.model, sample, numbers),
    )
    assert device.ram + 784 + stack <= 32 * 1024
    assert device.save() == to_buffer(clf.partial_fit(np.concatenate([X[:1], X[:1]]), np.array([3, 3])))


@needs("unicorn")
def test_it_predicts_after_a_sample_within_five_million_instructions_as_its_costs_say(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(0, 256, (40, 784)).astype(np.uint8)
    clf = KenyonClassifier(memory_budget="20KB", shape=(28, 28), random_state=0).partial_fit(X, np.arange(40) % 10)
    export_model(clf, "c", tmp_path)
    device, seen = ArmDevice(tmp_path, "m4"), {}
    for name in ("solve", "predict"):
        device.predict(X[1].tobytes())
        seen[name] = device.instructions
    device.learn(X[0].tobytes(), 3)
    seen["learn"] = device.instructions
    device.predict(X[1].tobytes())
    assert device.instructions <= 5_000_000
    seen |= {"solve": seen["solve"] - seen["predict"], "again": device.instructions - seen["predict"]}
    costs = device_costs(clf)["flash"]._asdict()
    for name, instructions in seen.items():
        assert 0.75 < instructions / costs[name] < 1.33, (name, instructions, costs[name])


@needs("unicorn")
def test_counting_in_20_kb_learns_within_the_same_bounds(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(0, 256, (20, 784)).astype(np.uint8)
    clf = KenyonClassifier(
        rule="mean", layer=Plastic(bits=4, arithmetic="integer"), n_hidden=3_600, shape=(28, 28), random_state=0
    )
    clf.partial_fit(X, np.arange(20) % 10)
    export_model(clf, "c", tmp_path)
    device = ArmDevice(tmp_path, "m4")
    assert device.learn(X[0].tobytes(), 3) == 0
    assert device.instructions <= 3_000_000
    stack = device.stack_of("kenyon_learn", device.model, device.call("kenyon_the_sample"), 3)
    assert device.ram + 784 + stack <= 32 * 1024
