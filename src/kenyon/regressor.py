"""`KenyonRegressor`: regression from a stream, one sample at a time, from the same features as the classifier."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from kenyon.errors import InputError, MemoryBudgetError, MergeError, ModelFileError
from kenyon.features import Ramps
from kenyon.layers import SecondOrder
from kenyon.model.activity import dense
from kenyon.model.estimator import Estimator, seed_of
from kenyon.model.inputs import Inputs, as_rows, check_samples
from kenyon.model.lock import ModelLock
from kenyon.model.model_file import digest
from kenyon.model.options import OPTIONS, REGRESSOR_OPTIONS, RegressorOptions
from kenyon.model.recommend import MOST_UNITS, settle
from kenyon.model.regression import RegressionSums, regression_bytes
from kenyon.model.spec import FEWEST_UNITS, Spec
from kenyon.model.weights import check_weights, in_proportion, times
from kenyon.utils.options import describe
from kenyon.utils.system import replace_file

if TYPE_CHECKING:
    from sklearn.utils import Tags

VERSION, LARGEST = "1", 1e100

_LOCKS: WeakKeyDictionary[KenyonRegressor, ModelLock] = WeakKeyDictionary()
"""The lock of each regressor: no attribute of it, since it is neither copied nor saved."""


class Fitted(NamedTuple):
    """What a regressor has learned.

    Attributes:
        sums: what the regression is solved from.
        inputs: width and names of the features.
        flat: whether targets came as one number a sample.
        seed: what the ramps were drawn from.
    """

    sums: RegressionSums
    inputs: Inputs
    flat: bool
    seed: int


class KenyonRegressor(RegressorOptions, Estimator):
    __doc__ = f"""A ridge regression from sums over ramps of scaled inputs, or windows: one pass, nothing stored.

    {describe(REGRESSOR_OPTIONS)}

    Targets may be one number a sample or several. A call that fails leaves the model as it was. Any number of threads
    may predict and learn at once: those that learn wait for each other, and every answer is of a state in between.

    Example:
        >>> import numpy as np
        >>> from kenyon.regressor import KenyonRegressor
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> y = X[:, 0] + np.abs(X[:, 1])
        >>> reg = KenyonRegressor(random_state=0).partial_fit(X[:250], y[:250]).partial_fit(X[250:400], y[250:400])
        >>> bool(reg.score(X[400:], y[400:]) > 0.9)
        True
    """

    _core: Fitted

    # ---- learning

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, `y` in the order given; inputs are scaled by all of `X` from the start."""
        fresh = type(self)(**self.get_params())
        fresh._learn(X, y, sample_weight, fit=True)
        self._core = fresh._core
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn samples in the order given; how they are cut into calls does not matter.

        Args:
            X: (n_samples, n_features), or with the shape of a sample.
            y: (n_samples,) or (n_samples, n_targets).
            sample_weight: how often each sample counts (`kenyon.model.weights`).
        """
        self._lock.write(lambda: self._learn(X, y, sample_weight, fit=False))
        return self

    @property
    def _lock(self) -> ModelLock:
        return _LOCKS.setdefault(self, ModelLock()) if (lock := _LOCKS.get(self)) is None else lock

    def unlearn(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Take samples out again: the model as if they had never come, but for the rounding of sums in floats.

        Sums of windows are exact. The units of the inputs and the range of the targets stay. Samples that cannot have
        been learned, since a sum would fall below zero, are refused, and nothing is changed; whether others have been,
        sums cannot tell. A model
        without any sample left is as before its first.

        Args:
            X, y: samples with the targets they were learned with, each as often as it was learned.
        """
        self._check_fitted()
        self._lock.write(lambda: self._unlearn(X, y))
        return self

    def _unlearn(self, X: ArrayLike, y: ArrayLike) -> None:
        core = self._core
        samples = self._checked(core.inputs, X)
        sums = copy.deepcopy(core.sums)
        sums.unlearn(samples, _targets(y, len(samples), core)[0])
        if sums.n_samples:
            self._core = core._replace(sums=sums)
        else:
            del self._core

    def _learn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, fit: bool) -> None:
        core = self._core if self.__sklearn_is_fitted__() else None
        inputs = Inputs() if core is None else core.inputs
        samples = self._checked(inputs, X, first=core is None)
        targets, flat = _targets(y, len(samples), core)
        if (weights := check_weights(sample_weight, len(samples))) is not None:
            if fit and not weights.any():
                raise InputError("the weight of every sample is zero: expected at least one above it")
            chosen = np.repeat(np.arange(len(samples)), times(samples, in_proportion(weights) if fit else weights))
            samples, targets = samples[chosen], targets[chosen]
        seed = seed_of(self.random_state) if core is None else core.seed
        sums = copy.deepcopy(core.sums) if core else self._empty(inputs.n_features_in_, targets.shape[1], seed)
        if fit and sums.units is not None:
            sums.units.settle(samples)
        if len(samples):
            sums.learn(samples, targets)
        self._core = Fitted(sums, inputs, flat, seed)

    def _empty(self, n_inputs: int, n_targets: int, seed: int, n_units: int | None = None) -> RegressionSums:
        value = {name: entry.check(getattr(self, name)) for name, entry in REGRESSOR_OPTIONS.items()}
        budget, shared = value["memory_budget"], OPTIONS.keys() & value.keys() - {"memory_budget"}
        params = {name: entry.default for name, entry in OPTIONS.items()} | {name: value[name] for name in shared}
        spec = settle({**params, "layer": SecondOrder(bits=32)}, n_inputs, 0, floats=True, n_units=n_units)
        if n_units is None and budget is not None:
            spec = _within(spec, budget, n_targets, value["n_hidden"] == "auto")
        return RegressionSums(spec, n_targets, value["shrinkage"], seed)

    def _checked(self, inputs: Inputs, X: ArrayLike, first: bool = False) -> NDArray:
        missing = REGRESSOR_OPTIONS["missing"].check(self.missing)
        shape = REGRESSOR_OPTIONS["shape"].check(self.shape)
        return dense(check_samples(inputs, as_rows(X, shape), first=first, absent=missing == "absent"))

    # ---- prediction

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The targets of each sample, (n_samples,) or (n_samples, n_targets) as they were learned. Changes nothing."""
        self._check_fitted()
        core = self._core  # a thread that learns puts another one in its place, and changes nothing in this one
        found = core.sums.predict(self._checked(core.inputs, X))
        return found[:, 0] if core.flat else found

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R^2, the share of the targets' variance that is explained; the mean over several targets."""
        found = self.predict(X)
        found = found.reshape(-1, self._core.sums.n_targets)
        targets = _targets(y, len(found))[0]
        weights = check_weights(sample_weight, len(found))
        weights = np.ones(len(found)) if weights is None else weights
        apart = targets - np.average(targets, axis=0, weights=weights)
        left, total = (weights @ (deviations**2) for deviations in (targets - found, apart))
        return float(np.mean(np.where(total > 0, 1 - left / np.where(total > 0, total, 1.0), left == 0)))

    # ---- merging and files

    def merge(self, *others: KenyonRegressor) -> Self:
        """Add what other regressors have learned, with the same parameters and seed; they stay as they are."""
        self._check_fitted()
        for other in others:
            other._check_fitted()
        theirs = [other._core for other in others]
        self._lock.write(lambda: self._add(theirs))
        return self

    def _add(self, others: list[Fitted]) -> None:
        total = copy.deepcopy(self._core.sums)
        for other in others:
            here, there = (
                (core.seed, core.flat, *_sizes(core.sums), core.sums.spec.shape) for core in (self._core, other)
            )
            if here != there:
                raise MergeError(f"seed, kind of y, inputs, units, targets and shape are {there}: expected {here}")
            total.merge(copy.deepcopy(other.sums))
        self._core = self._core._replace(sums=total)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one safetensors file, all of it or none; `load` goes on as if nothing had happened."""
        self._check_fitted()
        sums, inputs, flat, seed = self._core
        model = {
            "params": {name: getattr(self, name) for name in sorted(REGRESSOR_OPTIONS) if name != "random_state"},
            "seed": seed,
            "sizes": _sizes(sums),
            "flat": flat,
            "names": None if inputs.names is None else list(inputs.names),
        }
        text, tensors = json.dumps(model), sums.kept()
        metadata = {"kenyon.regressor": text, "kenyon.version": VERSION, "kenyon.sha256": digest(text, tensors)}
        replace_file(Path(path), to_safetensors(tensors, metadata))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file of `save`."""
        try:
            with safe_open(path, framework="np") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dict
            text = metadata["kenyon.regressor"]
            if metadata["kenyon.sha256"] != digest(text, tensors):
                raise ModelFileError(f"{path}: the checksum does not match, the file is damaged")
            model = json.loads(text)
            regressor, (n_inputs, n_units, n_targets) = cls(**model["params"]), model["sizes"]
            inputs = Inputs()
            inputs.n_features_in_, inputs.floats = n_inputs, True
            if model["names"] is not None:
                inputs.feature_names_in_ = np.array(model["names"], object)
            if len(tensors["products"]) != n_units:
                raise ModelFileError(f"{path}: {len(tensors['products'])} units: expected {n_units}")
            sums = regressor._empty(n_inputs, n_targets, int(model["seed"]), n_units)
            sums.restore(tensors)
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path}: not a regressor that Kenyon wrote ({error})") from error
        regressor._core = Fitted(sums, inputs, bool(model["flat"]), int(model["seed"]))
        return regressor

    # ---- what may be looked at

    def sums(self) -> RegressionSums:
        """What the regression is solved from, to be looked at and not to be changed."""
        self._check_fitted()
        return self._core.sums

    @property
    def n_samples_learned_(self) -> int:
        """Samples learned so far."""
        self._check_fitted()
        return self._core.sums.n_samples

    @property
    def state_bytes(self) -> int:
        """Bytes of what must be kept."""
        self._check_fitted()
        return self._core.sums.state_bytes

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(sparse=True),
            transformer_tags=None,
            classifier_tags=None,
        )


