"""DeepHyper's CBO behind `ask` and `tell`, for spaces with inactive parameters.

DeepHyper supports conditions, but gives inactive parameters their lower bound, which its forest then takes for a value
that was tried. So we give it a flat space and handle the conditions ourselves: `MaskedForest` puts NaN in the place of
every inactive parameter, both when it is fitted and when it is asked, and suggestions are masked in the same way.
Drawing from a flat space is also four times as fast. A category is given as its index in the list, in one column.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

import ConfigSpace as cs
import numpy as np
from deephyper.hpo import CBO, HpProblem
from deephyper.skopt.learning import RandomForestRegressor
from numpy.typing import NDArray

from kenyon.lab.search._space import Parameter, Point, Space
from kenyon.lab.search._suggest import scratch_folder

NEVER = 10**9
DEPTH = 6
"""Choices that may lie one within another, their switches counted."""


class MaskedForest(RandomForestRegressor):
    """DeepHyper's random forest on a space with inactive parameters.

    Args:
        parents: for each column, the column it depends on and the value needed there; None for no parent.
        n_estimators: the number of trees.
        random_state: the seed.
    """

    def __init__(
        self,
        parents: tuple[tuple[int, int] | None, ...] = (),
        n_estimators: int = 20,
        random_state: int | None = None,
    ) -> None:
        # Half of the columns are considered at a split. Most columns are NaN under any one rule, so the usual square
        # root of their number would often leave none to split at.
        super().__init__(
            n_estimators, min_samples_split=2, max_features=0.5, bootstrap=True, random_state=random_state, n_jobs=1
        )
        self.parents = parents

    def masked(self, X: Any) -> NDArray[np.float32]:
        """Put NaN wherever the parent does not have the value needed; a parent that is NaN never has it."""
        X = np.array(X, dtype=np.float32)
        pending = [(column, parent) for column, parent in enumerate(self.parents) if parent is not None]
        for _ in range(DEPTH):  # a parent may itself depend on another
            for column, (parent, value) in pending:
                X[X[:, parent] != value, column] = np.nan
        return X

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MaskedForest:
        return super().fit(self.masked(X), y, sample_weight)

    def predict(self, X: Any, return_std: bool = False, disentangled_std: bool = False) -> Any:
        """Mean of the trees, and their standard deviation; a leaf holds one result, so it has no spread of its own.

        The trees are called directly: scikit-learn's checks of the input, per tree, took most of the time.
        """
        X = self.masked(X)
        trees = np.array([tree.tree_.predict(X)[:, 0] for tree in self.estimators_])
        mean, std = trees.mean(axis=0), trees.std(axis=0)
        if disentangled_std:
            return mean, np.zeros_like(std), std
        return (mean, std) if return_std else mean


class _Search:
    def __init__(self, cbo: CBO, space: Space) -> None:
        self._cbo, self._space = cbo, space

    def ask(self, n: int, pending: Sequence[Point] = ()) -> list[Point]:
        """New points; those pending, which are being evaluated, count as if they had the worst score so far."""
        whole = self._cbo._opt
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if pending and whole is not None and whole.yi:
                    names = self._cbo._problem.hyperparameter_names
                    lies = [[self._encoded(point)[name] for name in names] for point in pending]
                    self._cbo._opt = whole.copy(random_state=whole.rng.randint(2**31 - 1))
                    self._cbo._opt._tell(lies, [max(whole.yi)] * len(lies))  # scores are minimised there
                found = self._cbo.ask(n)
            finally:
                if self._cbo._opt is not whole and whole is not None:
                    whole.sampled = self._cbo._opt.sampled
                    self._cbo._opt = whole
        decoded = [{p.name: _decode(p, values[p.name]) for p in self._space.parameters} for values in found]
        return [self._space.mask(point) for point in decoded]

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        encoded = [(self._encoded(point), y) for point, y in results]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cbo.tell(encoded)

    def _encoded(self, point: Point) -> dict[str, Any]:
        return {p.name: _encode(p, point[p.name]) for p in self._space.parameters}


def make_search(space: Space, seed: Sequence[int], kappa: float, candidates: int) -> _Search:
    """A new search that knows no result yet.

    Args:
        space: the space to choose from.
        seed: integers.
        kappa: weight of the uncertainty, constant over the search.
        candidates: the number of random points among which the best is taken.
    """
    logging.getLogger("deephyper").setLevel(logging.ERROR)
    number = int(np.random.SeedSequence(list(seed)).generate_state(1)[0] >> 1)
    problem = HpProblem()
    for parameter in space.parameters:
        problem.add_hyperparameter(_dimension(parameter))
    columns = list(problem.hyperparameter_names)
    parents = tuple(_parent_column(space[name], space, columns) for name in columns)
    with scratch_folder() as folder:
        cbo = CBO(
            problem,
            random_state=number,
            surrogate_model=MaskedForest(parents, random_state=number),
            acq_func="UCB",
            acq_func_kwargs={"kappa": kappa, "scheduler": {"type": "constant"}},
            acq_optimizer="sampling",
            acq_optimizer_kwargs={"n_points": candidates, "max_total_failures": NEVER},
            multi_point_strategy="cl_max",
            n_initial_points=1,
            objective_scaler="quantile-uniform",
            log_dir=folder,
            verbose=0,
        )
    return _Search(cbo, space)


def _dimension(parameter: Parameter) -> Any:
    name = parameter.name
    if len(parameter.values) == 1:
        return cs.Constant(name, 0)
    if parameter.values:
        return cs.OrdinalHyperparameter(name, list(range(len(parameter.values))))
    kind = cs.UniformIntegerHyperparameter if parameter.is_integer else cs.UniformFloatHyperparameter
    return kind(name, parameter.low, parameter.high, log=parameter.log)


def _parent_column(parameter: Parameter, space: Space, columns: list[str]) -> tuple[int, int] | None:
    if parameter.parent is None:
        return None
    name, value = parameter.parent
    return columns.index(name), space[name].values.index(value)


def _encode(parameter: Parameter, value: Any) -> Any:
    """The value as DeepHyper wants it; for an inactive parameter any legal value, since the forest masks it."""
    if isinstance(value, float) and np.isnan(value):
        return 0 if parameter.values else parameter.low
    return parameter.values.index(value) if parameter.values else value


def _decode(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, float) and np.isnan(value):
        return value
    if parameter.values:
        return parameter.values[int(value)]
    return int(value) if parameter.is_integer else float(value)
