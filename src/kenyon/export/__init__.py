"""Models for use elsewhere: one export, one file, one line of the table.

An export is a function `write(classifier, out) -> list[Path]` that writes a folder and says what it wrote.

>>> isinstance(EXPORTS["numpy"], Export)
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, unknown
from kenyon.export._buffer import from_buffer, to_buffer
from kenyon.export._c import device_costs
from kenyon.export._c_cost import Cost, rows_of
from kenyon.export._card import model_card
from kenyon.regressor import KenyonRegressor, is_regressor
from kenyon.utils.options import is_outside
from kenyon.utils.outside import load_function

__all__ = [
    "EXPORTS",
    "Cost",
    "Export",
    "device_costs",
    "export_model",
    "from_buffer",
    "load_model",
    "model_card",
    "rows_of",
    "to_buffer",
]


@dataclass(frozen=True)
class Export:
    """A row of the table: enough to list it without importing it.

    Attributes:
        name: the name on the command line.
        target: `"module:function"`; the function is called as `function(model, out, **options)`.
        summary: one line on what it writes.
        regression: whether it writes regressors, too.
    """

    name: str
    target: str
    summary: str
    regression: bool = False


EXPORTS: dict[str, Export] = {
    export.name: export
    for export in (
        Export("numpy", "kenyon.export._numpy:write", "plain arrays and a predictor that needs NumPy alone", True),
        Export("c", "kenyon.export._c:write", "C99 sources of a model that keeps learning on a device"),
    )
}
"""The exports by name."""


def _find(name: str) -> Callable[..., list[Path]]:
    """The function of an export: a name of the table, or `module:function` for one outside it."""
    if is_outside(name):
        return load_function(name, "export")
    if name not in EXPORTS:
        raise unknown("export", name, EXPORTS)
    module, _, function = EXPORTS[name].target.partition(":")
    return getattr(import_module(module), function)


def export_model(
    model: KenyonClassifier | KenyonRegressor | Path | str, to: str, out: Path | str, **options: Any
) -> list[Path]:
    """Write a model in another form.

    Args:
        model: a classifier or a regressor that has learned something, or the file of one.
        to: a name of `EXPORTS`, or `module:function`.
        out: a folder, made where it does not exist.
        options: whatever the export takes.

    Returns:
        The files that were written.

    Example:
        >>> from sklearn.datasets import load_digits
        >>> from kenyon import KenyonClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KenyonClassifier("mse", n_hidden=200, random_state=0).partial_fit(X[:100], y[:100])
        >>> files = export_model(model, "numpy", "exported")
        >>> all(path.exists() for path in files)
        True
    """
    write = _find(to)
    if not isinstance(model, (KenyonClassifier, KenyonRegressor)):
        model = load_model(model)
    if isinstance(model, KenyonRegressor) and to in EXPORTS and not EXPORTS[to].regression:
        able = ", ".join(repr(row.name) for row in EXPORTS.values() if row.regression)
        raise ConfigError(f"the model is a KenyonRegressor and the export {to!r}: expected {able}")
    Path(out).mkdir(parents=True, exist_ok=True)
    return write(model, Path(out), **options)


def load_model(path: Path | str) -> KenyonClassifier | KenyonRegressor:
    """The classifier or the regressor that a file holds.

    Example:
        >>> from kenyon import KenyonClassifier
        >>> KenyonClassifier(random_state=0).fit([[0.0], [1.0]], ["low", "high"]).save("model.safetensors")
        >>> type(load_model("model.safetensors")).__name__
        'KenyonClassifier'
    """
    return KenyonRegressor.load(path) if is_regressor(path) else KenyonClassifier.load(path)
