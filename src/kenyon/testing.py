"""Checks that every learner and every plasticity rule passes: ours, the baselines, and yours.

    from kenyon.testing import check_learner, check_rule
    check_learner(MyLearner)        # MyLearner(info, seed) satisfies kenyon.data.protocol.Learner
    check_rule(MyRule(b=0.5))       # a kenyon.rules.Rule

Each check is a function of its own, of the learner and the scenario it is checked in, and says in its
AssertionError what was seen and what was wanted.

>>> "restore_goes_on" in CHECKS
True
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner, StreamInfo
from kenyon.data.streams import Curriculum, Stream, load_dataset
from kenyon.errors import unknown
from kenyon.lab.evaluation import Tally, chunk_size, read_checkpoint, save_checkpoint, state_hash
from kenyon.layers import FewBitLayer, PlasticLayer, Samples, clamp_bounds
from kenyon.rules import Rule, get_rule
from kenyon.utils.modulation import values_at

__all__ = ["CHECKS", "check_learner", "check_rule"]

Make = Callable[[StreamInfo, int], Learner]


def _digits(scenario: str, per_task: int | None = 120, epochs: float = 1.0) -> Stream:
    return Curriculum(scenario=scenario, max_per_task=per_task, epochs=epochs).open(load_dataset("digits"))


def _first_task(stream: Stream) -> int | None:
    return stream.episodes[0].task if stream.info.task_heads else None


def _teach(learner: Learner, stream: Stream, start: int = 0, chunk: int | None = None) -> NDArray[np.int64]:
    """Learn the tasks from `start` on as the loop does; what was predicted before learning, in one array."""
    predicted = []
    chunk = chunk or chunk_size(learner)
    for episode in stream.episodes[start:]:
        task = episode.task if stream.info.task_heads else None
        for i in range(0, episode.n_train, chunk):
            X, y = episode.train(i, min(i + chunk, episode.n_train))
            predicted.append(learner.test_then_learn(X, y, task))
        learner.end_task(episode is stream.episodes[-1])
    return np.concatenate(predicted)


def check_same_seed_same_bits(make: Make, scenario: str) -> None:
    """Two learners with the same seed are the same, prediction by prediction and bit by bit."""
    stream = _digits(scenario)
    one, two = make(stream.info, 3), make(stream.info, 3)
    assert np.array_equal(_teach(one, stream), _teach(two, stream)), "the same seed predicted differently"
    assert state_hash(one.state()) == state_hash(two.state()), "the same seed ended in different states"


def check_cut_changes_nothing(make: Make, scenario: str) -> None:
    """Handing the stream over batch by batch or in large pieces gives the same bits."""
    stream = _digits(scenario)
    one, two = make(stream.info, 0), make(stream.info, 0)
    _teach(one, stream, chunk=one.batch_size)
    _teach(two, stream, chunk=7 * two.batch_size)
    assert state_hash(one.state()) == state_hash(two.state()), "the cut into calls changed what was learned"


def check_learn_is_test_then_learn(make: Make, scenario: str) -> None:
    """`learn` leaves the same state as `test_then_learn`."""
    stream = _digits(scenario)
    one, two = make(stream.info, 0), make(stream.info, 0)
    X, y = stream.episodes[0].train()
    one.learn(X, y, _first_task(stream))
    two.test_then_learn(X, y, _first_task(stream))
    assert state_hash(one.state()) == state_hash(two.state()), "learn and test_then_learn differ"


def check_predict_changes_nothing(make: Make, scenario: str) -> None:
    """`predict` answers before and after learning with a class or -1 for each sample, and leaves the state alone."""
    stream = _digits(scenario)
    learner, task = make(stream.info, 0), _first_task(stream)
    X, _ = stream.episodes[0].test(0, 20)
    for _ in range(2):
        before = state_hash(learner.state())
        predicted = learner.predict(X, task)
        assert predicted.shape == (20,), f"20 samples gave predictions of shape {predicted.shape}"
        assert np.issubdtype(predicted.dtype, np.integer), f"predictions are {predicted.dtype}, expected integers"
        assert predicted.min() >= -1 and predicted.max() < stream.info.n_classes, "predictions are not classes"
        assert np.array_equal(predicted, learner.predict(X, task)), "the same samples were predicted differently"
        assert state_hash(learner.state()) == before, "predict changed the state"
        _teach(learner, stream)


def check_restore_goes_on(make: Make, scenario: str) -> None:
    """Stopped within a task, written to a file, read into a new learner: it goes on as if never stopped."""
    stream = _digits(scenario)
    whole, first, second = (make(stream.info, 1) for _ in range(3))
    expected = _teach(whole, stream)
    task = _first_task(stream)
    X, y = stream.episodes[0].train()
    stop = first.batch_size * max(1, len(X) // 2 // first.batch_size)
    head = first.test_then_learn(X[:stop], y[:stop], task)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.safetensors"
        save_checkpoint(path, "check", first.state(), Tally.empty(1))
        checkpoint = read_checkpoint(path, "check")
    assert checkpoint is not None, "the state could not be written and read back"
    second.restore(checkpoint[0])
    assert state_hash(second.state()) == state_hash(first.state()), "restore(state()) is not the same state"
    rest = second.test_then_learn(X[stop:], y[stop:], task) if stop < len(X) else head[:0]
    second.end_task(len(stream.episodes) == 1)
    later = [_teach(second, stream, start=1)] if len(stream.episodes) > 1 else []
    predicted = np.concatenate([head, rest, *later])
    assert np.array_equal(predicted, expected), "a restored learner predicted differently"
    assert state_hash(second.state()) == state_hash(whole.state()), "a restored learner ended in a different state"


def check_state_bytes(make: Make, scenario: str) -> None:
    """`state_bytes` is about what `state()` holds, give or take generators and counters."""
    stream = _digits(scenario)
    learner = make(stream.info, 0)
    _teach(learner, stream)
    held = sum(array.nbytes for array in learner.state().values())
    seen, slack = learner.state_bytes, 16_384
    assert isinstance(seen, int) and seen > 0, f"state_bytes is {seen!r}, expected a positive integer"
    assert held / 2 - slack <= seen <= held * 1.1 + slack, f"state_bytes is {seen}, but state() holds {held} bytes"


def check_learns(make: Make, scenario: str) -> None:
    """Three passes over the digits in random order give at least three times chance, by counted weight changes."""
    stream = _digits("single-task", None, epochs=3.0)
    learner = make(stream.info, 0)
    _teach(learner, stream)
    X, y = stream.episodes[0].test()
    accuracy = float(np.mean(learner.predict(X) == y))
    assert accuracy >= 0.3, f"accuracy on the digits is {accuracy:.3f}, expected at least 0.3"
    assert learner.synaptic_updates > 0, f"synaptic_updates is {learner.synaptic_updates} after learning"


def check_unlabelled_teach_nothing(make: Make, scenario: str) -> None:
    """Samples with label -1 are predicted, and leave every later prediction as it was."""
    stream = _digits(scenario)
    learner, task = make(stream.info, 0), _first_task(stream)
    X, y = stream.episodes[0].train()
    learner.learn(X, y, task)
    T, _ = stream.episodes[0].test()
    before, updates = learner.predict(T, task), learner.synaptic_updates
    predicted = learner.test_then_learn(X[::-1].copy(), np.full_like(y, -1), task)
    assert predicted.shape == y.shape, f"{len(y)} unlabelled samples gave predictions of shape {predicted.shape}"
    assert np.array_equal(learner.predict(T, task), before), "samples without a label changed the predictions"
    assert learner.synaptic_updates == updates, "samples without a label changed weights"


def check_task_heads(make: Make, scenario: str) -> None:
    """With the task given, only its own classes are predicted, mostly right; a task not yet met is answered too."""
    stream = _digits("task-incremental", None)
    learner = make(stream.info, 0)
    X, _ = stream.episodes[1].test()
    assert learner.predict(X, 1).shape == (len(X),), "a task not yet met was not answered"
    _teach(learner, stream)
    right = []
    for episode in stream.episodes:
        X, y = episode.test()
        predicted = learner.predict(X, episode.task)
        assert set(predicted.tolist()) <= set(episode.classes), "a class of another task was predicted"
        right.append(np.mean(predicted == y))
    assert np.mean(right) >= 0.7, f"accuracy with the task given is {np.mean(right):.3f}, expected at least 0.7"


CHECKS: dict[str, Callable[[Make, str], None]] = {
    "same_seed_same_bits": check_same_seed_same_bits,
    "cut_changes_nothing": check_cut_changes_nothing,
    "learn_is_test_then_learn": check_learn_is_test_then_learn,
    "predict_changes_nothing": check_predict_changes_nothing,
    "restore_goes_on": check_restore_goes_on,
    "state_bytes": check_state_bytes,
    "learns": check_learns,
    "unlabelled_teach_nothing": check_unlabelled_teach_nothing,
    "task_heads": check_task_heads,
}
"""The checks of a learner by name."""


def check_learner(make: Make, scenario: str = "class-incremental", skip: Collection[str] = ()) -> None:
    """Run every check on a learner.

    Args:
        make: builds it from what is known of the stream and a seed, usually the class itself.
        scenario: one the learner is defined for.
        skip: names of `CHECKS` that do not apply; say why where you call it.

    Example:
        >>> from kenyon.learners import learner_class
        >>> check_learner(learner_class("ncm"), "class-incremental", skip=["task_heads"])
    """
    for name in skip:
        if name not in CHECKS:
            raise unknown("learner check", name, CHECKS)
    for name, check in CHECKS.items():
        if name not in skip:
            check(make, scenario)


def check_rule(rule: str | Rule) -> None:
    """Check what a rule declares about itself, and its compiled kernel against its own `delta` and `readout`.

    Args:
        rule: a rule, or the name of one.

    Example:
        >>> check_rule("oja")
    """
    rule = get_rule(rule)
    _check_declarations(rule)
    _check_kernel(rule)
    if rule.integer_step is not None and rule.gated and rule.event_driven:
        _check_integer_step(rule)


def _check_declarations(rule: Rule) -> None:
    """`gated` and `event_driven` are true: no change where `x_m` is 0, or where `x_e` is 0."""
    step, rng = rule.plasticity, np.random.default_rng(0)
    delta: Any = step.delta  # on arrays: it is plain arithmetic
    x_e, x_o, x_m, w = rng.uniform(-2.0, 2.0, (4, 1000))
    times = values_at(list(step.parameters.values()), 0, np.ones(1000, bool))
    for time in (0, 1, 999):
        beta = [*([time + 1.0] if step.counted else []), *times[time].tolist()]
        change = np.broadcast_to(delta(x_e, x_o, x_m, w, *beta), x_e.shape)
        assert np.isfinite(change).all(), (
            f"delta of {step!r} gave {change[~np.isfinite(change)][0]} for inputs within 2"
        )
        gate = np.broadcast_to(delta(x_e, x_o, np.zeros(1000), w, *beta), x_e.shape)
        assert not step.gated or not gate.any(), (
            f"{step!r} declares gated, but changed a synapse by {gate[gate != 0][0]:g} where x_m is 0"
        )
        rest = np.broadcast_to(delta(np.zeros(1000), x_o, x_m, w, *beta), x_e.shape)
        assert not step.event_driven or not rest.any(), (
            f"{step!r} declares event_driven, but changed a synapse by {rest[rest != 0][0]:g} where x_e is 0"
        )


def _check_kernel(rule: Rule) -> None:
    """Ten samples learned by the kernel are ten steps of the equation, within float32."""
    rng, n_units, rate, clamp = np.random.default_rng(0), 61, 0.1, 0.5
    step = rule.plasticity
    delta: Any = step.delta
    layer = PlasticLayer(n_units, rule, clamp_bounds(clamp, "symmetric"))
    for _ in range(3):
        layer.add_class()
    moving = [rate, rule.window or 0.0, *step.parameters.values()]
    beta, labels = values_at(moving, 0, np.ones(10, bool)), rng.integers(0, 3, 10)
    dense = np.where(rng.random((10, n_units)) < 0.3, rng.random((10, n_units)), 0).astype(np.float32)
    rows = [np.flatnonzero(row) for row in dense]
    units, counts = np.zeros((10, n_units), np.uint32), np.array([row.size for row in rows])
    values = np.zeros((10, n_units), np.float32)
    for s, row in enumerate(rows):
        units[s, : row.size], values[s, : row.size] = row, dense[s, row]
    active = (units, values, counts)
    for s in range(10):
        W, x_e = layer.state.views()["weights"].astype(np.float64), dense[s].astype(np.float64)
        class_counts = np.bincount(labels[:s], minlength=3)
        x_o, x_m = x_e @ _read(step, W, class_counts, beta[s, 2:]), np.eye(3)[labels[s]]
        seen = layer.forward(active, s, s + 1)[0, :3]
        assert np.allclose(seen, x_o, rtol=1e-4, atol=1e-5), f"{rule!r} gave the output {seen}, expected {x_o}"
        counted = [np.maximum(class_counts + x_m, 1)] if step.counted else []
        change = beta[s, 0] * delta(x_e[:, np.newaxis], x_o, x_m, W, *counted, *beta[s, 2:])
        if rule.window is not None:
            change = np.where(beta[s, 1] * np.abs(W - W.mean(axis=0)) <= 1, change, 0.0)
        layer.learn(Samples(active, s, s + 1, labels, None, beta))
        wanted = np.clip(W + change, -clamp, clamp)
        off = float(np.abs(layer.state.views()["weights"] - wanted).max())
        assert off < 1e-5, f"the kernel of {rule!r} is off its equation by {off:g} at sample {s}"


def _read(rule: Rule, W: NDArray[np.float64], class_counts: NDArray[np.int64], beta: NDArray) -> NDArray[np.float64]:
    """What each synapse counts for in the output."""
    if rule.readout is None:
        return W
    return np.vectorize(rule.readout)(W, np.maximum(class_counts, 1), len(W), *beta.tolist())


def _check_integer_step(rule: Rule) -> None:
    """`delta` is proportional to `x_e`, and `integer_step` is `delta` in levels, but for rounding."""
    rng, rate, units = np.random.default_rng(0), 0.1, 61
    beta = values_at(list(rule.parameters.values()), 0, np.ones(1, bool))[0].tolist()
    constant = not any(callable(value) for value in rule.parameters.values())
    for bits in (8, 2):
        layer = FewBitLayer(units, rule, clamp_bounds(0.5, "symmetric"), bits, rate=rate, in_bytes=constant)
        for _ in range(200):
            q, n = int(rng.integers(-layer.top if layer.signed else 0, layer.top + 1)), int(rng.integers(1, 1000))
            z = int(rng.integers(-layer.top, layer.top + 1) * units**0.5 * 2**layer.fraction)
            x_o, w = z * layer.level / 2**layer.fraction, q * layer.level
            at_one, at_two = (
                rate * rule.delta(x_e, x_o, 1.0, w, *([n] if rule.counted else []), *beta) / layer.level
                for x_e in (1.0, 2.0)
            )
            assert abs(at_two - 2 * at_one) <= 1e-9 * abs(at_one), (
                f"{rule!r} declares integer_step, but its delta is not proportional to x_e"
            )
            if constant:
                step = rule.integer_step(z, q, n, *layer.constants.tolist()) / 2**16  # type: ignore[misc]
                assert abs(step - at_one) <= 2**-14 + 1e-3 * abs(at_one), (
                    f"integer_step of {rule!r} is {step:g} levels at level {q} and output {x_o:g}: delta is {at_one:g}"
                )
