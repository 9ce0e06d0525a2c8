"""Records as they come, with the defaults: sensors that age, people one after the other, intents one after the other.

    python benchmarks/records.py                  gas, motion and words
    python benchmarks/records.py embeddings       some of them

- gas: 128 features of 16 gas sensors, batch after batch over three years; each batch is predicted, then learned.
- motion: windows of 128 readings, person after person; each person is predicted, then learned.
- words: the 150 intents of CLINC150 from hashed words, one intent after the other, and shuffled; tested on `val`.
- embeddings: the same from 384 numbers a sentence (`minilm.py`), if that encoder is installed.

Everybody makes one pass. Peers for numbers stand behind a StandardScaler that runs along; all classes are declared to
SGDClassifier, GaussianNB and MultinomialNB, which ask for them, and their number to Vowpal Wabbit, if it is installed,
and to SLDA, which is ours (`kenyon.learners`). HoeffdingTree and its scaler are River's.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import preprocessing, tree
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

from kenyon import KenyonClassifier
from kenyon.data.protocol import StreamInfo
from kenyon.learners import make_learner
from kenyon.utils.system import find_data_dir

STEP = 10
"""Samples that a learner is given at a time."""


class Scaled:
    """A learner of scikit-learn's behind a scaler that runs along."""

    def __init__(self, model: Any) -> None:
        self.model, self.scaler = model, StandardScaler()

    def learn(self, X: NDArray, y: NDArray, classes: NDArray) -> None:
        self.scaler.partial_fit(X)
        self.model.partial_fit(self.scaler.transform(X), y, classes=classes)

    def predict(self, X: NDArray) -> NDArray:
        return self.model.predict(self.scaler.transform(X))


class Plain:
    """A learner as it is."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, X: Any, y: NDArray, classes: NDArray) -> None:
        if isinstance(self.model, KenyonClassifier):
            self.model.partial_fit(X, y)
        else:
            self.model.partial_fit(X, y, classes=classes)

    def predict(self, X: Any) -> NDArray:
        return self.model.predict(X)


class Vowpal:
    """Vowpal Wabbit, one against all, with its defaults."""

    def __init__(self, n_classes: int) -> None:
        from vowpalwabbit import Workspace

        self.model = Workspace(f"--oaa {n_classes} --quiet")
        self.labels: NDArray = np.empty(0)

    @staticmethod
    def _lines(X: Any) -> list[str]:
        if hasattr(X, "tocsr"):
            rows = (zip(row.indices, row.data, strict=True) for row in X.tocsr())
        else:
            rows = (enumerate(row) for row in X)
        return [" | " + " ".join(f"{place}:{value:.6g}" for place, value in row if value) for row in rows]

    def learn(self, X: Any, y: NDArray, classes: NDArray) -> None:
        self.labels = classes
        for line, label in zip(self._lines(X), y, strict=True):
            self.model.learn(f"{1 + int(np.searchsorted(classes, label))}{line}")

    def predict(self, X: Any) -> NDArray:
        return self.labels[[int(self.model.predict(line)) - 1 for line in self._lines(X)]]


class ScaledVowpal(Vowpal):
    """The same behind a scaler that runs along."""

    def __init__(self, n_classes: int) -> None:
        super().__init__(n_classes)
        self.scaler = StandardScaler()

    def learn(self, X: Any, y: NDArray, classes: NDArray) -> None:
        super().learn(self.scaler.partial_fit(X).transform(X), y, classes)

    def predict(self, X: Any) -> NDArray:
        return super().predict(self.scaler.transform(X))


class Tree:
    """River's HoeffdingTree behind its scaler."""

    def __init__(self) -> None:
        self.model = preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier()

    def learn(self, X: NDArray, y: NDArray, classes: NDArray) -> None:
        for row, label in zip(X, y, strict=True):
            self.model.learn_one(dict(enumerate(row)), label)

    def predict(self, X: NDArray) -> NDArray:
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X])


