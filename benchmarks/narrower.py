"""A model with fewer units, cut from a wider one that learned the same stream: what it would have learned itself.

Units of patches do not depend on how many there are, and neither do exact sums of pairs of them. The pairs lie row by
row in a triangle, so those of the first units stand at its beginning. `tests/test_patches.py` compares the two bit by
bit. The counter of changed synapses alone is that of the wider model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kenyon import KenyonClassifier


def narrower(wide: KenyonClassifier, **params: Any) -> KenyonClassifier:
    """The classifier with these parameters, after all that `wide` learned.

    Args:
        wide: one with patches before a second-order layer of 32 bits, the same seed and at least as many units.
        params: of `KenyonClassifier`.
    """
    learned = wide.to_arrays()
    labels = [label for label, _ in sorted(wide.neurons().items(), key=lambda item: item[1])]
    empty = np.zeros((len(labels), wide.n_features_in_), np.uint8)
    own = KenyonClassifier(**params).partial_fit(empty, labels).to_arrays()
    for name in ("pairs.0", "sums.0"):
        if own[name].dtype != np.uint32 or learned[name].dtype != np.uint32 or len(own[name]) > len(learned[name]):
            raise ValueError(f"{name} is {learned[name].dtype}: expected exact sums of 32 bits, and no fewer units")
        own[name] = learned[name][: len(own[name])]
    return KenyonClassifier.from_arrays(own | {name: learned[name] for name in ("class_counts.0", "counters")})
