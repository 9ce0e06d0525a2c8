"""Files that grow row by row, and checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kenyon.errors import DataError
from kenyon.lab.evaluation import Tally, read_checkpoint, read_growing, save_checkpoint, state_hash
from kenyon.lab.evaluation._files import GrowingArray


@pytest.mark.parametrize("shape", [(6,), (6, 3)])
def test_a_growing_array_is_a_plain_npy_once_full(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path, rows = tmp_path / "a.npy", np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    array = GrowingArray(path, np.float32, shape)
    array.append(rows[:4])
    array.sync()
    assert np.array_equal(read_growing(path), rows[:4])
    array.append(rows[4:])
    array.close()
    assert np.array_equal(np.load(path, allow_pickle=False), rows)


def test_a_growing_array_is_cut_back_when_resumed(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.npy", np.arange(10, dtype=np.uint8)
    array = GrowingArray(path, np.uint8, (10,))
    array.append(rows[:7])
    array.append(np.array([99], np.uint8))
    array.close()
    array = GrowingArray(path, np.uint8, (10,), rows=5)
    array.append(rows[5:])
    array.close()
    assert np.array_equal(np.load(path, allow_pickle=False), rows)


@pytest.mark.parametrize(("shape", "rows"), [((10,), 8), ((11,), 5)])
def test_a_growing_array_that_does_not_fit_is_refused(tmp_path: Path, shape: tuple[int, ...], rows: int) -> None:
    path = tmp_path / "a.npy"
    array = GrowingArray(path, np.uint8, (10,))
    array.append(np.arange(6, dtype=np.uint8))
    array.close()
    with pytest.raises(ValueError, match=r"a\.npy"):
        GrowingArray(path, np.uint8, shape, rows)


def test_rows_of_another_width_are_refused(tmp_path: Path) -> None:
    array = GrowingArray(tmp_path / "a.npy", np.float32, (4, 3))
    with pytest.raises(ValueError, match="do not fit"):
        array.append(np.zeros((1, 2), np.float32))


def state() -> dict[str, np.ndarray]:
    return {
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "scalar": np.array(7),
        "empty": np.zeros((0, 4), np.float32),
        "flags": np.array([True, False]),
    }


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path: Path) -> None:
    path, tally = tmp_path / "c.safetensors", Tally.empty(2)
    tally.correct[0] = 3, 4
    tally.row, tally.learned, tally.learn_seconds = 1, 20, 0.1
    save_checkpoint(path, "run", state(), tally)
    loaded = read_checkpoint(path, "run")
    assert loaded is not None
    assert state_hash(loaded[0]) == state_hash(state())
    assert loaded[0]["scalar"].shape == ()
    for name, value in vars(tally).items():
        np.testing.assert_array_equal(getattr(loaded[1], name), value)


def test_a_foreign_or_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    assert read_checkpoint(path, "run") is None
    save_checkpoint(path, "run", state(), Tally.empty(2))
    with pytest.raises(DataError, match="belongs to the run 'run': expected 'another'"):
        read_checkpoint(path, "another")
    content = path.read_bytes()
    for cut in range(0, len(content), 7):
        path.write_bytes(content[:cut])
        with pytest.raises(DataError, match=r"cannot be read|is damaged|has the format"):
            read_checkpoint(path, "run")


def test_the_hash_sees_name_type_shape_and_value() -> None:
    base = {"a": np.zeros(4, np.float32)}
    others = [
        {"b": np.zeros(4, np.float32)},
        {"a": np.zeros(4, np.int32)},
        {"a": np.zeros((2, 2), np.float32)},
        {"a": np.array([0, 0, 0, 1e-45], np.float32)},
    ]
    assert len({state_hash(s) for s in [base, *others]}) == 5
