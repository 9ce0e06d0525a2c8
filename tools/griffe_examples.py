"""Show the examples of docstrings as code on the site, wherever they stand.

Markdown takes `>>>` for a quotation of a quotation of a quotation; only a section called "Examples" is code by itself.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

PROMPTS = re.compile(r"^>>> .*(?:\n.+)*(?:\n\n>>> .*(?:\n.+)*)*", re.M)
"""Prompts at the margin, with what they print."""


TOGETHER = re.compile(r"^( +)(\w+(?:, \w+)+): (.*(?:\n\1 +.*)*)", re.M)
"""Arguments that are explained together, as in `X, y: samples and labels`."""


class Examples(Extension):
    """Renames sections, separates arguments and fences prompts before a docstring is parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_code(obj.docstring.value)


def as_code(text: str) -> str:
    text = re.sub(r"^Args:\n.*?(?=^\S|\Z)", lambda match: TOGETHER.sub(_each, match[0]), text, flags=re.M | re.S)
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.M)
    return PROMPTS.sub(lambda match: f"```pycon\n{match[0]}\n```", text)


def _each(match: re.Match[str]) -> str:
    return "\n".join(f"{match[1]}{name}: {match[3]}" for name in match[2].split(", "))
