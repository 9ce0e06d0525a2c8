"""Every public name is explained, and its example runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import kenyon
from kenyon.errors import MissingExtraError
from public_names import public_names

WITHOUT_EXAMPLE = {
    "kenyon.cli.app": "the commands are shown in the guides",
    "kenyon.cli.main": "it is the command",
    "kenyon.features.Active": "a type",
    "kenyon.features.Features": "a protocol; what follows it has examples",
    "kenyon.features.front.FrontStream": "a protocol; what follows it has examples",
    "kenyon.layers.DIVERGED": "a number",
    "kenyon.layers.NEVER": "a number",
    "kenyon.layers.Samples": "made by the engine only",
    "kenyon.layers.Undo": "a protocol, used by the engine only",
    "kenyon.lab.plots.plot_search": "a search worth drawing takes too long",
    "kenyon.lab.search.search_figures": "a search worth drawing takes too long",
    "kenyon.data.protocol.Learner": "a protocol; `kenyon.learners` and `kenyon.testing` show learners",
    "kenyon.rules.Kernels": "made for the layers only",
    "kenyon.rules.device_functions": "for the export only",
    "kenyon.rules.kernels_of": "for the layers only",
    "kenyon.data.streams.download_dataset": "it needs the network",
}
"""Public names without an example, each with the reason."""

SHOWN_AGAIN = ("kenyon.lab", "kenyon.data")
"""Packages that show names of their modules, where the examples are run."""

NAMES = [
    pytest.param(module, name, id=f"{module}.{name}")
    for module, names in public_names().items()
    if module not in SHOWN_AGAIN
    for name in names
]


def names_of(module: str) -> dict[str, Any]:
    """What an example may use without importing it: everything in its module, what is imported on demand too."""
    here = importlib.import_module(module)
    return vars(here) | {name: getattr(here, name) for name in here.__all__}


def find(module: str, name: str) -> list[doctest.DocTest]:
    """The examples in the docstring of a name and of its methods."""
    here = importlib.import_module(module)
    what = getattr(here, name)
    if not (inspect.isclass(what) or inspect.isroutine(what)):
        return []
    home = inspect.getmodule(what)
    found = doctest.DocTestFinder(exclude_empty=True).find(what, f"{module}.{name}", home, names_of(module))
    return [test for test in found if test.examples]


def examples_of(module: str) -> list[doctest.DocTest]:
    """The examples in the docstring of a module."""
    here = importlib.import_module(module)
    test = doctest.DocTestParser().get_doctest(here.__doc__ or "", names_of(module), module, here.__file__, 0)
    return [test] if test.examples else []


def check(test: doctest.DocTest) -> None:
    report: list[str] = []
    runner = Runner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


class Runner(doctest.DocTestRunner):
    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        if isinstance(exc_info[1], MissingExtraError):
            raise exc_info[1]
        super().report_unexpected_exception(out, test, example, exc_info)


@pytest.mark.parametrize("module, name", NAMES)
def test_every_public_name_has_an_example_that_runs(
    module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tests = find(module, name)
    shown = any(re.search(rf"\b{name}\b", example.source) for test in examples_of(module) for example in test.examples)
    excused = f"{module}.{name}" in WITHOUT_EXAMPLE
    assert (bool(tests) or shown) != excused, "an example in its docstring or in its module's, or a reason for none"
    for test in tests:
        check(test)


@pytest.mark.parametrize("module", public_names())
def test_the_examples_of_every_public_module_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for test in examples_of(module):
        check(test)


@pytest.mark.parametrize("module, names", public_names().items())
def test_every_public_name_has_a_docstring(module: str, names: list[str]) -> None:
    for name in names:
        what = getattr(importlib.import_module(module), name)
        if inspect.isclass(what) or inspect.isroutine(what):
            assert what.__doc__ and not what.__doc__.startswith(f"{name}("), f"{name} needs a docstring of its own"
        else:
            assert name in documented_values(module.split(".")[1]), f"{name} needs a docstring below its value"


@cache
def documented_values(package: str) -> set[str]:
    """Names at the top of a package's modules that have a docstring below them."""
    root = Path(kenyon.__file__).parent
    files = [root / f"{package}.py"] if (root / f"{package}.py").exists() else (root / package).rglob("*.py")
    return {name for path in files for name in _documented(ast.parse(path.read_text(encoding="utf-8")))}


def _documented(tree: ast.Module) -> Iterator[str]:
    for value, text in zip(tree.body, tree.body[1:], strict=False):
        targets: list[Any] = getattr(value, "targets", None) or [getattr(value, "target", None)]
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(value, ast.Assign | ast.AnnAssign) and is_text:
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_the_package_lists_its_public_names_before_they_are_imported() -> None:
    assert dir(kenyon) == sorted(kenyon.__all__)
    assert all(hasattr(kenyon, name) for name in kenyon.__all__)


@pytest.mark.parametrize("package", SHOWN_AGAIN)
def test_a_package_shows_names_of_its_modules(package: str) -> None:
    here = importlib.import_module(package)
    for name in here.__all__:
        assert getattr(here, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = here.nothing
