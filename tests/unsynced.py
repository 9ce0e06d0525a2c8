"""Importing this makes `os.fsync` do nothing: no test loses power, and small runs mostly wait for the disk.

A test of what happens when syncing fails puts a function of its own there.
"""

from __future__ import annotations

import os


def fsync(file: object) -> None:
    """Leave it to the system when bytes reach the disk."""


os.fsync = fsync
