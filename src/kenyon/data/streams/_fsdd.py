"""Spoken digits as spectra: the recordings of the Free Spoken Digit Dataset.

A file is `DIGIT_SPEAKER_TAKE.wav`, one channel of 16 bits at 8 kHz. Takes 0 to 4 of every speaker and digit are the
official test set. In the split by speaker two of the six speakers are the test set, with all of their takes.

Reference: Jackson et al., Free Spoken Digit Dataset, https://github.com/Jakobovski/free-spoken-digit-dataset
"""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._cache import made_once
from kenyon.data.streams._dataset import Split
from kenyon.data.streams._reading import reading
from kenyon.errors import DataError
from kenyon.features.front import Spectra

SPEAKERS = ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
HELD_OUT = ("nicolas", "theo")
TAKES, TEST_TAKES = range(50), range(5)
FRONT = Spectra(rate=8000)


def recording_names(speakers: Sequence[str], takes: Sequence[int]) -> tuple[str, ...]:
    """The files of these speakers and takes."""
    return tuple(f"{digit}_{speaker}_{take}.wav" for digit in range(10) for speaker in speakers for take in takes)


def read_wav(path: Path, rate: int) -> NDArray[np.int16]:
    """The samples of a WAV file of one channel, 16 bits and this rate."""
    with reading(path, "cannot be read as WAV"), wave.open(str(path), "rb") as file:
        seen = (file.getnchannels(), 8 * file.getsampwidth(), file.getframerate())
        if seen != (1, 16, rate):
            raise DataError(
                f"{path} has {seen[0]} channels of {seen[1]} bits at {seen[2]} Hz: expected 1 of 16 bits at {rate} Hz"
            )
        content = file.readframes(file.getnframes())
        if not content or len(content) != 2 * file.getnframes():
            raise DataError(f"{path} holds {len(content)} bytes of sound: expected {2 * file.getnframes()}, and some")
    return np.frombuffer(content, "<i2").astype(np.int16)


def read_fsdd_split(files: Sequence[Path], cache: Path | None) -> Split:
    """Read one split: a window of spectra for each recording."""

    def make() -> NDArray[np.uint8]:
        return FRONT.transform(read_wav(path, FRONT.rate) for path in files)

    X = made_once(cache, "fsdd", files, repr(FRONT), make)
    speakers = [SPEAKERS.index(path.name.split("_")[1]) for path in files]
    return Split(X, np.array([int(path.name[0]) for path in files], np.int64), np.array(speakers, np.int64))
