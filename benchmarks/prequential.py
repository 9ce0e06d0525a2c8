"""Predict a sample, then learn it: microseconds a sample and accuracy, everybody in one run.

    python benchmarks/prequential.py              the loop of River: predict_one, learn_one
    python benchmarks/prequential.py --batches    partial_fit and predict of batches in turn
    python benchmarks/prequential.py --apart      how far scores are from those of a readout solved again

The loop goes through River's bundled streams and scikit-learn's digits, sample by sample, in the order of the stream.
Learners have their defaults; the linear ones stand behind a scaler, which they need. scikit-learn's learners get arrays
and all classes beforehand. Microseconds are those of the processor and of the clock, for a prediction and a sample
learned together; the least of `--repeats` runs, the learners in turn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import datasets, forest, linear_model, naive_bayes, preprocessing, tree
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from kenyon import KenyonClassifier
from kenyon.apps.river import RiverClassifier

Stream = list[tuple[dict[Hashable, Any], Hashable]]


class FromScikit:
    """A learner of scikit-learn's under River's interface, its inputs scaled by their running moments where asked."""

    def __init__(self, model: Any, classes: NDArray, scaled: bool) -> None:
        self.model, self.classes, self.scaler = model, classes, preprocessing.StandardScaler() if scaled else None
        self.fitted = False

    def _array(self, x: dict[Hashable, Any]) -> NDArray[np.float64]:
        values = x if self.scaler is None else self.scaler.transform_one(x)
        return np.array([list(values.values())], float)

    def predict_one(self, x: dict[Hashable, Any]) -> Any:
        with np.errstate(all="ignore"):  # GaussianNB before every class has samples
            return self.model.predict(self._array(x))[0] if self.fitted else None

    def learn_one(self, x: dict[Hashable, Any], y: Hashable) -> None:
        if self.scaler is not None:
            self.scaler.learn_one(x)
        self.model.partial_fit(self._array(x), [y], classes=self.classes)
        self.fitted = True


LEARNERS: dict[str, Callable[[NDArray], Any]] = {
    "Kenyon": lambda classes: RiverClassifier(seed=0),
    "HoeffdingTree": lambda classes: tree.HoeffdingTreeClassifier(),
    "GaussianNB": lambda classes: naive_bayes.GaussianNB(),
    "ARF": lambda classes: forest.ARFClassifier(seed=0),
    "softmax": lambda classes: preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
    "SGDClassifier": lambda classes: FromScikit(SGDClassifier(random_state=0), classes, scaled=True),
    "GaussianNB, scikit-learn": lambda classes: FromScikit(GaussianNB(), classes, scaled=False),
}


def numbered(stream: Any) -> Stream:
    """A stream of River's with what is not a number counted through in order of arrival."""
    numbers: dict[Any, float] = {}
    return [
        ({name: v if not isinstance(v, str) else numbers.setdefault(v, len(numbers)) for name, v in x.items()}, y)
        for x, y in stream
    ]


def digits() -> Stream:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return [(dict(enumerate(row)), label) for row, label in zip(X[order].tolist(), y[order].tolist(), strict=True)]


STREAMS: dict[str, Callable[[], Stream]] = {
    "ImageSegments": lambda: numbered(datasets.ImageSegments()),
    "Phishing": lambda: numbered(datasets.Phishing()),
    "Bananas": lambda: numbered(datasets.Bananas()),
    "digits": digits,
}


def loop(model: Any, stream: Stream) -> tuple[float, float, float]:
    """(processor, clock) in microseconds a sample, and the share of predictions that were right."""
    hits, clock, processor = 0, time.perf_counter(), time.process_time()
    for x, y in stream:
        hits += model.predict_one(x) == y
        model.learn_one(x, y)
    spent = (time.process_time() - processor, time.perf_counter() - clock)
    return 1e6 * spent[0] / len(stream), 1e6 * spent[1] / len(stream), hits / len(stream)


def prequential(names: list[str], most: int | None, repeats: int) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        stream = STREAMS[name]()[:most]
        classes = np.unique([y for _, y in stream])
        best: dict[str, tuple[float, float, float]] = {}
        for _, (learner, make) in itertools.product(range(repeats), LEARNERS.items()):
            found = loop(make(classes), stream)
            best[learner] = min(found, best.get(learner, found))
        keys = ("processor", "clock", "accuracy")
        rows += [
            {"stream": name, "samples": len(stream), "learner": who, **dict(zip(keys, found, strict=True))}
            for who, found in best.items()
        ]
        cells = [f"{p:,.0f} / {c:,.0f} ({100 * a:.1f})" for p, c, a in best.values()]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return rows


