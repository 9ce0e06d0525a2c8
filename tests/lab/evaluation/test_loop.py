"""The loop against a transcription of what it should do, and what it tells a learner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.tiny import Tiny
from evaluation.workers import MEASURED
from kenyon.data.streams import SCENARIOS, Curriculum, Stream, load_dataset
from kenyon.errors import InputError
from kenyon.lab.evaluation import RunConfig, Tally, run, run_dataset
from kenyon.lab.evaluation._checkpoint import Recorder
from kenyon.lab.evaluation._loop import Loop, n_records, weights_stride
from kenyon.learners import learner_class
from kenyon.utils.events import Watch

TINY = "evaluation.tiny:Tiny"


def open_stream(**curriculum: Any) -> Stream:
    return Curriculum(**curriculum).open(load_dataset("digits"))


class Keep(Recorder):
    """A recorder that keeps everything in memory."""

    def __init__(self, n_tasks: int) -> None:
        super().__init__(Tally.empty(n_tasks))
        self.right: list[NDArray] = []
        self.means: list[NDArray] = []

    def outcomes(self, outcomes: NDArray[np.uint8]) -> None:
        self.right.append(outcomes.copy())

    def weights(self, means: NDArray[np.float32]) -> None:
        self.means.append(means.copy())


def go(stream: Stream, learner: Any, stride: int = 0, **options: Any) -> Keep:
    keep = Keep(len(stream.episodes))
    Loop(stream, learner, keep, Watch(), stride, **options).run()
    return keep


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_counts_are_those_of_the_plainest_loop(scenario: str) -> None:
    stream = open_stream(scenario=scenario, max_per_task=60, labelled=0.7)
    keep = go(stream, Tiny(stream.info, 0))
    learner = Tiny(stream.info, 0)
    correct, outcomes = [], []

    def test_all() -> None:
        row = []
        for episode in stream.episodes:
            X, y = episode.test()
            row.append(int((learner.predict(X, episode.task if stream.info.task_heads else None) == y).sum()))
        correct.append(row)

    test_all()
    for episode in stream.episodes:
        X, y = episode.train()
        task = episode.task if stream.info.task_heads else None
        for i in range(len(y)):
            predicted = learner.test_then_learn(X[i : i + 1], y[i : i + 1], task)[0]
            outcomes.append(255 if y[i] < 0 else int(predicted == y[i]))
        test_all()
    outcomes_array = np.array(outcomes)
    assert np.array_equal(keep.tally.correct, correct)
    assert np.array_equal(np.concatenate(keep.right), outcomes_array)
    assert keep.tally.learned == stream.info.n_train == len(outcomes)
    assert keep.tally.predicted == keep.tally.labelled == (outcomes_array != 255).sum() < len(outcomes)
    assert keep.tally.hits == (outcomes_array == 1).sum()


@pytest.mark.parametrize(("scenario", "ends"), [("class-incremental", [0, 0, 0, 0, 1]), ("task-free", [1])])
def test_boundaries_are_told_where_the_scenario_has_them(
    scenario: str, ends: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []

    class Spy(Tiny):
        def end_task(self, last: bool) -> None:
            told.append(int(last))

    monkeypatch.setattr(
        "kenyon.lab.evaluation._run.make_learner", lambda name, info, seed, scenario, **_: Spy(info, seed)
    )
    run(RunConfig("digits", TINY, Curriculum(scenario, max_per_task=20)), [0])
    assert told == ends


class Batched(Tiny):
    """Notes how the stream was cut."""

    batch_size = 10

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.cuts: list[int] = []

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        self.cuts.append(len(y))
        return super().test_then_learn(X, y, task)


@pytest.mark.parametrize("every", [0, 7, 30, 1000])
def test_cuts_fall_on_whole_batches(every: int) -> None:
    stream = open_stream(scenario="single-task")
    learner = Batched(stream.info, 0)
    go(stream, learner, stride=weights_stride(learner, stream.info.n_train, every))
    assert sum(learner.cuts) == stream.info.n_train
    assert all(cut % 10 == 0 for cut in learner.cuts[:-1])


class Recording(Tiny):
    """Records within a call, as a learner with a kernel of its own would."""

    def learn_recorded(self, X: NDArray, y: NDArray[np.int64], task: int | None, every: int) -> tuple[NDArray, NDArray]:
        predicted, means = [], []
        for i in range(0, len(y), every):
            predicted.append(self.test_then_learn(X[i : i + every], y[i : i + every], task))
            if i + every <= len(y):
                means.append(self.weight_means())
        return np.concatenate(predicted), np.array(means, np.float32).reshape(-1, self.W.shape[1])


@pytest.mark.parametrize("every", [1, 9, 100, 600])
def test_weight_records_by_either_way(every: int) -> None:
    stream = open_stream(scenario="class-incremental", max_per_task=250)
    plain, recording = Tiny(stream.info, 0), Recording(stream.info, 0)
    stride = weights_stride(plain, stream.info.n_train, every)
    assert stride == every
    by_cut, by_call = go(stream, plain, stride), go(stream, recording, stride)
    n = n_records(stream, stride)
    assert by_cut.tally.records == by_call.tally.records == n == sum(e.n_train // every for e in stream.episodes)
    if n:
        assert np.array_equal(np.concatenate(by_cut.means), np.concatenate(by_call.means))
    learner, episode = Tiny(stream.info, 0), stream.episodes[0]
    if n:
        learner.learn(*episode.train(0, every))
        assert np.array_equal(by_cut.means[0][0], learner.weight_means())


def test_weight_records_can_be_left_out() -> None:
    stream = open_stream()
    learner = Tiny(stream.info, 0)
    assert weights_stride(learner, 60_000, None) == 600
    assert weights_stride(learner, 50, None) == 1
    assert weights_stride(learner, 60_000, 0) == 0
    assert weights_stride(object(), 60_000, None) == 0  # type: ignore[arg-type]


def test_a_learner_with_the_wrong_number_of_predictions_is_named() -> None:
    class Short(Tiny):
        def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
            return super().predict(X, task)[:-1]

    stream = open_stream()
    with pytest.raises(InputError, match=r"expected \(72,\)"):
        go(stream, Short(stream.info, 0))


@pytest.mark.parametrize(
    ("tests", "tested"),
    [("all", np.ones((6, 5), bool)), ("seen", np.tri(6, 5, -1) > 0), ("last", np.arange(6)[:, None] * np.ones(5) == 5)],
)
def test_which_tasks_are_tested(tests: str, tested: NDArray[np.bool_]) -> None:
    stream = open_stream(max_per_task=20)
    keep = go(stream, Tiny(stream.info, 0), tests=tests)
    assert np.array_equal(keep.tally.correct >= 0, tested)


def test_a_run_can_go_on_from_any_pause() -> None:
    """Stop at every single pause in turn; the rest gives the same tally, curves and learner."""
    stream = open_stream(max_per_task=30)

    class Stop(Exception):
        pass

    class StopAt(Keep):
        def __init__(self, n_tasks: int, at: int) -> None:
            super().__init__(n_tasks)
            self.left = at

        def pause(self, task_end: bool) -> None:
            self.left -= 1
            if not self.left:
                raise Stop

    whole_learner = Tiny(stream.info, 0)
    whole = go(stream, whole_learner, stride=7)
    at, stopped = 0, True
    while stopped:
        at += 1
        keep, learner, stopped = StopAt(5, at), Tiny(stream.info, 0), False
        try:
            Loop(stream, learner, keep, Watch(), stride=7).run()
        except Stop:
            stopped = True
            rest, other = Keep(5), Tiny(stream.info, 0)
            other.restore(learner.state())
            rest.tally = Tally.from_arrays(keep.tally.to_arrays())
            Loop(stream, other, rest, Watch(), stride=7).run()
            assert np.array_equal(rest.tally.correct, whole.tally.correct)
            assert np.array_equal(np.concatenate(keep.right + rest.right), np.concatenate(whole.right))
            assert np.array_equal(np.concatenate(keep.means + rest.means), np.concatenate(whole.means))
            assert np.array_equal(other.W, whole_learner.W)
            assert other.seen == whole_learner.seen
    assert at > 60


def test_the_holdout_is_marked_and_the_seed_decides() -> None:
    config = RunConfig("digits", TINY, Curriculum(max_per_task=40))
    held = replace(config, curriculum=Curriculum(max_per_task=40, holdout=0.1))
    one, two = run(config, [0, 1]), run(config, [0, 1])
    assert one.results[0].tested_on == "test"
    result = run_dataset(held, 0, load_dataset("digits"))
    assert result.tested_on == "holdout"
    assert sum(result.n_test) < sum(one.results[0].n_test)
    assert one.results[0].state_sha256 == two.results[0].state_sha256 != one.results[1].state_sha256
    for a, b in zip(one.results, two.results, strict=True):
        first, second = a.to_dict(), b.to_dict()
        for name in MEASURED:
            del first["metrics"][name], second["metrics"][name]
        assert first == second


def test_weights_can_be_recorded_at_every_sample() -> None:
    """As in the paper's Figure 4: a row of mean weights for every sample that is streamed."""
    stream, options = open_stream(max_per_task=9), {"rule": "mse", "n_hidden": 40}
    config = RunConfig("digits", "kenyon", Curriculum(max_per_task=9), options, weights_every=1)
    learner, plain = (learner_class("kenyon")(stream.info, 0, **options) for _ in range(2))
    assert weights_stride(learner, stream.info.n_train, config.weights_every) == 1
    recorded, row = np.concatenate(go(stream, learner, stride=1).means), 0
    assert len(recorded) == stream.info.n_train == n_records(stream, 1)
    for episode in stream.episodes:
        for x, label in zip(*episode.train(), strict=True):
            plain.learn(x[None], np.array([label]))
            np.testing.assert_array_equal(recorded[row], plain.weight_means())
            row += 1
