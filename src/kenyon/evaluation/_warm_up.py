"""A first meeting with a few samples, so that compilation is over before the clock runs and wrong options are known.

What is compiled is kept for the process, and depends on the configuration alone. The learner that warms up is thrown
away before the one that counts is made.
"""

from __future__ import annotations

from dataclasses import replace

from kenyon.evaluation._config import RunConfig
from kenyon.evaluation._identity import id_of, identity
from kenyon.learners import make_learner
from kenyon.streams import Dataset

SAMPLES = 32
_warm: set[str] = set()


def warm_up(config: RunConfig, seed: int, dataset: Dataset) -> None:
    """Build the learner, let it learn and predict a few samples, and forget it; once per process."""
    key = id_of(identity(config), 0)
    if key in _warm:
        return
    curriculum = replace(config.curriculum, seed=seed)
    stream = curriculum.open(dataset)
    learner = make_learner(config.learner, stream.info, seed, curriculum.scenario, **config.options)
    episode = stream.episodes[0]
    task = episode.task if stream.info.task_heads else None
    X, y = episode.train(0, min(SAMPLES, episode.n_train))
    learner.predict(X, task)
    learner.test_then_learn(X, y, task)
    learner.predict(X, task)
    _warm.add(key)
