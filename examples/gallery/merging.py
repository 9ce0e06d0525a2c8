# %% [markdown]
# # Merge what two machines learned, and unlearn a sample
#
# This example is for people whose data lie in several places: two models learn different digits. Merged, they are the
# model that saw everything, to the bit. A sample that should not have been learned is removed again.

# %%
import numpy as np

from kenyon import KenyonClassifier
from kenyon.data.streams import load_dataset

digits = load_dataset("digits")
X, y = np.asarray(digits.train.X), digits.train.y
options = {"shape": (8, 8), "layer": "second-order", "random_state": 0}

low = KenyonClassifier(**options).partial_fit(X[y < 5], y[y < 5])
high = KenyonClassifier(**options).partial_fit(X[y >= 5], y[y >= 5])
merged = KenyonClassifier.merge([low, high])

# %%
both = KenyonClassifier(**options).partial_fit(X[y < 5], y[y < 5]).partial_fit(X[y >= 5], y[y >= 5])
same = all(np.array_equal(a, b) for a, b in zip(merged.to_arrays().values(), both.to_arrays().values(), strict=True))

# %%
before = merged.predict(X[:200])
merged.partial_fit(X[:1], [7])  # a wrong label
merged.unlearn(X[:1], [7])
print(f"{'classes of the two models':36} {low.classes_} and {high.classes_}")
print(f"{'equals a model that saw everything':36} {same}")
print(f"{'accuracy of the merged model':36} {100 * merged.score(np.asarray(digits.test.X), digits.test.y):.1f} %")
print(f"{'predictions changed by unlearning':36} {int((merged.predict(X[:200]) != before).sum())} of 200")
