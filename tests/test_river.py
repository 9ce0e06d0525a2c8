"""The River adapter: River's own checks, pipelines, and features that come and go."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

pytest.importorskip("river", reason="needs the extra 'river'")
from river import checks, compose, datasets, evaluate, feature_extraction, metrics, naive_bayes, preprocessing

import kenyon.apps.river
from kenyon import KenyonClassifier
from kenyon.apps.river import RiverClassifier
from kenyon.errors import ConfigError, InputError
from making import make, stream

pytestmark = pytest.mark.slow

MODELS = {
    "default": RiverClassifier(n_features=32),
    "fewer slots than features": RiverClassifier(KenyonClassifier("gen", n_hidden=200), n_features=5),
}
CHECKS = [(name, check) for name, model in MODELS.items() for check in checks.yield_checks(model)]


@pytest.mark.parametrize(("name", "check"), CHECKS, ids=[f"{name}-{check.__name__}" for name, check in CHECKS])
def test_river(name: str, check: Any) -> None:
    assert not MODELS[name]._unit_test_skips()
    check(MODELS[name].clone())


def _dicts(n: int = 60) -> tuple[list[dict[str, float]], list[int]]:
    X, y = stream(n)
    return [{f"f{i:02}": float(value) for i, value in enumerate(row)} for row in X], y.tolist()


def test_it_is_the_classifier() -> None:
    """Names in sorted order are columns: the adapter gives the classifier's own scores."""
    X, y = stream()
    samples, labels = _dicts(90)
    inner = make("mse")
    model = RiverClassifier(inner, n_features=40)
    for x, label in zip(samples, labels, strict=True):
        model.learn_one(x, label)
    direct = make("mse").partial_fit(X.astype(float), y)
    shares = direct.predict_proba(X.astype(float))
    for row, x in zip(shares, samples, strict=True):
        assert model.predict_proba_one(x) == dict(zip(direct.classes_.tolist(), row.tolist(), strict=True))
    assert [model.predict_one(x) for x in samples] == direct.predict(X.astype(float)).tolist()
    assert not inner.__sklearn_is_fitted__(), "the classifier given was trained instead of a copy"


@pytest.mark.parametrize("to_frame", [pandas.DataFrame, pyarrow.Table.from_pylist], ids=["pandas", "pyarrow"])
def test_many_is_one_by_one(to_frame: Any) -> None:
    samples, labels = _dicts()
    one, many = RiverClassifier(n_features=40, seed=1), RiverClassifier(n_features=40, seed=1)
    frame = to_frame(samples)
    series = pandas.Series(labels) if isinstance(frame, pandas.DataFrame) else pyarrow.chunked_array([labels])
    assert list(many.predict_many(frame)) == [None] * 60 or set(map(str, many.predict_many(frame))) == {"None"}
    assert many.predict_proba_many(frame).shape[1] == 0
    for x, y in zip(samples, labels, strict=True):
        one.learn_one(x, y)
    many.learn_many(frame, series)
    predicted = many.predict_many(frame)
    predicted = predicted.tolist() if isinstance(frame, pandas.DataFrame) else predicted.to_pylist()
    assert predicted == [one.predict_one(x) for x in samples]
    shares = many.predict_proba_many(frame)
    rows = shares.to_dict("records") if isinstance(frame, pandas.DataFrame) else shares.to_pylist()
    for row, x in zip(rows, samples, strict=True):
        assert list(row.values()) == list(one.predict_proba_one(x).values())
    assert [str(name) for name in rows[0]] == [str(label) for label in one.predict_proba_one(samples[0])]


def test_slots_are_given_in_order_of_arrival() -> None:
    model = RiverClassifier(n_features=3, seed=0)
    model.learn_one({"b": 1.0}, "x")
    model.learn_one({"c": 1.0, "a": 1.0, "b": 0.0}, "y")
    assert model._slots == {"b": 0, "a": 1, "c": 2}
    model.learn_one({"d": 1.0}, "x")
    assert model._slots == {"b": 0, "a": 1, "c": 2}, "a name beyond the slots was given one"


ZERO = KenyonClassifier("mse", n_hidden=200)
"""Not told that values may be absent, so that they count as 0."""


