"""A name with an underscore is used in its own package only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "kenyon").rglob("*.py"))
}


def imported_names(path: Path) -> Iterator[str]:
    """Every name of this package that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("kenyon"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module and node.module.split(".")[0] == "kenyon":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def may_import(importer: str, name: str) -> bool:
    """A private module or name belongs to the package it lies in."""
    parts = name.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
    if private is None:
        return True
    home = ".".join(parts[:private])
    return importer == home or importer.startswith(f"{home}.")


def test_no_module_imports_private_names_of_another_package() -> None:
    found = [(module, name) for module, path in MODULES.items() for name in imported_names(path)]
    assert len(found) > 1000
    assert [(module, name) for module, name in found if not may_import(module, name)] == []


def test_the_check_itself() -> None:
    assert may_import("kenyon.data.streams._load", "kenyon.data.streams._rows.Rows")
    assert may_import("kenyon.classifier", "kenyon.model.engine.Engine")
    assert not may_import("kenyon.lab.search", "kenyon.lab.evaluation._run")
    assert not may_import("kenyon.cli._run", "kenyon.lab.evaluation._hidden")
    assert not may_import("kenyon.learners", "kenyon.features._dense")
