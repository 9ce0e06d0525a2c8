"""Learn the samples of one call, and say what was predicted for each before it was learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon._engine import NO_LABEL, Engine
from kenyon.labels import Head, Labels


def learn_samples(
    engine: Engine,
    samples: NDArray,
    neurons: NDArray[np.int64],
    before: Labels,
    after: Labels,
    arrivals: list[int],
    predictions: NDArray[np.int64] | None,
) -> None:
    """Learn; on any failure be as before.

    Args:
        neurons: output neuron of each sample, or NO_LABEL.
        before, after: the task's labels when the call begins, and with those that it brings.
        arrivals: first sample of each new class, ascending.
        predictions: filled with neurons, NO_LABEL before the first class; None where nobody asks.
    """
    snapshot = engine.snapshot(len(samples) + len(arrivals))
    head = Head(before.neurons.values())
    in_label_order = after.sorted()[1]
    choice = in_label_order[np.isin(in_label_order, head.neurons)]
    try:
        for first, last, x_o in engine.learn(samples, neurons, head, arrivals, predictions is not None):
            if predictions is None:
                continue
            skip = 0
            if first in arrivals:  # the sample that brings a class is predicted without it
                predictions[first] = _best(x_o[:1], choice)[0]
                choice = in_label_order[np.isin(in_label_order, head.neurons)]
                skip = 1
            predictions[first + skip : last] = _best(x_o[skip:], choice)
    except BaseException:
        if snapshot is not None:
            engine.roll_back(snapshot)
        raise


def _best(scores: NDArray[np.float32], neurons: NDArray[np.int64]) -> NDArray[np.int64]:
    """The neuron with the highest score for each sample; NO_LABEL where there is none to choose from."""
    if not neurons.size:
        return np.full(len(scores), NO_LABEL, np.int64)
    return neurons[scores[:, neurons].argmax(axis=1)]
