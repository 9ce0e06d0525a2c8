"""What a model costs on a device, and what integers cost in accuracy.

    python benchmarks/device.py [--samples 200] [--data-dir DIR] [--speed | --following | --sound]

Split-MNIST, two digits after two. 54,000 training samples are learned once and 6,000 others are asked; the test set is
not read. Accuracy is that of Python, with floats and with integers. The first `--samples` of the stream are also
learned on an emulated Cortex-M4, and the state is compared with Python's, byte by byte; so is that of the whole stream,
learned by the C sources on this machine. Instructions are the mean of ten samples; the RAM is the model, a sample and
the deepest stack of learning and predicting. Speed is that of this machine: microseconds of one thread for a sample, by
C (`learn_many` of the wrapper, compiled by Zig with `-O3 -march=native`) and by Python (`partial_fit`), in turns of 512
samples, the median of the turns. `--speed` prints that alone.

`--following` prints instead how well the readout in integers follows: the 20 KB model predicts every sample of the
stream before it learns it, so that each readout begins with the last one. After every thousand samples its accuracy
on held-out samples of the classes met so far is compared with that of the readout solved again.

`--sound` prints what a model of 20 KB with the front end for sound costs instead, after it has learned nine takes of
ten spoken digits of four speakers: instructions for a second of sound, the mean of eight words of other takes one
after the other; for a word that is learned, and to solve the readout after it; for one that is asked about, without and
with `reject`; to solve the readout for the first time; the longest call of `kenyon_feed`; and RAM in all.

Wants the packages ziglang and unicorn.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier, SecondOrder
from kenyon.data.streams import load_dataset
from kenyon.data.streams._fsdd import FRONT as SOUND
from kenyon.data.streams._fsdd import HELD_OUT as HELD_OUT_SPEAKERS
from kenyon.data.streams._fsdd import SPEAKERS, read_wav
from kenyon.export import export_model, to_buffer
from kenyon.utils.system import find_data_dir

sys.path.append(str(Path(__file__).parents[1] / "tools"))
from emulated import ArmDevice, compiled

HELD_OUT, FEW, TURN = 6_000, 10, 512
MODELS: dict[str, dict[str, Any]] = {
    "20 KB, second order": {"memory_budget": "20KB", "shape": (28, 28)},
    "20 KB, GEN in 4 bits": {
        "rule": "gen", "layer__bits": 4, "n_hidden": 3_600, "shape": (28, 28), "layer__arithmetic": "integer",
    },
    "20 KB, counting in 4 bits": {
        "rule": "mean", "layer__bits": 4, "n_hidden": 3_600, "shape": (28, 28), "layer__arithmetic": "integer",
    },
    "4 KB, 8 x 8 pixels, 4 digits": {"memory_budget": "4KB", "shape": (8, 8), "expected_classes": 4},
}  # fmt: skip


def data(folder: str | None) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
    """Samples to learn, two digits after two, and samples to ask."""
    train = load_dataset("mnist", data_dir=folder).train
    order = np.random.default_rng(0).permutation(len(train.y))
    learned = order[HELD_OUT:][np.argsort(train.y[order[HELD_OUT:]] // 2, kind="stable")]
    X, y = np.asarray(train.X), np.asarray(train.y)
    return X[learned], y[learned], X[order[:HELD_OUT]], y[order[:HELD_OUT]]


def smaller(X: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Digits of 8 x 8 pixels: the middle of the picture, three by three pixels to one."""
    return (
        X.reshape(-1, 28, 28)[:, 2:26, 2:26].reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)).astype(np.uint8).reshape(-1, 64)
    )


