"""What a call that learns changes in an engine, so that it can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kenyon.features import Active
from kenyon.layers import Undo

if TYPE_CHECKING:
    from kenyon.model.engine import Engine


class Undoing(Protocol):
    """What a call that was interrupted left behind."""

    def undo(self) -> None:
        """Put everything back as the call found it; may be repeated."""


class OfCalibration:
    """Where the calibration of an engine stood before it was renewed for a single sample, which a compiled call learns
    or does not."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._time = engine, engine.time
        self._state = None if engine.calibration is None else engine.calibration.state

    def undo(self) -> None:
        calibration = self._engine.calibration
        if self._engine.time == self._time and calibration is not None and self._state is not None:
            calibration.state = self._state
            calibration.applied(self._engine.layers[-1])


class Journal:
    """Where an engine stood when a call began, so that the call can be undone; undoing may be repeated."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._clock = engine.clock.copy()
        self._moments = None if engine.scaler is None else engine.scaler.kept()
        self._calibration = None if engine.calibration is None else engine.calibration.snapshot()
        self._parts = (engine.features, list(engine.layers), engine.spec)
        self._layers: list[Undo] = [layer.mark() for layer in engine.layers]

    def note(self, number: int, active: Active, first: int, last: int) -> None:
        """Keep what learning these samples is about to change in a layer."""
        if self._engine.layers[number] is self._parts[1][number]:  # one that took its place is dropped anyway
            self._layers[number].note(active, first, last)

    def undo(self) -> None:
        self._engine.put_back(*self._parts)
        for layer in self._layers:
            layer.undo()
        self._engine.clock[:] = self._clock
        if self._engine.scaler is not None and self._moments is not None:
            self._engine.scaler.restore(self._moments)
        if self._engine.calibration is not None and self._calibration is not None:
            self._engine.calibration.state = self._calibration
            self._engine.calibration.applied(self._engine.layers[-1])
            self._calibration = self._engine.calibration.snapshot()
