"""A classifier that was pickled goes on in another process as if it had never left this one."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from making import CASES, held, make, stream

X, Y = stream()
LEARN = """
import pickle, sys
sys.path.insert(0, {tests!r})
from making import held, stream
X, Y = stream()
models = pickle.loads(sys.stdin.buffer.read())
for case, model in models.items():
    model.partial_fit(X, Y)
    model.learn_one(X[0], int(Y[0]))
    models[case] = held(model)
sys.stdout.buffer.write(pickle.dumps(models))
"""


def test_every_kind_of_model_goes_on_learning_in_a_new_process() -> None:
    models = {case: make(case).partial_fit(X[:50], Y[:50]) for case in CASES}
    text = LEARN.format(tests=str(Path(__file__).parent))
    there = subprocess.run(
        [sys.executable, "-c", text], input=pickle.dumps(models), capture_output=True, check=True
    ).stdout
    for case, state in pickle.loads(there).items():
        here = models[case].partial_fit(X, Y).learn_one(X[0], int(Y[0]))
        assert state == held(here), case


@pytest.mark.parametrize("case", CASES)
def test_compiled_code_is_no_part_of_a_model(case: str) -> None:
    clf = make(case).partial_fit(X, Y)
    clf.predict(X)
    assert b"CPUDispatcher" not in pickle.dumps(clf)
    assert held(pickle.loads(pickle.dumps(clf))) == held(clf)
