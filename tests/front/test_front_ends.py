"""Front ends: what they compute, the same bits in C, in any cut of the stream."""

from __future__ import annotations

import re

import numpy as np
import pytest
from front_in_c import SOURCES, MotionInC, SpectraInC, build
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import NO_COMPILER, compiles
from kenyon.errors import ConfigError, InputError
from kenyon.features.front import Motion, Spectra
from kenyon.features.front._integers import CIRCLE, LOGS, isqrt, log8, sines, spectrum
from kenyon.features.front._spectra import ROOTS

FRONTS = [
    Spectra(),
    Spectra(rate=16000),
    Spectra(frames=32, bands=24, kept=20, gap=2),
    Spectra(rate=16000, frames=2, bands=40, low=50, high=7900, kept=256, gap=0),
]
MOTIONS = [
    Motion(),
    Motion(inputs=6),
    Motion(inputs=6, length=9, hop=2, step=1, fine=0),
    Motion(length=256, hop=256, step=2, fine=8),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not compiles():
        pytest.skip(NO_COMPILER)
    return build(tmp_path_factory.mktemp("front"))


def words(seed: int, n: int = 9000) -> np.ndarray:
    """Noise with louder sounds in it, some of them clipped, and silence."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, rng.choice([1, 30, 500]), n)
    for _ in range(rng.integers(0, 4)):
        start, length = rng.integers(0, n), rng.integers(50, 4000)
        t = np.arange(len(x[start : start + length]))
        x[start : start + length] += rng.choice([100, 4000, 60000]) * np.sin(
            rng.uniform(0.05, 3) * t + t**2 * rng.normal(0, 1e-4)
        )
    quiet = rng.integers(0, n)
    x[quiet : quiet + rng.integers(0, 3000)] = 0
    return np.clip(np.round(x), -32768, 32767).astype(np.int16)


def cut(n: int, seed: int) -> list[slice]:
    ends = np.sort(np.random.default_rng(seed).integers(0, n + 1, 7))
    return [slice(a, b) for a, b in zip([0, *ends], [*ends, n], strict=True)]


@pytest.mark.parametrize("front", FRONTS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_spectra_have_the_same_bits_in_c_in_any_cut(front, seed, library):
    x = words(seed)
    at_once, in_parts, in_c = front.stream(), front.stream(), SpectraInC(library, front)
    assert in_c.code == 0
    assert not in_c.window().any() and in_c.sound() == in_parts.sound() == (0, 0, 0, 0)
    at_once.feed(x)
    for part in cut(len(x), seed):
        assert in_parts.feed(x[part]) == in_c.feed(x[part])
        np.testing.assert_array_equal(in_parts.window(), in_c.window())
        assert in_parts.sound() == in_c.sound()
    np.testing.assert_array_equal(at_once.window(), in_c.window())
    in_c.reset()
    in_c.feed(x[::-1])
    again = front.stream()
    again.feed(x[::-1])
    np.testing.assert_array_equal(again.window(), in_c.window())


@pytest.mark.parametrize("front", FRONTS[:2], ids=str)
@pytest.mark.parametrize(
    "x",
    [
        np.full(3000, -32768),
        np.where(np.arange(3000) % 2, 32767, -32768),
        np.where(np.arange(3000) // 16 % 2, 32767, -32768),
        np.zeros(3000),
        np.arange(3000) == 1500,
    ],
    ids=["lowest", "highest frequency", "square", "silence", "one"],
)
def test_extreme_sound_is_within_bounds(front, x, library):
    """The C is compiled such that an overflow ends the process."""
    x = x.astype(np.int16)
    stream, in_c = front.stream(), SpectraInC(library, front)
    stream.feed(x)
    in_c.feed(x)
    np.testing.assert_array_equal(stream.window(), in_c.window())
    assert stream.sound() == in_c.sound()


@given(st.integers(0, 10**6), st.sampled_from(MOTIONS))
@settings(max_examples=25)
def test_motion_has_the_same_bits_in_c_in_any_cut(library, seed, front):
    rng = np.random.default_rng(seed)
    x = rng.integers(-32768, 32768, (700, front.inputs)) >> rng.integers(0, 12)
    x = x.astype(np.int16)
    stream, in_c = front.stream(), MotionInC(library, front)
    assert in_c.code == 0
    windows = front.transform(x)
    mine = [window for part in cut(len(x), seed) for window in stream.feed(x[part])]
    theirs = [window for part in cut(len(x), seed) for window in in_c.feed(x[part])]
    assert len(mine) == len(theirs) == len(windows) == len(front.spans(len(x)))
    for one, other, third in zip(mine, theirs, windows, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one.ravel(), third)
    in_c.reset()
    np.testing.assert_array_equal(np.array(in_c.feed(x)).reshape(windows.shape), windows)


def test_c_refuses_settings_that_it_has_no_memory_for(library):
    front = Spectra()
    object.__setattr__(front, "kept", 257)
    assert SpectraInC(library, front).code == -1
    object.__setattr__(front, "kept", 1)
    assert SpectraInC(library, front).code == -1
    motion = Motion()
    for name, value in (("step", 3), ("inputs", 4), ("length", 257), ("hop", 0)):
        wrong = Motion()
        object.__setattr__(wrong, name, value)
        assert MotionInC(library, wrong).code == -1, name
    assert MotionInC(library, motion).code == 0


def test_tables_in_c_are_what_the_equations_say():
    text = (SOURCES / "spectra.c").read_text()

    def table(name: str) -> list[int]:
        found = re.search(rf"{name}\[[^]]*\] = {{([^}}]*)}}", text)
        assert found
        return [int(number) for number in found[1].replace(",", " ").split()]

    assert table("QUARTER") == sines(np.arange(CIRCLE // 4 + 1)).tolist()
    assert table("LOGS") == LOGS.tolist()
    assert table("ROOTS") == ROOTS.tolist()


@pytest.mark.parametrize("size", [256, 512])
def test_spectrum_is_that_of_floats(size):
    rng = np.random.default_rng(0)
    y = rng.integers(-16384, 16385, (50, size))
    re_, im = spectrum(y)
    exact = np.fft.rfft(y)[:, : size // 2] * 2 / size
    assert np.abs(re_ + 1j * im - exact)[:, 1:].max() < 6


def test_logarithms_and_roots():
    values = np.concatenate([np.arange(1, 5000), 2 ** np.arange(1, 52), 2 ** np.arange(2, 52) - 1])
    rest = 8 * np.log2(values) - log8(values)
    assert rest.min() > -1e-3 and rest.max() < 1.001
    squares = np.arange(1, 100_000, 37) ** 2
    np.testing.assert_array_equal(isqrt(squares), np.sqrt(squares))
    np.testing.assert_array_equal(isqrt(squares - 1), np.sqrt(squares) - 1)


def test_a_tone_is_in_its_band_and_a_sound_has_its_length():
    front = Spectra()
    x = np.zeros(8000)
    t = np.arange(1600)
    x[3000:4600] = 9000 * np.sin(2 * np.pi * 1000 / 8000 * t)
    stream = front.stream()
    stream.feed(np.round(x).astype(np.int16))
    middle = front.edges[1 + int(stream.window()[10].argmax())] / 16 * 8000 / 256
    assert abs(middle - 1000) < 60
    sound = stream.sound()
    assert abs(sound.length - 1600 / 128) <= 4
    assert abs(sound.ago - 3400 / 128) <= 3
    assert sound.noise == 0 and sound.level > 200


def test_loudness_and_the_place_in_time_make_little_difference():
    rng = np.random.default_rng(3)
    t = np.arange(4000)
    word = np.sin(t * (0.2 + t / 8000)) * np.hanning(4000) * 4000
    front = Spectra()
    one, quiet, later = (
        front.transform([np.round(x).astype(np.int16)])[0].astype(int)
        for x in (word, word / 8, np.concatenate([rng.normal(0, 1, 5120), word]))
    )
    assert np.abs(one - quiet).max() < 40
    assert np.abs(one - quiet).mean() < 3
    assert np.abs(one - later).mean() < 6


def test_both_rates_give_nearly_the_same_window():
    t = np.arange(16000) / 16000
    x = 6000 * np.sin(2 * np.pi * (300 * t + 600 * t**2)) * np.hanning(16000)
    fast = Spectra(rate=16000).transform([np.round(x).astype(np.int16)])[0].astype(int)
    slow = Spectra(rate=8000).transform([np.round(x[::2]).astype(np.int16)])[0].astype(int)
    assert np.abs(fast - slow).mean() < 3


def test_a_recording_is_the_window_of_the_stream_after_its_loudest_frame():
    front = Spectra()
    x = words(4, 30_000)
    stream, windows, levels = front.stream(), [], []
    for start in range(0, len(x), front.hop):
        part = np.zeros(front.hop, np.int16)
        part[: len(x[start : start + front.hop])] = x[start : start + front.hop]
        stream.feed(part)
        windows.append(stream.window())
        levels.append(int(stream._logs[-1, -1]))
    at = min(len(windows) - 1, int(np.argmax(levels)) + front.kept // 2)
    np.testing.assert_array_equal(front.transform([x])[0], windows[at].ravel())


def test_gravity_and_motion_are_apart():
    front = Motion(inputs=3)
    x = np.zeros((600, 3), np.int16)
    x[:, 2] = 8192
    still = front.transform(x)[-1].reshape(front.shape)
    assert (still[:, :3] == 128).all() and (still[:, 3] == 0).all()
    assert still[0, 4:].tolist() == [128, 128, 192]
    x[:, 0] = 1000 * (-1) ** (np.arange(600) // 4)
    shaken = front.transform(x)[-1].reshape(front.shape)
    assert np.ptp(shaken[:, 0]) > 100 and (shaken[:, 3] > 25).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spectra(rate=11025), "rate is 11025: expected one of 8000, 16000"),
        (lambda: Spectra(bands=1), "bands is 1: expected an integer from 2 to 40"),
        (lambda: Spectra(frames=20.0), "frames is 20.0: expected an integer"),
        (lambda: Spectra(high=4001), "high is 4001: expected an integer from 100 to 4000"),
        (lambda: Spectra(bands=40, low=100, high=150), "bands is 40 from 100 to 150 Hz: expected fewer"),
        (lambda: Motion(inputs=4), "inputs is 4: expected one of 3, 6"),
        (lambda: Motion(step=3), "step is 3: expected one of 1, 2, 4"),
        (lambda: Motion(hop=33), "hop is 33: expected an integer from 1 to 32"),
    ],
)
def test_settings_that_are_refused(make, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        make()


def test_samples_that_are_refused_change_nothing():
    stream = Spectra().stream()
    stream.feed(words(1))
    before = stream.window()
    for wrong, message in (
        (np.zeros(400), "samples are of type float64: expected int16"),
        (np.zeros((400, 2), np.int16), r"samples have shape \(400, 2\): expected \(n,\)"),
    ):
        with pytest.raises(InputError, match=message):
            stream.feed(wrong)
    np.testing.assert_array_equal(stream.window(), before)
    with pytest.raises(InputError, match="a recording has no samples"):
        Spectra().transform([np.zeros(0, np.int16)])
    motion = Motion(inputs=6).stream()
    with pytest.raises(InputError, match=r"readings have shape \(9, 3\): expected \(n, 6\)"):
        motion.feed(np.zeros((9, 3), np.int16))
