"""Sweeps: one file in which any key may be a list, and everything it stands for run into one store.

>>> plan = Sweep.from_dict({"dataset": "digits", "learner": ["ncm", "slda"], "max_per_task": 20, "seeds": 2})
>>> result = sweep(plan, "runs")
>>> isinstance(result, SweepResult), len(result.reports), result.failures
(True, 2, [])
>>> [config.learner for config in expand({"dataset": "digits", "learner": ["ncm", "slda"]})]
['ncm', 'slda']
"""

from kenyon.lab.sweeps._grid import expand
from kenyon.lab.sweeps._sweep import Failure, Sweep, SweepResult, sweep

__all__ = ["Failure", "Sweep", "SweepResult", "expand", "sweep"]
