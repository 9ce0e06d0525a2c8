"""What the package asks of the operating system: whole-file writes, locks, TOML, processors, the data directory.

Every file that is written as a whole goes through `replacing`, every lock through `locked`. Importing this module
needs nothing that only some systems have.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from kenyon.errors import ConfigError

_ABANDONED_AFTER = 24 * 3600.0
_LOCK_RETRY = 0.1

LARGEST_TOML = 16 << 20
"""Bytes of a configuration; a device that never ends is not read to its end."""


# Files


@contextmanager
def replacing(path: Path, durable: bool = True) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the place of `path` when the block ends well.

    A reader sees the old content or the new, never a part, and two processes never share a temporary file. A block
    that raises leaves nothing behind; a process that is killed may leave a file that `leftovers` finds. The file may be
    read by whoever may read the one that it replaces, or else by whom the umask says, whatever writes to it.

    Args:
        path: the file to write.
        durable: wait until the disk has it, so that not even a loss of power leaves a part.

    Raises:
        OSError: it cannot be written. The error names `path`, never the temporary file.

    Example:
        >>> with replacing(Path("notes.txt")) as temporary:  # doctest: +SKIP
        ...     temporary.write_text("all of it, or none")
    """
    _check_place(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        temporary.touch()
        mode = stat.S_IMODE((path if path.exists() else temporary).stat().st_mode)
        yield temporary
        if durable:
            with open(temporary, "r+b") as file:
                os.fsync(file.fileno())
        with suppress(OSError):  # of systems without modes
            temporary.chmod(mode)
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):  # of a name that is too long, or a folder that is gone
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise


def _check_place(path: Path) -> None:
    """Refuse a path that no file can have."""
    if "\0" in str(path):
        raise ValueError(f"{str(path)!r} has a null character: expected the name of a file")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: expected the name of a file")
    if not path.parent.is_dir():
        if path.parent.exists():
            raise NotADirectoryError(f"{path} cannot be written: {path.parent} is a file, expected a folder")
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}, expected one to write to")


def replace_file(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a whole file; see `replacing`."""
    with replacing(path, durable) as temporary:
        temporary.write_bytes(content)


def replace_json(path: Path, value: Any, durable: bool = True) -> None:
    """Write a whole file of strict JSON (no NaN), indented by two spaces."""
    replace_file(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode(), durable)


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names in a folder, on systems that let one ask for that."""
    with suppress(OSError):  # Windows cannot open a folder
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def leftovers(folder: Path, name: str = "*") -> list[Path]:
    """Temporary files of `replacing` in a folder, made for the file `name` or for any.

    Only a process that holds a lock over `name` knows that no other process writes to them.
    """
    return list(folder.glob(f".{name}.*.tmp"))


def sweep(folder: Path, pattern: str = ".*.tmp") -> None:
    """Remove temporary files and folders that a killed process left behind more than a day ago."""
    for entry in folder.glob(pattern):
        with suppress(OSError):  # another process may be faster, or own it
            if time.time() - entry.stat().st_mtime > _ABANDONED_AFTER:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


# Locks


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock that the file `path` stands for; the system frees it when its holder dies, however it dies.

    Gives False where another process holds it and `wait` is False.
    """
    with open(path, "ab") as file:
        yield _lock(file, wait=wait)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock; False where there is no such file."""
    try:
        with open(path, "rb") as file:
            return not _lock(file, shared=True)
    except OSError:
        return False


def _lock(file: IO[bytes], *, wait: bool = False, shared: bool = False) -> bool:
    """Lock an open file until it is closed; False where another process has it."""
    if sys.platform == "win32":
        return _lock_on_windows(file, wait)
    try:
        import fcntl
    except ModuleNotFoundError:
        return True  # a system without locks is one without other processes, such as a browser
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(file: IO[bytes], wait: bool) -> bool:
    """The same with the lock of the file's first byte, which need not exist."""
    import msvcrt

    file.seek(0)
    while True:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            return True
        except OSError:
            if not wait:
                return False
            time.sleep(_LOCK_RETRY)


# TOML


def to_toml(values: Mapping[str, Any]) -> str:
    """A document of plain values (text, numbers, lists, mappings), mappings last; None is left out.

    Example:
        >>> print(to_toml({"dataset": "digits", "options": {"rule": "gen", "b1": None}}), end="")
        dataset = "digits"
        <BLANKLINE>
        [options]
        rule = "gen"
    """
    lines = [f"{_key(k)} = {_value(v)}" for k, v in values.items() if v is not None and not isinstance(v, Mapping)]
    for name, table in values.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(k)} = {_value(v)}" for k, v in table.items() if v is not None]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def read_toml(path: Path, what: str = "configuration file") -> dict[str, Any]:
    """The values of a TOML file; `what` names its kind in the error where it cannot be read."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_TOML + 1)
        if len(content) > LARGEST_TOML:
            raise ConfigError(f"the {what} {path} has more than {LARGEST_TOML:,} bytes: expected a few lines of TOML")
        return tomllib.loads(content.decode().replace("\r\n", "\n"))
    except OSError as error:
        raise ConfigError(f"the {what} {path} cannot be read: {error.strerror}") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # a TOMLDecodeError, a date that does not exist, bytes that are no text
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"the {what} {path} is not TOML: {error}") from error


def parse_value(text: str) -> Any:
    """Read a TOML value (`3`, `0.1`, `true`, `[1, 2]`, `{b1 = 0.0}`); anything else is text."""
    if "\n" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text


# Processors and places


def n_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_data_dir(data_dir: str | Path | None = None) -> Path:
    """The directory given, else `KENYON_DATA`, else `kenyon/data` in the user's own data folder."""
    if data_dir is not None:
        return Path(data_dir).expanduser()
    if given := os.environ.get("KENYON_DATA"):
        return Path(given).expanduser()
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "kenyon" / "data"
