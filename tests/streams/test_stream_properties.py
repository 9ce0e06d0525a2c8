"""What holds for every curriculum: any cut gives the same bits, and samples are neither lost nor repeated."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon.data.streams import SCENARIOS, Curriculum, from_arrays
from kenyon.data.streams._order import fading
from kenyon.data.streams._random import key, permutation, stratified_share, uniform
from kenyon.data.streams._rows import Rows

_RNG = np.random.default_rng(0)
_N = 240
DATA = from_arrays(
    np.arange(_N * 5, dtype=np.float32).reshape(_N, 5),
    _RNG.permutation(np.arange(_N) % 6),
    np.arange(300, dtype=np.float32).reshape(60, 5),
    np.arange(60) % 6,
)


def _curriculum(scenario: str, blur: float, **values: Any) -> Curriculum:
    return Curriculum(scenario, **values, **({"blur": blur} if scenario in ("task-free", "gradual-drift") else {}))


curricula = st.builds(
    _curriculum,
    scenario=st.sampled_from([name for name in SCENARIOS if name != "rotated"]),
    seed=st.integers(0, 2**63 - 1),
    epochs=st.sampled_from([0.3, 0.5, 1.0, 1.7, 3.0]),
    order=st.sampled_from(["shuffled", "published"]),
    class_order=st.one_of(st.sampled_from(["sorted", "shuffled"]), st.permutations(range(6)).map(tuple)),
    labelled=st.sampled_from([0.2, 0.6, 1.0]),
    label_noise=st.sampled_from([0.0, 0.4]),
    blur=st.floats(0, 1),
    max_per_task=st.sampled_from([None, 5, 1000]),
    holdout=st.sampled_from([0.0, 0.2]),
)


@settings(max_examples=120, deadline=None)
@given(curricula, st.data())
def test_random_access_equals_one_go(curriculum, data):
    stream = curriculum.open(DATA)
    episode = stream.episodes[data.draw(st.integers(0, len(stream.episodes) - 1))]
    for read, n in ((episode.train, episode.n_train), (episode.test, episode.n_test)):
        X, y = read()
        cuts = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=6))})
        pieces = list(pairwise(cuts))
        fresh = curriculum.open(DATA).episodes[episode.task]
        again = fresh.train if read == episode.train else fresh.test
        for start, stop in data.draw(st.permutations(pieces)):  # in any order, from a stream opened anew
            X_part, y_part = again(start, stop)
            np.testing.assert_array_equal(X_part, X[start:stop])
            np.testing.assert_array_equal(y_part, y[start:stop])


@settings(max_examples=60, deadline=None)
@given(curricula)
def test_each_pass_is_a_partition_of_the_training_part(curriculum):
    curriculum = Curriculum.from_dict({**curriculum.to_dict(), "epochs": 1.0, "max_per_task": 1000})
    stream = curriculum.open(DATA)
    if curriculum.scenario == "virtual-drift":  # which changes what samples are known by
        assert sum(e.n_train for e in stream.episodes) == len(DATA.train) - curriculum.open(DATA)._held_out.sum()
        return
    per_task = [np.sort(np.sort(e.train()[0], 1)[:, 0]) for e in stream.episodes]
    test = np.concatenate([np.sort(e.test()[0], 1)[:, 0] for e in stream.episodes[:1]])
    if curriculum.scenario == "permuted":
        assert all((task == per_task[0]).all() for task in per_task)
        per_task = per_task[:1]
    elif "drift" not in curriculum.scenario:
        test = np.concatenate([np.sort(e.test()[0], 1)[:, 0] for e in stream.episodes])
    firsts = np.concatenate([*per_task, test]) if curriculum.holdout else np.concatenate(per_task)
    np.testing.assert_array_equal(np.sort(firsts), np.arange(0, _N * 5, 5))


@given(st.integers(0, 2**64 - 1), st.integers(0, 500))
def test_permutations_are_permutations(seed, n):
    order = permutation(key(seed, "x"), n)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


def test_keys_differ_by_every_part():
    keys = {key(seed, name, a, b) for seed in range(5) for name in ("x", "y", "") for a in range(10) for b in range(10)}
    assert len(keys) == 1500


def test_numbers_are_even():
    """Shares of 100 bins over a million draws, against the spread chance allows."""
    counts = np.bincount((uniform(key(1, "even"), np.arange(10**6)) * 100).astype(int), minlength=100)
    assert np.abs(counts - 10**4).max() < 5 * 100
    places = np.stack([permutation(key(seed, "p"), 5) for seed in range(5000)])
    assert all(np.abs(np.bincount(column, minlength=5) - 1000).max() < 5 * np.sqrt(800) for column in places.T)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.floats(0, 1), st.integers(0, 1000))
def test_fading_keeps_every_row_once_and_its_order(sizes, blur, seed):
    ends = np.cumsum(sizes)
    groups = np.split(np.arange(ends[-1]), ends[:-1])
    segments = fading(groups, blur, seed)
    assert [len(segment) for segment in segments] == sizes
    merged = np.concatenate(segments)
    np.testing.assert_array_equal(np.sort(merged), np.arange(ends[-1]))
    for group in groups:
        assert (np.diff(merged[np.isin(merged, group)]) > 0).all()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=200), st.floats(0, 0.99), st.integers(0, 99))
def test_stratified_share_of_every_class(labels, share, seed):
    y = np.array(labels)
    chosen = stratified_share(seed, "s", y, share)
    for label in np.unique(y):
        n, k = (y == label).sum(), chosen[y == label].sum()
        assert abs(k - share * n) <= 1
        assert n < 2 or share == 0 or 1 <= k < n


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.data())
def test_rows_index_like_the_array_they_stand_for(sizes, data):
    n = sum(sizes)
    whole = np.arange(n * 4).reshape(n, 4)
    columns = data.draw(st.one_of(st.none(), st.permutations(range(4)).map(np.array)))
    chosen = data.draw(st.one_of(st.none(), st.lists(st.integers(0, n - 1), min_size=1).map(np.array)))
    table = Rows(np.split(whole, np.cumsum(sizes)[:-1]), columns, chosen)
    array = whole if chosen is None else whole[chosen]
    array = array if columns is None else array[:, columns]
    assert table.shape == array.shape
    assert len(table) == len(array)
    index = data.draw(
        st.one_of(
            st.integers(-len(array), len(array) - 1),
            st.slices(len(array)),
            st.lists(st.integers(-len(array), len(array) - 1), min_size=1),
            st.lists(st.booleans(), min_size=len(array), max_size=len(array)),
        )
    )
    np.testing.assert_array_equal(table[index], array[index])
    np.testing.assert_array_equal(np.asarray(table, np.float64), array)
