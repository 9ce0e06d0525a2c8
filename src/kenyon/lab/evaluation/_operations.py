"""Operations of a learner for a sample: multiply-adds, counted the same way for every learner.

A learner with `feature_operations` (multiply-adds of its features for a sample) and `synaptic_updates` (one each) needs
no more. For any other, and for every network, PyTorch's counter of floating-point operations is run on a trial: a new
learner with the same options learns the first samples of the stream; two operations are one multiply-add.
A readout that is solved when somebody asks is not counted: it belongs to predicting, not to learning.

    energy of a sample = operations x 4.6 pJ

4.6 pJ is what a multiplication (3.7) and an addition (0.9) of 32-bit floats take at 45 nm, without memory (Horowitz,
Computing's energy problem, 2014). It is an estimate for comparing learners, not for choosing a battery.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from kenyon.data.protocol import Learner
from kenyon.data.streams import Stream

TRIAL = 256
PICOJOULES = 4.6


def operations_of(make: Callable[[], Learner], stream: Stream) -> float | None:
    """Multiply-adds of learning one sample, on average over the first ones; None where they cannot be counted."""
    learner, episode = make(), stream.episodes[0]
    n = min(TRIAL, episode.n_train)
    X, y = episode.train(0, n)
    task = episode.task if stream.info.task_heads else None
    half = n // 2 // learner.batch_size * learner.batch_size  # a buffer is filled before anything is counted
    if half:
        learner.learn(X[:half], y[:half], task)
    before = learner.synaptic_updates
    if is_counted(learner):
        learner.learn(X[half:], y[half:], task)
        total = getattr(learner, "feature_operations", 0) * (n - half) + learner.synaptic_updates - before
    else:
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as counter:
            learner.learn(X[half:], y[half:], task)
        total = counter.get_total_flops() / 2 or learner.synaptic_updates - before
    return total / (n - half) if total else None


def is_counted(learner: Learner) -> bool:
    """Whether the learner's own counts say what it does, so that no trial is needed."""
    return hasattr(learner, "feature_operations") or "torch" not in sys.modules


def operations_so_far(learner: Learner, learned: int) -> float | None:
    """The same from the counts of a learner after `learned` samples."""
    total = getattr(learner, "feature_operations", 0) + learner.synaptic_updates / max(learned, 1)
    return total or None
