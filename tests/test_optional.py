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
