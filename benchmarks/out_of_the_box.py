"""Tables, sensors and streams with the defaults, beside four peers: docs/results/tables.md has what this prints.

    python benchmarks/out_of_the_box.py             the tables, Bananas, sensors, digits and labels of -1 and 1
    python benchmarks/out_of_the_box.py --test-set  River's other bundled streams, on which nothing was chosen
    python benchmarks/out_of_the_box.py --drift     50,000 samples of streams that change, with a half-life
    python benchmarks/out_of_the_box.py --choose    what the defaults were chosen by
    python benchmarks/out_of_the_box.py --unseen    known classes against unseen ones
    python benchmarks/out_of_the_box.py --ranges    images in other numbers than bytes (held out)
    python benchmarks/out_of_the_box.py --orders    tables shuffled, class by class, with an outlier, in other units
    python benchmarks/out_of_the_box.py --words     intents from bags of words, whose names come later
    python benchmarks/out_of_the_box.py --text      intents from sparse matrices of words

The peers stand behind a StandardScaler each, and everybody makes one pass, a sample at a time. `--keep FILE` writes
every figure into a file as soon as it is there and reads those that it has, so that a run that was ended goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import datasets, feature_extraction, forest, linear_model, naive_bayes, preprocessing, tree
from river.datasets import synth
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from kenyon import KenyonClassifier
from kenyon.apps.river import RiverClassifier
from kenyon.data.streams import load_dataset
from kenyon.utils.system import find_data_dir

Sample = tuple[NDArray[np.float64], NDArray]


class Ours:
    """The classifier, with its defaults but for what is given."""

    def __init__(self, seed: int, **params: Any) -> None:
        self.clf = KenyonClassifier(random_state=seed).set_params(**params)

    def learn(self, X: NDArray, y: NDArray) -> None:
        self.clf.partial_fit(X, y)

    def predict(self, X: NDArray) -> NDArray:
        return self.clf.predict(X)

    def prequential(self, X: NDArray, y: NDArray) -> NDArray:
        return self.clf.test_then_learn(X, y)


class FromRiver:
    """A learner of River's, sample by sample."""

    def __init__(self, model: Any) -> None:
        self.model = preprocessing.StandardScaler() | model

    def learn(self, X: NDArray, y: NDArray) -> None:
        for x, label in zip(X, y, strict=True):
            self.model.learn_one(dict(enumerate(x)), label)

    def predict(self, X: NDArray) -> NDArray:
        return np.array([self.model.predict_one(dict(enumerate(x))) for x in X], object)

    def prequential(self, X: NDArray, y: NDArray) -> NDArray:
        out = []
        for x, label in zip(X, y, strict=True):
            named = dict(enumerate(x))
            out.append(self.model.predict_one(named))
            self.model.learn_one(named, label)
        return np.array(out, object)


class Sgd:
    """scikit-learn's SGDClassifier behind a scaler that runs along."""

    def __init__(self, seed: int) -> None:
        self.model, self.n = SGDClassifier(random_state=seed), 0
        self.mean: Any = 0.0
        self.spread: Any = 0.0

    def _scaled(self, x: NDArray) -> NDArray:
        deviation = np.sqrt(self.spread / max(self.n, 1))
        return ((x - self.mean) / np.where(deviation > 0, deviation, 1.0)).reshape(-1, x.shape[-1])

    def _count(self, x: NDArray) -> None:
        self.n += 1
        apart = x - self.mean
        self.mean = self.mean + apart / self.n
        self.spread = self.spread + apart * (x - self.mean)

    def learn(self, X: NDArray, y: NDArray, classes: NDArray | None = None) -> None:
        known = np.unique(y) if classes is None else classes
        for x, label in zip(X, y, strict=True):
            self._count(x)
            self.model.partial_fit(self._scaled(x), [label], classes=known)

    def predict(self, X: NDArray) -> NDArray:
        return self.model.predict(self._scaled(X))

    def prequential(self, X: NDArray, y: NDArray) -> NDArray:
        out: list[Any] = []
        for x, label in zip(X, y, strict=True):
            out.append(self.model.predict(self._scaled(x))[0] if self.n else None)
            self.learn(x[np.newaxis], np.array([label]), np.unique(y))
        return np.array(out, object)


