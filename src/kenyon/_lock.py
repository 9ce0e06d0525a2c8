"""Many readers or one writer, on plain locks alone.

A thread that reads holds a lock of its own; a thread that writes holds the gate and then every reader's lock.
Readers pass the gate before they take their lock, so that a waiting writer is not kept waiting by new ones.
Every lock is taken by a `with` statement on the lock itself, so that an interruption at any point releases it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _Slot:
    """The lock of one reading thread."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


class ModelLock:
    """Guards one model.

    Example:
        >>> lock = ModelLock()
        >>> lock.read(lambda: 1) + lock.write(lambda: 2)
        3
    """

    def __init__(self) -> None:
        self._gate = threading.RLock()
        self._mine = threading.local()
        self._slots: list[weakref.ref[_Slot]] = []

    def read(self, action: Callable[[], T]) -> T:
        """Do something that changes nothing; any number of threads may at once."""
        slot = getattr(self._mine, "slot", None)
        if slot is None:
            slot = _Slot()
            with self._gate:
                self._slots.append(weakref.ref(slot))
                self._mine.slot = slot
        with self._gate:
            pass
        with slot.lock:
            return action()

    def write(self, action: Callable[[], T]) -> T:
        """Do something that changes the model; nobody else reads or writes meanwhile."""
        with self._gate:
            slots = [slot for reference in self._slots if (slot := reference()) is not None]
            if len(slots) < len(self._slots):  # threads that have ended
                self._slots = [weakref.ref(slot) for slot in slots]
            return _holding(slots, action)


def _holding(slots: list[_Slot], action: Callable[[], T]) -> T:
    if not slots:
        return action()
    with slots[0].lock:
        return _holding(slots[1:], action)
