# %% [markdown]
# # A device loop, in C
#
# This example is for engineers: a model is exported as C99, compiled for this machine, and continues to learn there. A
# microcontroller runs the same sources.

# %%
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from kenyon import KenyonClassifier
from kenyon.data.streams import load_dataset
from kenyon.export import export_model

digits = load_dataset("digits")
X, y = np.asarray(digits.train.X), digits.train.y
known = y < 8
clf = KenyonClassifier(memory_budget="8KB", shape=(8, 8), random_state=0).partial_fit(X[known], y[known])

# %%
folder = Path(tempfile.mkdtemp())
export_model(clf, "c", folder)
compiler = "cc" if shutil.which("cc") else f"{sys.executable} -m ziglang cc"
subprocess.run(["make", "--silent", "-C", folder, f"CC={compiler}"], check=True)
sys.path.insert(0, str(folder))
from kenyon_device import Model  # noqa: E402

# %%
device = Model()
for label in (8, 9):
    device.add_class(label)
for sample, label in zip(X[~known], y[~known], strict=True):
    device.learn(bytes(sample), int(label))
guesses = np.array([device.predict(bytes(sample)) for sample in np.asarray(digits.test.X)])
print(f"{'classes':10} accuracy on the device")
for classes in (range(8), (8, 9)):
    rows = np.isin(digits.test.y, classes)
    print(f"{min(classes)} to {max(classes):5} {100 * np.mean(guesses[rows] == digits.test.y[rows]):5.1f} %")
