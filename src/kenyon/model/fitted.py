"""A fitted model as one value: whoever holds it holds a state that fits together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from kenyon.model.engine import Engine
from kenyon.model.inputs import Inputs
from kenyon.model.journal import Undoing
from kenyon.model.labels import Labels


class Core(NamedTuple):
    """Everything a classifier has learned. A call that learns ends by putting a new one in the old one's place.

    Attributes:
        engine: features, layers and time.
        heads: the labels of each task.
        inputs: width and names of the features.
        journal: of a call under way; one that is found here later was interrupted, and is undone first.
    """

    engine: Engine
    heads: Mapping[Hashable, Labels]
    inputs: Inputs
    journal: Undoing | None = None
