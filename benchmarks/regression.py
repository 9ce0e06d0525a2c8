"""Regression with the defaults, beside River's and scikit-learn's: mean absolute error, each sample predicted first.

    python benchmarks/regression.py

River's bundled sets in their own order; peers stand behind a StandardScaler. The target of water flow is the next
value from the last six.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from river import datasets, linear_model, preprocessing, tree
from sklearn.linear_model import SGDRegressor

from kenyon.apps.river import RiverRegressor

Stream = list[tuple[dict[str, float], float]]


def lagged(values: Iterable[float], n: int = 6) -> Stream:
    """Each value from those before it."""
    found = list(values)
    return [({f"-{k}": found[t - k] for k in range(1, n + 1)}, found[t]) for t in range(n, len(found))]


def numbers(stream: Iterable, most: int = 3_000) -> Stream:
    """Samples without what is no number."""
    return [
        ({name: float(v) for name, v in x.items() if isinstance(v, (int, float))}, float(y))
        for x, y in itertools.islice(stream, most)
    ]


class FromScikitLearn:
    """SGDRegressor, a sample at a time."""

    def __init__(self) -> None:
        self.model, self.known = SGDRegressor(random_state=0), False

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self.model.partial_fit([list(x.values())], [y])
        self.known = True

    def predict_one(self, x: dict[str, float]) -> float:
        return float(self.model.predict([list(x.values())])[0]) if self.known else 0.0


def peers() -> dict[str, Any]:
    """Learners by name, each new."""
    return {
        "Kenyon": RiverRegressor(seed=0),
        "LinearRegression": preprocessing.StandardScaler() | linear_model.LinearRegression(),
        "PARegressor": preprocessing.StandardScaler() | linear_model.PARegressor(),
        "HoeffdingTree": preprocessing.StandardScaler() | tree.HoeffdingTreeRegressor(),
        "HoeffdingAdaptiveTree": preprocessing.StandardScaler() | tree.HoeffdingAdaptiveTreeRegressor(seed=0),
        "SGDRegressor": FromScikitLearn(),
    }


def error(model: Any, stream: Stream) -> float:
    """Mean absolute error of predictions made before learning, the first twenty left out."""
    scaler, own, errors = preprocessing.StandardScaler(), isinstance(model, FromScikitLearn), []
    for x, y in stream:
        if own:
            scaler.learn_one(x)
            x = scaler.transform_one(x)
        errors.append(abs(y - model.predict_one(x)))
        model.learn_one(x, y)
    return float(np.mean(errors[20:]))


def main() -> None:
    streams = {
        "TrumpApproval": numbers(datasets.TrumpApproval()),
        "ChickWeights": numbers(datasets.ChickWeights()),
        "WaterFlow, next value": lagged((y for _, y in datasets.WaterFlow())),
        "AirlinePassengers, next value": lagged((y for _, y in datasets.AirlinePassengers())),
    }
    print(f"| | samples | {' | '.join(peers())} |\n|{'---|' * (len(peers()) + 2)}")
    for name, stream in streams.items():
        figures = [f"{error(model, stream):.3g}" for model in peers().values()]
        print(f"| {name} | {len(stream):,} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