def test_a_missing_feature_is_zero_and_an_unknown_one_is_ignored() -> None:
    samples, labels = _dicts()
    model = RiverClassifier(ZERO, n_features=60, seed=0)
    for x, y in zip(samples, labels, strict=True):
        model.learn_one(x, y)
    x = samples[3]
    shares = model.predict_proba_one(x)
    assert model.predict_proba_one({**x, "never learned": 1e6}) == shares
    assert model.predict_proba_one({name: value for name, value in x.items() if value}) == shares
    assert model.predict_proba_one({**x, "f00": None}) == model.predict_proba_one({**x, "f00": 0.0})
    before = dict(model._slots)
    model.predict_proba_one({"another": 1.0})
    assert model._slots == before


def test_by_default_there_are_as_many_slots_as_names_and_a_missing_feature_is_the_usual_value() -> None:
    samples, labels = _dicts()
    model = RiverClassifier(seed=0)
    for x, y in zip(samples, labels, strict=True):
        model.learn_one({**x, "f00": 7.0 if x["f00"] > 100 else 9.0}, y)
    assert model._model.n_features_in_ == 40
    centre = float(model._model.scaler().centres[0])
    shares = model.predict_proba_one({**samples[3], "f00": centre})
    del samples[3]["f00"]
    assert model.predict_proba_one(samples[3]) == shares == model.predict_proba_one({**samples[3], "f00": None})


SENTENCES = {
    "weather": ["will it rain today", "is it going to snow", "how warm is it outside", "does it rain in the evening"],
    "alarm": ["wake me at seven", "set an alarm for six", "ring the alarm at noon", "wake me up early please"],
    "music": ["play some jazz", "put on a loud song", "play the next song please", "turn the music up"],
}


def _talk() -> list[tuple[str, str]]:
    pairs = [(text, label) for label, texts in SENTENCES.items() for text in texts]
    return [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))]


def test_words_that_come_later_have_inputs_of_their_own() -> None:
    model = feature_extraction.BagOfWords() | RiverClassifier(seed=0)
    for text, label in _talk():
        model.learn_one(text, label)
    assert [model.predict_one(text) for text, _ in _talk()] == [label for _, label in _talk()]
    assert model.predict_one("will it snow") == "weather"
    assert model.predict_one("will it snow zebra quagga okapi") == "weather", "words never learned must not matter"
    shares = model.predict_proba_one("rain")
    assert abs(sum(shares.values()) - 1) < 1e-9 and list(shares) == sorted(shares)


def test_a_bag_of_words_many_at_once_is_one_by_one() -> None:
    names = sorted({word for text, _ in _talk() for word in text.split()})
    rows = [{name: float(text.split().count(name)) or None for name in names} for text, _ in _talk()]
    frame, labels = pandas.DataFrame(rows).astype(object).where(lambda x: x.notna(), None), [y for _, y in _talk()]
    whole, cut, one = (RiverClassifier(n_features=3, seed=0) for _ in range(3))
    whole.learn_many(frame, pandas.Series(labels))
    for start in range(0, len(labels), 5):
        cut.learn_many(frame[start : start + 5], pandas.Series(labels[start : start + 5]))
    for row, label in zip(rows, labels, strict=True):
        one.learn_one(row, label)
    shares = [one.predict_proba_one(row) for row in rows]
    for other in (whole, cut):
        assert [other.predict_proba_one(row) for row in rows] == shares
        assert other._moved == one._moved and other._counts == one._counts


def test_names_that_are_mostly_absent_leave_the_table_only_where_others_come_later() -> None:
    table, bag = RiverClassifier(seed=0), RiverClassifier(seed=0)
    for number in range(20):
        x = {"a": float(number % 2), **({"b": 1.0} if number % 5 == 0 else {})}
        table.learn_one(x, number % 2)
        bag.learn_one({**x, **({"late": 1.0} if number == 3 else {})}, number % 2)
    assert table._bag is None and not table._moved
    assert bag._bag is not None and bag._moved == {"b"}
    missing = RiverClassifier(seed=0)
    for number in range(30):
        x = {"a": float(number), **({"b": number / 7} if number % 3 < 2 else {}), **({"c": 1.0} if number != 5 else {})}
        missing.learn_one({**x, **({"late": 1.0} if number == 3 else {})}, number % 2)
    assert missing._moved == {"c"}, "numbers that are missing at times stay, a word goes where it is first absent"
    assert bag.predict_one({"a": 1.0}) == 1 and bag.predict_one({"a": 0.0}) == 0


def test_a_memory_budget_holds_table_and_bag() -> None:
    model = feature_extraction.BagOfWords() | RiverClassifier(
        KenyonClassifier(missing="absent", memory_budget="40KB", expected_classes=3), seed=0
    )
    for text, label in _talk():
        model.learn_one(text, label)
    inner = model["RiverClassifier"]
    assert inner._bag is not None and inner._bag.width < 1000
    assert inner._bag._model.state_bytes <= 10_000
    assert model.predict_one("play a song") == "music"


