"""Shared fixtures: the embedded digits, and the real sets where `KENYON_DATA` holds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REAL_SETS = ("mnist", "fashion-mnist", "cifar-10-batches-bin", "cifar-100-binary")


def data_dir() -> Path | None:
    """The data directory, if it holds every real set."""
    root = os.environ.get("KENYON_DATA")
    return Path(root) if root and all((Path(root) / name).is_dir() for name in REAL_SETS) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if data_dir() is None:
        marker = pytest.mark.skip(reason="KENYON_DATA does not hold the real data sets")
        for item in items:
            if item.get_closest_marker("real_data"):
                item.add_marker(marker)
