"""What a reader returns: two splits of flat samples with integer labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._rows import Rows
from kenyon.errors import DataError

Samples: TypeAlias = NDArray | Rows
_BLOCK = 4096


@dataclass(frozen=True)
class Split:
    """Samples and labels.

    Attributes:
        X: `(n, n_features)`, uint8 for images, float32 otherwise; often memory-mapped, so slice it.
        y: `(n,)` int64 in `0 .. n_classes - 1`.
        domain: `(n,)` the domain of each sample, by number, where the data set has domains (people, months); else None.

    Example:
        >>> train = load_dataset("digits").train
        >>> train.X.shape, train.X.dtype, train.y.dtype
        ((1438, 64), dtype('uint8'), dtype('int64'))
    """

    X: Samples
    y: NDArray[np.int64]
    domain: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.y)


class Dataset:
    """A data set. Each split is opened when it is first used.

    Args:
        name: the name it was loaded by.
        shape: the shape of one sample, `(28, 28)` or `(3, 32, 32)`; `(n,)` for plain vectors.
        class_names: one name per class.
        train, test: a `Split`, or a function that opens it.
        value_range: the smallest and largest value of a feature.
        domain_names: one name per domain, in the order of the stream; empty where there are none.

    Example:
        >>> digits = load_dataset("digits")
        >>> digits.shape, digits.n_classes, len(digits.train.y), len(digits.test.y)
        ((8, 8), 10, 1438, 359)
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        class_names: tuple[str, ...],
        train: Split | Callable[[], Split],
        test: Split | Callable[[], Split],
        value_range: tuple[float, float] = (0.0, 255.0),
        domain_names: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.shape = shape
        self.class_names = class_names
        self.value_range = value_range
        self.domain_names = domain_names
        self._train = train
        self._test = test

    @cached_property
    def train(self) -> Split:
        return self._open(self._train, "training")

    @cached_property
    def test(self) -> Split:
        return self._open(self._test, "test")

    @property
    def n_classes(self) -> int:
        return len(self.class_names)

    @property
    def n_features(self) -> int:
        return int(np.prod(self.shape))

    def content_sum(self) -> str:
        """SHA-256 of the training samples, labels and domains, and of how they are to be read.

        The test samples are left out, so that a test set that must not be opened stays closed.
        """
        about = (self.name, self.shape, self.class_names, self.value_range, self.domain_names)
        digest, train = hashlib.sha256(repr(about).encode()), self.train
        for start in range(0, len(train), _BLOCK):
            digest.update(np.ascontiguousarray(train.X[start : start + _BLOCK]).tobytes())
        for column in (train.y, train.domain):
            if column is not None:
                digest.update(column.astype(np.int64).tobytes())
        return digest.hexdigest()

    def _open(self, source: Split | Callable[[], Split], which: str) -> Split:
        split = source if isinstance(source, Split) else source()
        if split.X.shape != (len(split.y), self.n_features):
            raise DataError(
                f"{self.name}: the {which} samples have shape {split.X.shape}, "
                f"{len(split.y)} labels of {self.n_features} features each were expected"
            )
        least = -1 if which == "training" else 0  # -1: a sample without a label
        if len(split.y) and (split.y.min() < least or split.y.max() >= self.n_classes):
            raise DataError(
                f"{self.name}: {which} labels run from {split.y.min()} to {split.y.max()}, "
                f"expected 0 to {self.n_classes - 1}"
            )
        if self.domain_names:
            self._check_domains(split, which)
        return split

    def _check_domains(self, split: Split, which: str) -> None:
        domain, last = split.domain, len(self.domain_names) - 1
        if domain is None or domain.shape != split.y.shape:
            seen = "none" if domain is None else f"shape {domain.shape}"
            raise DataError(f"{self.name}: the domains of the {which} samples are {seen}: expected {split.y.shape}")
        if len(domain) and not (domain.min() >= 0 and domain.max() <= last):
            raise DataError(
                f"{self.name}: {which} domains run from {domain.min()} to {domain.max()}, expected 0 to {last}"
            )

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, shape={self.shape}, {self.n_classes} classes)"
