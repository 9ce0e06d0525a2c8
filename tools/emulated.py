"""Exported C sources, compiled and run on this machine, on an emulated ARM core or as WebAssembly.

This machine's C compiler serves where there is one. Everything else comes from PyPI: `ziglang` (a C compiler for every
processor), `unicorn` (an emulator) and `wasmtime`.
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kenyon.core.compiler import find_compiler, zig

FLAGS = ("-Wall", "-Wextra", "-Wconversion", "-Wno-psabi", "-Werror", "-O2")
TRAP = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
"""What C leaves open ends the process. GCC, Clang and Zig all know the older of the two forms."""
SOURCES = ("kenyon.c", "kenyon_module.c")

LINK = """ENTRY(%(entry)s)
SECTIONS {
  . = 0x00010000;
  .text : { KEEP(*(.text.%(kept)s_*)) *(.text*) }
  .rodata : { *(.rodata*) }
  .ARM.exidx : { *(.ARM.exidx*) }
  . = 0x20000000;
  .data : { *(.data*) }
  .bss : { *(.bss*) *(COMMON) }
}
"""
RAM, STACK, TOP, RETURN = 0x20000000, 0x20200000, 0x20210000, 0x0FFF0000
CORES = {"m0plus": "cortex_m0plus", "m4": "cortex_m4"}


FRONT = "kenyon_front.c"
"""A source more, where the model has a front end."""


def sources_in(folder: Path) -> tuple[str, ...]:
    """The files of an export to compile."""
    return (*SOURCES, FRONT) if (folder / FRONT).exists() else SOURCES


def compiled(folder: Path, out: str, *options: str, sources: tuple[str, ...] | None = None) -> Path:
    """Compile an exported folder, for this machine or a `-target`; warnings are errors.

    What Zig makes for itself is kept for the next time.
    """
    sources = sources_in(folder) if sources is None else sources
    cache = Path(tempfile.gettempdir()) / f"kenyon-zig-{os.getuid() if hasattr(os, 'getuid') else 0}"
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    compiler = zig() if "-target" in options else find_compiler()
    assert compiler, "another processor needs the package ziglang"
    standard = () if any(option.startswith("-std=") for option in options) else ("-std=c99",)
    command = [*compiler, *standard, *FLAGS, *options, *sources, "-o", out]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return folder / out


class Hearing:
    """Samples of a sensor in, events out, on any machine that has `call` and `_put`."""

    model: int

    def call(self, name: str, *arguments: int) -> int:
        raise NotImplementedError

    def _put(self, content: bytes, address: int) -> None:
        raise NotImplementedError

    def feed(self, samples: Sequence[int]) -> list[tuple[int, int, int, int]]:
        """(label, start, end, clipped) of each event in samples of any number."""
        events, most, address = [], self.call("kenyon_size", 8), self.call("kenyon_the_samples")
        for start in range(0, len(samples), most):
            part = samples[start : start + most]
            self._put(struct.pack(f"<{len(part)}h", *part), address)
            code = self.call("kenyon_feed", self.model, address, len(part))
            if code < 0:
                raise AssertionError(f"error {code}")
            if code:
                label, begin, end, clipped = (self.call("kenyon_event_of", self.model, what) for what in range(4))
                events.append((label, begin, end, clipped))
        return events


class ArmMachine(Hearing):
    """C sources on an emulated Cortex-M.

    Args:
        folder: of the sources.
        core: `m0plus` or `m4`.
        sources: the files to compile.
        entry: a function that is called from outside; its prefix, up to `_`, is that of all such functions.
        options: more options of the compiler.
        counted: whether instructions are counted, which takes most of the time.

    Attributes:
        instructions: of the last call.
        code, constants, data: bytes of machine code, of tables and of RAM, as linked.
    """

    def __init__(
        self,
        folder: Path,
        core: str,
        sources: tuple[str, ...],
        entry: str,
        options: tuple[str, ...] = (),
        counted: bool = True,
    ) -> None:
        import unicorn
        from unicorn import arm_const

        (folder / "link.ld").write_text(LINK % {"entry": entry, "kept": entry.split("_")[0]})
        target = (
            "-target",
            "thumb-freestanding-eabi",
            f"-mcpu={CORES[core]}",
            "-static",
            "-ffunction-sections",
            "-fno-sanitize=undefined",
        )
        how = (*target, *options, "-T", "link.ld", "-fno-unwind-tables")
        image = compiled(folder, f"{core}.elf", *how, sources=sources).read_bytes()
        self._names = _symbols(image)
        self._registers = arm_const
        self._machine = machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        machine.ctl_set_cpu_model(arm_const.UC_CPU_ARM_CORTEX_M4 if core == "m4" else arm_const.UC_CPU_ARM_CORTEX_M0)
        machine.mem_map(0x00000000, 0x00800000)
        machine.mem_map(RAM, TOP - RAM)
        machine.mem_map(RETURN, 0x1000)
        self.code = self.constants = self.data = 0
        for kind, address, content, size in _sections(image):
            machine.mem_write(address, content)
            self.code += size if kind == "code" else 0
            self.constants += size if kind == "constants" else 0
            self.data += size if kind == "data" else 0
        self.instructions = 0
        self._lengths: dict[int, int] = {}
        if counted:
            machine.hook_add(unicorn.UC_HOOK_BLOCK, self._count)

    def put(self, address: int, content: bytes) -> None:
        """Write into the memory."""
        self._machine.mem_write(address, content)

    def get(self, address: int, size: int) -> bytes:
        """Read from the memory."""
        return bytes(self._machine.mem_read(address, size))

    def take_over(self, other: ArmMachine) -> None:
        """The memory of another machine with the same sources and core."""
        self._machine.mem_write(RAM, bytes(other._machine.mem_read(RAM, STACK - RAM)))

    def call(self, name: str, *arguments: int) -> int:
        """Call a function and give what it returns, as a number with a sign."""
        r = self._registers
        for place, value in enumerate(arguments):
            self._machine.reg_write(r.UC_ARM_REG_R0 + place, value & 0xFFFFFFFF)
        self._machine.reg_write(r.UC_ARM_REG_SP, TOP)
        self._machine.reg_write(r.UC_ARM_REG_LR, RETURN | 1)
        self.instructions = 0
        self._machine.emu_start(self._names[name] | 1, RETURN)
        value = self._machine.reg_read(r.UC_ARM_REG_R0)
        return value - (1 << 32) if value >= 1 << 31 else value

    def _put(self, content: bytes, address: int) -> None:
        self._machine.mem_write(address, content)

    def stack_of(self, name: str, *arguments: int) -> int:
        """Bytes of stack that a call takes."""
        self._machine.mem_write(STACK, b"\xa5" * (TOP - STACK))
        self.call(name, *arguments)
        kept = bytes(self._machine.mem_read(STACK, TOP - STACK))
        return len(kept.lstrip(b"\xa5"))

    def _count(self, machine: Any, address: int, size: int, _: Any) -> None:
        """Add the instructions of a block: of two bytes, or of four where the first begins so."""
        if address not in self._lengths:
            halves = struct.unpack(f"<{size // 2}H", machine.mem_read(address, size))
            n = at = 0
            while at < len(halves):
                at += 2 if halves[at] >> 11 in (0b11101, 0b11110, 0b11111) else 1
                n += 1
            self._lengths[address] = n
        self.instructions += self._lengths[address]


class ArmDevice(ArmMachine):
    """The sources of an export on an emulated Cortex-M.

    The RAM it was linked with holds what a module has besides the model: a sample, a buffer and numbers.

    Args:
        folder: of an export.
        core: `m0plus` or `m4`.
        counted: whether instructions are counted, which takes most of the time.
    """

    def __init__(self, folder: Path, core: str, counted: bool = True) -> None:
        super().__init__(folder, core, sources_in(folder), "kenyon_size", counted=counted)
        self.model = self.call("kenyon_the_model")
        self._sample, self._numbers = self.call("kenyon_the_sample"), self.call("kenyon_the_numbers")
        self._buffer = self.call("kenyon_the_buffer")
        self.ram = self.call("kenyon_size", 3)
        self.call("kenyon_init", self.model)

    def learn(self, sample: bytes, label: int) -> int:
        self._machine.mem_write(self._sample, sample)
        return self.call("kenyon_learn", self.model, self._sample, label)

    def predict(self, sample: bytes) -> int:
        self._machine.mem_write(self._sample, sample)
        code = self.call("kenyon_predict", self.model, self._sample, self._numbers)
        return struct.unpack("<i", self._machine.mem_read(self._numbers, 4))[0] if code == 0 else code

    def scores(self, sample: bytes) -> list[int]:
        self._machine.mem_write(self._sample, sample)
        n = self.call("kenyon_scores", self.model, self._sample, self._numbers)
        return list(struct.unpack(f"<{n}i", self._machine.mem_read(self._numbers, 4 * n)))

    def save(self) -> bytes:
        size = self.call("kenyon_save", self.model, self._buffer, self.call("kenyon_size", 4))
        return bytes(self._machine.mem_read(self._buffer, size))

    def load(self, buffer: bytes) -> int:
        self._machine.mem_write(self._buffer, buffer)
        return self.call("kenyon_load", self.model, self._buffer, len(buffer))


def _headers(image: bytes) -> list[tuple[int, ...]]:
    """The section headers of a 32-bit ELF file: name, kind, flags, address, offset, size, link, ..."""
    start, size, n = struct.unpack_from("<I", image, 32)[0], *struct.unpack_from("<HH", image, 46)
    return [struct.unpack_from("<10I", image, start + size * number) for number in range(n)]


def _sections(image: bytes) -> list[tuple[str, int, bytes, int]]:
    """(kind, address, content, bytes) of everything that is loaded."""
    found = []
    for _, kind, flags, address, offset, size, *_ in _headers(image):
        if flags & 2 and size:  # takes up memory
            content = image[offset : offset + size] if kind != 8 else bytes(size)
            found.append(("data" if flags & 1 else "code" if flags & 4 else "constants", address, content, size))
    return found


def _symbols(image: bytes) -> dict[str, int]:
    """The addresses of functions by name."""
    headers = _headers(image)
    names: dict[str, int] = {}
    for _, kind, _, _, offset, size, link, *_ in headers:
        if kind == 2:
            strings = headers[link][4]
            for at in range(offset, offset + size, 16):
                name, value = struct.unpack_from("<II", image, at)
                end = image.index(b"\0", strings + name)
                names[image[strings + name : end].decode()] = value & ~1
    return names


class WasmDevice(Hearing):
    """The sources as WebAssembly."""

    def __init__(self, folder: Path) -> None:
        import wasmtime

        path = wasm_module(folder)
        self._store = wasmtime.Store()
        module = wasmtime.Module.from_file(self._store.engine, str(path))
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory: Any = self._exports["memory"]
        self.model = self.call("kenyon_the_model")
        self._sample, self._numbers = self.call("kenyon_the_sample"), self.call("kenyon_the_numbers")
        self._buffer = self.call("kenyon_the_buffer")
        self.call("kenyon_init", self.model)

    def call(self, name: str, *arguments: int) -> Any:
        function: Any = self._exports[name]
        return function(self._store, *arguments)

    def _put(self, content: bytes, address: int) -> None:
        self._memory.write(self._store, content, address)

    def learn(self, sample: bytes, label: int) -> int:
        self._put(sample, self._sample)
        return self.call("kenyon_learn", self.model, self._sample, label)

    def scores(self, sample: bytes) -> list[int]:
        self._put(sample, self._sample)
        n = self.call("kenyon_scores", self.model, self._sample, self._numbers)
        return list(struct.unpack(f"<{n}i", self._memory.read(self._store, self._numbers, self._numbers + 4 * n)))

    def save(self) -> bytes:
        size = self.call("kenyon_save", self.model, self._buffer, self.call("kenyon_size", 4))
        return bytes(self._memory.read(self._store, self._buffer, self._buffer + size))


def wasm_module(folder: Path) -> Path:
    """Compile the sources to WebAssembly."""
    makefile = (folder / "Makefile").read_text().replace("\\\n", " ")
    names = makefile.split("EXPORTED := ")[1].splitlines()[0].split()
    if (folder / FRONT).exists():
        names += makefile.split("HEARING := ")[1].splitlines()[0].split()
    how = ("-target", "wasm32-freestanding", "-s", "-Wl,--no-entry", *(f"-Wl,--export=kenyon_{name}" for name in names))
    return compiled(folder, "kenyon.wasm", *how)
