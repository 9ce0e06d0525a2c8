"""Spoken digits and activities, one class after the other, one pass: Kenyon and others in the same bytes.

    python benchmarks/sound.py                # on held-out training samples
    python benchmarks/sound.py --ablation     # what the parts of the front end for sound are worth, on the same
    python benchmarks/sound.py --test         # on the test sets

docs/results/sound.md has the protocol. Held out are, of four speakers' takes 5 to 49: nine takes, five times; each
speaker in turn; and of HAPT the last third of the training windows, which are other users'. The speakers nicolas and
theo are in none of this, neither asked for nor learned. Peers see the same windows:

    NCM   running class means, float32
    SLDA  class means and a shared covariance of a random projection, float32, as wide as there is room for
    kNN   as many samples of each class as there is room for, as bytes, the first that come
    ER    a network with one hidden layer and a reservoir of samples as bytes, half of the bytes each

k, shrinkage and learning rate are chosen on the held-out samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import load_dataset
from kenyon.data.streams._fsdd import FRONT, HELD_OUT, SPEAKERS, TAKES, TEST_TAKES, read_wav, recording_names
from kenyon.data.streams._hapt import FRONT as MOTION
from kenyon.data.streams._sources import SOURCES
from kenyon.features.front import Spectra
from kenyon.learners import make_learner
from kenyon.utils.system import find_data_dir

OTHERS = [name for name in SPEAKERS if name not in HELD_OUT]
SEEDS = (0, 1, 2)


class Part(NamedTuple):
    """What is learned, and what is asked for."""

    X: NDArray[np.uint8]
    y: NDArray[np.int64]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.int64]


class Task(NamedTuple):
    """A line of the table."""

    name: str
    dataset: str
    budget: int
    options: Mapping[str, Any]
    shape: tuple[int, int]
    n_classes: int


SOUND = (FRONT.options, FRONT.shape, 10)
MOVES = ({**MOTION.options, "expected_classes": 12}, MOTION.shape, 12)
TASKS = [
    Task("digits, official split", "fsdd", 20_000, *SOUND),
    Task("digits, official split", "fsdd", 160_000, *SOUND),
    Task("digits, other speakers", "fsdd-speakers", 20_000, *SOUND),
    Task("digits, other speakers", "fsdd-speakers", 160_000, *SOUND),
    Task("activities, other users", "hapt", 20_000, *MOVES),
    Task("activities, other users", "hapt", 160_000, *MOVES),
]


class Learns(Protocol):
    def partial_fit(self, X: NDArray, y: NDArray) -> object: ...
    def predict(self, X: NDArray) -> NDArray: ...


class NCM:
    def __init__(self, task: Task, seed: int, option: Any) -> None:
        n = int(np.prod(task.shape))
        assert 4 * task.n_classes * n <= task.budget
        self.sums, self.counts = np.zeros((task.n_classes, n)), np.zeros(task.n_classes)

    def partial_fit(self, X: NDArray, y: NDArray) -> None:
        np.add.at(self.sums, y, X)
        np.add.at(self.counts, y, 1)

    def predict(self, X: NDArray) -> NDArray:
        means = (self.sums / self.counts[:, None]).astype(np.float32)
        return (X @ means.T - 0.5 * (means**2).sum(1)).argmax(1)


class SLDA(NCM):
    def __init__(self, task: Task, seed: int, option: Any) -> None:
        n = int(np.prod(task.shape))
        width = max(w for w in range(1, n + 1) if 4 * (w * (w + 1) // 2 + task.n_classes * w) <= task.budget)
        self.projection = np.random.default_rng(seed).normal(0, n**-0.5, (n, width)) if width < n else np.eye(n)
        self.sums, self.counts = np.zeros((task.n_classes, width)), np.zeros(task.n_classes)
        self.squares, self.shrinkage = np.zeros((width, width)), option

    def partial_fit(self, X: NDArray, y: NDArray) -> None:
        Z = X @ self.projection
        super().partial_fit(Z, y)
        self.squares += Z.T @ Z

    def predict(self, X: NDArray) -> NDArray:
        means = self.sums / self.counts[:, None]
        scatter = (self.squares - (means * self.counts[:, None]).T @ means) / self.counts.sum()
        ridge = self.shrinkage * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
        weights = np.linalg.solve(scatter + ridge, means.T)
        return (X @ self.projection @ weights - 0.5 * (means * weights.T).sum(1)).argmax(1)


class Neighbours:
    def __init__(self, task: Task, seed: int, option: Any) -> None:
        self.each = task.budget // (int(np.prod(task.shape)) + 1) // task.n_classes
        self.X: list[NDArray] = []
        self.y: list[NDArray] = []
        self.k = option

    def partial_fit(self, X: NDArray, y: NDArray) -> None:
        self.X.append(X[: self.each].astype(np.float32))
        self.y.append(y[: self.each])

    def predict(self, X: NDArray) -> NDArray:
        kept, labels = np.concatenate(self.X), np.concatenate(self.y)
        distances = (kept**2).sum(1) - 2 * X.astype(np.float32) @ kept.T
        nearest = labels[np.argsort(distances, axis=1, kind="stable")[:, : self.k]]
        return np.array([np.bincount(row).argmax() for row in nearest])


class Replay:
    def __init__(self, task: Task, seed: int, option: Any) -> None:
        n, classes = int(np.prod(task.shape)), task.n_classes
        hidden = (task.budget // 8 - classes) // (n + 1 + classes)
        rows = (task.budget - 4 * ((n + 1) * hidden + (hidden + 1) * classes)) // (n + 1)
        info = StreamInfo((n,), classes, tuple((c,) for c in range(classes)), 10_000, False)
        options = {"network": "mlp", "hidden": [hidden], "buffer_size": rows, "lr": option, "replay_size": 30}
        self.inner = make_learner("er", info, seed, "class-incremental", **options)

    def partial_fit(self, X: NDArray, y: NDArray) -> None:
        for start in range(0, len(X), 10):
            self.inner.learn(X[start : start + 10], y[start : start + 10])

    def predict(self, X: NDArray) -> NDArray:
        return self.inner.predict(X)


PEERS: dict[str, tuple[type, Sequence[Any]]] = {
    "NCM": (NCM, (None,)),
    "SLDA": (SLDA, (0.001, 0.01, 0.1)),
    "kNN": (Neighbours, (1, 3, 5)),
    "ER": (Replay, (0.01, 0.03, 0.1)),
}


def accuracy(make: Callable[[int], Learns], part: Part, seeds: Sequence[int]) -> NDArray[np.float64]:
    """In %, for each order of the classes and of their samples."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        learner = make(seed)
        for label in rng.permutation(np.unique(part.y)):
            rows = rng.permutation(np.flatnonzero(part.y == label))
            learner.partial_fit(part.X[rows], part.y[rows])
        found.append(100 * (learner.predict(part.X_test) == part.y_test).mean())
    return np.array(found)


