"""The C sources of the front ends, compiled for this machine and called through ctypes."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kenyon
from emulated import TRAP, compiled
from kenyon.features.front import Motion, Sound, Spectra

SOURCES = Path(kenyon.__file__).parent / "core" / "front"
ROOM = 1 << 16
"""Bytes for a struct, which C knows the size of."""


def build(folder: Path) -> ctypes.CDLL:
    library = folder / "front.so"
    compiled(SOURCES, str(library), *TRAP, "-shared", "-fPIC", sources=("spectra.c", "motion.c"))
    loaded = ctypes.CDLL(str(library))
    loaded.kenyon_spectra_feed.restype = ctypes.c_size_t
    loaded.kenyon_spectra_sound.restype = _Sound
    return loaded


class _SpectraSettings(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint16) for name in ("size", "bands", "frames", "kept", "gap")] + [
        ("edges", ctypes.POINTER(ctypes.c_uint16))
    ]


class _MotionSettings(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint16) for name in ("inputs", "length", "hop", "step", "fine")]


class _Sound(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_uint16), ("ago", ctypes.c_uint16), ("level", ctypes.c_uint8), ("noise", ctypes.c_uint8),
    ]  # fmt: skip


def _pointer(array: NDArray, kind: Any) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(kind))


class SpectraInC:
    def __init__(self, library: ctypes.CDLL, front: Spectra) -> None:
        self.library, self.front = library, front
        self.state = ctypes.create_string_buffer(ROOM)
        edges = (ctypes.c_uint16 * len(front.edges))(*front.edges)
        settings = _SpectraSettings(front.size, front.bands, front.frames, front.kept, front.gap, edges)
        self.code = library.kenyon_spectra_init(self.state, ctypes.byref(settings))

    def feed(self, samples: NDArray[np.int16]) -> int:
        samples = np.ascontiguousarray(samples, np.int16)
        return self.library.kenyon_spectra_feed(self.state, _pointer(samples, ctypes.c_int16), len(samples))

    def sound(self) -> Sound:
        sound = self.library.kenyon_spectra_sound(self.state)
        return Sound(sound.length, sound.ago, sound.level, sound.noise)

    def window(self) -> NDArray[np.uint8]:
        window = np.full(self.front.shape, 7, np.uint8)
        self.library.kenyon_spectra_window(self.state, _pointer(window, ctypes.c_uint8))
        return window

    def reset(self) -> None:
        self.library.kenyon_spectra_reset(self.state)


class MotionInC:
    def __init__(self, library: ctypes.CDLL, front: Motion) -> None:
        self.library, self.front = library, front
        self.state = ctypes.create_string_buffer(ROOM)
        settings = _MotionSettings(front.inputs, front.length, front.hop, front.step, front.fine)
        self.code = library.kenyon_motion_init(self.state, ctypes.byref(settings))

    def feed(self, readings: NDArray[np.int16]) -> list[NDArray[np.uint8]]:
        windows = []
        for reading in np.ascontiguousarray(readings, np.int16):
            if self.library.kenyon_motion_push(self.state, _pointer(reading, ctypes.c_int16)):
                window = np.full(self.front.shape, 7, np.uint8)
                self.library.kenyon_motion_window(self.state, _pointer(window, ctypes.c_uint8))
                windows.append(window)
        return windows

    def reset(self) -> None:
        self.library.kenyon_motion_reset(self.state)
