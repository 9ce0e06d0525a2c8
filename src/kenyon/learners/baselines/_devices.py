"""Where tensors live. A learner has one explicit device; chance is always drawn on the host, so that a seed means the
same first weights and the same draws on every device, and no generator of PyTorch's own is ever touched. Also how many
threads PyTorch uses, and tensors, modules and generators as arrays and back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kenyon.errors import ConfigError

ISA = "ONEDNN_MAX_CPU_ISA"
"""The variable that tells oneDNN which instructions it may use at most; it is read when oneDNN is first used."""


def avoid_missing_tiles(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Keep PyTorch off AMX on virtual machines, unless `ONEDNN_MAX_CPU_ISA` is set already.

    Some of them announce AMX and have none of its tiles: there, the first product in bfloat16 ends the process with an
    illegal instruction, and nothing can be caught.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return  # not Linux
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    if "amx_tile" in flags and "hypervisor" in flags:
        os.environ.setdefault(ISA, "AVX512_CORE_BF16")


avoid_missing_tiles()


def open_device(name: str) -> torch.device:
    """A device by its name: `cpu`, `cuda`, `cuda:1`, `mps`; an error where it cannot be used."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ConfigError(f"device is {name!r}: PyTorch cannot use it here ({reason}); 'cpu' always works") from error
    return device


def to_array(tensor: Tensor) -> NDArray:
    """The values of a tensor; on the host a view of them."""
    return tensor.detach().cpu().numpy()


def copy_into(tensor: Tensor, array: NDArray) -> None:
    """Overwrite a tensor, wherever it lives."""
    with torch.no_grad():
        tensor.copy_(torch.from_numpy(array.copy()).reshape(tensor.shape))


@contextmanager
def torch_threads(n: int) -> Iterator[None]:
    """PyTorch on `n` threads inside, on as many as before outside."""
    before = torch.get_num_threads()
    if before == n:
        yield
        return
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def part_arrays(part: Any) -> dict[str, NDArray]:
    """The values of a part of a learner's state, by name: views where they are on the host."""
    if isinstance(part, Tensor):
        return {"value": to_array(part)}
    if isinstance(part, torch.Generator):
        return {"state": part.get_state().numpy()}
    if isinstance(part, nn.Module):
        return {key: to_array(value) for key, value in part.state_dict().items()}
    if isinstance(part, list):
        return {str(i): to_array(value) for i, value in enumerate(part)}
    return part.arrays()


def load_part(part: Any, arrays: Mapping[str, NDArray]) -> None:
    """Set a part of a learner's state from `part_arrays`."""
    if isinstance(part, torch.Generator):
        part.set_state(torch.from_numpy(arrays["state"].copy()))
    elif isinstance(part, Tensor):
        copy_into(part, arrays["value"])
    elif isinstance(part, nn.Module | list):
        named = part.state_dict() if isinstance(part, nn.Module) else {str(i): value for i, value in enumerate(part)}
        for key, value in named.items():
            copy_into(value, arrays[key])
    else:
        part.load(arrays)
