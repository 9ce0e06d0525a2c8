"""The rooms of docs/architecture.md: what imports what, and what the classifier needs to be imported."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "kenyon").rglob("*.py"))
}
CORE = {"kenyon.features", "kenyon.layers", "kenyon.presets", "kenyon.rules"} | {
    name for name, path in MODULES.items() if path.parent == SOURCE / "kenyon"
}
"""Packages and modules that share the private modules at the root."""


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
    """A private module or name belongs to the package it lies in; one at the root belongs to the core."""
    parts = name.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
    if private is None:
        return True
    home = ".".join(parts[:private])
    if home == "kenyon":
        return ".".join(importer.split(".")[:2]) in CORE
    return importer == home or importer.startswith(f"{home}.")


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_the_private_parts_of_another_package(module: str) -> None:
    assert [name for name in imported_names(MODULES[module]) if not may_import(module, name)] == []


@pytest.mark.parametrize(
    ("importer", "name", "allowed"),
    [
        ("kenyon.streams._load", "kenyon.streams._rows.Rows", True),
        ("kenyon.streams", "kenyon.streams._rows.Rows", True),
        ("kenyon.reproduce.experiments._below", "kenyon.reproduce._setting.Setting", True),
        ("kenyon.learner", "kenyon._engine.Engine", True),
        ("kenyon.features._sparse", "kenyon.core.pack", True),
        ("kenyon.search._log", "kenyon.evaluation.run", True),
        ("kenyon.search._log", "kenyon.evaluation._run.run", False),
        ("kenyon.search", "kenyon.evaluation._run", False),
        ("kenyon.testing", "kenyon.evaluation._tally.Tally", False),
        ("kenyon.baselines._moments", "kenyon.core._core", False),
        ("kenyon.learners", "kenyon._modelfile", False),
        ("kenyon.cli._run", "kenyon.evaluation._hidden", False),
    ],
)
def test_the_check_itself(importer: str, name: str, allowed: bool) -> None:
    assert may_import(importer, name) == allowed


ALONE = """
import sys

for name in ("fcntl", "resource"):
    sys.modules[name] = None  # as on a system that has no such module
from kenyon import KenyonClassifier

model = KenyonClassifier(n_hidden=40, random_state=0)
model.partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).save(sys.argv[1])
assert KenyonClassifier.load(sys.argv[1]).predict([[0.0, 1.0]])[0] == 0
print(*sorted(name for name in sys.modules if name.startswith("kenyon.") and name.count(".") == 1))
"""


def test_the_classifier_stands_alone(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, tmp_path / "m"], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "kenyon.learner" in loaded
    assert loaded.isdisjoint({f"kenyon.{room}" for room in ("streams", "evaluation", "baselines", "backbones", "cli")})


SYSTEM = """
import sys

for name in ("fcntl", "resource"):
    sys.modules[name] = None
import kenyon.cli, kenyon.evaluation, kenyon.learners, kenyon.search, kenyon.streams, kenyon.system
from pathlib import Path

with kenyon.system.locked(Path(sys.argv[1])) as held:
    assert held
"""


def test_every_room_opens_without_fcntl_and_resource(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SYSTEM, tmp_path / "lock"], check=True)
