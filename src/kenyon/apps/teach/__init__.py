"""A page on which a model is trained by drawing, and seen to learn and not to forget: one HTML file, no server.

>>> page_html().startswith("<!doctype html>")
True
>>> len(TASKS)
5
"""

from kenyon.apps.teach._digits import TASKS, Digits, load_digits, pack_digits
from kenyon.apps.teach._page import default_model, page_html, write_page
from kenyon.apps.teach._serve import make_server

__all__ = ["TASKS", "Digits", "default_model", "load_digits", "make_server", "pack_digits", "page_html", "write_page"]
