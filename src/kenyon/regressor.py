"""`KenyonRegressor`: regression from a stream, one sample at a time, from the same features as the classifier."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from kenyon.errors import (
    ConfigError,
    InputError,
    MemoryBudgetError,
    MergeError,
    ModelFileError,
    NotFittedError,
    scikit_learns,
    unknown,
)
from kenyon.features import RampUnits, inputs_beside
from kenyon.model.engine import dense
from kenyon.model.estimator import seed_of
from kenyon.model.inputs import Inputs, as_rows, check_samples
from kenyon.model.model_file import digest
from kenyon.model.options import OPTIONS
from kenyon.model.recommend import FEWEST_UNITS, RAMPS, RAMPS_FOR_EACH, SECOND_ORDER_UNITS
from kenyon.model.regression import RegressionSums
from kenyon.model.weights import check_weights, in_proportion, times
from kenyon.utils.system import replace_file

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest

PARAMS = ("memory_budget", "missing", "n_hidden", "random_state", "shrinkage")
VERSION, LARGEST = "1", 1e100


class KenyonRegressor:
    """Ramps of scaled inputs and a ridge regression solved from their sums: one pass, nothing stored.

    Args:
        n_hidden: units of the feature layer; 'auto' is the inputs and 200 ramps, more for many inputs, or what
            `memory_budget` has room for.
        shrinkage: of the regression, as a share of the mean variance, at least; the sums may ask for more.
        missing: what NaN in a sample is: an 'error', or an 'absent' value that is imputed by the centre.
        memory_budget: most bytes of state, a number or a size such as '64KB'.
        random_state: seed of the ramps.

    Targets may be one number a sample or several. A call that fails leaves the model as it was.

    Example:
        >>> import numpy as np
        >>> from kenyon.regressor import KenyonRegressor
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> y = X[:, 0] + np.abs(X[:, 1])
        >>> reg = KenyonRegressor(random_state=0).partial_fit(X[:250], y[:250]).partial_fit(X[250:400], y[250:400])
        >>> bool(reg.score(X[400:], y[400:]) > 0.9)
        True
    """

    _sums: RegressionSums
    _inputs: Inputs
    _flat: bool
    _seed: int

    def __init__(
        self,
        *,
        n_hidden: int | str = "auto",
        shrinkage: float = 0.001,
        missing: str = "error",
        memory_budget: int | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_hidden, self.shrinkage, self.missing = n_hidden, shrinkage, missing
        self.memory_budget, self.random_state = memory_budget, random_state

    # ---- learning

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, `y` in the order given; inputs are scaled by all of `X` from the start."""
        fresh = type(self)(**self.get_params())
        fresh._learn(X, y, sample_weight, fit=True)
        vars(self).update({name: value for name, value in vars(fresh).items() if name not in PARAMS})
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn samples in the order given; how they are cut into calls does not matter.

        Args:
            X: (n_samples, n_features).
            y: (n_samples,) or (n_samples, n_targets).
            sample_weight: how often each sample counts (`kenyon.model.weights`).
        """
        self._learn(X, y, sample_weight, fit=False)
        return self

    def _learn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, fit: bool) -> None:
        fitted = self.__sklearn_is_fitted__()
        inputs = self._inputs if fitted else Inputs()
        samples = self._checked(inputs, X, first=not fitted)
        targets, flat = _targets(y, len(samples))
        if fitted and (targets.shape[1], flat) != (self._sums.n_targets, self._flat):
            raise InputError(f"y has {targets.shape[1]} targets: expected {self._sums.n_targets}, as before")
        if (weights := check_weights(sample_weight, len(samples))) is not None:
            if fit and not weights.any():
                raise InputError("the weight of every sample is zero: expected at least one above it")
            chosen = np.repeat(np.arange(len(samples)), times(samples, in_proportion(weights) if fit else weights))
            samples, targets = samples[chosen], targets[chosen]
        sums = copy.deepcopy(self._sums) if fitted else self._empty(inputs, targets.shape[1], None)
        if fit:
            sums.units.settle(samples)
        if len(samples):
            sums.learn(samples, targets)
        self._sums, self._inputs, self._flat = sums, inputs, flat

    def _empty(self, inputs: Inputs, n_targets: int, seed: int | None, n_units: int | None = None) -> RegressionSums:
        n_inputs = inputs.n_features_in_
        shrinkage = self.shrinkage
        if isinstance(shrinkage, bool) or not isinstance(shrinkage, (int, float)) or not 0 <= shrinkage <= 1e6:
            raise ConfigError(f"shrinkage is {shrinkage!r}: expected a number from 0 to 1e6")
        budget, wanted = OPTIONS["memory_budget"].check(self.memory_budget), OPTIONS["n_hidden"].check(self.n_hidden)
        self._seed = seed_of(self.random_state) if seed is None else seed
        ramps = min(max(RAMPS, RAMPS_FOR_EACH * n_inputs), SECOND_ORDER_UNITS)
        most = inputs_beside(n_inputs, n_inputs + ramps) + ramps if wanted == "auto" else int(wanted)

        def made(n: int) -> RegressionSums:
            return RegressionSums(RampUnits(n_inputs, n, seed=self._seed), n_inputs, n_targets, shrinkage)

        if n_units is not None:
            return made(n_units)
        lowest, highest = min(FEWEST_UNITS, most), most
        if budget is not None and wanted != "auto":
            lowest = highest
        if budget is None:
            return made(most)
        if made(lowest).state_bytes > budget:
            raise MemoryBudgetError(
                f"the memory budget is {budget:,} bytes: expected at least {made(lowest).state_bytes:,}, for {lowest} "
                "units"
            )
        while lowest < highest:
            middle = (lowest + highest + 1) // 2
            lowest, highest = (middle, highest) if made(middle).state_bytes <= budget else (lowest, middle - 1)
        return made(lowest)

    def _checked(self, inputs: Inputs, X: ArrayLike, first: bool = False) -> NDArray:
        missing = OPTIONS["missing"].check(self.missing)
        return dense(check_samples(inputs, as_rows(X, None), first=first, absent=missing == "absent"))

    # ---- prediction

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The targets of each sample, (n_samples,) or (n_samples, n_targets) as they were learned. Changes nothing."""
        self._check_fitted()
        found = self._sums.predict(self._checked(self._inputs, X))
        return found[:, 0] if self._flat else found

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R^2, the share of the targets' variance that is explained; the mean over several targets."""
        found = self.predict(X).reshape(-1, self._sums.n_targets)
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
        total = copy.deepcopy(self._sums)
        for other in others:
            other._check_fitted()
            here, there = ((one._seed, one._flat, *_sizes(one._sums)) for one in (self, other))
            if here != there:
                raise MergeError(f"seed, kind of y, inputs, units and targets are {there}: expected {here}")
            total.merge(copy.deepcopy(other._sums))
        self._sums = total
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one safetensors file, all of it or none; `load` goes on as if nothing had happened."""
        self._check_fitted()
        names = self._inputs.names
        model = {
            "params": {name: getattr(self, name) for name in PARAMS if name != "random_state"},
            "seed": self._seed,
            "sizes": _sizes(self._sums),
            "flat": self._flat,
            "names": None if names is None else list(names),
        }
        text, tensors = json.dumps(model), self._sums.kept()
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
            sums = regressor._empty(inputs, n_targets, int(model["seed"]), n_units)
            sums.restore(tensors)
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path}: not a regressor that Kenyon wrote ({error})") from error
        regressor._sums, regressor._inputs, regressor._flat = sums, inputs, bool(model["flat"])
        return regressor

    # ---- what may be looked at

    @property
    def n_features_in_(self) -> int:
        """Width of a sample; only there once something was learned."""
        self._check_fitted()
        return self._inputs.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray:
        """Names of the features; only there where the first samples came with names."""
        self._check_fitted()
        return self._inputs.feature_names_in_

    @property
    def n_samples_learned_(self) -> int:
        """Samples learned so far."""
        self._check_fitted()
        return self._sums.n_samples

    @property
    def state_bytes(self) -> int:
        """Bytes of what must be kept."""
        self._check_fitted()
        return self._sums.state_bytes

    # ---- the interface of scikit-learn

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every parameter by name."""
        return {name: getattr(self, name) for name in PARAMS}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they take effect in `fit`, or when the first sample is learned."""
        for name in params:
            if name not in PARAMS:
                raise unknown("parameter", name, PARAMS)
        vars(self).update(params)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """No method asks for anything to be routed to it."""
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner=self)

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

    def __sklearn_is_fitted__(self) -> bool:
        return "_sums" in vars(self)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            kind = scikit_learns("NotFittedError", NotFittedError)
            raise kind("This KenyonRegressor instance is not fitted yet: call 'partial_fit' or 'fit' first.")

    def __repr__(self) -> str:
        defaults = type(self)().get_params()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join(changed)})"


def _sizes(sums: RegressionSums) -> tuple[int, int, int]:
    return sums.n_inputs, sums.features.n_outputs, sums.n_targets


def _targets(y: Any, n_samples: int) -> tuple[NDArray[np.float64], bool]:
    """(n_samples, n_targets) finite numbers, and whether they came as one number a sample."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None")
    try:
        found = np.asarray(y)
        targets = found.astype(np.float64) if found.dtype.kind in "buifO" else None
    except (TypeError, ValueError):
        targets = None
    if targets is None:
        raise InputError("y holds values that are no numbers: expected numbers")
    if targets.ndim not in (1, 2) or len(targets) != n_samples or 0 in targets.shape:
        raise InputError(f"y has shape {targets.shape}: expected ({n_samples},) or ({n_samples}, n_targets)")
    bad: Iterable[Any] = np.argwhere(~(np.abs(targets) <= LARGEST))
    for place in bad:
        value = targets[tuple(place)]
        seen = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
        raise InputError(f"Input y contains {seen} (sample {place[0]}): expected finite numbers up to {LARGEST:g}")
    return targets.reshape(n_samples, -1), targets.ndim == 1
