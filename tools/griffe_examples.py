"""Show the examples of docstrings as code on the site, wherever they stand.

Markdown takes `>>>` for a quotation of a quotation of a quotation; only a section called "Examples" is code by itself.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

PROMPTS = re.compile(r"^>>> .*(?:\n.+)*(?:\n\n>>> .*(?:\n.+)*)*", re.M)
"""Prompts at the margin, with what they print."""


class Examples(Extension):
    """Renames sections and fences prompts before a docstring is parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_code(obj.docstring.value)


def as_code(text: str) -> str:
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.M)
    return PROMPTS.sub(lambda match: f"```pycon\n{match[0]}\n```", text)
