"""Sound, motion and gas: small files in the publishers' formats, damaged ones, and the published sets."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from kenyon.data.streams import download_dataset, load_dataset, verify_dataset
from kenyon.data.streams._fsdd import read_fsdd_split
from kenyon.data.streams._gas import read_gas_split
from kenyon.data.streams._hapt import (
    TEST_USERS,
    experiments,
    read_hapt_npz,
    read_hapt_text,
    text_names,
)
from kenyon.data.streams._sources import SOURCES
from kenyon.errors import ConfigError, DataError
from kenyon.features.front import Motion, Spectra


def write_wav(path: Path, samples: np.ndarray, rate: int = 8000, channels: int = 1, width: int = 2) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", "not compressed"))
        file.writeframes(samples.tobytes())
    return path


def sounds(folder: Path, n: int = 6) -> tuple[list[Path], list[np.ndarray]]:
    rng = np.random.default_rng(0)
    recordings = [rng.integers(-9000, 9000, rng.integers(700, 3000)).astype("<i2") for _ in range(n)]
    return [write_wav(folder / f"{i % 10}_theo_{i}.wav", x) for i, x in enumerate(recordings)], recordings


def test_recordings_become_spectra_once(tmp_path):
    files, recordings = sounds(tmp_path)
    cache = tmp_path / "cache"
    split = read_fsdd_split(files, cache)
    np.testing.assert_array_equal(split.X, Spectra().transform(recordings))
    assert split.y.tolist() == [0, 1, 2, 3, 4, 5]
    (made,) = cache.iterdir()
    made.write_bytes(made.read_bytes()[:-1] + b"\x07")
    assert read_fsdd_split(files, cache).X[-1, -1] == 7  # read, not made
    write_wav(files[0], recordings[1])
    again = read_fsdd_split(files, cache)
    np.testing.assert_array_equal(again.X[0], split.X[1])
    assert len(list(cache.iterdir())) == 2
    np.testing.assert_array_equal(read_fsdd_split(files, None).X, again.X)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda path: write_wav(path, np.zeros(100, "<i2"), rate=16000),
            "at 16000 Hz: expected 1 of 16 bits at 8000 Hz",
        ),
        (lambda path: write_wav(path, np.zeros(100, "<i2"), channels=2), "has 2 channels"),
        (lambda path: write_wav(path, np.zeros(100, "u1"), width=1), "of 8 bits"),
        (lambda path: write_wav(path, np.zeros(0, "<i2")), "holds 0 bytes of sound"),
        (lambda path: path.write_bytes(path.read_bytes()[:-400]), "bytes of sound: expected"),
        (lambda path: path.write_bytes(b"RIFF"), "cannot be read as WAV"),
        (lambda path: path.write_bytes(b"<html>"), "cannot be read as WAV"),
    ],
)
def test_damaged_recordings_are_named(damage, message, tmp_path):
    files, _ = sounds(tmp_path, 3)
    damage(files[1])
    with pytest.raises(DataError, match=message) as error:
        read_fsdd_split(files, tmp_path / "cache")
    assert "1_theo_1.wav" in str(error.value)
    assert not list((tmp_path / "cache").glob("*.npy"))


def motion(n: int = 700, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9000, 9000, (n, 6)).astype(np.int16)


def write_text(folder: Path, x: np.ndarray, labels: str) -> list[Path]:
    scaled = x / np.array([8192] * 3 + [3276] * 3)
    files = [folder / "acc_exp07_user04.txt", folder / "gyro_exp07_user04.txt", folder / "labels.txt"]
    np.savetxt(files[0], scaled[:, :3], fmt="%.10f")
    np.savetxt(files[1], scaled[:, 3:], fmt="%.10f")
    files[2].write_text(labels)
    return files


def test_text_and_archive_give_the_same_windows(tmp_path):
    x = motion()
    files = write_text(tmp_path, x, "7 4 5 65 300\n7 4 2 301 700\n8 4 1 1 700\n")
    split = read_hapt_text(files, tmp_path / "cache")
    y = np.full(700, -1)
    y[64:300], y[300:] = 5, 2
    windows, spans = Motion(inputs=6).transform(x), Motion(inputs=6).spans(700)
    counts = [np.bincount(y[a:b][y[a:b] > 0], minlength=13) for a, b in spans]
    kept = [i for i, count in enumerate(counts) if count.max() >= 64]
    assert len(kept) == len(windows) == 9
    np.testing.assert_array_equal(split.X, windows[kept])
    assert split.y.tolist() == [counts[i].argmax() - 1 for i in kept]
    assert split.y.tolist()[0] == 4 and split.y.tolist()[-1] == 1
    other = motion(700, 1)
    archive = tmp_path / "hapt.npz"
    both = {"X": np.concatenate([x, other]), "y": np.concatenate([y, y]).astype(np.int8)}
    user = np.repeat([4, 5], 700).astype(np.int8)
    np.savez(archive, **both, user=user, recording=np.zeros(1400, np.int8))
    test, train = (read_hapt_npz([archive], tmp_path / "cache", test=test) for test in (True, False))
    np.testing.assert_array_equal(test.X, split.X)
    np.testing.assert_array_equal(test.y, split.y)
    np.testing.assert_array_equal(train.X, Motion(inputs=6).transform(other)[kept])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("7 4 13 1 700\n", "activity 13 from 1 to 700 in experiment 7: expected one of 1 to 12"),
        ("7 4 1 1 701\n", "within 1 to 700"),
        ("7 4 1 1\n", "expected finite numbers in 5 columns"),
        ("seven\n", "cannot be read as numbers"),
    ],
)
def test_damaged_labels_are_named(labels, message, tmp_path):
    files = write_text(tmp_path, motion(), labels)
    with pytest.raises(DataError, match=message):
        read_hapt_text(files, None)


def test_damaged_readings_are_named(tmp_path):
    files = write_text(tmp_path, motion(), "7 4 5 65 300\n")
    files[1].write_text("\n".join(files[1].read_text().splitlines()[:-1]))
    with pytest.raises(DataError, match="has 699 readings: expected 700"):
        read_hapt_text(files, None)
    np.savez(tmp_path / "a.npz", X=motion(), y=np.zeros(700, np.int8), user=np.zeros(700, np.int8))
    with pytest.raises(DataError, match="expected recording, too"):
        read_hapt_npz([tmp_path / "a.npz"], None, test=False)
    np.savez(tmp_path / "a.npz", X=motion() * 1.0, y=np.zeros(700), user=np.zeros(700), recording=np.zeros(700))
    with pytest.raises(DataError, match=r"X is float64 of shape \(700, 6\): expected int16"):
        read_hapt_npz([tmp_path / "a.npz"], None, test=False)


def test_users_of_hapt_are_in_one_split_each():
    assert len(experiments()) == 61
    parts = [{int(name[-6:-4]) for name in text_names(test)[:-1]} for test in (False, True)]
    assert parts[1] == set(TEST_USERS) and not parts[0] & parts[1] and len(parts[0] | parts[1]) == 30


def gas_line(gas: int, values: np.ndarray) -> str:
    return f"{gas};10.000000 " + " ".join(f"{k}:{value:f}" for k, value in enumerate(values, start=1)) + "\n"


def test_batches_are_read_in_order(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(0, 100, (5, 128))
    files = [tmp_path / "batch1.dat", tmp_path / "batch2.dat"]
    files[0].write_text("".join(gas_line(gas, row) for gas, row in zip((1, 6, 2), X, strict=False)))
    files[1].write_text("".join(gas_line(gas, row) for gas, row in zip((3, 1), X[3:], strict=True)))
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        split = read_gas_split(files, cache)
        assert split.X.dtype == np.float32
        np.testing.assert_allclose(split.X, X, rtol=1e-5, atol=1e-5)
        assert split.y.tolist() == [0, 5, 1, 2, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (gas_line(7, np.zeros(128)), "line 1: gas 7: expected 1 to 6"),
        (gas_line(1, np.zeros(127)), "line 1: 127 features: expected 1 to 128"),
        (gas_line(1, np.full(128, np.nan)), "finite features"),
        ("1;2 x\n", "line 1: 1 features"),
        ("\n", "cannot be read as a batch"),
        ("", "has no line"),
    ],
)
def test_damaged_batches_are_named(text, message, tmp_path):
    path = tmp_path / "batch1.dat"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_gas_split([path], None)


def test_what_is_not_downloaded_says_where_it_is_published(tmp_path):
    with pytest.raises(ConfigError, match=r"get it from https://github.com/Jakobovski.* \(CC BY-SA 4.0\)"):
        download_dataset("fsdd", tmp_path)
    with pytest.raises(DataError, match=r"0_george_5\.wav, .* and 2,988 more into .*it is published at https") as error:
        load_dataset("fsdd", tmp_path)
    assert len(str(error.value)) < 600


def test_splits_of_spoken_digits_share_nothing():
    for name in ("fsdd", "fsdd-speakers"):
        (layout,) = SOURCES[name].layouts
        assert len({*layout.train, *layout.test}) == len(layout.train) + len(layout.test) == 3000
    assert all(int(name.split("_")[2][:-4]) < 5 for name in SOURCES["fsdd"].layouts[0].test)
    assert {name.split("_")[1] for name in SOURCES["fsdd-speakers"].layouts[0].test} == {"nicolas", "theo"}


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["fsdd", "fsdd-speakers", "hapt", "gas-drift"])
def test_published_sensors_are_as_published(name):
    checks = verify_dataset(name)
    assert [check for check in checks if not check.ok] == []
    assert len(checks) <= 10


@pytest.mark.real_data
def test_drift_is_in_the_order_of_time():
    gas = load_dataset("gas-drift")
    assert np.bincount(gas.train.y[:445]).tolist() == [90, 98, 83, 30, 70, 74]
    low, high = gas.value_range
    assert low <= float(gas.train.X.min()) and float(gas.train.X.max()) <= high
