"""What works without any extra, and without modules that only some systems have.

Each test is a process of its own, where an extra that is asked for is an error and not a reason to skip.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ALONE = """
import sys

for name in ("fcntl", "resource"):
    sys.modules[name] = None  # as on a system that has no such module
from kenyon import KenyonClassifier

model = KenyonClassifier(n_hidden=40, random_state=0)
model.partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).save(sys.argv[1])
assert KenyonClassifier.load(sys.argv[1]).predict([[0.0, 1.0]])[0] == 0
print(*sorted(name for name in sys.modules if name.startswith("kenyon.") and name.count(".") == 1))
"""


def test_the_classifier_stands_alone(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, tmp_path / "m"], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "kenyon.classifier" in loaded
    assert loaded.isdisjoint(
        {f"kenyon.{package}" for package in ("streams", "evaluation", "baselines", "backbones", "cli")}
    )


LIGHT = """
import sys

# as where nothing but the core is installed
for name in "sklearn scipy pandas hypothesis threadpoolctl joblib matplotlib pyarrow PIL torch".split():
    sys.modules[name] = None
import pickle
import numpy as np
from kenyon import KenyonClassifier
from kenyon.data.streams import load_dataset
from kenyon.errors import InputError, LabelWarning, NotFittedError
import kenyon.apps.teach, kenyon.cli, kenyon.data.backbones, kenyon.data.shards, kenyon.lab.comparison, kenyon.lab.plots
import kenyon.lab.evaluation, kenyon.lab.report, kenyon.lab.search, kenyon.lab.sweeps, kenyon.paper.transfer

digits = load_dataset("digits")
X, y = digits.train.X[:300], digits.train.y[:300]
for params in ({"memory_budget": "20KB", "shape": (8, 8)}, {"rule": "mse", "n_hidden": 1000}, {}):
    model = KenyonClassifier(random_state=0, **params)
    try:
        model.predict(X)
    except NotFittedError as error:
        assert type(pickle.loads(pickle.dumps(error))) is NotFittedError
    assert model.partial_fit(X.astype(float) if not params else X, y).score(X, y) > 0.4
    for bad in (X[0], X[:, :5], X.tolist() + [[0]], X + 1j, X[:0], "word"):
        try:
            model.predict(bad)
        except InputError:
            continue
        raise AssertionError(bad)
    assert "KenyonClassifier" in model._repr_html_()
    model.learn_one(X[0], y[0]).partial_fit(X.tolist(), y.tolist())
    model.save(sys.argv[1])
    assert np.array_equal(KenyonClassifier.load(sys.argv[1]).predict(X), model.predict(X))
import warnings
with warnings.catch_warnings(record=True) as seen:
    model.partial_fit(X.astype(float), y[:, None])
assert [warning.category for warning in seen] == [LabelWarning]
"""


def test_nothing_needs_scikit_learn_or_scipy(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", LIGHT, tmp_path / "m.safetensors"], check=True)


SYSTEM = """
import sys

for name in ("fcntl", "resource"):
    sys.modules[name] = None
import kenyon.cli, kenyon.lab.evaluation, kenyon.learners, kenyon.lab.search, kenyon.data.streams, kenyon.utils.system
from pathlib import Path

with kenyon.utils.system.locked(Path(sys.argv[1])) as held:
    assert held
"""


def test_every_package_imports_without_fcntl_and_resource(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SYSTEM, tmp_path / "lock"], check=True)
