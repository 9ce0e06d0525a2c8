"""Where the real data sets are, for tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

REAL_SETS = ("mnist", "fashion-mnist", "cifar-10-batches-bin", "cifar-100-binary")


def data_dir() -> Path | None:
    """The data directory, if it holds every real set."""
    root = os.environ.get("KENYON_DATA")
    return Path(root) if root and all((Path(root) / name).is_dir() for name in REAL_SETS) else None
