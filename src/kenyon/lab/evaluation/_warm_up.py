"""A trial with a few samples, so that wrong options are known before a run begins; its learner is thrown away."""

from __future__ import annotations

from dataclasses import replace

from kenyon.data.streams import Dataset
from kenyon.lab.evaluation._config import RunConfig
from kenyon.learners import make_learner

SAMPLES = 32
_warm: set[str] = set()


def warm_up(config: RunConfig, seed: int, dataset: Dataset) -> None:
    """Build the learner, let it learn and predict a few samples, and forget it; once per process."""
    key = config.run_id(0)
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
