# %% [markdown]
# # A data frame in a scikit-learn pipeline
#
# This example is for users of pandas and scikit-learn: a frame with numbers and categories goes through a pipeline. The
# classifier is the last step; cross-validation treats it as any other.

# %%
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kenyon import KenyonClassifier

wine = load_wine(as_frame=True)
frame = wine.data.assign(strength=pd.cut(wine.data["alcohol"], 3, labels=["light", "medium", "strong"]))
numbers = [name for name in frame if name != "strength"]

# %%
kenyon = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["strength"]), remainder="passthrough"),
    KenyonClassifier(random_state=0),
)
sgd = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["strength"]), (StandardScaler(), numbers)),
    SGDClassifier(random_state=0),
)
table = pd.DataFrame(
    {name: cross_val_score(model, frame, wine.target, cv=5) for name, model in {"Kenyon": kenyon, "SGD": sgd}.items()}
)
print((100 * table.describe().loc[["mean", "std"]]).round(1))