@pytest.mark.real_data
def test_intents_from_bags_of_words_beside_naive_bayes() -> None:
    """Twenty intents of CLINC150, each sentence predicted before it is learned."""
    path = Path(os.environ["KENYON_DATA"]) / "clinc150" / "data_full.json"
    if not path.exists():
        pytest.skip("CLINC150 is not in KENYON_DATA")
    everything = json.loads(path.read_text(encoding="utf-8"))["train"]
    chosen = sorted({label for _, label in everything})[:20]
    pairs = [(text, label) for text, label in everything if label in chosen]
    pairs = [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))]
    hits = {}
    for inner in (RiverClassifier(seed=0), naive_bayes.MultinomialNB()):
        model, right = feature_extraction.BagOfWords() | inner, 0
        for text, label in pairs:
            right += model.predict_one(text) == label
            model.learn_one(text, label)
        hits[type(inner).__name__] = right / len(pairs)
    assert hits["RiverClassifier"] >= hits["MultinomialNB"] > 0.85


def test_an_emerging_feature_is_learned_from() -> None:
    rng = np.random.default_rng(0)
    model = RiverClassifier(n_features=16, seed=0)

    def sample(y: int, names: int) -> dict[str, float]:
        return {f"n{i}": float(rng.normal()) for i in range(names)}

    for _ in range(50):
        y = int(rng.integers(2))
        model.learn_one(sample(y, 4), y)
    hits = 0
    for t in range(400):
        y = int(rng.integers(2))
        x = {**sample(y, 4), "telling": 6.0 * y - 3.0, "telling too": 3.0 - 6.0 * y}
        hits += t >= 200 and model.predict_one(x) == y
        model.learn_one(x, y)
    assert hits >= 160


def test_labels_of_any_kind_and_absent_ones() -> None:
    model = RiverClassifier(n_features=4, seed=0)
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, None)
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, "yes")
    model.learn_one({"a": 1.0}, np.str_("no"))
    before = model.predict_proba_one({"a": 1.0})
    model.learn_one({"a": 1.0}, None)
    assert model.predict_proba_one({"a": 1.0}) == before
    assert set(before) == {"yes", "no"}


def test_bad_values_are_refused_and_nothing_changes() -> None:
    samples, labels = _dicts()
    model = RiverClassifier(n_features=60, seed=0)
    for x, y in zip(samples, labels, strict=True):
        model.learn_one(x, y)
    slots, before = dict(model._slots), model.predict_proba_one(samples[0])
    for x, message in (
        ({"new": "red"}, r"feature 'new' is 'red': expected a number"),
        ({"new": float("nan")}, "contains NaN"),
        ({"new": float("inf")}, "contains infinity"),
        ({"new": [1]}, r"feature 'new' is \[1\]"),
    ):
        with pytest.raises(InputError, match=message):
            model.learn_one(x, 1)
        assert model._slots == slots
        assert model.predict_proba_one(samples[0]) == before
    with pytest.raises(InputError, match="label 'a' is a string: expected a number"):
        model.learn_one({"new": 1.0}, "a")
    assert model._slots == slots
    with pytest.raises(ConfigError, match="n_features is 0: expected"):
        RiverClassifier(n_features=0)
    with pytest.raises(ConfigError, match="expected a KenyonClassifier"):
        RiverClassifier("mse")  # type: ignore[arg-type]


def test_in_a_pipeline_under_rivers_evaluation() -> None:
    model = preprocessing.StandardScaler() | RiverClassifier(seed=0)
    metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert metric.get() > 0.88
    mixed = compose.SelectType(float) + (compose.SelectType(str) | preprocessing.OneHotEncoder())
    model = mixed | RiverClassifier(seed=0)
    for i in range(40):
        model.learn_one({"colour": "red" if i % 2 else "blue", "size": 1.0}, i % 2)
    assert model.predict_one({"colour": "red", "size": 1.0}) == 1


def test_without_river_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['river'] = None; sys.modules['river.base'] = None\n"
        "import kenyon, kenyon.classifier\n"
        "from kenyon.errors import MissingExtraError\n"
        "try:\n    import kenyon.apps.river\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'kenyon[river]'" in done.stdout


def test_the_example_in_the_documentation() -> None:
    outcome = doctest.testmod(kenyon.apps.river)
    assert outcome.attempted and not outcome.failed
