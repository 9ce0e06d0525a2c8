"""Kenyon inside something else: a page to teach it on, River."""
