"""Records as they come, with the defaults: sensors that age, people one after the other, intents one after the other.

    python benchmarks/records.py                  every stream
    python benchmarks/records.py gas motion       some of them

- gas: 128 features of 16 gas sensors, batch after batch over three years; each batch is predicted, then learned.
- motion: windows of 128 readings, person after person; each person is predicted, then learned.
- words: the 150 intents of CLINC150 from hashed words, one intent after the other, and shuffled; tested on `val`.

Everybody makes one pass. Peers for numbers stand behind a StandardScaler that runs along; all classes are declared to
SGDClassifier, GaussianNB and MultinomialNB, which ask for them, and their number to Vowpal Wabbit, if it is installed.
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
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

from kenyon import KenyonClassifier
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


Makers = dict[str, Callable[[int], Any]]
VOWPAL = importlib.util.find_spec("vowpalwabbit") is not None
NUMBERS: Makers = {
    "Kenyon": lambda k: Plain(KenyonClassifier(random_state=0)),
    "SGDClassifier": lambda k: Scaled(SGDClassifier(random_state=0)),
    "GaussianNB": lambda k: Scaled(GaussianNB()),
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
    vectorizer, rng = HashingVectorizer(n_features=1 << 13, alternate_sign=False), np.random.default_rng(0)
    intents = sorted({intent for _, intent in everything["train"]})
    place = dict(zip(intents, rng.permutation(len(intents)).tolist(), strict=True))
    X, y = vectorizer.transform([text for text, _ in everything["train"]]), [i for _, i in everything["train"]]
    held = vectorizer.transform([text for text, _ in everything["val"]])
    wanted, labels = np.array([intent for _, intent in everything["val"]]), np.array(y)
    orders = {
        "one after the other": np.argsort([place[label] for label in y], kind="stable"),
        "shuffled": rng.permutation(len(y)),
    }
    for order, rows in orders.items():
        for learner, make in WORDS.items():
            model, began = make(len(intents)), time.process_time()
            for start in range(0, len(rows), STEP):
                chosen = rows[start : start + STEP]
                model.learn(X[chosen], labels[chosen], np.array(intents))
            right, spent = 100 * float(np.mean(model.predict(held) == wanted)), time.process_time() - began
            print(f"| words, {order} | {learner} | {right:.1f} | | {spent:.1f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", default=["gas", "motion", "words"])
    print("| stream | learner | accuracy | of each part | processor time |\n|---|---|---|---|---|", flush=True)
    for name in parser.parse_args().streams:
        if name == "words":
            words()
        else:
            after_each_other(name, {"gas": gas, "motion": motion}[name]())


if __name__ == "__main__":
    main()
