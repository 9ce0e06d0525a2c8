"""One thread for PyTorch: the networks here are too small to share out, and tests run side by side."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):
    import torch

    torch.set_num_threads(1)
