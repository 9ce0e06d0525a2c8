"""Jobs for the tests of the pool, in a module that a new process imports quickly."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Touch:
    """Leaves a file; with `dies`, takes its process with it instead."""

    name: str
    dies: bool = False
    speed_key = "touch"

    def done(self, store: Path) -> bool:
        return (store / self.name).exists()

    def started(self, store: Path) -> bool:
        return False

    def do(self, store: Path, data_dir: Path | None) -> str:
        if self.dies:
            os._exit(3)
        (store / self.name).touch()
        return "touched"
