"""The digits inside the package: 1,797 handwritten digits of 8 x 8 pixels, values 0 to 16.

`digits.md` has their origin and licence.

There is no published test set, so a fifth of each class, by a fixed seed, is kept for testing.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from kenyon.data.streams._dataset import Dataset, Split
from kenyon.data.streams._random import stratified_share

DIGITS_REFERENCE = "Alpaydin, Kaynak, Optical recognition of handwritten digits, UCI, 1998"
DIGITS_PAGE = ("https://archive.ics.uci.edu/dataset/80", "CC BY 4.0")
"""Where the set is published, and its licence."""


def read_digits() -> Dataset:
    """The embedded digits; needs no file."""
    with files("kenyon.data.streams").joinpath("digits.npz").open("rb") as file, np.load(file) as arrays:
        X, y = arrays["X"], arrays["y"].astype(np.int64)
    test = stratified_share(0, "digits", y, 0.2)
    names = tuple("0123456789")
    return Dataset("digits", (8, 8), names, Split(X[~test], y[~test]), Split(X[test], y[test]), (0.0, 16.0))
