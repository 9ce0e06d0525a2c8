# %% [markdown]
# # Sounds from a microphone
#
# This example is for people with a microphone: three sounds are learned from five recordings each, then recognised.
# The sounds are synthesised here; `examples/` and the guide use real recordings. The front end turns int16 samples
# into a small spectrogram in integers, as a microcontroller does.

# %%
import matplotlib.pyplot as plt
import numpy as np

from kenyon import KenyonClassifier
from kenyon.features.front import Spectra

RATE = 8000
rng = np.random.default_rng(0)


def record(kind: str) -> np.ndarray:
    """Half a second of sound: a rising tone, a falling tone or two tones, with noise and a speed of its own."""
    n = int(RATE * rng.uniform(0.4, 0.6))
    t = np.linspace(0, 1, n)
    pitch = {"rising": 300 + 900 * t, "falling": 1200 - 900 * t, "two tones": np.where(t < 0.5, 500.0, 900.0)}[kind]
    wave = np.sin(2 * np.pi * np.cumsum(pitch * rng.uniform(0.95, 1.05)) / RATE) * np.hanning(n)
    return np.round(6000 * wave + rng.normal(0, 100, n)).astype(np.int16)


# %%
front = Spectra(rate=RATE)
clf = KenyonClassifier(memory_budget="8KB", random_state=0, **front.options)
kinds = ("rising", "falling", "two tones")
for kind in kinds:
    clf.partial_fit(front.transform([record(kind) for _ in range(5)]), [kind] * 5)

# %%
figure, places = plt.subplots(1, 3, figsize=(5, 2.4), sharey=True)
for kind, axes in zip(kinds, places, strict=True):
    picture = front.transform([record(kind)])
    axes.imshow(picture.reshape(front.shape).T, origin="lower", aspect="auto")
    axes.set(title=f"{kind}: {clf.predict(picture)[0]}", xlabel="frame")
places[0].set_ylabel("band")
plt.show()
