"""The trained learner of a run, from its folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kenyon.data.protocol import Learner
from kenyon.errors import DataError
from kenyon.lab.evaluation._checkpoint import read_checkpoint
from kenyon.lab.evaluation._config import RunConfig, parse_seeds
from kenyon.lab.evaluation._store import MODEL, RunFolder
from kenyon.learners import make_learner


def load_learner(folder: str | Path | RunFolder, data_dir: str | Path | None = None) -> Learner:
    """The learner of a run that was made with `save_model`, as it was at the end of its stream, ready to continue.

    A run of our own learner has a model file that `KenyonClassifier.load` reads, too.

    Args:
        folder: the run's folder.
        data_dir: where the data sets are; None for the usual place.

    Example:
        >>> report = run(RunConfig("digits", "ncm"), seeds=[0], store="runs", save_model=True)
        >>> learner = load_learner(report.results[0].folder)
        >>> state_hash(learner.state()) == report.results[0].state_sha256
        True
    """
    run = folder if isinstance(folder, RunFolder) else RunFolder(Path(folder))
    path = run.file(MODEL)
    if not path.exists():
        raise DataError(f"{path} is not there: a run keeps its model where --save-model is given")
    values = run.config()
    seed = parse_seeds(values.pop("seeds", [0]))[0]
    config = RunConfig.from_dict(values)
    curriculum = replace(config.curriculum, seed=seed)
    info = curriculum.open(config.open(data_dir)).info
    learner = make_learner(config.learner, info, seed, curriculum.scenario, **config.options)
    if hasattr(learner, "save"):
        if not hasattr(learner, "load"):
            raise DataError(f"{path} cannot be read: the learner {config.learner!r} has a save(path) but no load(path)")
        learner.load(path)
        return learner
    found = read_checkpoint(path, config.run_id(seed))
    assert found is not None
    learner.restore(found[0])
    return learner
