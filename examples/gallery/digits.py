# %% [markdown]
# # Digits, two classes at a time
#
# This example is for everyone who starts: a 20 KB model learns the digits in five tasks. After each task, the accuracy
# on every task so far is measured.

# %%
import matplotlib.pyplot as plt
import numpy as np

from kenyon import KenyonClassifier
from kenyon.data.streams import Curriculum, load_dataset

stream = Curriculum("class-incremental", seed=0).open(load_dataset("digits"))
clf = KenyonClassifier(memory_budget="20KB", shape=(8, 8), random_state=0)

# %%
n_tasks = len(stream.episodes)
accuracy = np.full((n_tasks, n_tasks), np.nan)
for now, task in enumerate(stream.episodes):
    clf.partial_fit(*task.train())
    for past in range(now + 1):
        accuracy[now, past] = clf.score(*stream.episodes[past].test())

# %%
figure, axes = plt.subplots(figsize=(4.8, 3))
for past in range(n_tasks):
    classes = " and ".join(map(str, stream.episodes[past].classes))
    axes.plot(range(past + 1, n_tasks + 1), 100 * accuracy[past:, past], marker="o", label=classes)
axes.set(xlabel="tasks learned", ylabel="accuracy, %", ylim=(0, 103), xticks=range(1, n_tasks + 1))
axes.legend(title="digits", loc="lower left")
plt.show()
