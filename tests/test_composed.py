"""Composed models: nested names, what is recommended as a value, and what an editor can check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from kenyon import (
    GEN,
    INEL,
    MSE,
    Dense,
    Identity,
    KenyonClassifier,
    LocalError,
    Plastic,
    SecondOrder,
    Sparse,
    Windows,
    recommend,
)
from kenyon.errors import ConfigError

X, Y = load_digits(return_X_y=True)
BYTES = (X[:300] * 15).astype(np.uint8)

SCRIPT = """
from kenyon import GEN, KenyonClassifier, LocalError, Plastic, SecondOrder, Windows, recommend

clf = KenyonClassifier(features=Windows(shape=(28, 28), window=6), layer=SecondOrder(bits=16), memory_budget="20KB")
other = KenyonClassifier(layer=Plastic(GEN(b2=-0.5), learning_rate=0.1), hidden=LocalError((20,)), n_jobs=2)
print(recommend(784, shape=(28, 28)).layer, clf.set_params(layer__bits=24))
"""


WRONG = [
    "Windows(windo=6)",
    "Windows(signs='orientd')",
    "Windows(window='large')",
    "SecondOrder(bits=17)",
    "SecondOrder(prior='even')",
    "Plastic(clamp_kind='both')",
    "LocalError(width=(20,))",
    "KenyonClassifier(layer=Windows())",
    "KenyonClassifier('gne')",
    "KenyonClassifier(features='window')",
    "KenyonClassifier(missing='ignore')",
    "KenyonClassifier(n_hiden=10)",
    "clf.predict(reject='often')",
]
"""Lines that an editor must mark, one error each."""


@pytest.mark.slow
def test_mypy_checks_a_composed_script(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    first = SCRIPT.count("\n") + 1
    (tmp_path / "script.py").write_text(SCRIPT + "\n".join(WRONG) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    marked = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert marked == set(range(first, first + len(WRONG))), done.stdout + done.stderr


def test_nested_names_read_and_set_what_the_parts_hold() -> None:
    clf = KenyonClassifier(INEL(20.0, GEN()), features=Sparse(density=4), layer=Plastic(decay=0.1))
    params = clf.get_params()
    assert params["features__density"] == 4 and params["layer__decay"] == 0.1 and params["rule__rule__b2"] == -1.0
    clf.set_params(features__density=5, rule__rule__b2=-0.5, hidden__widths=(7,))
    assert (clf.features, clf.rule, clf.hidden) == (Sparse(density=5), INEL(20.0, GEN(b2=-0.5)), LocalError((7,)))
    assert clone(clf).get_params() == clf.get_params()
    with pytest.raises(ConfigError, match=r"has no option 'densty'.*did you mean 'density'"):
        clf.set_params(features__densty=3)
    with pytest.raises(ConfigError, match="bits is 5: expected one of 16, 24, 32"):
        SecondOrder(bits=5)


@pytest.mark.parametrize(
    ("given", "options", "layer"),
    [
        ({"memory_budget": "20KB", "shape": (8, 8)}, {"layer__arithmetic": "float"}, "second-order"),
        ({"features": "dense"}, {"layer__bits": 32}, "second-order"),
        ({"memory_budget": "20KB", "rule": "gen"}, {"layer__arithmetic": "float"}, "plastic"),
        ({"memory_budget": "20KB", "features": "sparse"}, {"layer__arithmetic": "float"}, None),
        ({}, {"layer__bits": 4}, "plastic"),
        ({}, {"layer__bits": 16}, "second-order"),
        ({}, {"layer__bits": 32}, None),
        ({}, {"layer__half_life": 100}, "second-order"),
        ({}, {"layer__readout": "bayes"}, "counting"),
    ],
)
def test_options_of_an_open_layer_go_to_the_one_that_is_recommended(
    given: dict, options: dict, layer: str | None
) -> None:
    clf = KenyonClassifier(**given)
    if layer is None:
        with pytest.raises(ConfigError, match="and layer is 'auto': expected layer='plastic' or layer='second-order'"):
            clf.set_params(**options)
    else:
        assert clf.set_params(**options).layer.name == layer


def test_a_name_an_instance_and_nested_names_are_the_same_model() -> None:
    made = (
        KenyonClassifier("mse", features=Windows(window=3), shape=(8, 8), n_hidden=60, random_state=0),
        KenyonClassifier(features=Windows((8, 8), units=60, window=3), layer=Plastic("mse"), random_state=0),
        KenyonClassifier(shape=(8, 8), random_state=0).set_params(features__window=3, features__units=60, rule="mse"),
    )
    weights = [clf.partial_fit(BYTES, Y[:300]).weights_ for clf in made]
    assert all(np.array_equal(weights[0], other) for other in weights[1:])


@pytest.mark.parametrize(
    "options",
    [{}, {"memory_budget": "20KB", "shape": (8, 8)}, {"rule": "mse", "shape": (64,)}, {"features": "identity"}],
    ids=str,
)
def test_what_is_settled_prints_as_the_code_that_makes_the_same_model(options: dict) -> None:
    clf = KenyonClassifier(random_state=0, **options).partial_fit(BYTES, Y[:300])
    names = (GEN, INEL, MSE, Dense, Identity, KenyonClassifier, LocalError, Plastic, SecondOrder, Sparse, Windows)
    again = eval(repr(clf.spec_), {part.__name__: part for part in names})
    again.set_params(random_state=0)
    assert again.partial_fit(BYTES, Y[:300]).spec_ == clf.spec_
    assert np.array_equal(again.decision_function(BYTES), clf.decision_function(BYTES))
    assert repr(recommend(64, **options)) == repr(clf.spec_)


def test_parts_that_contradict_the_classifier_are_refused() -> None:
    for options, text in (
        ({"n_hidden": 5, "features": Sparse(units=6)}, "n_hidden is 5"),
        ({"shape": (8, 8), "features": Windows((4, 16))}, "expected the same, or one"),
        ({"rule": "mse", "layer": Plastic("gen")}, "expected one of them"),
        ({"rule": "mse", "layer": "second-order"}, "expected layer='plastic' with a rule"),
    ):
        with pytest.raises(ConfigError, match=text):
            KenyonClassifier(**options).partial_fit(BYTES, Y[:300])


def test_a_fitted_classifier_shows_what_was_settled() -> None:
    clf = KenyonClassifier(memory_budget="8KB", shape=(8, 8), random_state=0)
    assert repr(clf) == "KenyonClassifier(memory_budget='8KB', random_state=0, shape=(8, 8))"
    clf.partial_fit(BYTES, Y[:300])
    assert repr(clf).endswith(f"  # learned as {clf.spec_!r}") and "SecondOrder(bits=16" in clf._repr_html_()
