"""Find the rule, the architecture and the hyperparameters: asynchronous model-based search, and chance beside it."""

from kenyon.search._log import Evaluation, SearchFolder, best_of
from kenyon.search._objective import Objective, Outcome, evaluate, make_objective
from kenyon.search._search import SearchResult, SearchWatch, search
from kenyon.search._space import Parameter, Space, default_space, load_space, parse_space

__all__ = [
    "Evaluation",
    "Objective",
    "Outcome",
    "Parameter",
    "SearchFolder",
    "SearchResult",
    "SearchWatch",
    "Space",
    "best_of",
    "default_space",
    "evaluate",
    "load_space",
    "make_objective",
    "parse_space",
    "search",
]