# ---- how far from a new solution


def apart(names: list[str], most: int | None, every: int = 10, size: int = 20) -> list[dict[str, Any]]:
    """The largest difference of scores, as a share of their usual spread, between a readout that followed the stream
    and one that is solved again from the same state; every few samples, of the samples last met."""
    rows = []
    for name in names:
        stream, model = STREAMS[name]()[:most], RiverClassifier(seed=0)
        found, differ, asked = [], 0, 0
        for number, (x, y) in enumerate(stream, 1):
            model.predict_one(x)
            model.learn_one(x, y)
            if number % every or number < size:
                continue
            clf, X = model._model, np.array([model._row(row) for row, _ in stream[number - size : number]])
            anew = KenyonClassifier.from_arrays(clf.to_arrays())
            scores = [each.decision_function(X).reshape(size, -1) for each in (clf, anew)]
            spread = np.median(np.ptp(scores[1], axis=1) if scores[1].shape[1] > 1 else 2 * np.abs(scores[1][:, 0]))
            found.append(float(np.abs(scores[0] - scores[1]).max() / spread))
            differ += int((clf.predict(X) != anew.predict(X)).sum())
            asked += size
        rows.append(
            {"stream": name, "most": max(found), "usual": float(np.median(found)), "differ": differ, "of": asked}
        )
        print(f"| {name} | {max(found):.1e} | {np.median(found):.1e} | {differ} of {asked:,} |", flush=True)
    return rows


# ---- batches in turn


BATCHES = ((100, 10, 2_000, 1_000), (1_280, 100, 2_000, 9), (1_280, 1_000, 4_000, 5))
"""Features, classes, samples learned before, turns of 100 samples."""


def batches(n_features: int, n_classes: int, size: int, seed: int = 0) -> Iterator[tuple[NDArray[np.float32], NDArray]]:
    """Normal samples around a mean of each class."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 1, (n_classes, n_features)).astype(np.float32)
    while True:
        y = rng.integers(0, n_classes, size)
        yield means[y] + 3 * rng.normal(0, 1, (size, n_features)).astype(np.float32), y


def in_turn(n_features: int, n_classes: int, n_before: int, n_turns: int, size: int = 100) -> dict[str, Any]:
    """Milliseconds of partial_fit and of predict, in turn, after some samples learned at once."""
    clf, stream = KenyonClassifier(random_state=0), batches(n_features, n_classes, size)
    for X, y in itertools.islice(stream, n_before // size):
        clf.partial_fit(X, y)
    clf.predict(next(stream)[0])
    spent, clocks = np.zeros((n_turns, 2)), np.zeros((n_turns, 2))
    for turn, (X, y) in enumerate(itertools.islice(stream, n_turns)):
        for what in range(2):
            processor, clock = time.process_time(), time.perf_counter()
            clf.predict(X) if what else clf.partial_fit(X, y)
            spent[turn, what], clocks[turn, what] = time.process_time() - processor, time.perf_counter() - clock
    learn, predict = (1e3 * np.median(spent, axis=0)).tolist()
    row = {"features": n_features, "classes": n_classes, "learn": learn, "predict": predict}
    return row | {"clock": float(1e3 * np.median(clocks.sum(axis=1)))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", nargs="+", default=list(STREAMS), choices=list(STREAMS))
    parser.add_argument("--samples", type=int, help="of each stream; all by default")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--batches", action="store_true", help="partial_fit and predict of 100 samples in turn")
    parser.add_argument("--apart", action="store_true", help="how far scores are from those of a new solution")
    chosen = parser.parse_args()
    if chosen.apart:
        print("| stream | largest share of the spread | usual | labels that differ |\n|---|---|---|---|")
        rows = apart(chosen.streams, chosen.samples)
    elif chosen.batches:
        print("| features | classes | partial_fit, ms | predict, ms | both, ms by the clock |\n|---|---|---|---|---|")
        rows = []
        for n_features, n_classes, n_before, n_turns in BATCHES:
            row = in_turn(n_features, n_classes, n_before, n_turns)
            rows.append(row)
            cells = f"{row['learn']:.1f} | {row['predict']:.1f} | {row['clock']:.1f}"
            print(f"| {n_features:,} | {n_classes:,} | {cells} |", flush=True)
    else:
        print("microseconds a sample, processor / clock (per cent right)\n")
        print(f"| | {' | '.join(LEARNERS)} |\n|---{'|---' * len(LEARNERS)}|")
        rows = prequential(chosen.streams, chosen.samples, chosen.repeats)
    print(json.dumps({"benchmark": "prequential", "rows": rows}))


if __name__ == "__main__":
    main()