PEERS: dict[str, Callable[[int], Any]] = {
    "HoeffdingTree": lambda seed: FromRiver(tree.HoeffdingTreeClassifier()),
    "GaussianNB": lambda seed: FromRiver(naive_bayes.GaussianNB()),
    "softmax": lambda seed: FromRiver(linear_model.SoftmaxRegression()),
    "SGDClassifier": lambda seed: Sgd(seed),
}


def arrays(stream: Iterable, n: int | None = None) -> Sample:
    """A stream of River's as arrays; what is not a number is counted through in order of arrival."""
    numbers: dict[Any, float] = {}
    rows, labels = [], []
    for x, y in itertools.islice(stream, n):
        rows.append([float(v) if not isinstance(v, str) else numbers.setdefault(v, len(numbers)) for v in x.values()])
        labels.append(str(y))
    return np.array(rows, float), np.array(labels)


def sensors(seed: int) -> tuple[Sample, Sample]:
    """Six classes, twelve features with scales from 0.001 to 10,000, none of them around zero; sorted by class."""
    rng = np.random.default_rng(seed)
    scales, centres = 10.0 ** np.linspace(-3, 4, 12), rng.normal(0, 5, 12)
    means = rng.normal(0, 1.5, (6, 12))

    def some(n: int) -> Sample:
        y = np.repeat(np.arange(6), n)
        return (means[y] + rng.normal(0, 1, (len(y), 12)) + centres) * scales, y

    return some(150), some(150)


def folds(make: Callable[[int], Any], X: NDArray, y: NDArray, seeds: int) -> float:
    """Five folds, shuffled, one pass over the training part."""
    hits = []
    for seed in range(seeds):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            model = make(seed)
            order = np.random.default_rng(seed).permutation(train)
            model.learn(X[order], y[order])
            hits.append(np.mean(model.predict(X[test]) == y[test]))
    return 100 * float(np.mean(hits))


def prequential(make: Callable[[int], Any], X: NDArray, y: NDArray, seeds: int = 1) -> float:
    return 100 * float(np.mean([np.mean(make(seed).prequential(X, y) == y) for seed in range(seeds)]))


def by_class(make: Callable[[int], Any], seeds: int) -> float:
    """Sensors, one class after the other, tested on all of them."""
    hits = []
    for seed in range(seeds):
        (X, y), (tested, wanted) = sensors(seed)
        model = make(seed)
        model.learn(X, y)
        hits.append(np.mean(model.predict(tested) == wanted))
    return 100 * float(np.mean(hits))


class Table:
    """Lines of figures, one of a learner's each; those in a file are not measured again.

    Args:
        peers: learners to stand beside ours, by name.
        ours: our classifier by name, with what is not the default.
        sizes: seeds and samples, which figures in the file must have been measured with.
        kept: the file, one JSON object per line; None for none.
    """

    def __init__(
        self,
        peers: dict[str, Callable[[int], Any]],
        ours: dict[str, dict[str, Any]],
        sizes: dict[str, int],
        kept: Path | None,
    ) -> None:
        self.makers = {name: lambda seed, given=given: Ours(seed, **given) for name, given in ours.items()} | peers
        self.n_ours, self.sizes, self.kept = len(ours), sizes, kept
        lines = kept.read_text(encoding="utf-8").splitlines() if kept is not None and kept.exists() else []
        found = [one for one in map(json.loads, lines) if all(one[name] == size for name, size in sizes.items())]
        self.known = {(one["row"], one["learner"]): float(one["figure"]) for one in found}
        print(f"| {' | '.join(['', *self.makers, 'above the best'])} |\n|{'---|' * (len(self.makers) + 2)}", flush=True)

    def row(self, name: str, measure: Callable[[Callable[[int], Any]], float]) -> None:
        """Print one line; its last figure compares our first column with the best peer."""
        figures = [self._figure(name, learner, measure) for learner in self.makers]
        above = figures[0] - max(figures[self.n_ours :])
        print(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} | {above:+.1f} |", flush=True)

    def _figure(self, name: str, learner: str, measure: Callable[[Callable[[int], Any]], float]) -> float:
        if (name, learner) not in self.known:
            self.known[name, learner] = figure = measure(self.makers[learner])
            if self.kept is not None:
                with self.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"row": name, "learner": learner, "figure": figure, **self.sizes}) + "\n")
        return self.known[name, learner]


