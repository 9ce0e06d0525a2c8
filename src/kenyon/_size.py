"""Sizes in bytes as people write them: `"512KB"`, `"1.5 MiB"`, 65536."""

from __future__ import annotations

import re

import numpy as np

from kenyon.errors import ConfigError

_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}


def parse_size(value: int | str) -> int:
    """Bytes of a size. KB is 1,000 bytes and KiB is 1,024, so a budget holds under either reading."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > 0:
        return int(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(value), re.IGNORECASE)
    unit = _UNITS.get((match[2] or "b").lower()) if match and isinstance(value, str) else None
    if match is None or unit is None or float(match[1]) == 0:
        raise ConfigError(f"memory_budget is {value!r}: expected a positive number of bytes or a size such as '512KB'")
    return int(float(match[1]) * unit)
