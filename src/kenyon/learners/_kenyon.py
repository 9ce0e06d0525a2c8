"""`KenyonClassifier` under the protocol of the loop, its options as plain values for a file."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kenyon import _modelfile
from kenyon.errors import ConfigError
from kenyon.learner import KenyonClassifier
from kenyon.modulation import InverseTime
from kenyon.protocol import StreamInfo
from kenyon.rules import INEL, Rule, get_rule, make_rule


class KenyonLearner:
    """Our own learner.

    Args:
        info: the stream.
        seed: seed of the projection.
        rule: plasticity rule by name.
        b1, b2: parameters of GEN (both) and OJA (b1); None for the rule's default.
        beta: INEL's window; given with another rule, it puts the window on top of that rule.
        rule_params: parameters by name, for rules from outside the package.
        n_hidden, density, inhibitory, threshold: the feature layer; threshold `"off"` for none.
        learning_rate: `"auto"` for the rule's own.
        decay: the rate is `learning_rate / (1 + decay * t)`.
        clamp: bound of the weights; `"auto"` for the rule's own, `"off"` for none.
        clamp_kind: `"symmetric"` or `"positive"`.
        hidden_layers: widths of learning layers before the output layer.
        features: `"sparse"` or `"identity"`.
        memory_budget: most bytes of state, such as `"512KB"`; empty for no limit.
        n_jobs: threads; changes no result.
    """

    batch_size = 1

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        rule: str = "gen",
        b1: float | None = None,
        b2: float | None = None,
        beta: float | None = None,
        rule_params: dict[str, float] | None = None,
        n_hidden: int | str = "auto",
        density: float | int | str = "auto",
        inhibitory: float = 0.0,
        threshold: float | str = 2.3,
        learning_rate: float | str = "auto",
        decay: float = 0.0,
        clamp: float | str = "auto",
        clamp_kind: str = "symmetric",
        hidden_layers: tuple[int, ...] = (),
        features: str = "sparse",
        memory_budget: int | str = "",
        n_jobs: int = 1,
    ) -> None:
        given = {"b1": b1, "b2": b2, "beta": beta, **(rule_params or {})}
        full_rule = _rule(rule, {key: value for key, value in given.items() if value is not None})
        rate: Any = learning_rate
        if decay:
            start = full_rule.plasticity.learning_rate if learning_rate == "auto" else learning_rate
            rate = InverseTime(float(start), decay)
        self._info = info
        self.classifier = KenyonClassifier(
            full_rule,
            n_hidden=n_hidden,
            density=density,
            inhibitory=inhibitory,
            threshold=None if threshold == "off" else threshold,  # type: ignore[arg-type]
            learning_rate=rate,
            clamp=None if clamp == "off" else clamp,
            clamp_kind=clamp_kind,
            hidden_layers=tuple(hidden_layers),
            features=features,
            memory_budget=memory_budget or None,
            expected_classes=info.n_classes,
            n_jobs=n_jobs,
            random_state=seed,
        )
        self.classifier.check_params(info.n_features)

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        if self._started or (y >= 0).any():
            self.classifier.partial_fit(X, y, task=task)

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        if not self._started:
            unlabelled = int(np.argmax(np.append(y, 0) >= 0))  # nothing can be said before the first label
            if unlabelled == len(y):
                return np.full(len(y), -1, np.int64)
        return self.classifier.test_then_learn(X, y, task=task)

    def learn_recorded(
        self, X: NDArray, y: NDArray[np.int64], task: int | None, every: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        predictions, means = [], []
        for start in range(0, len(y), every):
            piece = slice(start, start + every)
            predictions.append(self.test_then_learn(X[piece], y[piece], task))
            if start + every <= len(y):
                means.append(self.weight_means())
        return np.concatenate(predictions), np.array(means, np.float32).reshape(len(means), self._info.n_classes)

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        if not self._started or task not in self.classifier.tasks_:
            return np.full(len(X), -1, np.int64)
        return self.classifier.predict(X, task=task)

    def end_task(self, last: bool) -> None:
        """Task boundaries mean nothing to a learner that is always learning."""

    def weight_means(self) -> NDArray[np.float32]:
        """Mean incoming weight of each class's output neuron, NaN where it has none yet."""
        means = np.full(self._info.n_classes, np.nan, np.float32)
        if self._started:
            by_neuron = self.classifier.weight_means_
            for task in self.classifier.tasks_:
                for label, neuron in self.classifier.neurons(task).items():
                    means[cast("int", label)] = by_neuron[neuron]
        return means

    def state(self) -> dict[str, NDArray]:
        if not self._started:
            return {}
        model, tensors = _modelfile.to_arrays(self.classifier)
        return {"model": np.frombuffer(model.encode(), np.uint8), **tensors}

    def restore(self, state: dict[str, NDArray]) -> None:
        if state:
            tensors = {name: array for name, array in state.items() if name != "model"}
            own = self.classifier
            overrides = {"rule": own.rule, "learning_rate": own.learning_rate, "n_jobs": own.n_jobs}
            model = state["model"].tobytes().decode()
            self.classifier = _modelfile.from_arrays(KenyonClassifier, model, tensors, overrides)

    @property
    def state_bytes(self) -> int:
        return self.classifier.state_bytes if self._started else 0

    @property
    def synaptic_updates(self) -> int:
        return self.classifier.synaptic_updates_ if self._started else 0

    @property
    def _started(self) -> bool:
        return self.classifier.__sklearn_is_fitted__()


def _rule(name: str, given: dict[str, float]) -> Rule:
    """A rule from a name and plain parameters; a window is put on rules that have none."""
    if not isinstance(name, str):
        raise ConfigError(f"rule is {name!r}: expected a name, such as 'gen'")
    own = get_rule(name).parameters
    if "beta" in given and "beta" not in own:
        beta = given.pop("beta")
        return INEL(beta, make_rule(name, given))
    return make_rule(name, given)
