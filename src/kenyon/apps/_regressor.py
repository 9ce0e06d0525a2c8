"""`KenyonRegressor` for River's pipelines and streams."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from kenyon.apps._names import TableModel
from kenyon.errors import require
from kenyon.regressor import KenyonRegressor

base = require("river.base", "river", "RiverRegressor")


class RiverRegressor(base.Regressor):  # type: ignore[name-defined]
    """Ramps of scaled inputs and a ridge regression solved from their sums, one sample at a time.

    Names that the first sample did not have are not looked at, and absent ones are imputed. Predictions come from a
    copy of the model that is renewed when there is one sample more for sixteen.

    Args:
        memory_budget: most bytes of state.
        seed: seed of the features.

    Example:
        >>> model = RiverRegressor(seed=0)
        >>> for number in range(100):
        ...     model.learn_one({"a": number % 10, "b": number % 3}, 2.0 * (number % 10))
        >>> round(model.predict_one({"a": 4, "b": 1}))
        8
    """

    def __init__(self, memory_budget: int | str | None = None, seed: int | None = None) -> None:
        self.memory_budget, self.seed = memory_budget, seed
        model = KenyonRegressor(missing="absent", memory_budget=memory_budget, random_state=seed)
        self._table = TableModel(model)

    def learn_one(self, x: Mapping[Hashable, Any], y: float) -> None:
        """Learn one sample."""
        self._table.learn(x, y)

    def predict_one(self, x: Mapping[Hashable, Any]) -> float:
        """The target of a sample; 0 before the first was learned."""
        if not self._table.n:
            return 0.0
        model, row = self._table.serve(x)
        return float(model.predict(row)[0])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 0}
