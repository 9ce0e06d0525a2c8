"""A model card: what a model is, what it knows, what it takes and what it was trained on, as Markdown."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from pathlib import Path

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.utils.wording import size

MOST_CLASSES = 20


def model_card(model: KenyonClassifier, path: Path, trained: str = "") -> str:
    """The card of a fitted model.

    Args:
        model: the model.
        path: its file, which the card names by its SHA-256 sum.
        trained: Markdown on how it was trained; empty where that is not known.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from kenyon import KenyonClassifier
        >>> model = KenyonClassifier(shape=(2, 2)).partial_fit(np.eye(4, dtype=np.uint8), [0, 1, 0, 1])
        >>> model.save("model.safetensors")
        >>> model_card(model, Path("model.safetensors")).splitlines()[0]
        '# Model card: model.safetensors'
    """
    spec = model.spec_
    sample = f"{spec.n_inputs:,} numbers" + (f" of shape {tuple(spec.shape)}" if spec.shape else "")
    facts = {
        "Input": f"{type(spec.front).__name__} of a sensor's samples, then {sample}" if spec.front else sample,
        "Features": f"`{spec.features}`",
        "Hidden": f"`{spec.hidden}`" if spec.hidden else "",
        "Layer": f"`{spec.layer}`",
        "Samples learned": f"{model.n_samples_learned_:,}",
        "State": f"{size(model.state_bytes)} to keep learning, {size(model.working_bytes)} at work",
        "Memory budget": size(spec.memory_budget) if spec.memory_budget else "",
        "Samples stored": "none",
        "SHA-256 of the file": f"`{hashlib.sha256(path.read_bytes()).hexdigest()}`",
    }
    lines = [f"# Model card: {path.name}", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value.replace('|', '/')} |" for name, value in facts.items() if value]
    for task in model.tasks_:
        lines += ["", "## Classes" if task is None else f"## Classes of task {task}", "", _classes(model, task)]
    lines += ["", "## Training", "", trained or "The file does not say on what it was trained.", ""]
    code = f'from kenyon import KenyonClassifier\n\nmodel = KenyonClassifier.load("{path.name}")'
    return "\n".join([*lines, "## Use", "", f"```python\n{code}\nmodel.predict(X)\n```", ""])


def _classes(model: KenyonClassifier, task: Hashable) -> str:
    """The labels of a task, and how often predictions were right while learning, where that was counted."""
    labels = list(model.neurons(task))
    more = f" and {len(labels) - MOST_CLASSES} more" if len(labels) > MOST_CLASSES else ""
    text = f"{len(labels)}: {', '.join(map(str, labels[:MOST_CLASSES]))}{more}."
    try:
        estimate = model.accuracy_estimate(task=task)
    except ConfigError:  # nothing was counted
        return text
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{text} Right before learning: {100 * estimate.accuracy:.1f} % ({low:.1f} to {high:.1f} %)."
