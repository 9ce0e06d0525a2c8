"""Kenyon: learn continuously from a stream without storing it."""
