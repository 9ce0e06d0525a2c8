"""The front ends on emulated processors and as WebAssembly: the bits of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from cases import needs
from emulated_front import ArmFront, FrontModule, WasmFront
from kenyon.data.streams._fsdd import SPEAKERS, read_wav
from kenyon.features.front import Motion, Spectra
from kenyon.utils.system import find_data_dir

MACHINES = [
    pytest.param("m0plus", marks=needs("ziglang", "unicorn")),
    pytest.param("m4", marks=needs("ziglang", "unicorn")),
    pytest.param("wasm", marks=needs("ziglang", "wasmtime")),
]


def module_on(machine: str, folder, spectra: Spectra, motion: Motion) -> FrontModule:
    return WasmFront(folder, spectra, motion) if machine == "wasm" else ArmFront(folder, machine, spectra, motion)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rate", [8000, 16000])
def test_bits_are_those_of_numpy(machine, rate, tmp_path):
    spectra, motion = Spectra(rate=rate), Motion(inputs=6)
    device = module_on(machine, tmp_path, spectra, motion)
    rng = np.random.default_rng(rate)
    x = (rng.normal(0, 1, 5000) * np.repeat([30, 9000, 60000, 0, 900], 1000)).clip(-32768, 32767).astype(np.int16)
    stream = spectra.stream()
    for part in np.split(x, [1, 700, 701, 3333]):
        assert device.hear(part) == stream.feed(part)
        np.testing.assert_array_equal(device.heard(), stream.window())
    readings = rng.integers(-32768, 32768, (200, 6)).astype(np.int16)
    windows = [window for reading in readings if (window := device.move(reading)) is not None]
    np.testing.assert_array_equal(np.array(windows).reshape(len(windows), -1), motion.transform(readings))


@pytest.mark.real_data
@pytest.mark.parametrize("machine", MACHINES)
def test_recordings_have_the_bits_of_numpy(machine, tmp_path):
    """One of each speaker."""
    spectra = Spectra()
    device = module_on(machine, tmp_path, spectra, Motion(inputs=6))
    stream = spectra.stream()
    for digit, speaker in enumerate(SPEAKERS):
        x = read_wav(find_data_dir() / "fsdd/recordings" / f"{digit}_{speaker}_7.wav", 8000)
        assert device.hear(x) == stream.feed(x)
        np.testing.assert_array_equal(device.heard(), stream.window())
