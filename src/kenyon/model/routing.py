"""What scikit-learn may route to each method (its metadata routing), without importing it before somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest

ROUTED = {
    "fit": ("sample_weight", "task"),
    "partial_fit": ("classes", "sample_weight", "task"),
    "predict": ("task",),
    "predict_proba": ("task",),
    "predict_log_proba": ("task",),
    "decision_function": ("task",),
    "score": ("sample_weight", "task"),
}
"""Parameters of each method beside X and y."""


def requests_of(estimator: Any) -> MetadataRequest:
    """The requests of an estimator: those that were set, or none of what its methods take."""
    from sklearn.utils.metadata_routing import MetadataRequest

    if (given := getattr(estimator, "_metadata_request", None)) is not None:
        return given
    requests = MetadataRequest(owner=estimator)
    for method, names in ROUTED.items():
        for name in names:
            getattr(requests, method).add_request(param=name, alias=None)
    return requests


def set_request(estimator: Any, method: str, wanted: dict[str, bool | str | None]) -> None:
    """Ask for parameters of a method to be routed to it, or refuse them."""
    from sklearn import get_config

    if not get_config()["enable_metadata_routing"]:
        raise RuntimeError(
            "This method is only available when metadata routing is enabled. You can enable it using "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    for name in wanted:
        if name not in ROUTED[method]:
            raise TypeError(f"set_{method}_request got {name!r}: expected some of {', '.join(ROUTED[method])}")
    requests = requests_of(estimator)
    for name, alias in wanted.items():
        getattr(requests, method).add_request(param=name, alias=alias)
    estimator._metadata_request = requests
