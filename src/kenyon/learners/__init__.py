"""Learners: the table of our own, the baselines and any `module:Class`, and the adapter of our classifier.

>>> sorted(LEARNERS)[:3], LEARNERS["kenyon"].target
(['a-gem', 'cn-dpm', 'der++'], 'kenyon.learners._kenyon:KenyonLearner')
"""

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """`KenyonLearner` is imported when first used: it brings the compiled kernels, the table needs none of them."""
    if name == "KenyonLearner":
        from kenyon.learners._kenyon import KenyonLearner

        return KenyonLearner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
