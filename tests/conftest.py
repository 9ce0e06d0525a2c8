"""Tests that need the real data sets are skipped where `KENYON_DATA` does not hold them."""

from __future__ import annotations

import pytest

from real_sets import data_dir


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if data_dir() is None:
        marker = pytest.mark.skip(reason="KENYON_DATA does not hold the real data sets")
        for item in items:
            if item.get_closest_marker("real_data"):
                item.add_marker(marker)
