"""Tests that need the real data sets, or with `--core` an extra, are skipped where those are not there. Tests that take
minutes together and whose short form is among the others run with `--long` (`make test-long`)."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import settings

from kenyon.errors import MissingExtraError
from real_sets import data_dir

settings.register_profile("no deadline", deadline=None)  # a busy machine is no error
settings.load_profile("no deadline")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--core", action="store_true", help="skip what asks for an extra that is not installed")
    parser.addoption("--long", action="store_true", help="run the long tests, and nothing else")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--long")
    config.hook.pytest_deselected(items=[item for item in items if _is_long(item) != wanted])
    items[:] = [item for item in items if _is_long(item) == wanted]
    if data_dir() is None:
        marker = pytest.mark.skip(reason="KENYON_DATA does not hold the real data sets")
        for item in items:
            if item.get_closest_marker("real_data"):
                item.add_marker(marker)


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    try:
        return (yield)
    except MissingExtraError as error:
        if pyfuncitem.config.getoption("--core"):
            pytest.skip(str(error))
        raise
