"""Exported models as libraries for the tools of boards: their metadata are what the tools want, and the code builds.

PlatformIO and the manager of ESP-IDF components validate their own. The rules for the others are those of their public
documentation: the Arduino library specification and the schema of Zephyr's modules.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from building import make, stream

from cases import needs, needs_compiler
from emulated import compiled
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


def read_yaml(path: Path) -> dict[str, Any]:
    """The YAML that our files use: keys, lists of words, and maps inside of maps."""
    root: dict[str, Any] = {}
    inside: list[tuple[int, Any]] = [(-1, root)]
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    for number, line in enumerate(lines):
        indent, text = len(line) - len(line.lstrip()), line.strip()
        while indent <= inside[-1][0]:
            inside.pop()
        if text.startswith("- "):
            inside[-1][1].append(text[2:])
            continue
        key, _, value = text.partition(":")
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        entry: Any = value.strip().strip('"') if value.strip() else [] if following.startswith("- ") else {}
        inside[-1][1][key] = entry
        if not isinstance(entry, str):
            inside.append((indent, entry))
    return root


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


@needs("platformio")
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


def test_esp_idf_takes_the_component(packages: dict[str, Path]) -> None:
    folder = packages["esp-idf"]
    manifest = read_yaml(folder / "idf_component.yml")
    known = {"version", "description", "url", "license", "tags", "dependencies", "maintainers", "files", "examples"}
    assert set(manifest) <= known and re.fullmatch(SEMANTIC, manifest["version"])
    assert all(re.fullmatch(r"[A-Za-z0-9_\-]{3,32}", tag) for tag in manifest["tags"])
    assert re.fullmatch(r">=\d+\.\d+", manifest["dependencies"]["idf"])
    assert "idf_component_register(" in (folder / "CMakeLists.txt").read_text()
    example = folder / "examples" / "learn"
    assert "project.cmake" in (example / "CMakeLists.txt").read_text()
    own = read_yaml(example / "main" / "idf_component.yml")["dependencies"]["kenyon_model"]
    assert (example / "main" / own["override_path"]).resolve() == folder.resolve()
    rows = [line.split(",") for line in (example / "partitions.csv").read_text().splitlines() if line[0] != "#"]
    assert all(len(row) == 5 for row in rows) and "kenyon" in {row[0] for row in rows}


@needs("idf_component_tools")
def test_the_manager_of_esp_idf_components_finds_no_error(packages: dict[str, Path]) -> None:
    from idf_component_tools.manager import ManifestManager

    for folder, name in ((packages["esp-idf"], "kenyon_model"), (packages["esp-idf"] / "examples/learn/main", "main")):
        manifest = ManifestManager(str(folder), name)
        assert manifest.validate().validation_errors == []
        assert manifest.load().name == name


def test_zephyr_takes_the_module(packages: dict[str, Path]) -> None:
    folder = packages["zephyr"]
    module = read_yaml(folder / "zephyr" / "module.yml")
    assert set(module) <= {"name", "build", "tests", "samples", "boards", "blobs", "runners", "package-managers"}
    assert set(module["build"]) <= {"cmake", "kconfig", "depends", "settings", "sysbuild-cmake", "sysbuild-kconfig"}
    assert (folder / module["build"]["cmake"] / "CMakeLists.txt").exists()
    options = re.findall(r"^config (\w+)$", (folder / module["build"]["kconfig"]).read_text(), re.MULTILINE)
    assert options == ["KENYON_MODEL"]
    assert all((folder / sample / "learn" / "sample.yaml").exists() for sample in module["samples"])
    settings = (folder / "samples" / "learn" / "prj.conf").read_text()
    assert all(re.fullmatch(r"CONFIG_\w+=(y|n|\d+)", line) for line in settings.splitlines())
    assert "CONFIG_KENYON_MODEL=y" in settings


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


FAKES = Path(__file__).parent / "fakes"


@needs_compiler
@pytest.mark.parametrize(
    ("name", "source"), [("esp-idf", "examples/learn/main/main.c"), ("zephyr", "samples/learn/src/main.c")]
)
def test_examples_for_boards_compile_with_what_they_expect_of_the_system(
    name: str, source: str, tmp_path: Path
) -> None:
    """Declarations as their documentation has them stand in for the system's headers."""
    from kenyon import KenyonClassifier
    from kenyon.features.front import Spectra

    front = Spectra(frames=8, bands=8)
    X = np.random.default_rng(0).integers(0, 256, (6, 64)).astype(np.uint8)
    model = KenyonClassifier(memory_budget="4KB", front=front, expected_classes=2).partial_fit(X, [0, 1] * 3)
    export_model(model, "c", tmp_path, package=name)
    headers = ("-I", str(FAKES / name), "-Isrc", "-Wno-conversion", "-Wno-unused-function")
    compiled(tmp_path, "main.o", "-c", *headers, "-std=gnu11", sources=(source,))
