"""Many readers or one writer, on plain locks alone.

A thread that reads holds a lock of its own. A thread that writes holds the gate, says that it writes, and waits for
every reader's lock once: a reader that comes later sees that a writer is at work, gives its lock back and waits at the
gate. Every lock is taken by a `with` statement on the lock itself, so that an interruption at any point releases it.
One that leaves a writer's name behind does no harm: whoever holds the gate knows that no other thread writes.
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
        self._writer: int | None = None
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
        while True:
            with slot.lock:
                if self._writer in (None, threading.get_ident()):
                    return action()
            with self._gate:
                self._writer = None  # of a call that was interrupted; a writer would hold the gate

    def write(self, action: Callable[[], T]) -> T:
        """Do something that changes the model; no other thread reads or writes meanwhile."""
        me = threading.get_ident()
        with self._gate:
            before, self._writer = self._writer, me
            try:
                slots = [slot for reference in self._slots if (slot := reference()) is not None]
                if len(slots) < len(self._slots):  # threads that have ended
                    self._slots = [weakref.ref(slot) for slot in slots]
                for slot in slots:
                    with slot.lock:
                        pass
                return action()
            finally:
                self._writer = me if before == me else None  # a call within a call of the same thread goes on writing
