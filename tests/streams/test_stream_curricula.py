"""Every scenario over every data set, every modifier, and what a curriculum refuses."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise

import numpy as np
import pytest
from stream_files import write_layout

from cases import slow
from kenyon.data.streams import SCENARIOS, Curriculum, from_arrays, load_dataset
from kenyon.data.streams._sources import SOURCES
from kenyon.errors import ConfigError, InputError

PLAIN = [scenario for scenario in SCENARIOS if scenario != "rotated"]
"""Scenarios for samples that are no images."""


def numbered(n_classes: int = 10, per_class: int = 40, n_features: int = 6):
    """A set whose samples are their own row numbers, in the first two features; the third is the class."""
    splits = []
    for offset, count in ((0, per_class), (1, per_class // 4)):
        n = n_classes * count
        y = (np.arange(n) * 7 + offset) % n_classes
        X = np.zeros((n, n_features), np.uint8)
        X[:, 0], X[:, 1], X[:, 2] = np.arange(n) % 256, np.arange(n) // 256, y
        X[:, 3:] = np.arange(3, n_features)
        splits += [X, y]
    return from_arrays(*splits, name="numbered", class_names=[str(c) for c in range(n_classes)])


def rows(X: np.ndarray) -> np.ndarray:
    return X[:, 0].astype(int) + 256 * X[:, 1].astype(int)


@pytest.mark.parametrize(
    ("n_classes", "options", "sizes"),
    [
        (10, {}, [2] * 5),
        (9, {}, [3] * 3),
        (5, {}, [3, 2]),  # a prime cannot be cut evenly
        (10, {"n_tasks": 3}, [4, 3, 3]),
        (10, {"task_sizes": [4, 6]}, [4, 6]),
    ],
)
def test_domains_share_their_labels(n_classes, options, sizes):
    stream = Curriculum(scenario="domain-incremental", **options).open(numbered(n_classes=n_classes))
    assert [len(episode.classes) for episode in stream.episodes] == sizes
    assert stream.info.n_classes == max(sizes)
    for episode, size in zip(stream.episodes, sizes, strict=True):
        assert set(episode.train()[1]) == set(range(size))


def test_three_classes_make_no_domains():
    with pytest.raises(ConfigError, match="this data set has 3"):
        Curriculum(scenario="domain-incremental").open(numbered(n_classes=3))


MADE = [name for name, source in SOURCES.items() if source.layouts[0].remotes]


@pytest.mark.parametrize(
    ("name", "scenario"),
    [
        *(("digits", scenario) for scenario in SCENARIOS),
        *((name, tuple(SCENARIOS)[number % len(SCENARIOS)]) for number, name in enumerate(MADE)),
        *(
            slow(name, scenario)
            for number, name in enumerate(MADE)
            for place, scenario in enumerate(SCENARIOS)
            if place != number % len(SCENARIOS)
        ),
    ],
)
def test_every_scenario_on_every_set(name, scenario, tmp_path):
    if (name, scenario) == ("cifar100-coarse", "domain-incremental"):
        pytest.skip("a few made images have no class of some domains")
    if name != "digits":
        write_layout(SOURCES[name], SOURCES[name].layouts[0], tmp_path, per_class=2)
    dataset = load_dataset(name, tmp_path)
    curriculum = Curriculum(scenario=scenario, seed=3)
    stream = curriculum.open(dataset)
    info = stream.info
    assert info.shape == dataset.shape
    assert info.value_range == dataset.value_range
    assert info.task_heads == (scenario == "task-incremental")
    assert info.tasks == tuple(episode.classes for episode in stream.episodes)
    assert info.n_train == sum(episode.n_train for episode in stream.episodes)
    n_passes = len(stream.episodes) if scenario in ("permuted", "rotated") else 1
    assert info.n_train == n_passes * len(dataset.train)
    repeated = scenario in ("permuted", "rotated") or "drift" in scenario
    n_tests = len(stream.episodes) if repeated else 1
    assert sum(episode.n_test for episode in stream.episodes) == n_tests * len(dataset.test)
    for number, episode in enumerate(stream.episodes):
        assert episode.task == number
        for X, y in (episode.train(), episode.test()):
            assert X.dtype == np.uint8
            assert X.flags.c_contiguous
            assert X.shape == (len(y), dataset.n_features)
            assert y.dtype == np.int64
            assert ((y >= 0) & (y < info.n_classes)).all()
        assert set(episode.test()[1]) <= set(episode.classes)


DEFAULT_TASKS = {2: [1, 1], 3: [1, 1, 1], 5: [3, 2], 10: [2] * 5, 20: [2] * 10, 26: [3] * 6 + [2] * 4, 100: [10] * 10}


@pytest.mark.parametrize(("n_classes", "sizes"), DEFAULT_TASKS.items())
def test_default_tasks(n_classes, sizes):
    stream = Curriculum().open(numbered(n_classes, per_class=8))
    assert [len(episode.classes) for episode in stream.episodes] == sizes
    assert [c for episode in stream.episodes for c in episode.classes] == list(range(n_classes))


def test_split_scenarios_show_only_the_classes_of_the_task():
    dataset = numbered()
    for scenario in ("task-incremental", "class-incremental"):
        stream = Curriculum(
            scenario=scenario, class_order=[9, 0, 8, 1, 7, 2, 6, 3, 5, 4], task_sizes=[1, 2, 3, 4]
        ).open(dataset)
        assert [episode.classes for episode in stream.episodes] == [(9,), (0, 8), (1, 7, 2), (6, 3, 5, 4)]
        for episode in stream.episodes:
            for X, y in (episode.train(), episode.test()):
                assert set(y) == set(episode.classes)
                np.testing.assert_array_equal(X[:, 2], y)


def test_domain_incremental_labels_are_places_in_the_group():
    order = [9, 0, 8, 1, 7, 2, 6, 3, 5, 4]
    stream = Curriculum(scenario="domain-incremental", class_order=order).open(numbered())
    assert stream.info.n_classes == 2
    assert stream.info.tasks == ((0, 1),) * 5
    for number, episode in enumerate(stream.episodes):
        assert episode.original_classes == (order[2 * number], order[2 * number + 1])
        for X, y in (episode.train(), episode.test()):
            np.testing.assert_array_equal(X[:, 2], np.array(order)[2 * number + y])


def test_permuted_tasks_show_every_sample_through_one_permutation_each():
    dataset = numbered(n_features=50)
    stream = Curriculum(scenario="permuted", n_tasks=4, order="published").open(dataset)
    plain, _ = stream.episodes[0].train()
    np.testing.assert_array_equal(plain, dataset.train.X)
    permutations = set()
    for episode in stream.episodes:
        X, y = episode.train()
        X_test, y_test = episode.test()
        np.testing.assert_array_equal(y, dataset.train.y)
        np.testing.assert_array_equal(y_test, dataset.test.y)
        source = np.array([np.flatnonzero((column == plain.T).all(1))[0] for column in X.T])
        np.testing.assert_array_equal(np.sort(source), np.arange(50))
        np.testing.assert_array_equal(X_test, np.asarray(dataset.test.X)[:, source])
        permutations.add(source.tobytes())
    assert len(permutations) == 4


def test_task_free_fades_from_group_to_group():
    dataset = numbered(per_class=400)
    stream = Curriculum(scenario="task-free", blur=0.5, seed=1).open(dataset)
    y = np.concatenate([episode.train()[1] for episode in stream.episodes])
    X = np.concatenate([episode.train()[0] for episode in stream.episodes])
    assert sorted(rows(X)) == list(range(4000))  # every sample once
    np.testing.assert_array_equal(X[:, 2], y)
    group = y // 2
    for boundary, (old, new) in zip(range(800, 4000, 800), pairwise(range(5)), strict=False):
        # the share of the new group grows linearly over 400 samples around the boundary
        for place in range(-150, 151, 100):
            window = group[boundary + place - 50 : boundary + place + 50]
            assert set(window) <= {old, new}
            assert abs((window == new).mean() - (0.5 + place / 400)) < 0.2
        assert (group[boundary - 500 : boundary - 230] == old).all()
        assert (group[boundary + 230 : boundary + 500] == new).all()


def test_task_free_without_blur_is_class_incremental():
    free = Curriculum(scenario="task-free", blur=0.0).open(numbered())
    strict = Curriculum(scenario="class-incremental").open(numbered())
    for one, other in zip(free.episodes, strict.episodes, strict=True):
        for a, b in zip(one.train(), other.train(), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("scenario", PLAIN)
def test_labels_that_never_come_are_refused(scenario):
    with pytest.raises(
        ConfigError, match=r"labelled is 1e-06: expected more, it leaves none of [\d,]+ samples a label"
    ):
        Curriculum(scenario=scenario, labelled=1e-6).open(numbered())
    with pytest.raises(ConfigError, match=r"labelled is 0\.0: expected a number above 0"):
        Curriculum(scenario=scenario, labelled=0.0)


@pytest.mark.parametrize("scenario", PLAIN)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_labelled_share(scenario, share):
    plain = Curriculum(scenario=scenario).open(numbered())
    scarce = Curriculum(scenario=scenario, labelled=share).open(numbered())
    kept = 0
    for one, other in zip(plain.episodes, scarce.episodes, strict=True):
        (X, y), (X_scarce, y_scarce) = one.train(), other.train()
        np.testing.assert_array_equal(X, X_scarce)  # only labels go, no sample does
        np.testing.assert_array_equal(y_scarce[y_scarce >= 0], y[y_scarce >= 0])
        kept += (y_scarce >= 0).sum()
        np.testing.assert_array_equal(one.test()[1], other.test()[1])
    parts = (
        len(plain.episodes) if "drift" in scenario or "blurry" in scenario else 1
    )  # parts that are not equal are rounded each
    assert abs(kept - round(share * plain.info.n_train)) < parts


@pytest.mark.parametrize("scenario", PLAIN)
def test_label_noise(scenario):
    curriculum = Curriculum(scenario=scenario, label_noise=0.3, task_sizes=None)
    plain = Curriculum(scenario=scenario).open(numbered(per_class=100))
    noisy = curriculum.open(numbered(per_class=100))
    wrong = 0
    for one, other in zip(plain.episodes, noisy.episodes, strict=True):
        y, y_noisy = one.train()[1], other.train()[1]
        wrong += (y != y_noisy).sum()
        if scenario == "task-free":
            np.testing.assert_array_equal(y // 2, y_noisy // 2)
        elif "blurry" in scenario:
            assert set(y_noisy) <= set(range(10))
        else:
            assert set(y_noisy) <= set(one.classes)
        np.testing.assert_array_equal(one.test()[1], other.test()[1])
    assert wrong == round(0.3 * plain.info.n_train)


def test_wrong_labels_are_even_over_the_other_classes():
    stream = Curriculum(scenario="single-task", label_noise=1.0, order="published").open(numbered(per_class=900))
    y, true = stream.episodes[0].train()[1], stream.dataset.train.y
    counts = np.bincount((y - true) % 10, minlength=10)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 1000).max() < 5 * np.sqrt(1000)


@pytest.mark.parametrize("scenario", PLAIN)
def test_epochs(scenario):
    dataset = numbered()
    whole = [e.train()[0] for e in Curriculum(scenario=scenario).open(dataset).episodes]
    if scenario not in ("task-free", "gradual-drift"):
        half = [e.train()[0] for e in Curriculum(scenario=scenario, epochs=0.5).open(dataset).episodes]
        for part, full in zip(half, whole, strict=True):
            np.testing.assert_array_equal(part, full[: len(full) // 2])
        many = [e.train()[0] for e in Curriculum(scenario=scenario, epochs=2.5).open(dataset).episodes]
        for part, full in zip(many, whole, strict=True):
            n = len(full)
            assert len(part) == round(2.5 * n)
            np.testing.assert_array_equal(part[:n], full)
            assert (part[n : 2 * n] != full).any()
            np.testing.assert_array_equal(np.sort(rows_any(part[n : 2 * n])), np.sort(rows_any(full)))
    else:
        many = np.concatenate([e.train()[0] for e in Curriculum(scenario=scenario, epochs=2.0).open(dataset).episodes])
        assert (np.bincount(rows(many)) == 2).all()


def rows_any(X: np.ndarray) -> np.ndarray:
    """A number for each row that survives a permutation of the features shared by all rows."""
    return np.unique(X, axis=0, return_inverse=True)[1].ravel()


def test_published_order():
    stream = Curriculum(scenario="class-incremental", order="published", epochs=2.0).open(numbered())
    for episode in stream.episodes:
        one = rows(episode.train()[0])
        half = len(one) // 2
        assert (np.diff(one[:half]) > 0).all()
        np.testing.assert_array_equal(one[:half], one[half:])


@pytest.mark.parametrize("order", ["shuffled", "published"])
def test_max_per_task(order):
    stream = Curriculum(scenario="class-incremental", max_per_task=7, order=order).open(numbered())
    assert [episode.n_train for episode in stream.episodes] == [7] * 5
    assert stream.info.n_train == 35
    assert all(len(set(rows(episode.train()[0]))) == 7 for episode in stream.episodes)


@pytest.mark.parametrize("scenario", PLAIN)
def test_holdout_never_opens_the_test_set(scenario):
    def refuse():
        raise AssertionError("the test set was opened")

    dataset = numbered()
    guarded = type(dataset)("guarded", dataset.shape, dataset.class_names, dataset.train, refuse, dataset.value_range)
    stream = Curriculum(scenario=scenario, holdout=0.25).open(guarded)
    for episode in stream.episodes:
        np.testing.assert_array_equal(np.unique(episode.test()[1], return_counts=True)[1], 10)  # of 40 of each class
    if scenario != "permuted" and "drift" not in scenario:
        train = np.concatenate([rows(episode.train()[0]) for episode in stream.episodes])
        test = np.concatenate([rows(episode.test()[0]) for episode in stream.episodes])
        assert sorted([*train, *test]) == list(range(400))


def test_seed_decides_everything_it_should():
    def one(**values):
        stream = Curriculum(scenario="class-incremental", class_order="shuffled", labelled=0.5, **values).open(
            numbered()
        )
        return [(e.classes, *map(bytes, e.train())) for e in stream.episodes]

    assert one(seed=4) == one(seed=4)
    assert one(seed=4) != one(seed=5)


def test_the_stream_is_the_same_on_every_machine():
    """Frozen bits: a change here changes every result that was ever stored."""
    stream = Curriculum(scenario="class-incremental", seed=7, class_order="shuffled", label_noise=0.2).open(numbered())
    assert stream.info.tasks == ((2, 6), (7, 0), (5, 4), (9, 3), (1, 8))
    X, y = stream.episodes[1].train(0, 8)
    assert rows(X).tolist() == [171, 311, 281, 70, 91, 61, 270, 141]
    assert y.tolist() == [7, 7, 7, 0, 7, 7, 0, 7]


@pytest.mark.parametrize("scenario", PLAIN)
def test_to_dict_and_back_through_toml_and_json(scenario):
    curriculum = Curriculum(scenario=scenario, seed=5, epochs=2, class_order=[1, 0], labelled=0.5, max_per_task=9)
    assert Curriculum.from_dict(json.loads(json.dumps(curriculum.to_dict()))) == curriculum
    toml = "\n".join(f"{name} = {json.dumps(value)}" for name, value in curriculum.to_dict().items())
    assert Curriculum.from_dict(tomllib.loads(toml)) == curriculum


def test_numpy_numbers_become_plain():
    curriculum = Curriculum(seed=np.int64(3), task_sizes=np.array([5, 5]), class_order=np.arange(10))
    assert json.dumps(curriculum.to_dict())
    assert curriculum == Curriculum(seed=3, task_sizes=[5, 5], class_order=list(range(10)))


BAD = {
    "scenario": (dict(scenario="class-incremntal"), "did you mean 'class-incremental'"),
    "order": (dict(order="random"), "expected one of published, shuffled"),
    "class_order name": (dict(class_order="shufled"), "did you mean 'shuffled'"),
    "class_order twice": (dict(class_order=[0, 0, 1]), "named twice"),
    "class_order mixed": (dict(class_order=["a", 1]), "list of integers"),
    "class_order negative": (dict(class_order=[-1, 0]), "each 0 or more"),
    "class_order number": (dict(class_order=3), "list of integers"),
    "task_sizes zero": (dict(task_sizes=[0, 10]), "each 1 or more"),
    "task_sizes empty": (dict(task_sizes=[]), "list of integers"),
    "task_sizes single": (dict(scenario="single-task", task_sizes=[10]), "does not split"),
    "task_sizes permuted": (dict(scenario="permuted", task_sizes=[5, 5]), "does not split"),
    "task_sizes and n_tasks": (dict(task_sizes=[5, 5], n_tasks=3), "give one of them"),
    "n_tasks": (dict(n_tasks=0), "n_tasks is 0"),
    "n_tasks single": (dict(scenario="single-task", n_tasks=2), "has one task"),
    "seed negative": (dict(seed=-1), "seed is -1"),
    "seed float": (dict(seed=1.5), "seed is 1.5"),
    "seed bool": (dict(seed=True), "seed is True"),
    "epochs zero": (dict(epochs=0), "above 0"),
    "epochs infinite": (dict(epochs=float("inf")), "epochs is inf"),
    "epochs text": (dict(epochs="two"), "epochs is 'two'"),
    "labelled": (dict(labelled=1.5), "above 0 and at most 1"),
    "labelled nan": (dict(labelled=float("nan")), "labelled is nan"),
    "label_noise": (dict(label_noise=-0.1), "label_noise is -0.1"),
    "blur": (dict(blur=2), "blur is 2"),
    "blur without a fade": (dict(blur=0.25), "blur is 0.25 and scenario is 'class-incremental': expected 0.5 but for"),
    "random delay of none": (dict(random_delay=True), "random_delay is True and delay is 0"),
    "holdout": (dict(holdout=1.0), "0 or more and below 1"),
    "max_per_task": (dict(max_per_task=0), "max_per_task is 0"),
}


@pytest.mark.parametrize(("values", "message"), BAD.values(), ids=list(BAD))
def test_bad_values_are_named(values, message):
    with pytest.raises(ConfigError, match=message):
        Curriculum(**values)


BAD_TOGETHER = {
    "class_order short": (dict(class_order=[0, 1, 2]), "every class from 0 to 9 once"),
    "class_order high": (dict(class_order=[*range(9), 10]), "every class from 0 to 9 once"),
    "sizes": (dict(task_sizes=[2, 2]), "4 in all: the data set has 10 classes"),
    "too many tasks": (dict(n_tasks=11), "only 10 classes"),
    "noise without alternatives": (dict(task_sizes=[1, 9], label_noise=0.1), "no wrong label to give"),
}


@pytest.mark.parametrize(("values", "message"), BAD_TOGETHER.values(), ids=list(BAD_TOGETHER))
def test_values_that_do_not_fit_the_set_are_named(values, message):
    with pytest.raises(ConfigError, match=message):
        Curriculum(**values).open(numbered())


def test_unknown_key_names_the_nearest():
    with pytest.raises(ConfigError, match=r"'labeled'.*did you mean 'labelled'"):
        Curriculum.from_dict({"labeled": 0.5})


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (0, 81), (5, 4), (90, 95)])
def test_samples_that_are_not_there(start, stop):
    episode = Curriculum().open(numbered()).episodes[0]
    with pytest.raises(InputError, match="it has 80"):
        episode.train(start, stop)


def test_a_task_without_samples_is_named():
    X, y = np.zeros((4, 3), np.uint8), np.array([0, 0, 1, 1])
    with pytest.raises(ConfigError, match=r"no training sample.*\(2, 3\)"):
        Curriculum(n_tasks=2).open(from_arrays(X, y, X, y, class_names=["a", "b", "c", "d"]))
