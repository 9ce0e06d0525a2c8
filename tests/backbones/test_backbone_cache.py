"""Features on disk: found again, never half-written, never used when damaged, made once by two processes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from cases import slow
from kenyon.data.backbones import DamagedCacheWarning
from kenyon.data.backbones._cache import CachedFeatures, cached_features
from kenyon.errors import DataError
from waiting import wait_until

ROWS = np.random.default_rng(0).normal(size=(10, 6)).astype(np.float32)
IDENTITY = {"images": "abc", "resolution": 32}


def cached(
    folder: Path, identity: dict | None = None, blocks: list | None = None, made: list | None = None
) -> CachedFeatures:
    def make() -> tuple:
        if made is not None:
            made.append(1)
        return iter([ROWS[:4], ROWS[4:8], ROWS[8:]] if blocks is None else blocks), 123

    return cached_features(folder, "Some set, train", identity or IDENTITY, 10, make)


def only_file(folder: Path) -> Path:
    (path,) = folder.glob("*.safetensors")
    return path


def test_made_once_then_mapped(tmp_path: Path) -> None:
    made: list = []
    for _ in range(3):
        found = cached(tmp_path, made=made)
        np.testing.assert_array_equal(found.X, ROWS)
        assert found.X.dtype == np.float32 and not found.X.flags.writeable
        assert isinstance(found.X.base, np.memmap)
        assert found.backbone_bytes == 123
        np.testing.assert_allclose(found.value_range, (ROWS.min(), ROWS.max()), rtol=1e-7)
    assert len(made) == 1
    assert only_file(tmp_path).name.startswith("some-set-train-")


def test_any_reader_of_safetensors_can_read_it(tmp_path: Path) -> None:
    cached(tmp_path)
    np.testing.assert_array_equal(load_file(only_file(tmp_path))["features"], ROWS)


def test_whatever_the_features_follow_from_changes_the_file(tmp_path: Path) -> None:
    made: list = []
    cached(tmp_path, made=made)
    cached(tmp_path, {**IDENTITY, "resolution": 64}, made=made)
    cached(tmp_path, {**IDENTITY, "images": "abd"}, made=made)
    assert len(made) == 3
    assert len(list(tmp_path.glob("*.safetensors"))) == 3


def flip(place: float) -> Callable[[bytes], bytes]:
    def damage(content: bytes) -> bytes:
        i = int(place * (len(content) - 1))
        return content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :]

    return damage


def bytes_told(content: bytes) -> bytes:
    """A header that lies about the network's size but is otherwise whole."""
    return content.replace(b'"backbone_bytes":"123"', b'"backbone_bytes":"124"')


def swapped(content: bytes) -> bytes:
    """A shape of as many numbers."""
    return content.replace(b"[10,6]", b"[6,10]")


DAMAGE = [flip(0.0), flip(0.2), flip(0.8), flip(1.0), lambda c: c[:-1], lambda c: c + b"x", lambda c: c[: len(c) // 2]]
DAMAGE += [lambda c: b"", lambda c: c[:5], lambda c: b"\xff" * len(c), bytes_told, swapped]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_again_with_a_warning(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    made: list = []
    cached(tmp_path, made=made)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert path.read_bytes() != whole
    with pytest.warns(DamagedCacheWarning, match=f"{path.name} are damaged .* made again"):
        found = cached(tmp_path, made=made)
    assert len(made) == 2
    np.testing.assert_array_equal(found.X, ROWS)
    assert path.read_bytes() == whole
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cached(tmp_path, made=made)
    assert len(made) == 2


@pytest.mark.parametrize("every", [13, slow(1)])
def test_every_single_byte_is_watched(tmp_path: Path, every: int) -> None:
    cached(tmp_path)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    for i in range(0, len(whole), every):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 4]) + whole[i + 1 :])
        with pytest.warns(DamagedCacheWarning):
            np.testing.assert_array_equal(cached(tmp_path).X, ROWS)


def test_the_features_of_something_else_are_not_taken(tmp_path: Path) -> None:
    cached(tmp_path)
    path = only_file(tmp_path)
    cached(tmp_path, {**IDENTITY, "resolution": 64}, blocks=[ROWS + 1])
    (other,) = set(tmp_path.glob("*.safetensors")) - {path}
    other.replace(path)
    with pytest.warns(DamagedCacheWarning, match="something else"):
        np.testing.assert_array_equal(cached(tmp_path).X, ROWS)


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> tuple:
        def blocks():
            yield ROWS[:4]
            raise KeyboardInterrupt

        return blocks(), 1

    with pytest.raises(KeyboardInterrupt):
        cached_features(tmp_path, "x", IDENTITY, 10, failing)
    assert [entry.suffix for entry in tmp_path.iterdir()] == [".lock"]
    with pytest.raises(DataError, match="8 rows of features were made for 10 images"):
        cached(tmp_path, blocks=[ROWS[:8]])
    assert [entry for entry in tmp_path.iterdir() if entry.suffix != ".lock"] == []
    np.testing.assert_array_equal(cached(tmp_path).X, ROWS)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot be kept in .*Choose another --data-dir"):
        cached(tmp_path / "file" / "cache")


WORKER = """
import sys
from pathlib import Path
import numpy as np
from kenyon.data.backbones._cache import cached_features
from waiting import wait_until
folder, marks = Path(sys.argv[1]), Path(sys.argv[2])
(marks / f"begun-{sys.argv[3]}").touch()
def make():
    (marks / f"makes-{sys.argv[3]}").touch()
    def blocks():
        for i in range(10):
            wait_until(lambda: len(list(marks.glob("begun-*"))) >= 3)
            yield np.full((3, 2), i, np.float32)
    return blocks(), 7
found = cached_features(folder, "shared", {"a": 1}, 30, make)
assert found.X.sum() == 6 * 45 and found.backbone_bytes == 7, found.X
"""


def test_two_processes_make_them_once(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    command = [sys.executable, "-c", WORKER, str(tmp_path / "cache"), str(marks)]
    workers = [subprocess.Popen([*command, str(i)]) for i in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert len(list(marks.glob("makes-*"))) == 1


def test_a_killed_maker_leaves_the_way_free(tmp_path: Path) -> None:
    marks, cache = tmp_path / "marks", tmp_path / "cache"
    marks.mkdir()
    command = [sys.executable, "-c", WORKER, str(cache), str(marks)]
    worker = subprocess.Popen([*command, "0"])
    try:
        wait_until(marks.joinpath("makes-0").exists, worker)
    finally:
        worker.kill()
        worker.wait()
    assert not list(cache.glob("*.safetensors"))
    for name in ("begun-2", "begun-3"):
        (marks / name).touch()  # the others it would wait for
    subprocess.run([*command, "1"], check=True)
    assert sorted(entry.suffix for entry in cache.iterdir()) == [".lock", ".safetensors"]  # nor any remains
