"""Your own streams: a list of episodes becomes a data set whose domains are the episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kenyon.data.streams._arrays import from_arrays, label_array, sample_array
from kenyon.data.streams._dataset import Dataset, Split
from kenyon.data.streams._domains import joined
from kenyon.data.streams._random import stratified_share
from kenyon.errors import ConfigError, InputError

EpisodeData: TypeAlias = "Dataset | tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]"
"""A data set; samples and labels, of which a share is kept for testing; or training and test samples and labels."""


def from_episodes(
    episodes: Sequence[EpisodeData],
    names: Sequence[str] | None = None,
    *,
    name: str = "stream",
    test_share: float = 0.2,
) -> Dataset:
    """A data set of episodes that come one after the other, each a domain of its own.

    Args:
        episodes: each `(X, y)`, `(X, y, X_test, y_test)` or a `Dataset`. A label of -1 (None among texts) is withheld.
        names: one for each; "1", "2", ... by default.
        name: of the data set, in messages.
        test_share: the share of every class of an episode that is kept for testing, where it has no test samples.

    Example:
        >>> import numpy as np
        >>> X = np.arange(40, dtype=np.float32).reshape(20, 2)
        >>> monday, tuesday = (X, ["walk", "run"] * 10), (X + 1, ["walk", "sit"] * 10)
        >>> dataset = from_episodes([monday, tuesday], ["monday", "tuesday"])
        >>> dataset.class_names, dataset.domain_names
        (('run', 'sit', 'walk'), ('monday', 'tuesday'))
    """
    if isinstance(episodes, str) or not isinstance(episodes, Sequence):
        raise ConfigError(f"episodes is a {type(episodes).__name__}: expected a list of episodes")
    names = [str(number) for number in range(1, len(episodes) + 1)] if names is None else list(names)
    if len(names) != len(episodes) or len(set(names)) < len(names):
        raise ConfigError(
            f"names has {len(set(names))} different names: expected {len(episodes)}, one for each episode"
        )
    if not 0 < test_share < 1:
        raise ConfigError(f"test_share is {test_share!r}: expected a number above 0 and below 1")
    parts = [
        _dataset(episode, f"{name}, episode {own!r}", test_share) for own, episode in zip(names, episodes, strict=True)
    ]
    return joined(parts, names, name)


def _dataset(episode: Any, what: str, test_share: float) -> Dataset:
    if isinstance(episode, Dataset):
        return episode
    if not isinstance(episode, tuple | list) or len(episode) not in (2, 4):
        seen = f"{len(episode)} parts" if isinstance(episode, tuple | list) else f"a {type(episode).__name__}"
        raise InputError(f"{what} is {seen}: expected (X, y), (X, y, X_test, y_test) or a Dataset")
    labels, withheld = _withheld(episode[1])
    if len(labels) and withheld.all():
        raise InputError(f"{what} has {len(labels)} samples and no label: expected some labels")
    if len(episode) == 4 and not withheld.any():
        return from_arrays(*episode, name=what, fewest_classes=1)
    X, value_range, shape = sample_array(episode[0], f"{what}: X")
    known = label_array(labels[~withheld], int((~withheld).sum()), f"{what}: y")
    if len(labels) != len(X):
        raise InputError(f"{what}: y has shape {labels.shape}: expected ({len(X)},), one label per sample")
    classes = np.unique(known)
    y = np.full(len(X), -1, np.int64)
    y[~withheld] = np.searchsorted(classes, known)
    class_names = tuple(str(label) for label in classes)
    if len(episode) == 4:
        X_test, _, _ = sample_array(episode[2], f"{what}: X_test")
        y_test = label_array(episode[3], len(X_test), f"{what}: y_test")
        if (strange := np.setdiff1d(y_test, classes)).size:
            raise InputError(f"{what}: the label {strange[0]!r} occurs in the test samples only")
        test = Split(X_test, np.searchsorted(classes, y_test))
        return Dataset(what, shape, class_names, Split(X, y), test, value_range)
    chosen = stratified_share(0, "test share", y, test_share) & (y >= 0)
    splits = [Split(X[part], y[part]) for part in (~chosen, chosen)]
    return Dataset(what, shape, class_names, splits[0], splits[1], value_range)


def _withheld(values: Any) -> tuple[Any, Any]:
    """The labels, and which of them are withheld."""
    labels = np.asarray(values)
    if labels.dtype == object:
        withheld = np.array([label is None for label in labels.tolist()], bool)
        plain = np.array(["" if label is None else str(label) for label in labels.tolist()])
        return plain, withheld
    return labels, labels == -1 if labels.dtype.kind in "iu" else np.zeros(len(labels), bool)