class Slda:
    """Streaming linear discriminant analysis."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes, self.scaler = n_classes, StandardScaler()
        self.model: Any = None
        self.labels: NDArray = np.empty(0)

    def learn(self, X: NDArray, y: NDArray, classes: NDArray) -> None:
        if self.model is None:
            info = StreamInfo((X.shape[1],), self.n_classes, (tuple(range(self.n_classes)),), 0, False, (0.0, 1.0))
            self.model, self.labels = make_learner("slda", info, 0, "class-incremental"), classes
        scaled = self.scaler.partial_fit(X).transform(X).astype(np.float32)
        self.model.learn(scaled, np.searchsorted(classes, y))

    def predict(self, X: NDArray) -> NDArray:
        return self.labels[self.model.predict(self.scaler.transform(X).astype(np.float32))]


Makers = dict[str, Callable[[int], Any]]
VOWPAL = importlib.util.find_spec("vowpalwabbit") is not None
NUMBERS: Makers = {
    "Kenyon": lambda k: Plain(KenyonClassifier(random_state=0)),
    "SGDClassifier": lambda k: Scaled(SGDClassifier(random_state=0)),
    "GaussianNB": lambda k: Scaled(GaussianNB()),
    "SLDA": Slda,
    "HoeffdingTree": lambda k: Tree(),
    **({"Vowpal Wabbit": ScaledVowpal} if VOWPAL else {}),
}
WORDS: Makers = {
    "Kenyon": lambda k: Plain(KenyonClassifier(random_state=0)),
    "SGDClassifier": lambda k: Plain(SGDClassifier(random_state=0)),
    "MultinomialNB": lambda k: Plain(MultinomialNB()),
    **({"Vowpal Wabbit": Vowpal} if VOWPAL else {}),
}


def gas() -> list[tuple[NDArray, NDArray]]:
    """The batches of the gas sensors, in order of time."""
    batches = []
    for path in sorted((find_data_dir() / "gas-drift").glob("batch*.dat")):
        lines = path.read_text().splitlines()
        rows = [[float(entry.split(":")[1]) for entry in line.split()[1:]] for line in lines]
        batches.append((np.array(rows), np.array([int(line.split()[0].split(";")[0]) for line in lines])))
    return batches


def motion() -> list[tuple[NDArray, NDArray]]:
    """Windows of one activity of each person: mean, deviation, mean step, least and largest of each channel."""
    stored = np.load(find_data_dir() / "hapt" / "hapt.npz")
    readings, activities, users = stored["X"] / stored["scale"], stored["y"], stored["user"]
    people: dict[int, tuple[list, list]] = {}
    for start in range(0, len(activities) - 128, 64):
        part = slice(start, start + 128)
        v, own = readings[part], activities[part]
        if own[0] >= 0 and (own == own[0]).all() and (users[part] == users[start]).all():
            rows, labels = people.setdefault(int(users[start]), ([], []))
            steps = np.abs(np.diff(v, axis=0)).mean(axis=0)
            rows.append(np.concatenate([v.mean(axis=0), v.std(axis=0), steps, v.min(axis=0), v.max(axis=0)]))
            labels.append(int(own[0]))
    return [(np.array(rows), np.array(labels)) for _, (rows, labels) in sorted(people.items())]


def after_each_other(name: str, parts: list[tuple[NDArray, NDArray]]) -> None:
    """Predict each part, then learn it, in the order it came."""
    classes = np.unique(np.concatenate([y for _, y in parts]))
    for learner, make in NUMBERS.items():
        model, hits, began = make(len(classes)), [], time.process_time()
        for number, (X, y) in enumerate(parts):
            if number:
                hits.append(100 * float(np.mean(model.predict(X) == y)))
            for start in range(0, len(y), STEP):
                model.learn(X[start : start + STEP], y[start : start + STEP], classes)
        each = ", ".join(f"{hit:.0f}" for hit in hits) if len(hits) < 10 else f"{min(hits):.0f} to {max(hits):.0f}"
        spent = time.process_time() - began
        print(f"| {name} | {learner} | {np.mean(hits):.1f} | {each} | {spent:.1f} s |", flush=True)


def words() -> None:
    """150 intents from hashed words, one after the other and shuffled."""
    everything = json.loads((find_data_dir() / "clinc150" / "data_full.json").read_text(encoding="utf-8"))
    vectorizer = HashingVectorizer(n_features=1 << 13, alternate_sign=False)
    parts = {
        part: (vectorizer.transform([text for text, _ in pairs]), np.array([intent for _, intent in pairs]))
        for part, pairs in everything.items()
        if part in ("train", "val")
    }
    in_two_orders("words", parts, WORDS)


def embeddings() -> None:
    """The same from embeddings."""
    from minilm import clinc

    slow = ("HoeffdingTree",)  # about a minute for a thousand samples
    in_two_orders("embeddings", clinc(), {name: make for name, make in NUMBERS.items() if name not in slow})


def in_two_orders(name: str, parts: dict[str, tuple[Any, NDArray]], makers: Makers) -> None:
    """Learn `train`, one intent after the other and shuffled, and test on `val`."""
    (X, y), (held, wanted), rng = parts["train"], parts["val"], np.random.default_rng(0)
    intents = np.unique(y)
    place = dict(zip(intents.tolist(), rng.permutation(len(intents)).tolist(), strict=True))
    orders = {
        "one after the other": np.argsort([place[label] for label in y.tolist()], kind="stable"),
        "shuffled": rng.permutation(len(y)),
    }
    for order, rows in orders.items():
        for learner, make in makers.items():
            model, began = make(len(intents)), time.process_time()
            for start in range(0, len(rows), STEP):
                chosen = rows[start : start + STEP]
                model.learn(X[chosen], y[chosen], intents)
            right, spent = 100 * float(np.mean(model.predict(held) == wanted)), time.process_time() - began
            print(f"| {name}, {order} | {learner} | {right:.1f} | | {spent:.1f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", default=["gas", "motion", "words"])
    print("| stream | learner | accuracy | of each part | processor time |\n|---|---|---|---|---|", flush=True)
    for name in parser.parse_args().streams:
        if name in ("words", "embeddings"):
            {"words": words, "embeddings": embeddings}[name]()
        else:
            after_each_other(name, {"gas": gas, "motion": motion}[name]())


if __name__ == "__main__":
    main()
