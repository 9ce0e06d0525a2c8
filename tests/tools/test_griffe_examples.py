"""Docstrings as the site shows them."""

from __future__ import annotations

import pytest

pytest.importorskip("griffe", reason="needs the extra 'docs'")

from griffe_examples import as_code


def test_arguments_explained_together_are_shown_one_by_one() -> None:
    text = "Learns.\n\nArgs:\n    X, y: samples\n        and labels.\n    n: how many.\n\nA, b: no argument.\n"
    shown = as_code(text)
    assert "    X: samples\n        and labels.\n    y: samples\n        and labels.\n    n: how many.\n" in shown
    assert "\nA, b: no argument." in shown


def test_prompts_are_code() -> None:
    assert as_code("Example:\n\n>>> 1 + 1\n2\n") == "Examples:\n\n```pycon\n>>> 1 + 1\n2\n```\n"
