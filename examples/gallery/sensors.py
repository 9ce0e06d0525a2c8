# %% [markdown]
# # Sensors that change
#
# This example is for people with sensors: halfway through the stream the cables of thirteen sensors are plugged into
# other sockets. A model with a half-life adapts; one without averages over everything it has seen. The readings are
# those of scikit-learn's wine data.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from kenyon import KenyonClassifier, SecondOrder

X, y = load_wine(return_X_y=True)
rng = np.random.default_rng(0)
rows = rng.integers(0, len(X), 6000)
stream, labels = X[rows], y[rows]
stream[3000:] = stream[3000:][:, rng.permutation(X.shape[1])]

# %%
models = {
    "half-life of 300 samples": KenyonClassifier(layer=SecondOrder(half_life=300), random_state=0),
    "no half-life": KenyonClassifier(random_state=0),
}
figure, axes = plt.subplots(figsize=(4.8, 3))
for name, model in models.items():
    right = model.test_then_learn(stream, labels) == labels
    axes.plot(np.arange(50, len(rows), 100), 100 * right.reshape(-1, 100).mean(axis=1), label=name)
axes.set(xlabel="samples", ylabel="right before learning, %", ylim=(0, 103))
axes.legend()
plt.show()
