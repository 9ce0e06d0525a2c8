"""Blurry tasks, rotations, repeats and domains against streams made by hand; streams that cannot be, refused."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.data.streams import SCENARIOS, Curriculum, Dataset, Split, Stream, from_arrays, from_episodes, load_dataset
from kenyon.data.streams._rotated import rotated
from kenyon.errors import ConfigError, DataError, InputError

BY_HAND = np.repeat(np.arange(4), 10)


def made(n_classes: int = 4, per_class: int = 10, shape: tuple[int, ...] = (2, 2), test: int = 5) -> Dataset:
    """Samples whose first value is their row; half as many to test."""
    y = np.tile(np.arange(n_classes), per_class)
    X = np.zeros((len(y), int(np.prod(shape))), np.float32)
    X[:, 0] = np.arange(len(y))
    y_test = np.tile(np.arange(n_classes), test)
    names = [str(label) for label in range(n_classes)]
    return from_arrays(X, y, X[: len(y_test)], y_test, shape=shape, class_names=names)


def counts(stream: Stream) -> list[list[int]]:
    """Samples of each class in each task."""
    n = stream.dataset.n_classes
    return [np.bincount(episode.train()[1], minlength=n).tolist() for episode in stream.episodes]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # classes 0 and 1 are disjoint; a fifth of 2 and 3 (two samples each) is pooled and dealt out, two to a task
        ({"n_tasks": 2, "blurry": 0.2}, [[10, 0, "8+", "-"], [0, 10, "-", "8+"]]),
        ({"n_tasks": 2, "blurry": 0.0}, [[10, 0, 10, 0], [0, 10, 0, 10]]),
        ({"n_tasks": 2, "disjoint": 1.0}, [[10, 10, 0, 0], [0, 0, 10, 10]]),
        ({"n_tasks": 4, "disjoint": 0.0, "blurry": 0.0}, [[10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 10, 0], [0, 0, 0, 10]]),
    ],
)
def test_i_blurry_by_hand(options, expected):
    seen = counts(Curriculum("i-blurry", **options).open(made()))
    for row, wanted in zip(seen, expected, strict=True):
        for n, want in zip(row, wanted, strict=True):
            assert want == "-" or (n >= 8 if want == "8+" else n == want)
    assert np.sum(seen, axis=0).tolist() == [10] * 4
    if options.get("blurry") == 0.2:
        assert [sum(row) for row in seen] == [20, 20]


@pytest.mark.parametrize("seed", range(8))
def test_si_blurry_loses_nothing_and_has_no_empty_task(seed):
    stream = Curriculum("si-blurry", seed=seed, class_order="shuffled").open(made(10, 20))
    assert np.sum(counts(stream), axis=0).tolist() == [20] * 10
    assert sorted(label for episode in stream.episodes for label in episode.classes) == list(range(10))
    assert all(episode.classes and episode.n_test for episode in stream.episodes)
    disjoint = sum(sum(n > 0 for n in column) == 1 for column in np.transpose(counts(stream)))
    assert disjoint >= 5


def test_si_blurry_tasks_differ_in_size():
    sizes = {
        len(episode.classes)
        for seed in range(5)
        for episode in Curriculum("si-blurry", seed=seed).open(made(10)).episodes
    }
    assert len(sizes) > 1


def test_rotation_by_hand():
    image = np.arange(9, dtype=np.float32)[None]
    np.testing.assert_allclose(rotated(image, (3, 3), 90, 0).reshape(3, 3), np.rot90(image.reshape(3, 3)), atol=1e-5)
    np.testing.assert_allclose(rotated(image, (3, 3), 180, 0), image[:, ::-1], atol=1e-5)
    assert rotated(image, (3, 3), 0, 0) is image
    colours = np.stack([image.reshape(3, 3), 9 - image.reshape(3, 3)]).reshape(1, -1)
    turned = rotated(colours, (2, 3, 3), 90, 0).reshape(2, 3, 3)
    np.testing.assert_allclose(turned[1], np.rot90(9 - image.reshape(3, 3)), atol=1e-5)
    assert rotated(np.full((1, 9), 200, np.uint8), (3, 3), 45, 0).dtype == np.uint8


def test_rotated_tasks():
    stream = Curriculum("rotated", n_tasks=2, order="published").open(made())
    plain, turned = (episode.train()[0] for episode in stream.episodes)
    np.testing.assert_allclose(turned, rotated(plain, (2, 2), 90, 0))
    with pytest.raises(ConfigError, match=r"samples of 'arrays' have shape \(4,\): expected images"):
        Curriculum("rotated").open(made(shape=(4,)))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_repeats_in_every_scenario(scenario):
    """Every sample comes in one of the repeats alone, and the tasks come again."""
    once = Curriculum(scenario).open(made(10, 40))
    twice = Curriculum(scenario, repeats=2).open(made(10, 40))
    n = len(once.episodes)
    assert len(twice.episodes) == 2 * n
    assert [e.classes for e in twice.episodes[:n]] == [e.classes for e in twice.episodes[n:]]
    passes = n if scenario in ("permuted", "rotated") else 1
    assert twice.info.n_train == passes * 400 == once.info.n_train
    if scenario == "class-incremental":
        first, second = (
            np.concatenate([e.train()[0][:, 0] for e in part]) for part in (twice.episodes[:n], twice.episodes[n:])
        )
        assert not set(first) & set(second)


def episodes() -> list:
    """Three days, with the classes walk, run; walk, sit; sit alone."""
    X = np.arange(40, dtype=np.float32).reshape(20, 2)
    return [(X, ["walk", "run"] * 10), (X + 100, ["walk", "sit"] * 10), (X + 200, ["sit"] * 20)]


def test_a_stream_of_ones_own_comes_as_it_is():
    stream = Stream(episodes())
    assert stream.dataset.class_names == ("run", "sit", "walk")
    assert [episode.classes for episode in stream.episodes] == [(0, 2), (1, 2), (1,)]
    assert [episode.n_train for episode in stream.episodes] == [16, 16, 16]
    for number, episode in enumerate(stream.episodes):
        X, _ = episode.train()
        assert (np.diff(X[:, 0]) > 0).all()
        assert (number == X // 100).all()
        assert (episode.test()[0] // 100 == number).all()


def test_tasks_of_ones_own_with_heads_and_in_another_order():
    dataset = from_episodes(episodes(), ["mon", "tue", "wed"])
    heads = Curriculum("task-incremental", tasks_by="domains").open(dataset)
    assert heads.info.task_heads and heads.info.tasks == ((0, 2), (1, 2), (1,))
    order = Curriculum("domain-incremental", class_order=("wed", "mon", "tue")).open(dataset)
    assert [int(e.train()[0][0, 0] // 100) for e in order.episodes] == [2, 0, 1]
    pairs = Curriculum("domain-incremental", n_tasks=2).open(dataset)
    assert [e.n_train for e in pairs.episodes] == [32, 16]
    fading = Curriculum("task-free", tasks_by="domains", labelled=0.5).open(dataset)
    assert sum(int((e.train()[1] >= 0).sum()) for e in fading.episodes) == 24
    held = Curriculum("domain-incremental", holdout=0.25).open(dataset)
    assert [e.n_test for e in held.episodes] == [4, 4, 4]


def test_withheld_labels_stay_in_their_place():
    X = np.arange(20, dtype=np.float32).reshape(10, 2)
    stream = Stream([(X, [0, 1, -1, 0, 1, -1, 0, 1, 0, 1], X[:2], [0, 1]), (X, [1, 0] * 5)])
    np.testing.assert_array_equal(stream.episodes[0].train()[1], [0, 1, -1, 0, 1, -1, 0, 1, 0, 1])


def test_a_column_of_users_and_a_folder_of_sessions(tmp_path):
    lines = [f"{i},{i % 3},{'ab'[i % 2]},u{i // 20}" for i in range(60)]
    (tmp_path / "all.csv").write_text("width,height,kind,user\n" + "\n".join(lines))
    table = load_dataset(tmp_path / "all.csv", label="kind", domain="user")
    assert table.domain_names == ("u0", "u1", "u2") and table.shape == (2,)
    assert [e.n_train for e in Curriculum("domain-incremental").open(table).episodes] == [16, 16, 16]
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    for user in range(3):
        (sessions / f"s{user}.csv").write_text(
            "width,height,kind\n" + "\n".join(x[:-3] for x in lines[20 * user :][:20])
        )
    folder = load_dataset(sessions, label="kind", domain="folder")
    assert folder.domain_names == ("s0", "s1", "s2") and len(folder.train) == 48
    np.savez(tmp_path / "x.npz", X=np.ones((20, 2), np.uint8), y=np.arange(20) % 2, user=np.arange(20) // 10)
    assert load_dataset(tmp_path / "x.npz", domain="user").domain_names == ("0", "1")
    for domain, why in (
        ("usr", "has no column 'usr' to take domains from.*did you mean 'user'"),
        ("kind", "are both 'kind'"),
    ):
        with pytest.raises(DataError, match=why):
            load_dataset(tmp_path / "all.csv", label="kind", domain=domain)


X4, Y4 = np.zeros((4, 2), np.float32), [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ([], InputError, "stream has 0 episodes: expected at least one"),
        ("mnist", ConfigError, "episodes is a str: expected a list"),
        ([(X4, Y4), (X4[:0], [])], InputError, r"episode '2': X has shape \(0, 2\): expected at least one sample"),
        ([(X4, [-1] * 4)], InputError, "episode '1' has 4 samples and no label: expected some labels"),
        ([(X4, [None] * 4)], InputError, "episode '1' has 4 samples and no label"),
        ([(X4, Y4), (np.zeros((4, 3)), Y4)], InputError, r"different shapes, \(2,\) and \(3,\)"),
        ([(X4, Y4[:3])], InputError, r"y has shape \(3,\): expected \(4,\)"),
        ([(X4,)], InputError, r"episode '1' is 1 parts: expected \(X, y\)"),
        ([(X4, Y4, X4, [0, 1, 2, 0])], InputError, "occurs in the test"),
    ],
)
def test_bad_streams_are_refused(given, error, why):
    with pytest.raises(error, match=why):
        Stream(given)


def test_a_domain_without_samples_or_labels_is_refused():
    y = np.array([0, 1, 0, 1])
    for domain, labels, why in (
        ([0, 0, 0, 0], y, "a task has no training sample: 'made' has none of the domain 'b'"),
        ([0, 0, 1, 1], np.array([0, 1, -1, -1]), "a task has no label: 'made' has none in the domain 'b'"),
    ):
        train = Split(X4, labels, np.array(domain))
        dataset = Dataset(
            "made", (2,), ("x", "y"), train, Split(X4, y, np.array([0, 0, 1, 1])), domain_names=("a", "b")
        )
        with pytest.raises(ConfigError, match=why):
            Curriculum("domain-incremental").open(dataset)
    train = Split(X4, y, np.array([0, 0, 1, 1]))
    dataset = Dataset("made", (2,), ("x", "y"), train, Split(X4, y, np.zeros(4, np.int64)), domain_names=("a", "b"))
    with pytest.raises(ConfigError, match="task 1 has no test sample"):
        _ = Curriculum("domain-incremental").open(dataset).episodes[1].n_test


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tasks_by": "people"}, "unknown tasks_by 'people'"),
        ({"scenario": "permuted", "tasks_by": "domains"}, "tasks_by is 'domains' and scenario is 'permuted'"),
        ({"disjoint": 0.3}, "disjoint is 0.3 and scenario is 'class-incremental': expected 0.5 but for"),
        ({"scenario": "i-blurry", "blurry": 1.5}, "blurry is 1.5: expected a number 0 or more and at most 1"),
    ],
)
def test_bad_curricula_are_refused(options, why):
    with pytest.raises(ConfigError, match=why):
        Curriculum(**options)


def test_more_tasks_than_there_are():
    with pytest.raises(ConfigError, match="n_tasks is 9: the data set has only 4 classes"):
        Curriculum("i-blurry", n_tasks=9).open(made())
    with pytest.raises(ConfigError, match="n_tasks is 9: the data set has only 3 domains"):
        Curriculum("domain-incremental", n_tasks=9).open(from_episodes(episodes()))
    with pytest.raises(ConfigError, match="tasks_by is 'domains' and 'arrays' has none"):
        Curriculum("class-incremental", tasks_by="domains").open(made())
