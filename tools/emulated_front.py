"""The front ends in C, compiled by Zig and run on an emulated Cortex-M or as WebAssembly, for tests and benchmarks."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kenyon
from emulated import ArmMachine, compiled
from kenyon.features.front import Motion, Spectra

SOURCES = Path(kenyon.__file__).parent / "core" / "front"
FILES = ("spectra.c", "motion.c", "module.c")
BUFFER = 4096
"""Bytes that go in or come out in one call, at the most."""

MODULE = """
#include "front.h"
static kenyon_spectra ear;
static kenyon_motion hand;
static int16_t in[{buffer} / 2];
static uint8_t out[{buffer}];
static const uint16_t edges[] = {{{edges}}};
void *kenyon_front_in(void) {{ return in; }}
void *kenyon_front_out(void) {{ return out; }}
int kenyon_front_init(void)
{{
    const kenyon_spectra_settings sound = {{{size}, {bands}, {frames}, {kept}, {gap}, edges}};
    const kenyon_motion_settings motion = {{{inputs}, {length}, {hop}, {step}, {fine}}};
    return kenyon_spectra_init(&ear, &sound) | kenyon_motion_init(&hand, &motion);
}}
int kenyon_front_hear(int n) {{ return (int)kenyon_spectra_feed(&ear, in, (size_t)n); }}
void kenyon_front_heard(void) {{ kenyon_spectra_window(&ear, out); }}
int kenyon_front_move(void) {{ return kenyon_motion_push(&hand, in); }}
void kenyon_front_moved(void) {{ kenyon_motion_window(&hand, out); }}
"""


def write_module(folder: Path, spectra: Spectra, motion: Motion) -> None:
    """The sources, and a module around them with these settings and the memory that they need."""
    for name in ("front.h", "spectra.c", "motion.c"):
        shutil.copy(SOURCES / name, folder / name)
    sizes = {
        "KENYON_SPECTRA_SIZE": spectra.size,
        "KENYON_SPECTRA_BANDS": spectra.bands,
        "KENYON_SPECTRA_KEPT": spectra.kept,
        "KENYON_MOTION_LENGTH": motion.length,
    }
    header = folder / "front.h"
    defines = "".join(f"#define {name} {value}\n" for name, value in sizes.items())
    header.write_text(header.read_text().replace("#define KENYON_FRONT_H\n", f"#define KENYON_FRONT_H\n{defines}"))
    settings = {name: getattr(spectra, name) for name in ("size", "bands", "frames", "kept", "gap")}
    settings |= {name: getattr(motion, name) for name in ("inputs", "length", "hop", "step", "fine")}
    edges = ", ".join(map(str, spectra.edges))
    (folder / "module.c").write_text(MODULE.format(buffer=BUFFER, edges=edges, **settings))


class FrontModule:
    """Both front ends as a module; `call`, `_write` and `_read` are the machine's."""

    spectra: Spectra
    motion: Motion

    def call(self, name: str, *arguments: int) -> int:
        raise NotImplementedError

    def _write(self, address: int, content: bytes) -> None:
        raise NotImplementedError

    def _read(self, address: int, size: int) -> bytes:
        raise NotImplementedError

    def _start(self) -> None:
        self._in, self._out = self.call("kenyon_front_in"), self.call("kenyon_front_out")
        if self.call("kenyon_front_init"):
            raise AssertionError("the settings were refused")

    def hear(self, samples: NDArray[np.int16]) -> int:
        made = 0
        for start in range(0, len(samples), BUFFER // 2):
            part = samples[start : start + BUFFER // 2]
            self._write(self._in, part.astype("<i2").tobytes())
            made += self.call("kenyon_front_hear", len(part))
        return made

    def heard(self) -> NDArray[np.uint8]:
        self.call("kenyon_front_heard")
        shape = self.spectra.shape
        return np.frombuffer(self._read(self._out, shape[0] * shape[1]), np.uint8).reshape(shape)

    def move(self, reading: NDArray[np.int16]) -> NDArray[np.uint8] | None:
        self._write(self._in, reading.astype("<i2").tobytes())
        if not self.call("kenyon_front_move"):
            return None
        self.call("kenyon_front_moved")
        shape = self.motion.shape
        return np.frombuffer(self._read(self._out, shape[0] * shape[1]), np.uint8).reshape(shape)


class ArmFront(FrontModule):
    """On an emulated Cortex-M, `m0plus` or `m4`; `machine.instructions` are those of the last call."""

    def __init__(self, folder: Path, core: str, spectra: Spectra, motion: Motion) -> None:
        self.spectra, self.motion = spectra, motion
        write_module(folder, spectra, motion)
        self.machine = ArmMachine(folder, core, FILES, "kenyon_front_init")
        self._start()

    def call(self, name: str, *arguments: int) -> int:
        return self.machine.call(name, *arguments)

    def _write(self, address: int, content: bytes) -> None:
        self.machine.put(address, content)

    def _read(self, address: int, size: int) -> bytes:
        return self.machine.get(address, size)


class WasmFront(FrontModule):
    """As WebAssembly."""

    def __init__(self, folder: Path, spectra: Spectra, motion: Motion) -> None:
        import wasmtime

        self.spectra, self.motion = spectra, motion
        write_module(folder, spectra, motion)
        exported = [
            f"-Wl,--export=kenyon_front_{name}" for name in ("in", "out", "init", "hear", "heard", "move", "moved")
        ]
        options = ("-target", "wasm32-freestanding", "-s", "-Wl,--no-entry", "-fno-sanitize=undefined")
        path = compiled(folder, "front.wasm", *options, *exported, sources=FILES)
        self._store = wasmtime.Store()
        module = wasmtime.Module.from_file(self._store.engine, str(path))
        self._exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory = self._exports["memory"]
        self._start()

    def call(self, name: str, *arguments: int) -> int:
        return self._exports[name](self._store, *arguments) or 0

    def _write(self, address: int, content: bytes) -> None:
        self._memory.write(self._store, content, address)

    def _read(self, address: int, size: int) -> bytes:
        return bytes(self._memory.read(self._store, address, address + size))