def on_host(folder: Path) -> Any:
    """The C sources on this machine, through the wrapper that goes with them."""
    compiled(
        folder, "libkenyon.so", "-O3", "-march=native", "-DKENYON_WIDE", "-shared", "-fPIC", "-fno-sanitize=undefined"
    )
    spec = importlib.util.spec_from_file_location("kenyon_device", folder / "kenyon_device.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Model(empty=True)


def in_turns(given: dict[str, Any], X: NDArray[np.uint8], y: NDArray[np.int64]) -> dict[str, float]:
    """Microseconds for a sample of the whole stream, by C and by Python; both must come to the same bytes."""
    clf = KenyonClassifier(random_state=0).set_params(**given).partial_fit(X[:1], y[:1])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export_model(clf, "c", folder, start="empty")
        model = on_host(folder)
        model.load(to_buffer(clf))
        spent: dict[str, list[float]] = {"C": [], "Python": []}
        for start in range(1, len(y), TURN):
            some, labels = X[start : start + TURN], y[start : start + TURN]
            for label in dict.fromkeys(labels.tolist()):
                if label not in model.labels:
                    model.add_class(label)
            samples, numbers = some.tobytes(), labels.tolist()
            before = time.thread_time()
            model.learn_many(samples, numbers)
            between = time.thread_time()
            clf.partial_fit(some, labels)
            after = time.thread_time()
            spent["C"].append((between - before) / len(some))
            spent["Python"].append((after - between) / len(some))
        assert model.save() == to_buffer(clf), "C and Python differ"
    return {name: 1e6 * float(np.median(each)) for name, each in spent.items()}


def costs(folder: Path, core: str, X: NDArray[np.uint8], y: NDArray[np.int64], state: bytes) -> dict[str, int]:
    """Instructions, stack and code of a core, for a model that has learned the whole stream."""
    device, quick = ArmDevice(folder, core), ArmDevice(folder, core, counted=False)
    assert quick.load(state) == 0
    device.take_over(quick)
    learn = []
    for x, label in zip(X[:FEW], y[:FEW].tolist(), strict=True):
        device.learn(x.tobytes(), label)
        learn.append(device.instructions)
    found = {"learn": int(np.mean(learn))}
    if core == "m4":  # with a readout to be solved, and without
        quick.take_over(device)
        device.predict(X[0].tobytes())
        found["solve"] = device.instructions
        device.take_over(quick)
    sample, numbers = device.call("kenyon_the_sample"), device.call("kenyon_the_numbers")
    quick.take_over(device)
    stack = quick.stack_of("kenyon_learn", quick.model, sample, int(y[0]))
    stack = max(stack, quick.stack_of("kenyon_predict", quick.model, sample, numbers))
    device.take_over(quick)
    device.predict(X[0].tobytes())
    found |= {"predict": device.instructions, "solve": max(0, found.get("solve", 0) - device.instructions)}
    if core == "m4":  # once more, after a single sample
        device.learn(X[0].tobytes(), int(y[0]))
        device.predict(X[0].tobytes())
        found["again"] = device.instructions
    return found | {"ram": device.ram + X.shape[1] + stack, "stack": stack, "code": device.code}


def stream_of(given: dict[str, Any], sets: Any) -> Any:
    """Samples of the model's shape, those to learn and those to ask."""
    X, y, asked, answers = sets
    if given["shape"] != (8, 8):
        return X, y, asked, answers
    some, few = y < 4, answers < 4
    return smaller(X)[some], y[some], smaller(asked)[few], answers[few]


def measure(name: str, given: dict[str, Any], sets: Any, n_emulated: int) -> dict[str, Any]:
    X, y, asked, answers = stream_of(given, sets)
    clf = KenyonClassifier(random_state=0).set_params(**given).partial_fit(X, y)
    in_floats = {"layer__arithmetic": "float"} if "rule" in given else {"layer": SecondOrder(arithmetic="float")}
    floats = KenyonClassifier(random_state=0).set_params(**{**given, **in_floats}).partial_fit(X, y)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export_model(clf, "c", folder, start="empty")
        m4, m0 = (costs(folder, core, asked, answers, to_buffer(clf)) for core in ("m4", "m0plus"))
        device, part = ArmDevice(folder, "m4", counted=False), KenyonClassifier(random_state=0).set_params(**given)
        for label in dict.fromkeys(y[:n_emulated].tolist()):
            device.call("kenyon_add_class", device.model, label)
        for x, label in zip(X[:n_emulated], y[:n_emulated].tolist(), strict=True):
            device.learn(x.tobytes(), label)
        assert device.save() == to_buffer(part.partial_fit(X[:n_emulated], y[:n_emulated])), "the device differs"
    return {
        "model": name,
        "state": clf.state_bytes,
        "ram": m4["ram"],
        "stack": m4["stack"],
        "code": m4["code"],
        "accuracy": clf.score(asked, answers),
        "accuracy in floats": floats.score(asked, answers),
        "m4": m4,
        "m0plus": m0,
    }


def table(rows: dict[str, dict[str, Any]], sets: Any, n_emulated: int) -> None:
    """What each model needs on a device, and how often it is right."""
    heads = ["model", "state", "RAM in all", "code", "learn, M4 / M0+", "predict, M4 / M0+", "solve, M4"]
    heads += ["predict after a sample, M4", "accuracy", "floats"]
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, given in MODELS.items():
        row = rows[name] = measure(name, given, sets, n_emulated)
        m4, m0 = row["m4"], row["m0plus"]
        print(
            f"| {name} | {row['state']:,} | {row['ram']:,} | {row['code']:,} | {m4['learn']:,} / {m0['learn']:,} "
            f"| {m4['predict']:,} / {m0['predict']:,} | {m4['solve']:,} | {m4['again']:,} "
            f"| {100 * row['accuracy']:.2f} | {100 * row['accuracy in floats']:.2f} |",
            flush=True,
        )
    print()


def following(sets: Any) -> None:
    """Accuracy of a readout that was asked for after every sample, and of one solved again."""
    X, y, asked, answers = sets
    clf = KenyonClassifier(random_state=0).set_params(**MODELS["20 KB, second order"]).partial_fit(X[:1], y[:1])
    rows = []
    for start in range(1, len(y), 1000):
        clf.test_then_learn(X[start : start + 1000], y[start : start + 1000])
        met = np.isin(answers, clf.classes_)
        followed, anew = clf.predict(asked[met]), KenyonClassifier.from_arrays(clf.to_arrays()).predict(asked[met])
        rows.append(
            [100 * np.mean(each) for each in (followed == answers[met], anew == answers[met], followed != anew)]
        )
    one, other, apart = np.mean(rows, axis=0)
    print(f"{len(rows)} readouts asked for after every sample: {one:.2f} % right, solved again {other:.2f} %")
    worst = max(row[1] - row[0] for row in rows)
    print(f"{apart:.2f} % of the labels differ; the largest loss of a readout is {worst:.2f} points")
    print(json.dumps({"benchmark": "following", "followed": one, "anew": other, "differ": apart, "worst": worst}))


def heard(folder: Path, core: str, words: NDArray[np.int16], state: bytes) -> dict[str, int]:
    """Instructions of a core: for a second of sound, and for a word that is learned and asked about."""
    device = ArmDevice(folder, core)
    seconds = len(words) / SOUND.rate
    at, total, stack = device.call("kenyon_the_samples"), 0, 0
    for start in range(0, len(words), SOUND.hop):  # nothing was learned yet, so that nothing is asked about
        part = words[start : start + SOUND.hop]
        device._put(part.tobytes(), at)
        device.call("kenyon_feed", device.model, at, len(part))
        total += device.instructions
    found = {"second": int(total / seconds)}
    window = device.call("kenyon_window_of", device.model)
    sample = bytes(device._machine.mem_read(window, device.call("kenyon_size", 0)))
    assert device.load(state) == 0
    device.predict(sample)
    solved = device.instructions
    device.predict(sample)
    found |= {"predict": device.instructions, "solve": solved - device.instructions}
    device.call("kenyon_learn_heard", device.model, 0)
    found["learn"] = device.instructions
    device.predict(sample)  # what follows asks with a readout that is there
    found["again"] = device.instructions - found["predict"]
    quick = ArmDevice(folder, core, counted=False)
    quick.take_over(device)
    for start in range(0, len(words), SOUND.hop):
        part = words[start : start + SOUND.hop]
        device._put(part.tobytes(), at)
        device.call("kenyon_feed", device.model, at, len(part))
        found["most"] = max(found.get("most", 0), device.instructions)
        quick._put(part.tobytes(), at)
        stack = max(stack, quick.stack_of("kenyon_feed", quick.model, at, len(part)))
    quick.load(state)
    stack = max(stack, quick.stack_of("kenyon_learn_heard", quick.model, 0))
    return found | {"ram": device.ram + 2 * SOUND.hop + stack, "stack": stack, "code": device.code}


def sound() -> None:
    """What a model with the front end for sound costs."""
    speakers = [name for name in SPEAKERS if name not in HELD_OUT_SPEAKERS]
    folder = find_data_dir() / "fsdd" / "recordings"

    def words(takes: range) -> tuple[list[NDArray[np.int16]], list[int]]:
        names = [(digit, speaker, take) for take in takes for speaker in speakers for digit in range(10)]
        return [read_wav(folder / f"{d}_{s}_{t}.wav", SOUND.rate) for d, s, t in names], [d for d, _, _ in names]

    clf = KenyonClassifier(memory_budget="20KB", front=SOUND, random_state=0).partial_fit(*words(range(5, 14)))
    quiet = np.zeros(SOUND.rate // 2, np.int16)
    spoken = np.concatenate([part for word in words(range(14, 15))[0][:8] for part in (word, quiet)])
    print(
        "| 20 KB, sound | a second of sound | learn a word | solve after it | ask | first solve | longest call "
        "| RAM in all | code |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for reject in (None, 3):
        for core in ("m4", "m0plus"):
            with tempfile.TemporaryDirectory() as place:
                export_model(clf, "c", Path(place), start="empty", **({"reject": reject} if reject else {}))
                row = heard(Path(place), core, spoken, to_buffer(clf))
            name = f"Cortex-{'M4' if core == 'm4' else 'M0+'}{f', reject={reject}' if reject else ''}"
            numbers = ("second", "learn", "again", "predict", "solve", "most", "ram", "code")
            print(f"| {name} | " + " | ".join(f"{row[key]:,}" for key in numbers) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200, help="how many are learned on the emulated device")
    parser.add_argument("--data-dir")
    parser.add_argument("--speed", action="store_true", help="only how long C and Python take on this machine")
    parser.add_argument("--following", action="store_true", help="only how well the readout follows the stream")
    parser.add_argument("--sound", action="store_true", help="only what the front end for sound costs")
    arguments = parser.parse_args()
    if arguments.sound:
        return sound()
    sets = data(arguments.data_dir)
    if arguments.following:
        return following(sets)
    rows: dict[str, dict[str, Any]] = {name: {} for name in MODELS}
    if not arguments.speed:
        table(rows, sets, arguments.samples)
    print("| model, microseconds to learn a sample | C | Python |\n|---|---|---|")
    for name, given in MODELS.items():
        spent = rows[name]["microseconds"] = in_turns(given, *stream_of(given, sets)[:2])
        print(f"| {name} | {spent['C']:.2f} | {spent['Python']:.2f} |", flush=True)
    print(json.dumps({"benchmark": "device", "emulated samples": arguments.samples, "rows": rows}))


if __name__ == "__main__":
    main()
