"""A stream of sensor samples in, labelled events out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.errors import ConfigError, InputError
from kenyon.features.front import Event, Events, FrontPart, Segment, Smoothing
from kenyon.layers import NEVER
from kenyon.model.fitted import Core
from kenyon.model.labels import head_of

if TYPE_CHECKING:
    from kenyon.classifier import KenyonClassifier


def events_in(
    classifier: KenyonClassifier, front: FrontPart | None, chunks: Iterable[Any], events: Events
) -> Iterator[Event]:
    """Events as they are recognised. What is learned meanwhile counts from the next segment on.

    Args:
        chunks: int16 samples of any number, as arrays or as bytes (lowest first); None where samples were lost.
        events: how labels become events.
    """
    if front is None:
        raise ConfigError("the model has no front end: expected one, such as KenyonClassifier(front=Spectra())")
    return _events(classifier, front, chunks, events)


def _events(classifier: KenyonClassifier, front: FrontPart, chunks: Iterable[Any], events: Events) -> Iterator[Event]:
    stream, smoothing = front.stream(), Smoothing(events, front.hold)
    for chunk in chunks:
        if chunk is None:
            stream.gap()
            smoothing.forget()
            continue
        for segment in stream.segments(samples_of(chunk, front.axes)):
            event = smoothing.take(label_of(classifier, segment, events.limit), segment)
            if event is not None:
                yield event


def samples_of(chunk: Any, channels: int | None) -> Any:
    """A chunk as an array; bytes are int16, lowest first, of all channels in turn."""
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        return chunk
    wide = 2 * (channels or 1)
    if len(chunk) % wide:
        raise InputError(f"a chunk has {len(chunk)} bytes: expected a multiple of {wide}, whole samples of int16")
    samples = np.frombuffer(chunk, "<i2").astype(np.int16)
    return samples if channels is None else samples.reshape(-1, channels)


def label_of(classifier: KenyonClassifier, segment: Segment, limit: int | None) -> Hashable:
    """The label of a segment; None where it is farther from its class than the limit, or nothing was learned."""
    sample = segment.window.reshape(-1)

    def label(core: Core) -> Hashable:
        labels, neurons = head_of(core.heads, None).in_order
        scores = core.engine.scores(sample[np.newaxis])[0, neurons]
        best = int(scores.argmax())
        if scores[best] == NEVER:
            return None
        if limit is not None and core.engine.unlikeness(sample, int(neurons[best])) > limit:
            return None
        return labels[best : best + 1].tolist()[0]

    return classifier._read(label) if classifier.__sklearn_is_fitted__() else None
