"""Whether probabilities can be believed: log loss and calibration error beside two peers, and how often intervals hold.

    python benchmarks/probabilities.py              log loss and expected calibration error
    python benchmarks/probabilities.py --intervals  intervals of `accuracy_estimate` on twelve streams

The first table is prequential for Kenyon and River's softmax regression behind a scaler (the first 50 samples, all
samples, the calibration error of the second half), and of a model of the first half tested on the second for Kenyon and
scikit-learn's logistic regression. Probabilities are mixed with a thousandth of the uniform ones, since a class that
was never seen would otherwise cost without bound.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from river import datasets, linear_model, preprocessing
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kenyon import KenyonClassifier
from out_of_the_box import Sample, arrays, to_choose_by

FIRST, BINS, LEAST = 50, 10, 0.001


def sets() -> dict[str, Sample]:
    """Sets that are shuffled once, and streams in their own order; labels are numbers."""
    found = {"Phishing": arrays(datasets.Phishing()), "ImageSegments": arrays(datasets.ImageSegments())}
    for name, load in {"breast cancer": load_breast_cancer, "digits": load_digits}.items():
        X, y = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(y))
        found[name] = X[order], y[order]
    return {name: (X, np.unique(y, return_inverse=True)[1]) for name, (X, y) in found.items()}


def ours(X: NDArray, y: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Probabilities before learning; one by one for the first hundred, then fifty at a time."""
    clf, shares = KenyonClassifier(random_state=0), np.full((len(y), n_classes), 1 / n_classes)
    starts = [*range(100), *range(100, len(y), 50)]
    for start, stop in zip(starts, [*starts[1:], len(y)], strict=True):
        if start:
            shares[start:stop] = 0.0
            shares[start:stop, clf.classes_] = clf.predict_proba(X[start:stop])
        clf.partial_fit(X[start:stop], y[start:stop])
    return shares


def softmax(X: NDArray, y: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Probabilities of River's softmax regression before learning."""
    model = preprocessing.StandardScaler() | linear_model.SoftmaxRegression()
    shares = np.full((len(y), n_classes), 1 / n_classes)
    for number, (row, label) in enumerate(zip(X, y, strict=True)):
        x = dict(enumerate(row))
        if known := model.predict_proba_one(x):
            shares[number] = [known.get(k, 0.0) for k in range(n_classes)]
        model.learn_one(x, int(label))
    return shares


def loss(shares: NDArray[np.float64], y: NDArray) -> float:
    """Mean log loss."""
    mixed = (1 - LEAST) * shares + LEAST / shares.shape[1]
    return float(-np.log(mixed[np.arange(len(y)), y]).mean())


def calibration_error(shares: NDArray[np.float64], y: NDArray) -> float:
    """Expected calibration error in ten bins of the highest probability."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    return float(sum((bins == k).mean() * abs(right[bins == k].mean() - sure[bins == k].mean()) for k in set(bins)))


def losses() -> None:
    """Print the first table."""
    print("| | first 50 | all | calibration error, second half | of half: log loss | calibration error |")
    print("|---|---|---|---|---|---|")
    streams: dict[str, Callable] = {"Kenyon": ours, "softmax": softmax}
    for name, (X, y) in sets().items():
        half, n_classes = len(y) // 2, len(np.unique(y))
        models = {
            "Kenyon": KenyonClassifier(random_state=0),
            "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        }
        for learner in ("Kenyon", "softmax", "LogisticRegression"):
            cells = ["", "", "", "", ""]
            if learner in streams:
                shares = streams[learner](X, y, n_classes)
                cells[:2] = [f"{loss(shares[1:n], y[1:n]):.3f}" for n in (FIRST, len(y))]
                cells[2] = f"{calibration_error(shares[half:], y[half:]):.3f}"
            if learner in models:
                shares = models[learner].fit(X[:half], y[:half]).predict_proba(X[half:])
                cells[3:] = f"{loss(shares, y[half:]):.3f}", f"{calibration_error(shares, y[half:]):.3f}"
            print(f"| {name}, {learner} | {' | '.join(cells)} |", flush=True)


def intervals(repeats: int) -> None:
    """Models of 150, 400 and 1,000 samples of twelve streams: whether the interval holds the accuracy on the others."""
    streams = {name: arrays(stream, 6_000) for name, stream in to_choose_by().items()}
    streams |= {"Bananas": arrays(datasets.Bananas()), "ImageSegments": arrays(datasets.ImageSegments())}
    streams["digits"] = load_digits(return_X_y=True)
    print("| | intervals of 90 % that hold | accuracy less estimate |\n|---|---|---|")
    every = []
    for name, (X, y) in streams.items():
        found = []
        for seed in range(100, 100 + repeats):
            order, n = np.random.default_rng(seed).permutation(len(y)), (150, 400, 1_000)[seed % 3]
            clf = KenyonClassifier(random_state=seed).partial_fit(X[order[:n]], y[order[:n]])
            accuracy, estimate = clf.score(X[order[n:]], y[order[n:]]), clf.accuracy_estimate()
            found.append((estimate.low <= accuracy <= estimate.high, accuracy - estimate.accuracy))
        every += found
        print(
            f"| {name} | {100 * np.mean(found, axis=0)[0]:.0f} % | {100 * np.mean(found, axis=0)[1]:+.1f} |", flush=True
        )
    print(f"| all | {100 * np.mean(every, axis=0)[0]:.1f} % | {100 * np.mean(every, axis=0)[1]:+.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--repeats", type=int, default=12, help="models of each stream")
    chosen = parser.parse_args()
    if chosen.intervals:
        intervals(chosen.repeats)
    else:
        losses()


if __name__ == "__main__":
    main()