def kenyon(task: Task) -> Callable[[int], Learns]:
    return lambda seed: KenyonClassifier(memory_budget=task.budget, random_state=seed).set_params(**task.options)


def about_takes() -> tuple[NDArray, NDArray, NDArray]:
    """Digits, speakers and takes of the training recordings of the official split, in their order."""
    names = [name[:-4].split("_") for name in recording_names(SPEAKERS, TAKES[len(TEST_TAKES) :])]
    digits, speakers, takes = zip(*names, strict=True)
    return np.array(digits, int), np.array(speakers), np.array(takes, int)


def held_out(dataset: str, X: NDArray | None = None) -> list[Part]:
    """Parts of the training set."""
    train = load_dataset(dataset if dataset == "hapt" else "fsdd").train
    if dataset == "hapt":
        cut = len(train.y) * 2 // 3
        return [Part(train.X[:cut], train.y[:cut], train.X[cut:], train.y[cut:])]
    y, speakers, takes = about_takes()
    X = np.asarray(train.X) if X is None else X
    ours = np.isin(speakers, OTHERS)
    if dataset == "fsdd":
        tests = [ours & (takes >= start) & (takes < start + 9) for start in (5, 14, 23, 32, 41)]
    else:
        tests = [speakers == name for name in OTHERS]
    return [Part(X[ours & ~test], y[ours & ~test], X[test], y[test]) for test in tests]


