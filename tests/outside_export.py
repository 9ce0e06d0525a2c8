"""An export from outside the package: the labels of a model as text."""

from __future__ import annotations

from pathlib import Path

from kenyon import KenyonClassifier


def write(classifier: KenyonClassifier, out: Path, suffix: str = "txt") -> list[Path]:
    path = out / f"labels.{suffix}"
    path.write_text(" ".join(map(str, classifier.classes_)))
    return [path]
