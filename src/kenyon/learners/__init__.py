"""Learners: the table of our own, the baselines and any `module:Class`, and the adapter of our classifier.

>>> sorted(LEARNERS)[:3], LEARNERS["kenyon"].target
(['a-gem', 'cn-dpm', 'der++'], 'kenyon.learners._kenyon:KenyonLearner')
"""

from typing import TYPE_CHECKING

from kenyon.learners._table import (
    LEARNERS,
    check_learner_config,
    find_learner,
    learner_class,
    learner_descriptions,
    learner_options,
    make_learner,
    tuned_options,
    what_learns,
)
from kenyon.utils.lazy import import_on_use

if TYPE_CHECKING:
    from kenyon.learners._kenyon import KenyonLearner

__all__ = [
    "LEARNERS",
    "KenyonLearner",
    "check_learner_config",
    "find_learner",
    "learner_class",
    "learner_descriptions",
    "learner_options",
    "make_learner",
    "tuned_options",
    "what_learns",
]


_, __getattr__ = import_on_use(__name__, {"_kenyon": "KenyonLearner"})  # which brings the compiled kernels
