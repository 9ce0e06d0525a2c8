"""Long notes of a table: the first sentence stands above it, the others are folded below."""

from __future__ import annotations

import re

LONG = 200
"""A note of more characters is folded, but for its first sentence."""


def in_two(note: str) -> tuple[str, str]:
    """What stands above the table, and what is folded below it: of a long note all but its first sentence.

    Example:
        >>> in_two("Five seeds.")
        ('Five seeds.', '')
        >>> in_two("Five seeds. " + 40 * "More. ")[0]
        'Five seeds.'
    """
    first, *rest = re.split(r"(?<=[.]) (?=[A-Z])", note.strip(), maxsplit=1) if len(note) > LONG else [note]
    return first, "".join(rest)
