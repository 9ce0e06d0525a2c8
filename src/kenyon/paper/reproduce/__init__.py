"""Regenerate the paper's tables and figures: plan, run what the store lacks, write `report.json`.

>>> from pathlib import Path
>>> experiments = find_experiments(["distances"])
>>> isinstance(experiments[0], Experiment), experiments[0].name in EXPERIMENTS
(True, True)
>>> Path("data").mkdir()
>>> reproduction = Reproduction(experiments, Setting(Path("runs"), data_dir=Path("data"), quick=True))
>>> plan = reproduction.plan()
>>> isinstance(plan, Plan), len(plan.left)
(True, 0)
>>> done = reproduction.run(plan)
>>> isinstance(done, Reproduced), done.path.name, done.failures
(True, 'report.json', {})
>>> earlier = Earlier.read(done.path)
>>> earlier.runs, earlier.report.title
({}, 'The paper, reproduced')
"""

from kenyon.paper.reproduce._earlier import Earlier
from kenyon.paper.reproduce._plan import Plan, recorded_on
from kenyon.paper.reproduce._reproduce import Reproduced, Reproduction, write_results
from kenyon.paper.reproduce._setting import Setting
from kenyon.paper.reproduce.experiments import EXPERIMENTS, Experiment, find_experiments

__all__ = [
    "EXPERIMENTS",
    "Earlier",
    "Experiment",
    "Plan",
    "Reproduced",
    "Reproduction",
    "Setting",
    "find_experiments",
    "recorded_on",
    "write_results",
]
