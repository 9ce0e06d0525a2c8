"""Small models of sounds and motion, and streams of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulated import TRAP, compiled
from kenyon import KenyonClassifier
from kenyon.features.front import Motion, Spectra

PITCHES = {"low": 350, "middle": 900, "high": 2100}
SHAKES = {"rest": (0, 1), "slow": (2500, 14), "fast": (4000, 5)}
SPECTRA, MOTION = Spectra(frames=10, bands=10, kept=40, gap=6), Motion(inputs=3, length=16, hop=8, step=2)

FRONTS = {"sound": SPECTRA, "motion": MOTION}


def tone(name: str, rng: np.random.Generator, n: int = 2400) -> NDArray[np.int16]:
    t = np.arange(n) / 8000
    pitch = PITCHES[name] * rng.normal(1, 0.04)
    wave = np.sin(2 * np.pi * pitch * t) + 0.4 * np.sin(4 * np.pi * pitch * t + rng.random())
    return np.round(4000 * np.exp(rng.normal(0, 0.4)) * wave * np.hanning(n)).astype(np.int16)


def shake(name: str, rng: np.random.Generator, n: int = 200) -> NDArray[np.int16]:
    strength, period = SHAKES[name]
    x = rng.normal(0, 60, (n, 3))
    x[:, 2] += 8192
    x[:, 0] += strength * np.sin(2 * np.pi * np.arange(n) / period / rng.normal(1, 0.05) + rng.random())
    return np.round(x).astype(np.int16)


def listener(front: Spectra | Motion, **more: Any) -> KenyonClassifier:
    """A model that knows the tones, or the motions, one class after the other."""
    rng = np.random.default_rng(7)
    model = KenyonClassifier(memory_budget="4KB", front=front, expected_classes=4, random_state=1, **more)
    for name in PITCHES if isinstance(front, Spectra) else SHAKES:
        for _ in range(12):
            one = tone(name, rng) if isinstance(front, Spectra) else shake(name, rng)
            model.partial_fit([one], [name])
    return model


def heard(front: Spectra | Motion, seed: int, n: int = 9) -> tuple[NDArray[np.int16], list[str]]:
    """A stream, and what is in it."""
    rng = np.random.default_rng(seed)
    if isinstance(front, Motion):
        names = [str(rng.choice(list(SHAKES))) for _ in range(n)]
        return np.concatenate([shake(name, rng, 400) for name in names]), names
    parts, names = [], []
    for _ in range(n):
        names.append(str(rng.choice(list(PITCHES))))
        parts += [rng.normal(0, 8, rng.integers(1500, 5000)), tone(names[-1], rng).astype(float)]
    x = np.concatenate([*parts, rng.normal(0, 8, 4000)]) + rng.normal(0, 8, sum(map(len, parts)) + 4000)
    return np.clip(np.round(x), -32768, 32767).astype(np.int16), names


def pieces(x: NDArray, seed: int) -> list[NDArray]:
    return np.split(x, np.sort(np.random.default_rng(seed).integers(0, len(x), 30)))


def on_host(folder: Path) -> ModuleType:
    """The wrapper of an exported folder, compiled for this machine."""
    compiled(folder, "libkenyon.so", "-shared", "-fPIC", *TRAP)
    spec = importlib.util.spec_from_file_location("kenyon_device", folder / "kenyon_device.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
