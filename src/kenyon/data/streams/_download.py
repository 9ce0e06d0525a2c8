"""Fetch a published data set from its publisher; it is checked, and put in place as a whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from kenyon.data.streams._inventory import md5_of
from kenyon.data.streams._load import canonical_name
from kenyon.data.streams._sources import SOURCES, FileLayout, PublishedSet, Remote
from kenyon.errors import ConfigError, DataError, require, unknown
from kenyon.utils.system import find_data_dir, replacing, sweep

_TIMEOUT = 30.0


def download_dataset(
    name: str,
    data_dir: str | Path | None = None,
    *,
    version: str | None = None,
    mirror: str | None = None,
    progress: bool = True,
) -> list[Path]:
    """Fetch a data set into the data directory; needs pooch (the extra "data").

    Args:
        name: a name in `DATASETS`.
        data_dir: where to put it; by default `KENYON_DATA`, else the user's data folder.
        version: "binary" or "python" for the CIFAR sets; by default the first layout.
        mirror: an address to fetch the files from in place of the publisher's. The checksums stay the same.
        progress: whether to show a bar where standard error is a terminal.

    Returns:
        The files that are now in place.

    Raises:
        DataError: no address served a file with the published checksum. Nothing is left behind.
    """
    name = canonical_name(name)
    if name == "digits":
        raise ConfigError("'digits' comes with scikit-learn: there is nothing to download")
    return download_source(SOURCES[name], find_data_dir(data_dir), version, mirror, progress)


def download_source(
    source: PublishedSet, data_dir: Path, version: str | None = None, mirror: str | None = None, progress: bool = True
) -> list[Path]:
    """`download_dataset` for a row of the table."""
    versions = {layout.version: layout for layout in reversed(source.layouts)}
    if version is not None and version not in versions:
        raise unknown(f"version of {source.name}", version, versions)
    layout = versions[version] if version else source.layouts[0]
    if not layout.remotes:
        raise ConfigError(f"{source.name!r} is not downloaded: get it from {source.page} ({source.licence})")
    target = data_dir / layout.folders[0]
    made = [folder for folder in (data_dir, *data_dir.parents) if not folder.exists()]
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        sweep(data_dir, ".download-*")
        with tempfile.TemporaryDirectory(prefix=".download-", dir=data_dir) as staging, _bars(progress) as bar:
            ready = _collect(layout, target, Path(staging), mirror, bar)
            target.mkdir(parents=True, exist_ok=True)
            for file in ready:
                file.replace(target / file.name)
    except BaseException as error:
        for folder in made:
            with contextlib.suppress(OSError):  # not empty, or never made
                folder.rmdir()
        if isinstance(error, OSError) and not isinstance(error, DataError):
            raise DataError(f"{source.name} cannot be written to {data_dir}: {error}") from error
        raise
    return [target / file for file in (*layout.train, *layout.test)]


def _collect(layout: FileLayout, target: Path, staging: Path, mirror: str | None, bar: Any) -> list[Path]:
    """Fetch, check and unpack what is not in place yet; returns the files that are to be moved there."""
    ready: list[Path] = []
    for remote in layout.remotes:
        if remote.name not in layout.md5:  # an archive
            ready += _extract(_fetch(remote, staging, mirror, bar(remote.name)), layout, remote, staging / "files")
        elif not ((there := target / remote.name).is_file() and md5_of(there) == remote.md5):
            ready.append(_fetch(remote, staging, mirror, bar(remote.name)))
    return ready


def _fetch(remote: Remote, folder: Path, mirror: str | None, bar: Any) -> Path:
    """Fetch the remote file from the first address that serves it with the right checksum."""
    pooch = require("pooch", "data", "downloading data sets")
    requests = require("requests", "data", "downloading data sets")
    pooch.get_logger().setLevel("ERROR")
    failures = []
    for base in (mirror,) if mirror else remote.bases:
        url = f"{base.rstrip('/')}/{remote.name}"
        try:
            downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=_TIMEOUT)
            return Path(pooch.retrieve(url, f"md5:{remote.md5}", remote.name, folder, downloader=downloader))
        except (requests.RequestException, ValueError, OSError) as error:
            failures.append(f"{url}: {error}")
    raise DataError(f"{remote.name} could not be fetched, nothing was changed. " + "; ".join(failures))


def _extract(archive: Path, layout: FileLayout, remote: Remote, folder: Path) -> list[Path]:
    """Unpack the wanted files of an archive under their own names; no path inside the archive is ever followed.

    An archive that several data sets share is unpacked for all of them, so it is fetched only once.
    """
    sharing = [other for source in SOURCES.values() for other in source.layouts if remote in other.remotes]
    wanted = {name for one in (layout, *sharing) for name in (*one.train, *one.test)}
    found: dict[str, Path] = {}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, stream in _members(archive, wanted):
            with replacing(folder / name) as temporary, open(temporary, "wb") as target:
                shutil.copyfileobj(stream, target, 1 << 20)
            found[name] = folder / name
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise DataError(f"{archive.name} is not a readable archive: {error}") from error
    absent = [name for name in (*layout.train, *layout.test) if name not in found]
    if absent:
        raise DataError(f"{archive.name} does not hold {', '.join(absent)}")
    return list(found.values())


def _members(archive: Path, wanted: set[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files in a zip or tar archive whose names, without folders, are wanted."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            for info in file.infolist():
                if not info.is_dir() and Path(info.filename).name in wanted:
                    with file.open(info) as stream:
                        yield Path(info.filename).name, stream
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            stream_or_none = tar.extractfile(member) if member.isreg() and Path(member.name).name in wanted else None
            if stream_or_none is not None:
                with stream_or_none as stream:
                    yield Path(member.name).name, stream


class _Bar:
    """A line of a rich progress display, with the four attributes that pooch needs."""

    def __init__(self, display: Any, name: str) -> None:
        self._display = display
        self._line = display.add_task(name, total=None)
        self.total = 0

    def update(self, n: int) -> None:
        self._display.update(self._line, advance=n, total=self.total or None)

    def reset(self) -> None:
        self._display.reset(self._line)

    def close(self) -> None:
        self._display.stop_task(self._line)


@contextlib.contextmanager
def _bars(shown: bool) -> Iterator[Any]:
    """Gives a function that makes a progress bar per file; nothing is displayed where there is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    silent = not (shown and console.is_terminal)
    display = Progress(*columns, TimeRemainingColumn(), console=console, disable=silent)
    with contextlib.nullcontext() if silent else display:  # some releases of rich end a silent display with a new line
        yield lambda name: _Bar(display, name)
