"""Draw the figures of docs/concepts/how-it-works.md, from the digits inside the package.

python tools/concept_figures.py
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from kenyon import KenyonClassifier
from kenyon.data import Curriculum, load_dataset
from kenyon.reference import Learner

matplotlib.use("svg")
matplotlib.rcParams.update(
    {"svg.hashsalt": "kenyon", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
)

import matplotlib.pyplot as plt  # noqa: E402

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
OURS, THEIRS = "C3", "C0"
MODEL: dict[str, Any] = {"memory_budget": "20KB", "shape": (8, 8), "random_state": 0}


def draw_features(X: NDArray, y: NDArray) -> plt.Figure:
    """Windows of three units, and the activity of all units for two threes and an eight."""
    reference = Learner(**MODEL)
    reference.partial_fit(X[:20], y[:20])
    signs, inputs = reference.features.signs[:, 0], reference.features.inputs
    threes, eight = np.flatnonzero(y == 3)[:2], np.flatnonzero(y == 8)[0]
    figure, axes = plt.subplot_mosaic(
        [["a", "0", "1", "2"], ["a", "x", "x", "x"], ["b", "y", "y", "y"], ["c", "z", "z", "z"]],
        figsize=(4.8, 4.8), height_ratios=(1.2, 1, 1, 1), width_ratios=(1, 1, 1, 1), layout="constrained",
    )  # fmt: skip
    for unit, name in zip((3, 40, 90), "012", strict=True):
        axes[name].imshow(X[threes[0]].reshape(8, 8), cmap="Greys", alpha=0.4)
        for (_, row, column), sign in zip(inputs[:, unit].T, signs, strict=True):
            axes[name].text(column, row, "+" if sign > 0 else "-", ha="center", va="center", weight="bold",
                            color="C2" if sign > 0 else OURS)  # fmt: skip
        axes[name].set(xticks=[], yticks=[], title=f"unit {unit}")
    for sample, image, bars in zip((*threes, eight), "abc", "xyz", strict=True):
        axes[image].imshow(X[sample].reshape(8, 8), cmap="Greys")
        axes[image].set(xticks=[], yticks=[], title=f"a {y[sample]}")
        active, values = reference.features(X[sample])[:2]
        axes[bars].bar(active, np.asarray(values, float), width=1, color=OURS)
        axes[bars].set(yticks=[], xlim=(-1, 128), xticks=[0, 64, 127] if bars == "z" else [])
    axes["x"].set_title("activity of 128 units")
    axes["z"].set_xlabel("unit")
    return figure


def draw_forgetting() -> plt.Figure:
    """Accuracy on zeros and ones while other digits are learned."""
    stream = Curriculum("class-incremental", seed=0).open(load_dataset("digits"))
    ours, theirs = KenyonClassifier(**MODEL), SGDClassifier(loss="log_loss", random_state=0)
    kept, lost = [], []
    X0, y0 = stream.episodes[0].test()
    for task in stream.episodes:
        X, y = task.train()
        ours.partial_fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.partial_fit(X / 16, y, classes=range(10))
        kept.append(100 * ours.score(X0, y0))
        lost.append(100 * theirs.score(X0 / 16, y0))
    figure, axis = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    steps = range(1, len(kept) + 1)
    axis.plot(steps, kept, "o-", color=OURS)
    axis.plot(steps, lost, "s-", color=THEIRS)
    axis.annotate("Kenyon, 20 KB", (3, kept[2]), (0, -18), textcoords="offset points", color=OURS)
    axis.annotate("logistic regression, SGD", (3, lost[2]), (0, 36), textcoords="offset points", color=THEIRS)
    axis.set(ylim=(-4, 106), ylabel="right on 0 and 1, %", xticks=list(steps))
    axis.set_xticklabels([f"{a} and {b}" for a, b in (task.classes for task in stream.episodes)])
    axis.set_xlabel("digits learned last")
    return figure


def draw_budget() -> plt.Figure:
    """Units and accuracy for every budget, digits one class after the other."""
    digits = load_dataset("digits")
    order = np.argsort(digits.train.y, kind="stable")
    budgets, units, right = [2, 5, 10, 20, 50, 100, 200], [], []
    for budget in budgets:
        model = KenyonClassifier(**{**MODEL, "memory_budget": f"{budget}KB"})
        model.partial_fit(digits.train.X[order], digits.train.y[order])
        units.append(model.parts()[0].n_outputs)
        right.append(100 * model.score(digits.test.X, digits.test.y))
    figure, axis = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    axis.plot(budgets, right, "o-", color=OURS)
    for budget, accuracy, n in zip(budgets, right, units, strict=True):
        axis.annotate(f"{n} units", (budget, accuracy), (0, -16), textcoords="offset points", ha="center", fontsize=9)
    axis.set(xscale="log", xlabel="memory_budget, KB", ylabel="right on all digits, %", ylim=(min(right) - 4, 101))
    axis.set_xticks(budgets, [str(budget) for budget in budgets])
    axis.minorticks_off()
    return figure


def main() -> None:
    digits = load_dataset("digits")
    drawn = {
        "features": draw_features(digits.train.X, digits.train.y),
        "forgetting": draw_forgetting(),
        "budget": draw_budget(),
    }
    for name, figure in drawn.items():
        figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