def is_regressor(path: str | os.PathLike[str]) -> bool:
    """Whether a file is that of a regressor."""
    try:
        with safe_open(path, framework="np") as file:
            return "kenyon.regressor" in (file.metadata() or {})
    except (OSError, SafetensorError):
        return False


def _sizes(sums: RegressionSums) -> tuple[int, int, int]:
    return sums.n_inputs, sums.spec.n_units, sums.n_targets


def _within(spec: Spec, budget: int, n_targets: int, free: bool) -> Spec:
    """As many units as a budget holds, where their number is free."""
    highest = spec.n_units if isinstance(spec.features, Ramps) or not free else MOST_UNITS
    lowest = min(FEWEST_UNITS, highest) if free else highest
    if (least := regression_bytes(spec.with_units(lowest), n_targets)) > budget:
        raise MemoryBudgetError(
            f"the memory budget is {budget:,} bytes: expected at least {least:,}, for {lowest} units"
        )
    while lowest < highest:
        middle = (lowest + highest + 1) // 2
        fits = regression_bytes(spec.with_units(middle), n_targets) <= budget
        lowest, highest = (middle, highest) if fits else (lowest, middle - 1)
    return spec.with_units(lowest)


def _targets(y: Any, n_samples: int, core: Fitted | None = None) -> tuple[NDArray[np.float64], bool]:
    """(n_samples, n_targets) finite numbers, as many as before, and whether they came as one number a sample."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None")
    try:
        found = np.asarray(y)
        targets = found.astype(np.float64) if found.dtype.kind in "buifO" else None
    except (TypeError, ValueError):
        targets = None
    if targets is None:
        raise InputError("y holds values that are not numbers: expected numbers")
    if targets.ndim not in (1, 2) or len(targets) != n_samples or 0 in targets.shape:
        raise InputError(f"y has shape {targets.shape}: expected ({n_samples},) or ({n_samples}, n_targets)")
    bad: Iterable[Any] = np.argwhere(~(np.abs(targets) <= LARGEST))
    for place in bad:
        value = targets[tuple(place)]
        seen = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
        raise InputError(f"Input y contains {seen} (sample {place[0]}): expected finite numbers up to {LARGEST:g}")
    flat, targets = targets.ndim == 1, targets.reshape(n_samples, -1)
    if core is not None and (targets.shape[1], flat) != (core.sums.n_targets, core.flat):
        raise InputError(f"y has {targets.shape[1]} targets: expected {core.sums.n_targets}, as before")
    return targets, flat
