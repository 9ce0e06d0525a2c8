"""Whole-file writes, locks and TOML."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from kenyon.errors import ConfigError
from kenyon.utils.system import (
    find_data_dir,
    is_locked,
    leftovers,
    locked,
    n_cores,
    read_toml,
    replace_file,
    replace_json,
    replacing,
    sweep,
    to_toml,
)


@pytest.mark.parametrize("durable", [True, False])
def test_replace_leaves_nothing_else(tmp_path: Path, durable: bool) -> None:
    replace_file(tmp_path / "a", b"old", durable)
    replace_file(tmp_path / "a", b"new", durable)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path: Path, error: type[BaseException]) -> None:
    replace_file(tmp_path / "a", b"old")
    with pytest.raises(error), replacing(tmp_path / "a") as temporary:
        temporary.write_bytes(b"half")
        assert leftovers(tmp_path) == leftovers(tmp_path, "a") == [temporary]
        assert leftovers(tmp_path, "b") == []
        raise error
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_two_writers_share_no_temporary_file(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as one, replacing(tmp_path / "a") as other:
        one.write_bytes(b"one")
        other.write_bytes(b"other")
    assert (tmp_path / "a").read_bytes() == b"one"


@pytest.mark.parametrize(
    "name, kind, match",
    [
        ("none/model", FileNotFoundError, r"none/model cannot be written: there is no folder .*none, expected one"),
        ("folder", IsADirectoryError, r"folder is a folder: expected the name of a file"),
        ("folder/..", IsADirectoryError, r"is a folder: expected the name of a file"),
        ("file/model", NotADirectoryError, r"file/model cannot be written: .*file is a file, expected a folder"),
        ("x" * 255, OSError, r"name too long: '.*xxx'$"),
        ("a\0b", ValueError, r"a.x00b' has a null character"),
    ],
)
def test_what_cannot_be_written_is_named_as_it_was_asked_for(
    name: str, kind: type[Exception], match: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(kind, match=match) as caught:
        replace_file(tmp_path / name, b"x")
    assert ".tmp" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_full_disk_is_said_with_the_file_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*model'"):
        replace_file(tmp_path / "model", b"x")
    assert not list(tmp_path.iterdir())


def test_a_new_file_has_the_rights_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    replace_file(tmp_path / "a", b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_json_is_strict(tmp_path: Path) -> None:
    replace_json(tmp_path / "a", {"x": 1})
    with pytest.raises(ValueError, match="JSON"):
        replace_json(tmp_path / "a", {"x": float("nan")})
    assert (tmp_path / "a").read_text() == '{\n  "x": 1\n}\n'


def test_only_what_is_old_is_swept(tmp_path: Path) -> None:
    for name in (".old.1-a.tmp", ".new.1-a.tmp", "old"):
        (tmp_path / name).touch()
    for name in (".old.1-a.tmp", "old"):
        os.utime(tmp_path / name, (time.time() - 2 * 86400,) * 2)
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new.1-a.tmp", "old"]


HOLD = """
import sys
from pathlib import Path
from kenyon.utils.system import locked

with locked(Path(sys.argv[1])) as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_held_by_one_process_and_freed_by_its_death(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists()
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert is_locked(path)
        with locked(path, wait=False) as held:
            assert not held
        holder.kill()
        with locked(path) as held:
            assert held
    assert not is_locked(path)


def test_locks_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def locking(handle: int, mode: int, n_bytes: int) -> None:
        assert (mode, n_bytes) == (2, 1)
        taken.append(handle)
        if len(taken) < 3:
            raise OSError("held by another")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    with locked(tmp_path / "lock", wait=False) as held:
        assert not held
    with locked(tmp_path / "lock") as held:
        assert held
    assert len(taken) == 3


def test_toml_round_trip() -> None:
    values = {
        "text": 'a "quoted" \\ line',
        "whole": 3,
        "small": 1e-05,
        "big": float("inf"),
        "yes": True,
        "list": [1, 2.5, "x"],
        "options": {"nested": {"b1": 0.0}, "odd key": "ü"},
    }
    assert tomllib.loads(to_toml(values | {"none": None})) == values


@pytest.mark.parametrize(("content", "reason"), [(None, "cannot be read: No such file"), (b"a = ", "is not TOML")])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=rf"the space .*a\.toml {reason}"):
        read_toml(path, "space")


def test_the_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENYON_DATA", "/given")
    assert find_data_dir("~/mine") == Path.home() / "mine"
    assert find_data_dir() == Path("/given")
    monkeypatch.delenv("KENYON_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/data")
    assert find_data_dir() == Path("/home/data/kenyon/data")


def test_there_is_a_processor() -> None:
    assert 1 <= n_cores() <= (os.cpu_count() or 1)