def opened(dataset: str) -> list[Part]:
    """The test set."""
    found = load_dataset(dataset)
    return [Part(found.train.X[:], found.train.y, found.test.X[:], found.test.y)]


def table(test: bool, only: str, peers: Sequence[str]) -> None:
    print(f"{'':26}{'bytes':>8}{'Kenyon':>14}" + "".join(f"{name:>14}" for name in peers))
    for task in TASKS:
        if only not in task.dataset:
            continue
        inner = held_out(task.dataset)
        outer = opened(task.dataset) if test else inner
        cells = [_mean(kenyon(task), outer)]
        for name in peers:
            kind, options = PEERS[name]
            scores = {o: np.mean([accuracy(_peer(kind, task, o), part, (9,)) for part in inner]) for o in options}
            cells.append(_mean(_peer(kind, task, max(scores, key=scores.__getitem__)), outer))
        print(f"{task.name:26}{task.budget:>8}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def _peer(kind: type, task: Task, option: Any) -> Callable[[int], Learns]:
    return lambda seed: kind(task, seed, option)


def _mean(make: Callable[[int], Learns], parts: Sequence[Part]) -> str:
    found = np.mean([accuracy(make, part, SEEDS) for part in parts], axis=0)
    return f"{found.mean():.1f} ± {found.std(ddof=1):.1f}"


class Whole(Spectra):
    """The whole recording in place of the sound in it."""

    def _sound(self, levels: NDArray[np.int64]) -> tuple[int, int]:
        return 0, len(levels) - 1


class Even(Spectra):
    """Entries equally far apart in time."""

    def _places(self, values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return super()._places(np.zeros_like(values))


class Apart(Spectra):
    """Bands not mixed with their neighbours."""

    def _mixed(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        return entries


class Above(Spectra):
    """Only 18 dB below the peak, whatever the noise."""

    def _sound(self, levels: NDArray[np.int64]) -> tuple[int, int]:
        return super()._sound(np.where(levels < levels.max() - 48, 0, levels))


class Logarithms(Spectra):
    """Logarithms over 48 dB in place of roots."""

    def _values(self, sound: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.maximum(0, 255 - 2 * (sound.max() - sound))


class WithNoise(Spectra):
    """Roots, the noise included."""

    def _values(self, sound: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        return super()._values(sound, np.full_like(sound, -(10**4)).clip(sound.max() - 255))


class LessMeans(Spectra):
    """The mean of each band taken away, as in cepstral mean normalisation."""

    def _values(self, sound: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        even = sound - sound.mean(axis=0).astype(np.int64) + 100
        return super()._values(even, np.full_like(even, even.max() - 255))


@lru_cache
def recordings() -> list[NDArray[np.int16]]:
    folder = find_data_dir() / SOURCES["fsdd"].layouts[0].folders[0]
    y, speakers, takes = about_takes()
    return [
        read_wav(folder / f"{d}_{s}_{t}.wav", 8000) if s in OTHERS else np.zeros(1, np.int16)
        for d, s, t in zip(y, speakers, takes, strict=True)
    ]


@lru_cache(maxsize=4)
def logs_of(key: tuple[int, int, int], noise: float) -> list[NDArray[np.int64]]:
    front = Spectra(bands=key[0], low=key[1], high=key[2])
    return list(front._recording_logs(_with_noise(x, noise, i) for i, x in enumerate(recordings())))


def _with_noise(x: NDArray[np.int16], below: float, seed: int) -> NDArray[np.int16]:
    """White noise so many dB below the loudest 50 ms, and 375 ms of it before and after."""
    if not below:
        return x
    longer = np.concatenate([np.zeros(3000), x, np.zeros(3000)])
    loudest = np.sqrt(np.convolve(longer**2, np.ones(400) / 400, "same").max())
    noise = np.random.default_rng(seed).normal(0, loudest * 10 ** (-below / 20), len(longer))
    return np.clip(np.round(longer + noise), -32768, 32767).astype(np.int16)


def windows(front: Spectra, noise: float = 0) -> NDArray[np.uint8]:
    logs = logs_of((front.bands, front.low, front.high), noise)
    return np.array([front._recording_window(one).ravel() for one in logs])


def ablations() -> Iterator[tuple[str, Spectra, dict[str, Any]]]:
    yield "as it is", Spectra(), {}
    yield "whole recordings", Whole(), {}
    yield "entries equally far apart", Even(), {}
    yield "bands not mixed", Apart(), {}
    yield "both", type("Both", (Even, Apart), {})(), {}
    yield "logarithms", Logarithms(), {}
    yield "logarithms of whole recordings", type("Both", (Whole, Logarithms), {})(), {}
    yield "noise included", WithNoise(), {}
    yield "less the mean of each band", LessMeans(), {}
    for frames in (16, 24, 32):
        yield f"{frames} frames", Spectra(frames=frames), {}
    for option in (
        {"features__window": 3},
        {"features__window": 5},
        {"features__window": 8},
        {"features__shifts": 2},
        {"features__shifts": 3},
        {"features__shifts": 6},
        {"features__shifts": 8},
    ):
        yield str(option), Spectra(), option
    yield "signs random", Spectra(), {"features__signs": "random"}
    yield "pooling max", Spectra(), {"features__pooling": "max"}
    yield "no root", Spectra(), {"features__root": False}
    yield "axes tc", Spectra(), {"axes": "tc"}
    yield "axes tc, window 5, shifts 4", Spectra(), {"axes": "tc", "features__window": 5, "features__shifts": 4}
    for shrinkage in (0.01, 0.1):
        yield f"shrinkage {shrinkage}", Spectra(), {"layer__shrinkage": shrinkage}
    for bands in (16, 24, 32):
        yield f"{bands} bands", Spectra(bands=bands), {}
    yield "200 to 3400 Hz", Spectra(low=200, high=3400), {}


def ablation() -> None:
    print(f"{'20 KB, held-out training samples, %':40}{'takes':>8}{'speakers':>10}")
    for name, front, options in ablations():
        _ablation_line(name, windows(front), {"shape": front.shape, **options})
    warped = [Spectra(), Spectra(low=90, high=3420), Spectra(low=105, high=3990)]
    _ablation_line("learned in three pitches", [windows(front) for front in warped], FRONT.options)
    for kind, name in ((Spectra, "as it is"), (Above, "18 dB alone"), (WithNoise, "noise included")):
        _ablation_line(f"asked in noise 15 dB below, {name}", windows(kind()), FRONT.options, windows(kind(), 15))


def _ablation_line(name: str, X: Any, options: Mapping[str, Any], asked: NDArray[np.uint8] | None = None) -> None:
    cells = []
    for dataset in ("fsdd", "fsdd-speakers"):
        parts = [held_out(dataset, one) for one in (X if isinstance(X, list) else [X])]
        joined = [
            Part(np.stack([p.X for p in same], 1).reshape(-1, same[0].X.shape[1]), np.repeat(same[0].y, len(same)),
                 same[0].X_test, same[0].y_test)
            for same in zip(*parts, strict=True)
        ]  # fmt: skip
        if asked is not None:
            noisy = held_out(dataset, asked)
            joined = [part._replace(X_test=other.X_test) for part, other in zip(joined, noisy, strict=True)]
        make = kenyon(Task("", "", 20_000, options, FRONT.shape, 10))
        cells.append(np.mean([accuracy(make, part, SEEDS).mean() for part in joined]))
    print(f"{name:40}{cells[0]:>8.1f}{cells[1]:>10.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="open the test sets")
    parser.add_argument("--ablation", action="store_true", help="vary the front end for sound")
    parser.add_argument("--only", default="", help="part of the name of a data set")
    parser.add_argument("--peers", default=",".join(PEERS), help="which of NCM,SLDA,kNN,ER")
    arguments = parser.parse_args()
    if arguments.ablation:
        ablation()
    else:
        table(arguments.test, arguments.only, [name for name in arguments.peers.split(",") if name])
