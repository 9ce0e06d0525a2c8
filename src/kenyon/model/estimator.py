"""The interface of a scikit-learn estimator, without the import of scikit-learn.

Importing scikit-learn takes longer than importing everything else here, so its base classes are not inherited: what it
asks of an estimator is written down below, and it is imported when one of its own objects is needed. Its suite of
checks runs against both estimators.
"""

from __future__ import annotations

from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError, NotFittedError, scikit_learns
from kenyon.model.plain import KINDS, nested_options, with_nested
from kenyon.utils.options import SEPARATOR, Part, is_default, is_integer, options_of

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest

ROUTED = ("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score")
"""Methods to which scikit-learn may route what they take beside X and y."""


class Estimator:
    """Parameters by name, and what is known once samples were learned.

    A subclass is a dataclass whose fields are its options; what it has learned is one value, `_core`, which is there
    from the first call on and has `inputs` (`kenyon.model.inputs.Inputs`).
    """

    _core: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every parameter by name, in alphabetical order; with those of its parts under nested names where `deep`."""
        params = {name: getattr(self, name) for name in sorted(options_of(type(self)))}
        inner = (nested_options(value, name) for name, value in params.items() if deep and isinstance(value, Part))
        return params | {name: value for options in inner for name, value in options}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; `layer__bits` is the option `bits` of the part `layer`."""
        options = options_of(type(self))
        for name in params:
            outer = name.partition(SEPARATOR)[0]
            if outer not in options or (SEPARATOR in name and outer not in KINDS):
                raise InputError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(options)!r}."
                )
        own = self.get_params(deep=False) | {name: value for name, value in params.items() if SEPARATOR not in name}
        changed = with_nested(own, {name: value for name, value in params.items() if SEPARATOR in name})
        for name in {name.partition(SEPARATOR)[0] for name in params}:
            setattr(self, name, changed[name])
        return self

    # ---- what was learned

    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in vars(self)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise scikit_learns("NotFittedError", NotFittedError)(
                f"This {type(self).__name__} instance is not fitted yet: it has learned nothing. "
                "Call 'partial_fit' or 'fit' with labelled samples first."
            )

    @property
    def n_features_in_(self) -> int:
        """Width of a sample. As in scikit-learn, the attribute exists once something was learned."""
        return self._inputs().n_features_in_

    @property
    def feature_names_in_(self) -> NDArray:
        """Names of the features. The attribute exists if the first samples came with names."""
        return self._inputs().feature_names_in_

    def _inputs(self) -> Any:
        if not self.__sklearn_is_fitted__():
            raise AttributeError("nothing was learned yet")
        return self._core.inputs

    # ---- metadata routing

    def get_metadata_routing(self) -> MetadataRequest:
        """What each method asks to be routed to it: nothing, unless it was set."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if (given := getattr(self, "_metadata_request", None)) is not None:
            return given
        requests = MetadataRequest(owner=self)
        for method in ROUTED:
            for name in self._routed(method):
                getattr(requests, method).add_request(param=name, alias=None)
        return requests

    def _routed(self, method: str) -> list[str]:
        found = getattr(type(self), method, None)
        return [] if found is None else [name for name in signature(found).parameters if name not in ("self", "X", "y")]

    def _set_request(self, method: str, wanted: dict[str, bool | str | None]) -> Self:
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable it using "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        routed = self._routed(method)
        for name in wanted:
            if name not in routed:
                raise TypeError(f"set_{method}_request got {name!r}: expected some of {', '.join(routed)}")
        requests = self.get_metadata_routing()
        for name, alias in wanted.items():
            getattr(requests, method).add_request(param=name, alias=alias)
        self._metadata_request = requests
        return self

    def set_fit_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `sample_weight` to `fit`."""
        return self._set_request("fit", wanted)

    def set_partial_fit_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `sample_weight` to `partial_fit`."""
        return self._set_request("partial_fit", wanted)

    def set_decision_function_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `task` to `decision_function`."""
        return self._set_request("decision_function", wanted)

    def set_predict_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `task` to `predict`."""
        return self._set_request("predict", wanted)

    def set_predict_log_proba_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `task` to `predict_log_proba`."""
        return self._set_request("predict_log_proba", wanted)

    def set_predict_proba_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `task` to `predict_proba`."""
        return self._set_request("predict_proba", wanted)

    def set_score_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `sample_weight` to `score`."""
        return self._set_request("score", wanted)

    # ---- display

    def _learned_as(self) -> str | None:
        """What the fitted model is composed of, as code; None before anything was learned."""
        return None

    def _repr_html_(self) -> str:
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return f"<pre>{escape(repr(self))}</pre>"
        learned = self._learned_as()
        return estimator_html_repr(self) + ("" if learned is None else f"<pre>Learned as {escape(learned)}</pre>")

    def __repr__(self) -> str:
        options = options_of(type(self))
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not is_default(options[name], value)
        ]
        made, learned = f"{type(self).__name__}({', '.join(changed)})", self._learned_as()
        return made if learned is None else f"{made}  # learned as {learned}"


def seed_of(random_state: Any) -> int:
    """The seed itself where it is a number, else one drawn from the generator."""
    if is_integer(random_state) and 0 <= random_state < 1 << 32:
        return int(random_state)
    if random_state is None:
        random_state = np.random.mtrand._rand  # NumPy's own, as everywhere in scikit-learn
    if not isinstance(random_state, np.random.RandomState):
        raise ConfigError(
            f"random_state is {random_state!r}: expected an integer from 0 to {2**32 - 1}, a RandomState, or None"
        )
    return int(random_state.randint(2**31 - 1))
