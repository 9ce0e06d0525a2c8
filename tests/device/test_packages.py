"""Exported models as libraries for the tools of boards: their metadata are what the tools want, and the code builds.

PlatformIO validates its own; the rules for Arduino are those of its public library specification.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from building import make, stream

from kenyon.errors import ConfigError
from kenyon.export import export_model
from kenyon.export._packages import PACKAGES

SEMANTIC = r"\d+\.\d+\.\d+"
SOURCES = {"src/kenyon.c", "src/kenyon.h", "src/kenyon_app.h", "src/kenyon_model.h", "src/kenyon_slots.h"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    X, y = stream(40)
    model = make("second order, 16 bits").partial_fit(X, y)
    folders = {name: tmp_path_factory.mktemp(name) for name in PACKAGES}
    for name, folder in folders.items():
        export_model(model, "c", folder, package=name)
    return folders


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_has_the_sources_and_nothing_unfilled(packages: dict[str, Path], name: str) -> None:
    folder = packages[name]
    assert files_of(folder) >= SOURCES | {"README.md"}
    for path in files_of(folder):
        assert not re.search(r"@(VERSION|URL)@", (folder / path).read_text()), path


def test_arduino_takes_the_library(packages: dict[str, Path]) -> None:
    folder = packages["arduino"]
    rows = [line.partition("=") for line in (folder / "library.properties").read_text().splitlines()]
    fields = {key: value for key, _, value in rows}
    wanted = ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures")
    assert all(fields.get(key) for key in wanted)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.\-]{0,62}", fields["name"])
    assert re.fullmatch(SEMANTIC, fields["version"])
    assert fields["category"] in {
        "Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
        "Data Processing", "Other",
    }  # fmt: skip
    assert (folder / "src" / fields["includes"]).exists()
    examples = [path for path in files_of(folder) if path.startswith("examples/")]
    assert examples and all(re.fullmatch(r"examples/(\w+)/\1\.ino", path) for path in examples)
    for line in (folder / "keywords.txt").read_text().splitlines():
        assert re.fullmatch(r"\w+\t(KEYWORD[123]|LITERAL1)", line), "fields are parted by one tab"


@pytest.mark.skipif(importlib.util.find_spec("platformio") is None, reason="device: platformio is not installed")
def test_platformio_packs_the_library(
    packages: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own validator; the list of licences, which it would ask the network for, has the one that is used."""
    monkeypatch.setenv("PLATFORMIO_CORE_DIR", str(tmp_path / "core"))
    from platformio.package.manifest.parser import ManifestParserFactory
    from platformio.package.manifest.schema import ManifestSchema
    from platformio.package.pack import PackagePacker

    known = {"licenses": [{"licenseId": "Apache-2.0"}]}
    monkeypatch.setattr(ManifestSchema, "load_spdx_licenses", staticmethod(lambda *_: known))
    folder = packages["platformio"]
    parsed = ManifestParserFactory.new_from_dir(str(folder)).as_dict()
    ManifestSchema().load_manifest(parsed)
    packed = Path(PackagePacker(str(folder)).pack(str(tmp_path / "kenyon.tar.gz")))
    assert packed.stat().st_size > 5_000


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="device: there is no cmake")
def test_the_cmake_package_is_built_installed_found_and_run(packages: dict[str, Path], tmp_path: Path) -> None:
    folder = packages["cmake"]

    def run(*command: str | Path, **more: Any) -> str:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("cmake", "-S", folder, "-B", tmp_path / "build", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    run("cmake", "--build", tmp_path / "build")
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "there")
    X, y = stream(40)
    (tmp_path / "sample").write_bytes(X[0].tobytes())
    learn, store = tmp_path / "build" / "learn", tmp_path / "store"
    script = f"+ {tmp_path / 'sample'}\n77\nk\ns\n"
    said = run(learn, store, input=script).splitlines()
    assert said[0] == str(y[0]) and said[1:3] == ["refused: -3", "kept"] and len(said[3]) > 1000
    assert run(learn, store, input="f7\nk\ns\n").splitlines()[0] == "kept"
    assert run(learn, store, input="s\n").strip() != said[3], "the state after the class was forgotten is loaded"

    user = tmp_path / "user"
    user.mkdir()
    (user / "main.c").write_text(
        '#include "kenyon.h"\nint main(void) { static kenyon_model m; kenyon_init(&m); return 0; }'
    )
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.15)\nproject(user C)\nfind_package(kenyon_model CONFIG REQUIRED)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user kenyon_model::kenyon_model)\n"
    )
    run("cmake", "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'there'}")
    run("cmake", "--build", user / "build")
    run(user / "build" / "user")


def test_an_unknown_package_is_refused_by_name(tmp_path: Path) -> None:
    X, y = stream(40)
    with pytest.raises(ConfigError, match=r"arduin.*arduino"):
        export_model(make("gen").partial_fit(X, y), "c", tmp_path, package="arduin")
    assert not list(tmp_path.iterdir())
