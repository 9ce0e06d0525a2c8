"""What is behind `kenyon data`: list, verify, and download over real HTTP from a server of our own."""

from __future__ import annotations

import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from stream_files import layout_files, tar_gz, write_layout, zipped

from kenyon.data.streams import DATASETS, download_dataset, list_datasets, load_dataset, verify_dataset
from kenyon.data.streams._download import download_source
from kenyon.data.streams._inventory import verify_source
from kenyon.data.streams._load import open_source
from kenyon.data.streams._sources import SOURCES, PublishedSet, Remote
from kenyon.errors import ConfigError, DataError


class Server:
    """Serves `files` by name; those in `cut` break off half way, in `stalled` stop there; notes what was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.stalled: set[str] = set()
        self.stalling, self.closing = threading.Event(), threading.Event()
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.removeprefix("/")
                server.asked.append(name)
                if name not in server.files:
                    self.send_error(404)
                    return
                content = server.files[name]
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if name in server.cut | server.stalled else content)
                if name in server.stalled:
                    server.stalling.set()
                    server.closing.wait()

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=partial(self._http.serve_forever, poll_interval=0.02), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def _md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def small(name: str, server: Server, version: str | None = None) -> tuple[PublishedSet, list[tuple]]:
    """A row of the table with small files in the real format, served by `server`."""
    source = SOURCES[name]
    layout = next(layout for layout in source.layouts if version in (None, layout.version))
    files, splits = layout_files(source, layout)
    if layout.remotes[0].name in files:
        served = files
    elif layout.remotes[0].name.endswith(".zip"):
        served = {layout.remotes[0].name: zipped({**files, "readme.txt": b"hello"}, "gzip")}
    else:
        served = {layout.remotes[0].name: tar_gz({**files, "readme.html": b"hello"}, layout.folders[0])}
    server.files.update(served)
    remotes = tuple(Remote(remote.name, _md5(served[remote.name]), (server.url,)) for remote in layout.remotes)
    md5 = {file: _md5(files[file]) for file in layout.md5}
    layout = replace(layout, remotes=remotes, md5=md5)
    counts = dict(n_train=len(splits[0][1]), n_test=len(splits[1][1]))
    return replace(source, layouts=(layout,), **counts), splits


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


CASES = [
    ("mnist", None),
    ("fashion-mnist", None),
    ("emnist-letters", None),
    ("cifar10", "binary"),
    ("cifar10", "python"),
    ("cifar100", "binary"),
    ("cifar100-coarse", "python"),
]


@pytest.mark.parametrize(("name", "version"), CASES)
def test_download_verify_and_read(name, version, server, tmp_path):
    source, splits = small(name, server, version)
    files = download_source(source, tmp_path / "new" / "data", progress=False)
    assert all(file.is_file() for file in files)
    folder = source.layouts[0].folders[0]
    assert tree(tmp_path / "new/data") == sorted([folder, *(f"{folder}/{file.name}" for file in files)])
    checks = verify_source(source, tmp_path / "new" / "data")
    assert all(check.ok for check in checks), checks
    dataset = open_source(source, tmp_path / "new" / "data")
    np.testing.assert_array_equal(np.asarray(dataset.test.X), splits[1][0].reshape(len(splits[1][1]), -1))


def test_what_is_in_place_is_not_fetched_again(server, tmp_path):
    source, _ = small("mnist", server)
    download_source(source, tmp_path, progress=False)
    (tmp_path / "mnist" / source.layouts[0].test[0]).write_bytes(b"damaged since")
    server.asked.clear()
    download_source(source, tmp_path, progress=False)
    assert server.asked == [source.layouts[0].test[0]]
    assert all(check.ok for check in verify_source(source, tmp_path))


@pytest.mark.parametrize(("name", "version"), [("mnist", None), ("cifar10", "binary"), ("emnist-digits", None)])
@pytest.mark.parametrize("fault", ["wrong checksum", "interrupted", "missing"])
def test_failed_download_leaves_nothing_behind(name, version, fault, server, tmp_path):
    source, _ = small(name, server, version)
    last = source.layouts[0].remotes[-1].name
    if fault == "wrong checksum":
        server.files[last] = server.files[last][:-1] + b"?"
    elif fault == "interrupted":
        server.cut.add(last)
    else:
        del server.files[last]
    with pytest.raises(DataError, match=f"{last} could not be fetched, nothing was changed.*{server.url}/{last}"):
        download_source(source, tmp_path / "new" / "data", progress=False)
    assert tree(tmp_path) == []


def test_failed_download_keeps_what_was_there(server, tmp_path):
    source, _ = small("mnist", server)
    write_layout(source, source.layouts[0], tmp_path, per_class=5)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.gz")}
    server.cut.add(source.layouts[0].remotes[2].name)
    with pytest.raises(DataError):
        download_source(source, tmp_path, progress=False)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_next_address_is_tried(server, tmp_path):
    source, _ = small("mnist", server)
    layout = source.layouts[0]
    remotes = tuple(
        replace(r, bases=(f"{server.url}/gone/", "http://127.0.0.1:9/", server.url + "/")) for r in layout.remotes
    )
    source = replace(source, layouts=(replace(layout, remotes=remotes),))
    assert len(download_source(source, tmp_path, progress=False)) == 4


def test_mirror_takes_the_place_of_the_publisher_and_keeps_the_checksum(server, tmp_path):
    for file in SOURCES["mnist"].layouts[0].md5:
        server.files[f"mirror/{file}"] = b"not the published content"
    with pytest.raises(DataError, match=r"train-images.*hash|MD5|md5"):
        download_dataset("mnist", tmp_path, mirror=f"{server.url}/mirror", progress=False)
    assert server.asked == ["mirror/train-images-idx3-ubyte.gz"]
    assert tree(tmp_path) == []


def test_archive_that_several_sets_share_is_fetched_once(server, tmp_path, monkeypatch):
    letters, _ = small("emnist-letters", server)
    digits_files, _ = layout_files(SOURCES["emnist-digits"], SOURCES["emnist-digits"].layouts[0])
    letters_files, _ = layout_files(letters, letters.layouts[0])
    archive = zipped({**letters_files, **digits_files}, "gzip")
    server.files["gzip.zip"] = archive
    remote = Remote("gzip.zip", _md5(archive), (server.url,))
    rows = {
        name: replace(SOURCES[name], layouts=(replace(SOURCES[name].layouts[0], remotes=(remote,)),))
        for name in ("emnist-letters", "emnist-digits")
    }
    monkeypatch.setattr("kenyon.data.streams._download.SOURCES", rows)
    download_source(rows["emnist-letters"], tmp_path, progress=False)
    assert len(load_dataset("emnist-digits", tmp_path).train) == 30


def test_archive_paths_are_never_followed(server, tmp_path):
    """Names with `..`, absolute names and links in an archive write nothing outside the data directory."""
    source, _ = small("cifar10", server, "binary")
    layout = source.layouts[0]
    files, _ = layout_files(SOURCES["cifar10"], layout)
    evil = {f"../../{name}": content for name, content in files.items()} | {"../../../evil": b"x"}
    archive = tar_gz(evil, "cifar")
    server.files[layout.remotes[0].name] = archive
    layout = replace(layout, remotes=(replace(layout.remotes[0], md5=_md5(archive)),))
    download_source(replace(source, layouts=(layout,)), tmp_path / "a/b/c/data", progress=False)
    assert all(name.startswith("a") for name in tree(tmp_path))
    assert not list(tmp_path.rglob("evil"))
    assert sorted(path.name for path in tmp_path.rglob("*.bin")) == sorted(files)


def test_links_and_folders_in_an_archive_are_passed_over(server, tmp_path):
    """Only regular files count, whatever else in the archive has the name of a wanted file."""
    for name, version in (("cifar10", "binary"), ("emnist-letters", None)):
        source, splits = small(name, server, version)
        layout = source.layouts[0]
        files, _ = layout_files(source, layout)
        out = io.BytesIO()
        if layout.remotes[0].name.endswith(".zip"):
            with zipfile.ZipFile(out, "w") as archive:
                for file, content in files.items():
                    archive.writestr(f"gzip/{file}", content)
                    archive.writestr(f"folders/{file}/", b"")
        else:
            with tarfile.open(fileobj=out, mode="w:gz") as tar:
                for file, content in files.items():
                    for kind, target in ((tarfile.SYMTYPE, "/etc/hostname"), (tarfile.LNKTYPE, "nowhere"), (b"5", "")):
                        info = tarfile.TarInfo(f"links/{file}")
                        info.type, info.linkname = kind, target
                        tar.addfile(info)
                    info = tarfile.TarInfo(f"cifar/{file}")
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
        server.files[layout.remotes[0].name] = out.getvalue()
        layout = replace(layout, remotes=(replace(layout.remotes[0], md5=_md5(out.getvalue())),))
        source = replace(source, layouts=(layout,))
        download_source(source, tmp_path, progress=False)
        np.testing.assert_array_equal(open_source(source, tmp_path).train.y, splits[0][1])


@pytest.mark.parametrize("kind", ["incomplete", "no archive"])
def test_archive_that_is_not_what_it_should_be(kind, server, tmp_path):
    source, _ = small("cifar10", server, "binary")
    layout = source.layouts[0]
    archive = tar_gz({"data_batch_1.bin": b"x"}, "cifar") if kind == "incomplete" else b"not an archive"
    server.files[layout.remotes[0].name] = archive
    layout = replace(layout, remotes=(replace(layout.remotes[0], md5=_md5(archive)),))
    with pytest.raises(DataError, match=r"does not hold data_batch_2\.bin|not a readable archive"):
        download_source(replace(source, layouts=(layout,)), tmp_path, progress=False)
    assert tree(tmp_path) == []


def test_progress_bar_is_drawn_on_a_terminal_only(server, tmp_path, capfd, monkeypatch):
    source, _ = small("cifar10", server, "binary")
    download_source(source, tmp_path / "quiet")
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes standard error for a terminal
    monkeypatch.setenv("COLUMNS", "120")
    download_source(source, tmp_path / "shown")
    out, err = capfd.readouterr()
    assert out == ""
    assert "cifar-10-binary.tar.gz" in err
    assert "100%" in err or "MB" in err or "kB" in err


def test_what_cannot_be_downloaded():
    with pytest.raises(ConfigError, match="nothing to download"):
        download_dataset("digits")
    with pytest.raises(ConfigError, match="did you mean 'mnist'"):
        download_dataset("minst")
    with pytest.raises(ConfigError, match=r"version of cifar10 'pyton'.*did you mean 'python'"):
        download_dataset("cifar10", version="pyton")


def test_list_says_what_is_there_and_where(tmp_path):
    source = SOURCES["cifar10"]
    write_layout(source, source.layouts[1], tmp_path)
    statuses = {status.name: status for status in list_datasets(tmp_path)}
    assert tuple(statuses) == DATASETS
    assert [name for name, status in statuses.items() if status.present] == ["digits", "cifar10"]
    there, missing = statuses["cifar10"], statuses["mnist"]
    assert there.version == "python"
    assert there.folder == tmp_path / "cifar-10-batches-py"
    assert there.size == sum(path.stat().st_size for path in there.folder.iterdir())
    assert (missing.folder, missing.size) == (tmp_path / "mnist", 0)
    digits = load_dataset("digits")
    assert (statuses["digits"].n_train, statuses["digits"].n_test) == (len(digits.train), len(digits.test))


def test_verify_names_the_file_that_differs(tmp_path):
    source = SOURCES["mnist"]
    write_layout(source, source.layouts[0], tmp_path)  # well formed, but not what was published
    checks = verify_dataset("mnist", tmp_path)
    assert [check.ok for check in checks] == [False] * 4
    assert all(source.layouts[0].md5[check.what] in check.detail for check in checks)


def test_verify_counts_where_there_is_no_published_checksum(tmp_path):
    source = SOURCES["cifar10"]
    write_layout(source, source.layouts[0], tmp_path)
    bad = [check for check in verify_dataset("cifar10", tmp_path) if not check.ok]
    assert [(check.what, check.detail) for check in bad] == [
        ("train", "30 samples, published 50000"),
        ("test", "31 samples, published 10000"),
    ]


def test_verify_finds_a_damaged_file_without_published_checksum(tmp_path):
    source = SOURCES["emnist-letters"]
    write_layout(source, source.layouts[0], tmp_path)
    load_dataset("emnist-letters", tmp_path).train.X[:1]  # a copy in the cache must not hide the damage
    victim = tmp_path / "emnist" / source.layouts[0].train[0]
    content = victim.read_bytes()
    victim.write_bytes(content[:1000] + bytes([content[1000] ^ 1]) + content[1001:])
    (bad,) = [check for check in verify_dataset("emnist-letters", tmp_path) if not check.ok]
    assert bad.what == victim.name
    assert "damaged" in bad.detail


def test_verify_finds_wrong_labels_and_missing_classes(server, tmp_path):
    source, _ = small("cifar10", server, "binary")
    write_layout(source, source.layouts[0], tmp_path)
    folder = tmp_path / "cifar-10-batches-bin"
    records = np.frombuffer((folder / "test_batch.bin").read_bytes(), np.uint8).reshape(-1, 3073).copy()
    records[:, 0] = 1
    (folder / "test_batch.bin").write_bytes(records.tobytes())
    (bad,) = [check for check in verify_source(source, tmp_path) if not check.ok]
    assert (bad.what, bad.detail) == ("test", "1 classes occur, published 10")
    records[0, 0] = 77
    (folder / "test_batch.bin").write_bytes(records.tobytes())
    (bad,) = [check for check in verify_source(source, tmp_path) if not check.ok]
    assert "1 to 77" in bad.detail


def test_verify_of_a_missing_set_says_where_it_belongs(tmp_path):
    with pytest.raises(DataError, match=r"put train-images-idx3-ubyte\.gz"):
        verify_dataset("mnist", tmp_path)


def test_embedded_digits_verify():
    assert [check.ok for check in verify_dataset("digits")] == [True]


def test_table_of_sources_is_consistent():
    for source in SOURCES.values():
        assert len(set(source.class_names)) == len(source.class_names)
        for layout in source.layouts:
            assert all(len(remote.md5) == 32 and int(remote.md5, 16) for remote in layout.remotes)
            assert all(base.endswith("/") for remote in layout.remotes for base in remote.bases)
            assert set(layout.md5) <= {*layout.train, *layout.test}
            assert all(len(md5) == 32 and int(md5, 16) for md5 in layout.md5.values())


def test_a_place_that_cannot_be_written_to_is_named(server, tmp_path):
    source, _ = small("mnist", server)
    (tmp_path / "data").write_text("a file where the folder would go")
    with pytest.raises(DataError, match=f"mnist cannot be written to {tmp_path}/data"):
        download_source(source, tmp_path / "data" / "deeper", progress=False)
    assert server.asked == []


def test_interrupt_from_the_keyboard_leaves_nothing_behind(server, tmp_path):
    """A real process, stopped by SIGINT in the middle of a transfer."""
    server.files["train-images-idx3-ubyte.gz"] = b"x" * 1_000_000
    server.stalled.add("train-images-idx3-ubyte.gz")
    code = (
        # a suite started in the background of a shell hands down an ignored SIGINT
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "import sys; from kenyon.data.streams import download_dataset;"
        "download_dataset('mnist', sys.argv[1], mirror=sys.argv[2], progress=False)"
    )
    run = subprocess.Popen([sys.executable, "-c", code, tmp_path / "data", server.url], stderr=subprocess.PIPE)
    server.stalling.wait()
    assert (tmp_path / "data").is_dir()
    run.send_signal(signal.SIGINT)
    _, err = run.communicate()
    assert b"KeyboardInterrupt" in err
    assert tree(tmp_path) == []


def test_leftovers_of_a_killed_process_are_swept_after_a_day(server, tmp_path):
    source, _ = small("mnist", server)
    for name, age in ((".download-old", 100_000), (".download-new", 10)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("half a file")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    download_source(source, tmp_path, progress=False)
    assert not (tmp_path / ".download-old").exists()
    assert (tmp_path / ".download-new").exists()  # perhaps another process at work


def test_the_licence_of_every_set_is_documented() -> None:
    text = Path(__file__).parents[2].joinpath("docs", "datasets.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| [^|]+ \|$", text.split("## Licences")[1].split("\n## ")[0], re.M)
    for status in list_datasets():
        said = [licence for pattern, licence in rows if fnmatch(status.name, pattern)]
        assert said == [status.licence], status.name
