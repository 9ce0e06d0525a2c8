"""Choose the digits of the page `kenyon teach` from MNIST's training set and pack them.

    python tools/pack_digits.py src/kenyon/apps/teach/digits.bin

500 of each digit to learn, task after task and shuffled within a task, and 100 others of each to be asked about.
MNIST's test set is not opened.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from kenyon.apps.teach import TASKS, Digits, pack_digits
from kenyon.data.streams import load_dataset

LEARNED, ASKED = 500, 100


def choose() -> Digits:
    """The same digits every time."""
    train = load_dataset("mnist").train
    X, y = train.X, train.y
    chance = np.random.default_rng(0)
    of_each = [chance.permutation(np.flatnonzero(y == digit))[: LEARNED + ASKED] for digit in range(10)]
    stream = [chance.permutation(np.concatenate([of_each[digit][:LEARNED] for digit in task])) for task in TASKS]
    learned, asked = np.concatenate(stream), np.concatenate([some[LEARNED:] for some in of_each])
    images = np.asarray(X, np.uint8).reshape(len(X), -1)
    labels = np.asarray(y, np.uint8)
    return Digits(images[learned], labels[learned], images[asked], labels[asked])


if __name__ == "__main__":
    packed = pack_digits(choose())
    Path(sys.argv[1]).write_bytes(packed)
    print(f"{len(packed):,} bytes")
