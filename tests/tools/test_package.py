"""The sdist and the wheel hold what they should, and the wheel works where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ["CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "README.md", "SECURITY.md"]
FILES += ["constraints.txt", "setup.py"]
FOLDERS = ["src", "tests/tools", "tools"]
LIBRARY = "kenyon/core/_core.abi3.so"
COMPILED = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so", "*.pyd")
LICENCES = {
    "kenyon/data/streams/digits.md": "https://creativecommons.org/licenses/by/4.0/",
    "kenyon/apps/teach/digits.md": "https://creativecommons.org/licenses/by-sa/3.0/",
}
"""What bundled data are licensed under, and where it is said."""

USE = """
import kenyon, kenyon.cli
from kenyon.model.presets import load_preset, preset_names
from kenyon.lab.report import ReportData, page_html
from kenyon.lab.search import default_space

assert [load_preset(name).options for name in preset_names()]
assert "<script" in page_html(ReportData("Mine"))
print(kenyon.__version__, kenyon.__file__, kenyon.KenyonClassifier.from_preset(preset_names()[0]).n_hidden > 0)
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`python -m build` in a copy of the sources: an sdist, and the wheel made of that."""
    source = tmp_path_factory.mktemp("source")
    for name in [*FILES, "pyproject.toml", "Makefile", "mkdocs.yml"]:
        shutil.copy(ROOT / name, source)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=COMPILED)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return source / "dist"


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


def package_files() -> set[str]:
    """Every file of the package in the checkout, compiled ones left out."""
    package = ROOT / "src" / "kenyon"
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyd")
    }


@pytest.mark.slow
def test_the_wheel_holds_the_package_with_all_its_data_and_nothing_else(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == package_files() | {LIBRARY}
    assert "kenyon/py.typed" in held and "kenyon/data/streams/digits.npz" in held
    assert any(name.endswith(".toml") for name in held) and any(
        name.startswith("kenyon/lab/report/page/") for name in held
    )


@pytest.mark.slow
def test_the_sdist_holds_sources_tests_and_tools(dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {f"src/{name}" for name in package_files()} <= held
    assert {*FILES, "tests/tools/test_package.py", "tools/lowest.py"} <= held
    assert not [name for name in held if "__pycache__" in name]


@pytest.mark.slow
def test_the_wheel_works_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", tmp_path, wheel]
    subprocess.run(pip, check=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USE], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [version("kenyon"), str(tmp_path / "kenyon" / "__init__.py"), "True"]


def test_bundled_data_come_with_their_licence() -> None:
    data = {name for name in package_files() if name.endswith((".npz", ".bin"))}
    assert {name.rsplit(".", 1)[0] + ".md" for name in data} == LICENCES.keys()
    for name, licence in LICENCES.items():
        assert licence in (ROOT / "src" / name).read_text(encoding="utf-8")


def test_the_changelog_and_the_citation_have_the_version() -> None:
    number = version("kenyon")
    assert f"\n## [{number}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {number}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
