"""The published sets themselves: counts, first labels, means that only the right pixels give."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.data.streams import SCENARIOS, Curriculum, load_dataset, verify_dataset

pytestmark = pytest.mark.real_data

KNOWN = {
    # first training labels, first test labels, samples of class 0 in training
    "mnist": ([5, 0, 4, 1, 9], [7, 2, 1, 0, 4], 5923),
    "fashion-mnist": ([9, 0, 0, 3, 0], [9, 2, 1, 1, 6], 6000),
    "cifar10": ([6, 9, 9, 4, 1], [3, 8, 8, 0, 6], 5000),
    "cifar100": ([19, 29, 0, 11, 1], [49, 33, 72, 51, 71], 500),
    "cifar100-coarse": ([11, 15, 4, 14, 1], [10, 10, 0, 4, 10], 2500),
}
# mean pixel of the training set / 255, as widely published
MEANS = {
    "mnist": [0.1307],
    "fashion-mnist": [0.2860],
    "cifar10": [0.4914, 0.4822, 0.4465],
    "cifar100": [0.5071, 0.4865, 0.4409],
}


@pytest.mark.parametrize("name", KNOWN)
def test_counts_and_first_labels(name):
    dataset = load_dataset(name)
    train, test, of_class_0 = KNOWN[name]
    assert dataset.train.y[:5].tolist() == train
    assert dataset.test.y[:5].tolist() == test
    assert (dataset.train.y == 0).sum() == of_class_0
    assert all(check.ok for check in verify_dataset(name))


@pytest.mark.parametrize("name", MEANS)
def test_mean_of_every_channel(name):
    dataset = load_dataset(name)
    total = np.zeros(len(MEANS[name]))
    for start in range(0, len(dataset.train), 5000):
        block = dataset.train.X[start : start + 5000].reshape(-1, len(total), dataset.n_features // len(total))
        total += block.sum(axis=(0, 2), dtype=np.int64)
    mean = total / len(dataset.train) / (dataset.n_features // len(total)) / 255
    np.testing.assert_allclose(mean, MEANS[name], atol=5.1e-5)


@pytest.mark.parametrize("name", ["mnist", "cifar10", "cifar100"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_streams_read_only_what_is_asked_for(name, scenario):
    dataset = load_dataset(name)
    stream = Curriculum(scenario=scenario, seed=1).open(dataset)
    episode = stream.episodes[-1]
    X, y = episode.train(episode.n_train - 100, episode.n_train)
    assert X.shape == (100, dataset.n_features)
    assert X.nbytes == 100 * dataset.n_features
    assert len(y) == 100
    passes = len(stream.episodes) if scenario in ("permuted", "rotated") else 1
    assert stream.info.n_train == passes * len(dataset.train)
