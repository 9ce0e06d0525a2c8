"""The interface of a scikit-learn classifier, without the import of scikit-learn.

Importing scikit-learn takes longer than importing everything else here, so its base classes are not inherited:
what it asks of an estimator is written down below, and it is imported when one of its own objects is needed.
Its suite of checks holds this to its word.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Self

from kenyon.errors import InputError
from kenyon.model.options import OPTIONS, ClassifierOptions
from kenyon.model.plain import KINDS, nested_options, with_nested
from kenyon.model.routing import requests_of, set_request
from kenyon.utils.options import SEPARATOR, Part, is_default

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest


KIND = ("rule", "features", "layer", "hidden")
"""Options that decide what kind of learner it is; at their defaults, it does well with few inputs too."""


class Estimator(ClassifierOptions):
    """Parameters that can be read and set by name, and the tags of a classifier."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every parameter by name, in alphabetical order; with those of its parts under nested names where `deep`."""
        params = {name: getattr(self, name) for name in sorted(OPTIONS)}
        inner = (nested_options(value, name) for name, value in params.items() if deep and isinstance(value, Part))
        return params | {name: value for options in inner for name, value in options}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; `layer__bits` is the option `bits` of the part `layer`."""
        for name in params:
            if name.partition(SEPARATOR)[0] not in (KINDS if SEPARATOR in name else OPTIONS):
                raise InputError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(OPTIONS)!r}."
                )
        own = self.get_params(deep=False) | {name: value for name, value in params.items() if SEPARATOR not in name}
        changed = with_nested(own, {name: value for name, value in params.items() if SEPARATOR in name})
        for name in {name.partition(SEPARATOR)[0] for name in params}:
            setattr(self, name, changed[name])
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """What each method asks to be routed to it: nothing, unless it was set."""
        return requests_of(self)

    def set_fit_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `sample_weight` to `fit`."""
        set_request(self, "fit", wanted)
        return self

    def set_partial_fit_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `sample_weight` to `partial_fit`."""
        set_request(self, "partial_fit", wanted)
        return self

    def set_predict_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route `task` to `predict`."""
        set_request(self, "predict", wanted)
        return self

    def set_score_request(self, **wanted: bool | str | None) -> Self:
        """Ask scikit-learn to route parameters such as `sample_weight` to `score`."""
        set_request(self, "score", wanted)
        return self

    def _repr_html_(self) -> str:
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return f"<pre>{escape(repr(self))}</pre>"
        core = getattr(self, "_core", None)
        learned = "" if core is None else f"<pre>Learned as {escape(repr(core.engine.spec))}</pre>"
        return estimator_html_repr(self) + learned

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            # a sparse projection spreads many inputs over its units; scikit-learn's check has two inputs in all
            classifier_tags=ClassifierTags(
                poor_score=not all(is_default(OPTIONS[name], getattr(self, name)) for name in KIND)
            ),
            input_tags=InputTags(sparse=True),
            transformer_tags=None,
            regressor_tags=None,
        )

    def __repr__(self) -> str:
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not is_default(OPTIONS[name], value)
        ]
        made = f"{type(self).__name__}({', '.join(changed)})"
        core = getattr(self, "_core", None)
        return made if core is None else f"{made}  # learned as {core.engine.spec!r}"
