"""What a shared library is, read from its bytes: the system and processor it is for, and the names that it exports."""

from __future__ import annotations

import struct
from typing import NamedTuple

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
MACH_MACHINES = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}


class Library(NamedTuple):
    """`system` is `linux`, `macos` or `windows`."""

    system: str
    machine: str
    exported: frozenset[str]


def read_library(data: bytes) -> Library:
    """A library for 64-bit little-endian processors; ValueError for anything else."""
    if data[:6] == b"\x7fELF\x02\x01":
        return _elf(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _mach(data)
    if data[:2] == b"MZ":
        return _pe(data)
    raise ValueError(f"a library begins with {data[:4]!r}: expected ELF, Mach-O or PE of 64 bits")


def _name(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _elf(data: bytes) -> Library:
    (machine,) = struct.unpack_from("<H", data, 18)
    (table,) = struct.unpack_from("<Q", data, 40)
    each, n = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * each) for i in range(n)]
    exported = set()
    for section in sections:
        if section[1] == 11:  # SHT_DYNSYM; section[6] is that of its strings
            strings = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, info, _, place = struct.unpack_from("<IBBH", data, at)
                if place and info >> 4 in (1, 2):  # defined here, global or weak
                    exported.add(_name(data, strings + name))
    return Library("linux", ELF_MACHINES.get(machine, str(machine)), frozenset(exported))


def _mach(data: bytes) -> Library:
    machine, _, _, n_commands = struct.unpack_from("<IIII", data, 4)
    exported, at = set(), 32
    for _ in range(n_commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:  # LC_SYMTAB
            symbols, n, strings, _ = struct.unpack_from("<IIII", data, at + 8)
            for i in range(n):
                name, kind = struct.unpack_from("<IB", data, symbols + 16 * i)
                if kind & 0xF1 == 0x01 and kind & 0x0E:  # external, not private, defined; debuggers' entries left out
                    exported.add(_name(data, strings + name).removeprefix("_"))
        at += size
    return Library("macos", MACH_MACHINES.get(machine, str(machine)), frozenset(exported))


def _pe(data: bytes) -> Library:
    (head,) = struct.unpack_from("<I", data, 60)
    machine, n_sections = struct.unpack_from("<HH", data, head + 4)
    (optional,) = struct.unpack_from("<H", data, head + 20)
    sections = [struct.unpack_from("<IIII", data, head + 24 + optional + 40 * i + 8) for i in range(n_sections)]

    def place(address: int) -> int:
        return next(address - at + raw for _, at, size, raw in sections if at <= address < at + size)

    (exports,) = struct.unpack_from("<I", data, head + 24 + 112)
    names = set()
    if exports:
        n, _, table = struct.unpack_from("<III", data, place(exports) + 24)
        for address in struct.unpack_from(f"<{n}I", data, place(table)):
            names.add(_name(data, place(address)))
    return Library("windows", PE_MACHINES.get(machine, str(machine)), frozenset(names))
