"""Fine-tuning: SGD on the stream as it comes, with nothing against forgetting. The lower bound of the comparison.

theta <- theta - lr * grad CE(f(x), y)
"""

from __future__ import annotations

from kenyon.learners.baselines._trainer import Trainer


class FineTune(Trainer):
    """The shared trainer as it is."""

    name = "fine-tune"
