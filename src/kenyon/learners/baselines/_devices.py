"""Where tensors live. A learner has one explicit device; chance is always drawn on the host, so that a seed means the
same first weights and the same draws on every device, and no generator of PyTorch's own is ever touched.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch
from numpy.typing import NDArray
from torch import Tensor

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