def unseen() -> None:
    """Area under the curve of known against unseen classes, a third of them unseen, mean of five draws."""
    through = {"layer": "second-order", "shape": (8, 8), "n_hidden": 200}
    digits = (load_digits()["data"] * 15).astype(np.uint8), load_digits()["target"]
    sets: dict[str, Any] = {"digits as bytes": (digits, through)}
    loads = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits as floats": load_digits}
    for name, load in loads.items():
        sets[name] = (load(return_X_y=True), {})
    for name, ((X, y), params) in sets.items():
        order = np.random.default_rng(9).permutation(len(y))
        X, y, areas = X[order], y[order], []
        for seed in range(5):
            rng, n = np.random.default_rng(seed), len(np.unique(y))
            known = ~np.isin(y, rng.choice(n, max(1, n // 3), replace=False))
            train = rng.random(len(y)) < 0.6
            clf = (
                KenyonClassifier(random_state=seed).set_params(**params).partial_fit(X[train & known], y[train & known])
            )
            scores = clf.familiarity(X[~train]), clf.predict_proba(X[~train]).max(axis=1)
            areas.append([roc_auc_score(known[~train], score) for score in scores])
        print(
            f"{name}: familiarity {np.mean(areas, axis=0)[0]:.2f}, softmax {np.mean(areas, axis=0)[1]:.2f}", flush=True
        )


RANGES: dict[str, Callable[[NDArray[np.uint8]], NDArray]] = {
    "uint8": lambda X: X,
    "int64, 0 to 255": lambda X: X.astype(np.int64),
    "int16, all of it": lambda X: (X.astype(np.int32) * 257 - 32768).astype(np.int16),
    "float64, 0 to 255": lambda X: X.astype(np.float64),
    "float32, 0 to 1": lambda X: X.astype(np.float32) / np.float32(255),
    "-1 to 1": lambda X: X / 127.5 - 1,
    "0 to 16": lambda X: np.rint(X * (16 / 255)),
    "0 to 4095": lambda X: np.rint(X * (4095 / 255)),
}


def ranges() -> None:
    """Images as bytes, and the same in other numbers; nothing here is of a test set."""
    train = load_dataset("mnist").train
    digits = load_digits()
    sets = {
        "MNIST": (np.asarray(train.X).reshape(len(train.y), -1), np.asarray(train.y), (28, 28), 20_000, 25_000),
        "digits": (np.rint(digits["data"] * (255 / 16)).astype(np.uint8), digits["target"], (8, 8), 1_200, 1_797),
    }
    budgets = ("20KB", "1MB")
    print(f"| | {' | '.join(f'{name}, {budget}' for name in sets for budget in budgets)} |\n|{'---|' * 5}")
    for numbers, convert in RANGES.items():
        figures = []
        for (X, y, shape, n, end), budget in itertools.product(sets.values(), budgets):
            order = np.random.default_rng(0).permutation(len(y))
            learned, tested = order[:n], order[n:end]
            clf = KenyonClassifier(memory_budget=budget, shape=shape, random_state=0)
            clf.partial_fit(convert(X[learned]), y[learned])
            figures.append(100 * clf.score(convert(X[tested]), y[tested]))
        print(f"| {numbers} | {' | '.join(f'{figure:.2f}' for figure in figures)} |", flush=True)


def gas() -> Sample:
    """Gas sensors, all batches."""
    lines = [line for path in sorted((find_data_dir() / "gas-drift").glob("*.dat")) for line in path.open()]
    rows = [[float(entry.split(":")[1]) for entry in line.split()[1:]] for line in lines]
    return np.array(rows), np.array([int(line.split()[0].split(";")[0]) for line in lines])


def motion() -> Sample:
    """Windows of 128 readings of one activity: mean, deviation, mean step, least and largest of each channel."""
    stored = np.load(find_data_dir() / "hapt" / "hapt.npz")
    readings, activities = stored["X"] / stored["scale"], stored["y"]
    rows, labels = [], []
    for start in range(0, len(activities) - 128, 64):
        v, own = readings[start : start + 128], activities[start : start + 128]
        if own[0] >= 0 and (own == own[0]).all():
            steps = np.abs(np.diff(v, axis=0)).mean(axis=0)
            rows.append(np.concatenate([v.mean(axis=0), v.std(axis=0), steps, v.min(axis=0), v.max(axis=0)]))
            labels.append(own[0])
    return np.array(rows), np.array(labels)


def orders(seeds: int, most: int = 3_000, enough: int = 500) -> None:
    """Half of each set to learn, in several orders and with mishaps, the other half to test."""
    loads = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits as floats": load_digits}
    sets: dict[str, Sample] = {name: load(return_X_y=True) for name, load in loads.items()}
    sets |= {"ImageSegments": arrays(datasets.ImageSegments()), "gas sensors": gas(), "motion": motion()}
    columns = ["shuffled", "class by class", "`fit`", "`fit`, class by class", "one outlier", "x 1,000", "/ 1,000"]
    print(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}", flush=True)
    for name, (X, y) in sets.items():
        figures = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            chosen = rng.permutation(len(y))[: 2 * most]
            half = len(chosen) // 2
            learned, tested = chosen[:half], chosen[half:]
            by_class = np.concatenate([learned[y[learned] == label] for label in rng.permutation(np.unique(y))])
            outlier = X[learned].copy()
            outlier[rng.integers(min(64, half)), rng.integers(X.shape[1])] = 1e4
            scores = []
            for order, method in itertools.product((learned, by_class), ("partial_fit", "fit")):
                clf = getattr(KenyonClassifier(random_state=seed), method)(X[order], y[order])
                scores.append(clf.score(X[tested], y[tested]))
            for factor in (None, 1e3, 1e-3) if half >= enough else (None,):
                spoilt = outlier if factor is None else X[learned].copy()
                spoilt[:100] *= factor or 1.0
                clf = KenyonClassifier(random_state=seed).partial_fit(spoilt, y[learned])
                scores.append(clf.score(X[tested], y[tested]))
            figures.append([scores[0], scores[2], scores[1], *scores[3:]])
        means = 100 * np.mean(figures, axis=0)
        print(f"| {name} | {' | '.join(f'{mean:.1f}' for mean in means)} |{' |' * (7 - len(means))}", flush=True)


def words() -> None:
    """Intents of CLINC150 from bags of words, twenty at a time: shuffled, and one intent after the other."""
    everything = json.loads((find_data_dir() / "clinc150" / "data_full.json").read_text(encoding="utf-8"))
    names = sorted({label for _, label in everything["train"]})
    makers = {"MultinomialNB": naive_bayes.MultinomialNB, "Kenyon": lambda: RiverClassifier(seed=0)}
    figures: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for first in range(0, 140, 20):
        learned, held = (
            [(text, label) for text, label in everything[part] if label in names[first : first + 20]]
            for part in ("train", "val")
        )
        shuffled = [learned[i] for i in np.random.default_rng(first).permutation(len(learned))]
        for order, pairs in {"shuffled": shuffled, "intent by intent": learned}.items():
            for name, make in makers.items():
                model, hits, start = feature_extraction.BagOfWords() | make(), 0, time.process_time()
                for text, label in pairs:
                    hits += model.predict_one(text) == label
                    model.learn_one(text, label)
                spent = time.process_time() - start
                right = np.mean([model.predict_one(text) == label for text, label in held])
                figures.setdefault((name, order), []).append((100 * hits / len(pairs), 100 * right, spent))
    print("| | prequential | held out | processor time |\n|---|---|---|---|")
    for (name, order), found in figures.items():
        hits, right, spent = np.mean(found, axis=0)
        spent /= np.mean(figures["MultinomialNB", order], axis=0)[2]
        print(f"| {name}, {order} | {hits:.1f} | {right:.1f} | {spent:.1f} |", flush=True)


def clinc(*parts: str) -> list[list[tuple[str, str]]]:
    """Sentences of CLINC150 with their intents, each part shuffled."""
    everything = json.loads((find_data_dir() / "clinc150" / "data_full.json").read_text(encoding="utf-8"))
    rng = np.random.default_rng(0)
    return [[everything[part][i] for i in rng.permutation(len(everything[part]))] for part in parts]


def text() -> None:
    """150 intents of CLINC150 from sparse matrices of words, and of words and pairs of them; tested on `val`."""
    learned, held = clinc("train", "val")
    vectorizers = {"words": {}, "10,000 words and pairs": {"ngram_range": (1, 2), "max_features": 10_000}}
    print("| | accuracy | processor time of fit |\n|---|---|---|")
    for name, params in vectorizers.items():
        for model in (SGDClassifier(random_state=0), MultinomialNB(), KenyonClassifier(random_state=0)):
            vectorizer = TfidfVectorizer(**params)
            X, held_X = vectorizer.fit_transform([x for x, _ in learned]), vectorizer.transform([x for x, _ in held])
            start = time.process_time()
            model.fit(X, [y for _, y in learned])
            spent = time.process_time() - start
            right = np.mean(model.predict(held_X) == np.array([y for _, y in held]))
            print(f"| {name}, {type(model).__name__} | {100 * right:.1f} | {spent:.2f} s |", flush=True)


def drifting(samples: int) -> dict[str, Iterable]:
    """Streams of River's that change: abruptly, from concept to concept, or all the time."""
    each = samples // 4
    return {
        "SEA, four concepts": itertools.chain.from_iterable(
            itertools.islice(synth.SEA(variant=v, seed=v, noise=0.1), each) for v in (0, 1, 2, 3)
        ),
        "Agrawal, four concepts": itertools.chain.from_iterable(
            itertools.islice(synth.Agrawal(classification_function=f, seed=f), each) for f in (0, 1, 2, 3)
        ),
        "RandomRBFDrift": synth.RandomRBFDrift(
            seed_model=1, seed_sample=1, n_classes=4, n_features=8, n_centroids=20, change_speed=0.001,
            n_drift_centroids=10,
        ),
    }  # fmt: skip


def to_choose_by() -> dict[str, Iterable]:
    """Synthetic streams that stay as they are."""
    return {
        "SEA": synth.SEA(seed=1, noise=0.1), "Agrawal 0": synth.Agrawal(seed=1, perturbation=0.05),
        "Agrawal 4": synth.Agrawal(classification_function=4, seed=1, perturbation=0.05),
        "RandomRBF": synth.RandomRBF(seed_model=1, seed_sample=1, n_classes=4, n_features=8, n_centroids=20),
        "Waveform": synth.Waveform(seed=1), "LED": synth.LED(seed=1, noise_percentage=0.1),
        "Sine": synth.Sine(seed=1, classification_function=2),
        "Hyperplane": synth.Hyperplane(seed=1, n_features=10),
        "Mixed": synth.Mixed(seed=1),
    }  # fmt: skip


def tables(table: Table, seeds: int) -> None:
    """Bananas, scikit-learn's tables, sensors and digits."""
    X, y = arrays(datasets.Bananas())
    table.row("River Bananas, prequential", lambda make: prequential(make, X, y))
    for name, load in {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}.items():
        both = load(return_X_y=True)
        table.row(f"{name}, 5-fold", lambda make, both=both: folds(make, *both, seeds))
    table.row("sensors, class by class", lambda make: by_class(make, seeds))
    digits, labels = load_digits(return_X_y=True)
    table.row("digits as floats, 5-fold", lambda make: folds(make, digits, labels, 1))
    plain, signed = (folds(lambda seed: Ours(seed), digits, labels % 2 * k - (k - 1), 1) for k in (1, 2))
    print(f"\nodd and even digits: {plain:.2f} with the labels 0 and 1, {signed:.2f} with -1 and 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("test-set", "drift", "choose", "unseen", "ranges", "words", "text", "orders"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=50_000, help="of each stream that changes")
    parser.add_argument("--memory", type=int, default=1_000, help="half-life on streams that change")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="figures are kept here, and not measured again")
    chosen = parser.parse_args()
    if chosen.orders:
        orders(chosen.seeds)
        return
    for wanted, run in ((chosen.unseen, unseen), (chosen.ranges, ranges), (chosen.words, words), (chosen.text, text)):
        if wanted:
            run()
            return
    sizes = {"seeds": chosen.seeds, "samples": chosen.samples}
    if chosen.drift:
        ours: dict[str, dict[str, Any]] = {
            f"memory={chosen.memory}": {"layer__half_life": chosen.memory},
            "memory off": {},
        }
        table = Table(
            {**PEERS, "ARF": lambda seed: FromRiver(forest.ARFClassifier(seed=seed))}, ours, sizes, chosen.keep
        )
        streams = {name: arrays(stream, chosen.samples) for name, stream in drifting(chosen.samples).items()}
    else:
        table = Table(PEERS, {"Kenyon": {}}, sizes, chosen.keep)
        if not (chosen.test_set or chosen.choose):
            tables(table, chosen.seeds)
            return
        others = {"River Phishing": datasets.Phishing(), "River ImageSegments": datasets.ImageSegments()}
        streams = {name: arrays(stream) for name, stream in others.items()} if chosen.test_set else {}
        if chosen.choose:
            streams = {f"{name}, 2,500 samples": arrays(s, 2_500) for name, s in to_choose_by().items()}
    for name, (X, y) in streams.items():
        table.row(f"{name}, prequential", lambda make, X=X, y=y: prequential(make, X, y))


if __name__ == "__main__":
    main()
