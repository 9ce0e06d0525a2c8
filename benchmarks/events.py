"""How well a stream of words is recognised, with words among them that the model never learned.

    python benchmarks/events.py

Ten spoken digits of four speakers, takes 5 to 49 of the training set; nicolas and theo are in none of this. A model of
20 KB learns seven of the digits, one after the other, from so many examples of each. Takes 45 to 49 of all ten are then
one stream, in random order, with half a second of faint noise between two words. Mean over three draws of digits, order
and features, in %: known words that make the right event, a wrong one or none, and unknown words that make one.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.data.streams._fsdd import HELD_OUT, SPEAKERS, read_wav
from kenyon.features.front import Events, Spectra
from kenyon.utils.system import find_data_dir

OTHERS = [name for name in SPEAKERS if name not in HELD_OUT]
QUIET, FAINT = 4000, 8
REJECTS = (None, 2.0, 1.0, 0.7)
ASKED = range(45, 50)


@cache
def word(digit: int, speaker: str, take: int) -> NDArray[np.int16]:
    return read_wav(find_data_dir() / "fsdd" / "recordings" / f"{digit}_{speaker}_{take}.wav", 8000)


def spoken(rng: np.random.Generator) -> tuple[NDArray[np.int16], list[tuple[int, int, int]]]:
    """The stream, and of each word its digit, and the samples at which its recording begins and ends."""
    names = [(digit, speaker, take) for digit in range(10) for speaker in OTHERS for take in ASKED]
    parts, places, at = [], [], 0
    for place in rng.permutation(len(names)):
        one = word(*names[place])
        parts += [np.zeros(QUIET), one]
        places.append((names[place][0], at + QUIET, at + QUIET + len(one)))
        at += QUIET + len(one)
    x = np.concatenate([*parts, np.zeros(2 * QUIET)])
    return np.clip(np.round(x + rng.normal(0, FAINT, len(x))), -32768, 32767).astype(np.int16), places


def rates(examples: int, reject: float | None, seed: int) -> NDArray[np.float64]:
    """Right, wrong and none of known words, and events of unknown ones."""
    rng = np.random.default_rng(seed)
    known = [int(digit) for digit in rng.permutation(10)[:7]]
    model = KenyonClassifier(front=Spectra(), memory_budget="20KB", random_state=seed)
    for digit in known:
        words = [word(digit, speaker, take) for take in range(5, 5 + examples) for speaker in OTHERS]
        model.partial_fit(words, [digit] * len(words))
    x, places = spoken(rng)
    events = list(model.listen([x], Events(reject=reject)))
    found = np.zeros(4)
    for digit, start, end in places:
        label = next((event.label for event in events if event.start < end and event.end > start), None)
        if digit in known:
            found[0 if label == digit else 2 if label is None else 1] += 1
        else:
            found[3] += label is not None
    n = len(OTHERS) * len(ASKED)
    return 100 * found / [7 * n, 7 * n, 7 * n, 3 * n]


if __name__ == "__main__":
    print(f"{'examples':>10}{'reject':>8}{'right':>9}{'wrong':>9}{'none':>9}{'unknown':>11}")
    for examples in (2, 10, 40):
        for reject in REJECTS:
            row = np.mean([rates(examples, reject, seed) for seed in range(3)], axis=0)
            print(f"{4 * examples:>10}{reject or 'off':>8}" + "".join(f"{value:>9.1f}" for value in row), flush=True)
