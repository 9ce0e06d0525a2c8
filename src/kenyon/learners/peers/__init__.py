"""Peers by their own code: strategies of Avalanche, and classifiers and strategies of CapyMOA, on our streams.

They are named as any class from outside the table: `learner = "kenyon.learners.peers:AvalancheLearner"` or
`"kenyon.learners.peers:CapyMOAStrategy"` with the option `strategy`, or `"kenyon.learners.peers:CapyMOALearner"` with
the option `classifier`. Their packages are not installed with ours: `pip install 'kenyon[peers]'` (CapyMOA needs Java).

>>> from kenyon.learners import learner_options
>>> learner_options("kenyon.learners.peers:CapyMOALearner")["classifier"]
'NaiveBayes'
"""

from kenyon.learners.peers._avalanche import AvalancheLearner
from kenyon.learners.peers._capymoa import CapyMOALearner, CapyMOAStrategy

__all__ = ["AvalancheLearner", "CapyMOALearner", "CapyMOAStrategy"]
