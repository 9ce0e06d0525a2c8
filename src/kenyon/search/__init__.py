"""Search for the rule, the architecture and the hyperparameters: asynchronous model-based search, or random search."""

from kenyon.search._log import Evaluation, SearchFolder, best_of
from kenyon.search._objective import DONE, FAILED, STOPPED, Objective, Outcome, default_epochs, evaluate, make_objective
from kenyon.search._search import SearchResult, SearchWatch, search
from kenyon.search._space import Parameter, Space, default_space, load_space, parse_space

__all__ = [
    "DONE",
    "FAILED",
    "STOPPED",
    "Evaluation",
    "Objective",
    "Outcome",
    "Parameter",
    "SearchFolder",
    "SearchResult",
    "SearchWatch",
    "Space",
    "best_of",
    "default_epochs",
    "default_space",
    "evaluate",
    "load_space",
    "make_objective",
    "parse_space",
    "search",
]
