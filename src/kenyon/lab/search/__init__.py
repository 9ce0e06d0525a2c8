"""Search for the rule, the architecture and the hyperparameters: asynchronous model-based search, or random search.

>>> objective = make_objective("digits", max_per_task=20)
>>> result = search(objective, "found", evals=1, method="random", workers=1)
>>> isinstance(result, SearchResult), sorted(SPACES)
(True, ['bytes', 'rules'])
>>> log = SearchFolder(result.folder).evaluations()
>>> isinstance(log[0], Evaluation), log[0].outcome.status in (DONE, FAILED, STOPPED), best_of([])
(True, True, None)
"""

from kenyon.lab.search._figures import search_figures
from kenyon.lab.search._log import Evaluation, SearchFolder, best_of, by_choice
from kenyon.lab.search._objective import (
    DONE,
    FAILED,
    STOPPED,
    Objective,
    Outcome,
    default_epochs,
    evaluate,
    make_objective,
)
from kenyon.lab.search._search import SearchResult, search
from kenyon.lab.search._space import SPACES, Parameter, Space, default_space, load_space, parse_space, with_budget

__all__ = [
    "DONE",
    "FAILED",
    "SPACES",
    "STOPPED",
    "Evaluation",
    "Objective",
    "Outcome",
    "Parameter",
    "SearchFolder",
    "SearchResult",
    "Space",
    "best_of",
    "by_choice",
    "default_epochs",
    "default_space",
    "evaluate",
    "load_space",
    "make_objective",
    "parse_space",
    "search",
    "search_figures",
    "with_budget",
]
