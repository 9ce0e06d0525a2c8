# %% [markdown]
# # A table from River
#
# This example is for users of River: predict, then learn, on a stream that comes with it. No scaler is needed. The
# peers are River's own.

# %%
from river import datasets, evaluate, linear_model, metrics, multiclass, naive_bayes, preprocessing, tree

from kenyon.apps.river import RiverClassifier

models = {
    "Kenyon": RiverClassifier(seed=0),
    "Gaussian naive Bayes": naive_bayes.GaussianNB(),
    "Hoeffding tree": tree.HoeffdingTreeClassifier(),
    "Scaler and logistic regression": preprocessing.StandardScaler()
    | multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
}

# %%
print(f"{'ImageSegments, prequential':32} accuracy")
for name, model in models.items():
    score = evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    print(f"{name:32} {100 * score.get():6.1f} %")
