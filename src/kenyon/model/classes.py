"""Classes that are renamed, joined or forgotten, and samples that belong to none."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.errors import ConfigError, InputError
from kenyon.features import SparseRows
from kenyon.model.fitted import Core
from kenyon.model.inputs import check_scores
from kenyon.model.inspection import head_of
from kenyon.model.labels import Labels, label_kind
from kenyon.model.merging import Merging, renumbered
from kenyon.model.recordings import mean_of_each


class Classes(Merging):
    """What a classifier can do with its classes beside learning them."""

    def rename(self, old: Hashable, new: Hashable, task: Hashable = None) -> Self:
        """Call a class by another name, of the same kind, from now on.

        Example:
            >>> from kenyon import KenyonClassifier
            >>> clf = KenyonClassifier(random_state=0).partial_fit([[0.0], [1.0], [9.0]], ["a", "b", "c"])
            >>> clf.rename("c", "far").classes_.tolist()
            ['a', 'b', 'far']
        """

        def renamed(core: Core) -> Core:
            labels = head_of(core, task)
            _check_known(labels, old)
            if new in labels.neurons:
                raise InputError(f"{new!r} is a class already: expected a new name, or join({[old, new]!r}, {new!r})")
            _check_kind(labels, new)
            pairs = [(new if label == old else label, neuron) for label, neuron in labels.neurons.items()]
            return core._replace(heads={**core.heads, task: Labels(pairs)})

        return self._replace(renamed)

    def join(self, labels: Iterable[Hashable], into: Hashable, task: Hashable = None) -> Self:
        """Make one class of several, as if all their samples had been learned as `into`.

        For layers whose classes are sums: a second-order layer with 32 bits, and a counting one.

        Example:
            >>> from kenyon import KenyonClassifier
            >>> clf = KenyonClassifier(random_state=0).partial_fit([[0.0], [1.0], [9.0]], ["a", "b", "c"])
            >>> clf.join(["a", "b"], "near").classes_.tolist()
            ['c', 'near']
        """
        chosen = list(dict.fromkeys(labels))

        def joined(core: Core) -> Core:
            known = head_of(core, task)
            if not chosen:
                raise InputError("join was given no label: expected at least one")
            for label in chosen:
                _check_known(known, label)
            _check_kind(known, into)
            if into in known.neurons and into not in chosen:
                raise InputError(f"{into!r} is a class of its own: expected a new name, or {into!r} among the labels")
            neurons = np.array([known.neurons[label] for label in chosen])
            left = np.setdiff1d(np.arange(core.engine.n_classes), neurons[1:])
            core.engine.layers[-1].join(neurons, left)
            if core.engine.calibration is not None:
                core.engine.calibration.join(neurons, left)
            heads = dict(core.heads)
            pairs = ((into if label == chosen[0] else label, neuron) for label, neuron in known.neurons.items())
            heads[task] = Labels(pairs)
            return core._replace(heads=renumbered(heads, left))

        return self._replace(joined)

    def forget(self, label: Hashable, task: Hashable = None) -> Self:
        """Remove a class, its name and what was kept for it alone; the others are told apart as before.

        What the class shared with others stays: its part of the common scatter of a second-order layer, and what
        weights of other classes learned from it. `unlearn` takes samples out to the last bit.

        Example:
            >>> from kenyon import KenyonClassifier
            >>> clf = KenyonClassifier(random_state=0).partial_fit([[0.0], [1.0], [9.0]], ["a", "b", "c"])
            >>> clf.forget("b").predict([[1.0]]).tolist()
            ['a']
        """

        def forgotten(core: Core) -> Core:
            known = head_of(core, task)
            _check_known(known, label)
            if core.engine.n_classes == 1:
                raise InputError(f"{label!r} is the only class: expected another to be left")
            if len(core.engine.layers) > 1:
                raise ConfigError("the model has hidden layers, whose codes stand for all classes: expected none")
            left = np.setdiff1d(np.arange(core.engine.n_classes), [known.neurons[label]])
            core.engine.layers[-1].forget(left)
            if core.engine.calibration is not None:
                core.engine.calibration.only(left)
            return core._replace(heads=renumbered(core.heads, left))

        return self._replace(forgotten)

    def _replace(self, change: Callable[[Core], Core]) -> Self:
        def action() -> None:
            core = self._settled()
            self._change(core, lambda: change(core))

        self._check_fitted()
        self._lock.write(action)
        return self

    # ---- samples that belong to none

    def familiarity(self, X: ArrayLike, task: Hashable = None) -> NDArray[np.float64]:
        """How typical each sample is of the class that it is predicted as, from 0 to 1.

        It is the share of the class's own samples that are expected to lie farther from its mean (`kenyon.layers`), and
        next to nothing for most samples of no known class. Of second-order layers only.

        Example:
            >>> from sklearn.datasets import load_iris
            >>> from kenyon import KenyonClassifier
            >>> X, y = load_iris(return_X_y=True)
            >>> clf = KenyonClassifier(random_state=0).partial_fit(X[50:], y[50:])
            >>> bool(np.median(clf.familiarity(X[:50])) < 0.01 < np.median(clf.familiarity(X[50:])))
            True
        """
        return self._best(X, task)[1]

    def reject_at(self, X: ArrayLike, share: float, task: Hashable = None) -> float:
        """The `reject` at which this share of the samples given is rejected.

        Given samples of known classes that were not learned, `predict(..., reject=...)` will reject about as many of
        those to come, whatever their distribution: a familiarity is only a number to compare.

        Example:
            >>> from sklearn.datasets import load_iris
            >>> from kenyon import KenyonClassifier
            >>> X, y = load_iris(return_X_y=True)
            >>> clf = KenyonClassifier(random_state=0).partial_fit(X[::2], y[::2])
            >>> t = clf.reject_at(X[1::4], share=0.1)
            >>> sum(label is None for label in clf.predict(X[1::4], reject=t))
            4
        """
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
            raise InputError(f"share is {share!r}: expected a number from 0 to below 1")
        return float(np.quantile(self.familiarity(X, task), share, method="higher"))

    def _best(self, X: ArrayLike, task: Hashable) -> tuple[NDArray, NDArray[np.float64]]:
        """The label of each sample, and how familiar it is."""
        labels, scores, typical = self._read(lambda core: self._typical_scores(core, X, task))
        best = scores.argmax(axis=1)
        rows = np.arange(len(best))
        return labels[best], typical[rows, best]

    def _typical_scores(self, core: Core, X: ArrayLike, task: Hashable) -> tuple[NDArray, NDArray, NDArray]:
        labels, neurons = head_of(core, task).in_order
        windows, counts = self._windows(core, X)
        samples = self._samples(core, windows)
        return (
            labels,
            mean_of_each(check_scores(samples, core.engine.scores(samples)[:, neurons]), counts),
            mean_of_each(core.engine.typicality(samples)[:, neurons], counts),
        )

    @abstractmethod
    def _windows(self, core: Core | None, X: Any) -> tuple[Any, NDArray[np.int64] | None]:
        """Windows of the front end where recordings are given, and how many each of them has."""

    @abstractmethod
    def _samples(self, core: Core, X: ArrayLike) -> NDArray | SparseRows:
        """Samples, checked."""


def reject_below(labels: NDArray, familiar: NDArray[np.float64], share: Any) -> NDArray:
    """Labels as objects, None where a sample is less familiar than the share.

    Example:
        >>> reject_below(np.array([3, 4]), np.array([0.5, 0.001]), 0.01).tolist()
        [3, None]
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
        raise InputError(f"reject is {share!r}: expected the share of known samples to reject, from 0 to below 1")
    known = labels.astype(object)
    known[familiar < share] = None
    return known


def _check_known(labels: Labels, label: Hashable) -> None:
    if label not in labels.neurons or label_kind(label) != labels.kind:
        raise InputError(f"{label!r} is not a class: expected one of {list(labels.neurons)[:10]}")


def _check_kind(labels: Labels, label: Hashable) -> None:
    if label is None or label_kind(label) != labels.kind:
        raise InputError(f"{label!r} is a {label_kind(label)}: expected a {labels.kind}, as the other labels")
