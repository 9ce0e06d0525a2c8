"""Pictures of one run: accuracy matrix, accuracy over the stream, weight evolution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.lab.evaluation import WITHHELD, RunFolder, RunResult
from kenyon.lab.plots._picture import Draw, save_picture
from kenyon.lab.report import accuracy_curve, record_samples

WINDOWS = 200  # points of the accuracy curve


def plot_run(run: RunFolder, folder: Path, kind: str = "png") -> list[Path]:
    """Draw a complete run.

    Args:
        run: the run.
        folder: where the pictures go.
        kind: `"png"`, `"svg"` or `"pdf"`.

    Returns:
        The files written; what the run did not record, or was copied without, is left out.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, run
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], store="runs")
        >>> [path.name for path in plot_run(Store(Path("runs")).runs()[0], Path("pictures"), "svg")]
        ['accuracy_matrix.svg', 'accuracy.svg']
    """
    result = run.result()
    outcomes, means = run.array("prequential.npy"), run.array("weights.npy")
    drawings: dict[str, Draw] = {"accuracy_matrix": lambda axes: draw_matrix(axes, result)}
    if outcomes is not None:
        drawings["accuracy"] = lambda axes: draw_accuracy(axes, outcomes, result)
    if means is not None and len(means):
        drawings["weights"] = lambda axes: draw_weights(axes, means, result)
    return [save_picture(draw, folder / f"{name}.{kind}", (7, 4.2)) for name, draw in drawings.items()]


def draw_matrix(axes: Any, result: RunResult) -> None:
    """Accuracy on task j (column) after learning task i (row), in percent."""
    matrix = 100 * np.array(result.accuracy_matrix, dtype=np.float64)
    n = len(matrix)
    image = axes.imshow(matrix, vmin=0, vmax=100, cmap="viridis")
    if n <= 12:
        for i, j in np.argwhere(np.isfinite(matrix)):
            axes.text(j, i, f"{matrix[i, j]:.1f}", ha="center", va="center", color="w" if matrix[i, j] < 60 else "k")
    numbers = [str(i + 1) for i in range(n)]
    axes.set_xticks(range(n), numbers)
    axes.set_yticks(range(n), numbers)
    axes.set_xlabel("tested on task")
    axes.set_ylabel("after learning task")
    axes.figure.colorbar(image, label="accuracy, %")


def draw_accuracy(axes: Any, outcomes: NDArray[np.uint8], result: RunResult) -> None:
    """Prequential accuracy over the stream: in windows, and over all samples so far."""
    ends, windowed = accuracy_curve(outcomes, max(1, len(outcomes) // WINDOWS))
    labelled, right = np.cumsum(outcomes != WITHHELD), np.cumsum(outcomes == 1)
    axes.plot(ends, 100 * windowed, lw=0.8, alpha=0.6, label=f"windows of {max(1, len(outcomes) // WINDOWS)} samples")
    axes.plot(ends, 100 * right[ends - 1] / np.maximum(1, labelled[ends - 1]), label="all samples so far")
    _mark_tasks(axes, result)
    axes.set_ylim(0, 101)
    axes.set_xlabel("samples")
    axes.set_ylabel("accuracy before learning, %")
    axes.legend(loc="lower right")


def draw_weights(axes: Any, means: NDArray[np.float32], result: RunResult) -> None:
    """Mean incoming weight of each class's neuron over the stream."""
    samples = record_samples(result.n_train, result.weights_stride)[: len(means)]
    for j in range(means.shape[1]):
        axes.plot(samples, means[:, j], lw=1, label=str(j))
    _mark_tasks(axes, result)
    axes.set_xlabel("samples")
    axes.set_ylabel("mean incoming weight")
    if means.shape[1] <= 20:
        axes.legend(title="class", ncols=2, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _mark_tasks(axes: Any, result: RunResult) -> None:
    for boundary in np.cumsum(result.n_train)[:-1]:
        axes.axvline(boundary, color="0.8", lw=0.8, zorder=0)
