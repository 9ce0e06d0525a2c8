"""Any sequence of operations on a model, as a state machine: `test_operations.py` runs some hundred, `make fuzz` more.

Beside the model there is a twin that gets the same samples in other pieces: both always hold the same bits.

    python tests/operations.py --operations 100000 --seed 0
"""

from __future__ import annotations

import argparse
import copy
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.errors import KenyonError, MergeError
from making import CASES, held, make, stream
from stopping import Stop, stop_at

POOLS = {kind: stream(240, seed=5, kind=kind) for kind in ("bytes", "float32", "float64")}
TASKS = (None, "a", "b")
EXACT = ["counting", "counting, windows", "naive Bayes", "second order, windows"]
"""Cases that can unlearn, where they learn bytes: they are met more often."""
counts: dict[str, int] = {}
"""How many operations of each kind were made, those that were refused apart."""


def loaded(model: KenyonClassifier) -> KenyonClassifier:
    """The model as a file gives it back."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model.safetensors"))
        return KenyonClassifier.load(Path(folder, "model.safetensors"))


class Operations(RuleBasedStateMachine):
    """A model and its twin."""

    @initialize(
        case=st.sampled_from([*EXACT, *sorted(CASES), *6 * EXACT]),
        kind=st.sampled_from(["bytes", *POOLS]),
        room=st.sampled_from([None, 300, 1000, 5000]),
        first=st.integers(5, 20),
        task=st.sampled_from(TASKS),
    )
    def start(self, case: str, kind: str, room: int | None, first: int, task: str | None) -> None:
        """`room` is what the memory budget leaves beside the first samples."""
        self.X, self.y = POOLS[kind]
        more: dict[str, Any] = {}
        if room is not None:
            with suppress(KenyonError):
                first_bytes = make(case).partial_fit(*self.some(0, first), task=task).state_bytes
                more = {"memory_budget": first_bytes + room, "expected_classes": 1}
        self.model, self.twin = make(case, **more), make(case, **more)
        self.fitted = False
        self.partial_fit(0, first, task, 7)

    # ---- what changes both in the same way, or neither

    def both(self, name: str, change: Callable[[KenyonClassifier, bool], Any]) -> bool:
        """Change the model, and the twin another way (`change(twin, True)`); False where it was refused."""
        before = held(self.model) if self.fitted else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first = change(self.model, False)
        except KenyonError:
            counts[f"{name}, refused"] = counts.get(f"{name}, refused", 0) + 1
            assert self.model.__sklearn_is_fitted__() == self.fitted, name
            assert before is None or held(self.model) == before, f"{name} was refused, and changed the model"
            return False
        counts[name] = counts.get(name, 0) + 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            second = change(self.twin, True)
        if isinstance(first, KenyonClassifier):
            self.model, self.twin = first, second
        elif first is not None:
            assert np.array_equal(first, second), f"{name} gave something else"
        self.fitted = self.model.__sklearn_is_fitted__()
        return True

    def some(self, start: int, n: int) -> tuple[NDArray, NDArray]:
        return self.X[start : start + n], self.y[start : start + n]

    @rule(start=st.integers(0, 220), n=st.integers(1, 20), task=st.sampled_from(TASKS), cut=st.integers(1, 19))
    def partial_fit(self, start: int, n: int, task: str | None, cut: int) -> None:
        X, y = self.some(start, n)

        def change(model: KenyonClassifier, other_way: bool) -> KenyonClassifier:
            if not other_way or not (y[:cut] >= 0).any():
                return model.partial_fit(X, y, task=task)
            model.partial_fit(X[:cut], y[:cut], task=task)
            for x, label in zip(X[cut:], y[cut:], strict=True):
                model.learn_one(x, int(label), task=task)
            return model

        self.both("partial_fit", change)

    @rule(start=st.integers(0, 220), n=st.integers(1, 6), task=st.sampled_from(TASKS))
    def test_then_learn(self, start: int, n: int, task: str | None) -> None:
        X, y = self.some(start, n)

        def change(model: KenyonClassifier, other_way: bool) -> NDArray:
            if not other_way:
                return model.test_then_learn(X, y, task=task)
            return np.concatenate([model.test_then_learn(X[i : i + 1], y[i : i + 1], task=task) for i in range(n)])

        if self.fitted:
            self.solve_anew()
            self.both("test_then_learn", change)

    @precondition(lambda self: self.fitted)
    @rule(start=st.integers(0, 220), n=st.integers(1, 20), task=st.sampled_from(TASKS), at=st.floats(0.3, 1.0))
    def interrupt(self, start: int, n: int, task: str | None, at: float) -> None:
        """Stop learning at one of its lines, which leaves all of it or nothing; a copy counts them."""
        X, y = self.some(start, n)
        before, probe = held(self.model), copy.deepcopy(self.model)
        try:
            with warnings.catch_warnings(), stop_at(0) as lines:
                warnings.simplefilter("ignore")
                probe.partial_fit(X, y, task=task)
        except KenyonError:
            return
        after = held(probe)
        with warnings.catch_warnings(), suppress(Stop), stop_at(max(1, round(at * len(lines)))) as stopped:
            warnings.simplefilter("ignore")
            self.model.partial_fit(X, y, task=task)
        found = held(self.model)
        assert found in (before, after), f"stopped at {stopped[-1]}, it was left in between"
        if found != before:
            self.twin.partial_fit(X, y, task=task)
        counts["interrupt"] = counts.get("interrupt", 0) + 1

    def solve_anew(self) -> None:
        """A readout in integers begins with the last one, which only one of the two may have: neither has one then."""
        if getattr(self.model.spec_.layer, "arithmetic", "") == "integer":
            self.model, self.twin = loaded(self.model), loaded(self.twin)

    @precondition(lambda self: self.fitted)
    @rule(start=st.integers(0, 220), n=st.integers(1, 20), task=st.sampled_from(TASKS))
    def predict(self, start: int, n: int, task: str | None) -> None:
        X, _ = self.some(start, n)
        self.solve_anew()
        before = held(self.model)
        self.both("predict", lambda model, _: model.predict(X, task=task))
        assert held(self.model) == before

    @precondition(lambda self: self.fitted)
    @rule(how=st.sampled_from(["save", "pickle", "copy"]))
    def keep(self, how: str) -> None:
        before = held(self.model)
        if how == "save":
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.safetensors")
                self.model.save(path)
                assert self.model.state_bytes <= path.stat().st_size
                kept = KenyonClassifier.load(path)
        else:
            kept = pickle.loads(pickle.dumps(self.model)) if how == "pickle" else copy.deepcopy(self.model)
        assert held(kept) == before == held(self.model), how
        self.model = kept
        counts[how] = counts.get(how, 0) + 1

    @precondition(lambda self: self.fitted)
    @rule(start=st.integers(0, 220), n=st.integers(1, 20), task=st.sampled_from(TASKS))
    def merge(self, start: int, n: int, task: str | None) -> None:
        X, y = self.some(start, n)
        if not (y >= 0).any():
            return
        other = KenyonClassifier(**self.model.get_params(deep=False))
        try:
            other.partial_fit(X, y, task=task)
        except KenyonError:
            return
        self.both("merge", lambda model, _: KenyonClassifier.merge([model, other]))

    @precondition(lambda self: self.fitted)
    @rule(start=st.integers(0, 220), n=st.integers(5, 20), task=st.sampled_from(TASKS))
    def unlearn(self, start: int, n: int, task: str | None) -> None:
        """What was just learned is taken out again, and nothing is left of it."""
        X, y = self.some(start, n)
        before, known = held(self.model), set(self.model.tasks_)
        probe = copy.deepcopy(self.model)
        try:
            probe.partial_fit(X, y, task=task)
            probe.unlearn(X, y, task=task)
        except MergeError:
            counts["unlearn, refused"] = counts.get("unlearn, refused", 0) + 1
            return
        except KenyonError:
            return
        if task in known or (y >= 0).any():
            assert held(probe) == before, "unlearn is not the inverse of partial_fit"
        counts["unlearn"] = counts.get("unlearn", 0) + 1

    @precondition(lambda self: self.fitted)
    @rule(
        how=st.sampled_from(["rename", "join", "forget"]),
        one=st.integers(0, 6),
        other=st.integers(0, 9),
        at=st.integers(0, 2),
    )
    def change_classes(self, how: str, one: int, other: int, at: int) -> None:
        task = (self.model.tasks_ * 3)[at]
        labels = list(self.model.neurons(task))
        known = labels * 16
        another = known[one + 1 + other % max(1, len(labels) - 1)] if other < 8 else known[one]
        if how == "rename":
            self.both(how, lambda model, _: model.rename(known[one], other, task=task))
        elif how == "join":
            self.both(how, lambda model, _: model.join({known[one], another}, known[one], task=task))
        else:
            self.both(how, lambda model, _: model.forget(known[one], task=task))

    @precondition(lambda self: self.fitted)
    @rule(bits=st.sampled_from([2, 4, 8]))
    def narrowed(self, bits: int) -> None:
        self.both("narrowed", lambda model, _: model.narrowed(bits))

    @precondition(lambda self: self.fitted)
    @rule(more=st.sampled_from([{}, {"no_such": 1}]))
    def set_params(self, more: dict[str, int]) -> None:
        self.both("set_params", lambda model, _: model.set_params(**model.get_params(), **more))

    @precondition(lambda self: self.fitted)
    @rule(bad=st.sampled_from(["width", "nan", "label", "task", "shape", "count"]))
    def refuse(self, bad: str) -> None:
        X, y = self.some(3, 4)
        X, y = X.astype(np.float64), y.astype(object)
        task: Any = None
        if bad == "width":
            X = X[:, :7]
        elif bad == "nan":
            X[2, 3] = np.inf
        elif bad == "label":
            y[1] = "word"
        elif bad == "task":
            task = ["unhashable"]
        else:
            X, y = (X[0], y) if bad == "shape" else (X, y[:2])
        before = held(self.model)
        try:
            self.model.partial_fit(X, y, task=task)
        except (KenyonError, TypeError):
            counts["bad input, refused"] = counts.get("bad input, refused", 0) + 1
            assert held(self.model) == before, bad
        else:
            raise AssertionError(f"{bad} was not refused")

    @invariant()
    def equal(self) -> None:
        if getattr(self, "fitted", False):
            assert held(self.model) == held(self.twin)
            budget = self.model.memory_budget
            assert not isinstance(budget, int) or self.model.state_bytes <= budget


def run(sequences: int, steps: int, seed: int | None = None) -> None:
    """Run sequences of operations; `seed` chooses others than those of the tests."""
    chosen = settings(
        max_examples=sequences,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=seed is None,
        suppress_health_check=list(HealthCheck),
    )
    machine = Operations if seed is None else seeded(seed)(Operations)
    run_state_machine_as_test(machine, settings=chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin, seed = time.process_time(), given.seed
    while sum(counts.values()) < given.operations:
        run(200, 40, seed)
        seed += 1
    words = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
    print(f"operations: {sum(counts.values()):,} from seed {given.seed}, none failed ({words})")
    print(f"{time.process_time() - begin:.0f} s of processor time")


if __name__ == "__main__":
    main()
