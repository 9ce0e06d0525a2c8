"""Values of a configuration, read from words on the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from kenyon.errors import ConfigError


def parse_value(text: str) -> Any:
    """Read a TOML value (`3`, `0.1`, `true`, `[1, 2]`, `{b1 = 0.0}`); anything else is text."""
    if "\n" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text


def parse_list(text: str) -> Any:
    """Read a list such as `5,3,2`; anything else is read by `parse_value`."""
    parts = [part.strip() for part in text.split(",")]
    return [parse_value(part) for part in parts] if len(parts) > 1 else parse_value(text)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read settings of the form `key=value`."""
    values = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {setting!r}: expected key=value, such as --set learning_rate=0.02")
        values[key.strip()] = parse_value(text.strip())
    return values
