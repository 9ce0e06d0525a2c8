"""Replay memory: a fixed number of samples, each with its label and whatever else the method stores with it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from numpy.typing import NDArray
from torch import Tensor

from kenyon.learners.baselines._devices import to_array
from kenyon.learners.baselines._trainer import positive


class ReplayBuffer:
    """`capacity` rows of named columns, filled by reservoir sampling (Vitter, 1985): after n samples every one of
    them is in the buffer with probability `capacity / n`.

    Samples stay in the type they came in (uint8 for images), so their bytes are the bytes of the raw data. Columns
    are allocated whole at the first `add`.
    """

    def __init__(self, capacity: int, generator: torch.Generator, device: torch.device | str = "cpu") -> None:
        self.capacity = int(positive("buffer_size", capacity))
        self.generator, self.device = generator, device  # what is drawn and counted stays on the host
        self.seen = torch.zeros(1, dtype=torch.int64)  # offered so far
        self.size = torch.zeros(1, dtype=torch.int64)
        self.columns: dict[str, Tensor] = {}

    def __len__(self) -> int:
        return int(self.size)

    def __getitem__(self, column: str) -> Tensor:
        """The filled part of a column (a view)."""
        return self.columns[column][: len(self)]

    def add(self, **rows: Tensor) -> None:
        """Offer samples in stream order, one row of every column each."""
        n, seen = len(next(iter(rows.values()))), int(self.seen)
        draws = torch.rand(n, dtype=torch.float64, generator=self.generator).tolist()
        chosen: dict[int, int] = {}  # slot -> row; a later row may overwrite an earlier one
        for i, draw in enumerate(draws):
            slot = seen + i if seen + i < self.capacity else int(draw * (seen + i + 1))
            if slot < self.capacity:
                chosen[slot] = i
        self.seen += n
        if chosen:
            self.put(list(chosen), {key: value[list(chosen.values())] for key, value in rows.items()})

    def put(self, slots: list[int], rows: Mapping[str, Tensor]) -> None:
        """Write rows into slots; the buffer ends after the highest slot ever written."""
        for key, value in rows.items():
            if key not in self.columns:
                self.columns[key] = torch.zeros(
                    (self.capacity, *value.shape[1:]), dtype=value.dtype, device=self.device
                )
            self.columns[key][slots] = value.detach()
        self.size.clamp_(min=max(slots) + 1)

    def replace(self, **rows: Tensor) -> None:
        """Forget everything and hold these rows instead (none: hold nothing)."""
        self.size.zero_()
        self.seen.zero_()
        n = len(next(iter(rows.values()), ()))
        if n:
            self.put(list(range(n)), rows)

    def draw(self, n: int) -> Tensor:
        """Slots of up to `n` samples, uniformly without replacement."""
        return torch.randperm(len(self), generator=self.generator)[:n]

    def arrays(self) -> dict[str, NDArray]:
        parts = {"seen": self.seen, "size": self.size, **{f"column.{k}": v for k, v in self.columns.items()}}
        return {key: to_array(value) for key, value in parts.items()}

    def load(self, arrays: Mapping[str, NDArray]) -> None:
        self.seen = torch.from_numpy(arrays["seen"].copy())
        self.size = torch.from_numpy(arrays["size"].copy())
        self.columns = {
            key.removeprefix("column."): torch.from_numpy(value.copy()).to(self.device)
            for key, value in arrays.items()
            if key.startswith("column.")
        }
