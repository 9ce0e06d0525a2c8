"""Events of an exported model: the same as in Python, on every processor, in any cut of the stream."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hearing import FRONTS, SPECTRA, heard, listener, on_host, pieces, tone

from cases import needs, needs_compiler
from emulated import ArmDevice, WasmDevice
from kenyon import KenyonClassifier
from kenyon.data.streams._fsdd import SPEAKERS, read_wav
from kenyon.errors import ConfigError, ModelFileError
from kenyon.export import device_costs, export_model, from_buffer, to_buffer
from kenyon.features.front import Events, Spectra
from kenyon.utils.system import find_data_dir


def numbered(events: list, model: KenyonClassifier) -> list[tuple[int, int, int, int]]:
    """Events of Python with labels as a device numbers them."""
    return [(model.neurons()[label], start, end, clipped) for label, start, end, clipped in events]


@pytest.fixture(scope="module")
def models() -> dict[str, KenyonClassifier]:
    return {name: listener(front) for name, front in FRONTS.items()}


@needs_compiler
@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("sound", {"reject": 1}),
        pytest.param("sound", {"nothing": "low", "hold": 3000}, marks=pytest.mark.slow),
        pytest.param("motion", {"agree": 2, "nothing": "rest"}, marks=pytest.mark.slow),
    ],
)
def test_c_on_this_machine_makes_the_same_events(name, events, models, tmp_path):
    model, front = models[name], FRONTS[name]
    export_model(model, "c", tmp_path, **events)
    module = on_host(tmp_path)
    device = module.Model()
    assert device.ram == device_costs(model)["flash"].ram
    for seed in range(3):
        x, _ = heard(front, seed)
        x = np.clip(4 * x.astype(int), -32768, 32767).astype(np.int16)
        device = module.Model()
        found = [event for part in pieces(x, seed) for event in device.feed(part.ravel().tolist())]
        assert found and found == numbered(list(model.listen([x], Events(**events))), model)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("m0plus", marks=needs("ziglang", "unicorn")),
        pytest.param("m4", marks=needs("ziglang", "unicorn")),
        pytest.param("wasm", marks=needs("ziglang", "wasmtime")),
    ],
)
def test_every_processor_makes_the_same_events(kind, name, models, tmp_path):
    model, front = models[name], FRONTS[name]
    export_model(model, "c", tmp_path, reject=1)
    device: Any = WasmDevice(tmp_path) if kind == "wasm" else ArmDevice(tmp_path, kind, counted=False)
    x, _ = heard(front, 8, 5)
    found = [event for part in pieces(x, 8) for event in device.feed(part.ravel().tolist())]
    assert found and found == numbered(list(model.listen([x], Events(reject=1))), model)


@needs_compiler
@pytest.mark.real_data
@pytest.mark.parametrize("kind", ["host", pytest.param("wasm", marks=needs("ziglang", "wasmtime"))])
def test_spoken_digits_make_the_same_events(kind, tmp_path):
    """Takes of four speakers are learned, and others of all speakers heard."""
    place = find_data_dir() / "fsdd" / "recordings"

    def word(digit, speaker, take):
        return read_wav(place / f"{digit}_{speaker}_{take}.wav", 8000)

    front, quiet = Spectra(), np.zeros(4000, np.int16)
    model = KenyonClassifier(front=front, memory_budget="20KB", random_state=0)
    known = [(digit, speaker, take) for take in range(5, 8) for speaker in SPEAKERS[:3] for digit in range(10)]
    model.partial_fit([word(*name) for name in known], [digit for digit, _, _ in known])
    spoken = [word(digit, SPEAKERS[digit % len(SPEAKERS)], 9) for digit in range(10)]
    x = np.concatenate([part for one in spoken for part in (quiet, one)] + [quiet])
    export_model(model, "c", tmp_path, reject=2)
    device: Any = WasmDevice(tmp_path) if kind == "wasm" else on_host(tmp_path).Model()
    found = [event for part in pieces(x, 1) for event in device.feed(part.tolist())]
    assert len(found) >= 5 and found == numbered(list(model.listen(pieces(x, 2), Events(reject=2))), model)


@needs_compiler
@pytest.mark.slow
def test_a_device_learns_what_it_heard_and_has_the_bits_of_python(models, tmp_path):
    model = KenyonClassifier.from_arrays(models["sound"].to_arrays())
    export_model(model, "c", tmp_path)
    module = on_host(tmp_path)
    device = module.Model()
    with pytest.raises(module.KenyonError, match="nothing was heard"):
        device.learn_heard(3)
    rng = np.random.default_rng(0)
    stream, spoken = SPECTRA.stream(), np.concatenate([tone("high", rng, 3600), np.zeros(3000, np.int16)])
    device.feed(spoken.tolist())
    (segment,) = stream.segments(spoken)
    device.learn_heard(0)
    model.learn_one(segment.window.ravel(), "low")
    assert device.save() == to_buffer(model)
    with pytest.raises(module.KenyonError, match="nothing was heard"):
        device.learn_heard(0)
    assert device.save() == to_buffer(model)
    device.feed(spoken.tolist())
    device.learn_heard(3)
    assert device.labels == [0, 1, 2, 3], "a class that is not known is added"


@needs_compiler
@pytest.mark.slow
def test_a_state_of_another_front_end_is_refused(models, tmp_path):
    other = listener(Spectra(frames=10, bands=10, kept=40, gap=7))
    export_model(models["sound"], "c", tmp_path)
    module = on_host(tmp_path)
    device = module.Model()
    before = device.save()
    with pytest.raises(module.KenyonError, match="other settings"):
        device.load(to_buffer(other))
    assert device.save() == before
    with pytest.raises(ModelFileError, match="the buffer is of model"):
        from_buffer(models["sound"], to_buffer(other))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="front: there is no cmake")
def test_the_cmake_package_hears_learns_and_keeps(models, tmp_path):
    """Its example, built and run on this machine."""
    model = models["sound"]
    export_model(model, "c", tmp_path / "package", package="cmake")
    build = tmp_path / "build"
    flags = "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -O2"
    for command in (["-S", tmp_path / "package", "-B", build, flags], ["--build", build]):
        done = subprocess.run(["cmake", *map(str, command)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    x, _ = heard(SPECTRA, 3)
    (tmp_path / "words").write_bytes(x.astype("<i2").tobytes())

    def run(script: str) -> list[str]:
        command = [str(build / "learn"), str(tmp_path / "store")]
        return subprocess.run(command, input=script, capture_output=True, text=True, check=True).stdout.splitlines()

    said = run(f"+ {tmp_path / 'words'}\n3\nk\ns\n")
    events = [str(label) for label, *_ in numbered(list(model.listen([x])), model)]
    assert said[: len(events)] == events and said[len(events) : -1] == ["learned 3", "kept"]
    assert run("s\n") == said[-1:], "what was learned is there after a start"


def test_nothing_has_to_be_a_class(models, tmp_path: Path):
    with pytest.raises(ConfigError, match="nothing is 'room': expected one of the classes"):
        export_model(models["sound"], "c", tmp_path, nothing="room")


def test_options_of_events_need_a_front_end(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (6, 64)).astype(np.uint8)
    model = KenyonClassifier(memory_budget="4KB", shape=(8, 8)).partial_fit(X, [0, 1] * 3)
    with pytest.raises(ConfigError, match="agree was given: expected a model with a front end"):
        export_model(model, "c", tmp_path, agree=2)
