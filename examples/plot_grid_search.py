"""
Searching for settings
======================

`MrMPClassifier` has flat parameters, so that scikit-learn's searches need no prefixes. The label
graph is a parameter like any other, so that a search can also test whether relations help at all.
"""

# %%
# A small grid
# ------------
# The grid has two ways to learn the relations, no relations, and two learning rates. A function as
# `relations` can use all options of `label_graph`. Decisions need no search, since every fit tunes
# them for four metrics.
from functools import partial

from sklearn.model_selection import GridSearchCV

from sklearn_mrmp import MrMPClassifier, label_graph
from sklearn_mrmp.datasets import make_related_labels

X, Y, _ = make_related_labels(800, 12, n_features=120, random_state=2)
X_train, Y_train, X_test, Y_test = X[:600], Y[:600], X[600:], Y[600:]

relations = {
    "plain tests": "chi2",
    "corrected tests": partial(label_graph, correction="fdr_bh"),
    "no relations": None,
}
grid = {"relations": list(relations.values()), "lr": [0.003, 0.01]}
search = GridSearchCV(
    MrMPClassifier(d_model=32, max_epochs=6, n_threads=1, random_state=0),
    grid,
    scoring="f1_micro",
    cv=2,
    n_jobs=2,
)
search.fit(X_train, Y_train)

# %%
# What it found
# -------------
# With two folds of a few hundred rows, differences of a hundredth are noise. Look at the deviations
# before the ranks.
import pandas as pd

table = pd.DataFrame(search.cv_results_["params"])
table["relations"] = [
    next(name for name, known in relations.items() if known is tried["relations"])
    for tried in search.cv_results_["params"]
]
table["f1_micro"] = search.cv_results_["mean_test_score"]
table["deviation"] = search.cv_results_["std_test_score"]
print(table.sort_values("f1_micro", ascending=False).round(3).to_string(index=False))
best_choice = table.loc[search.best_index_]
print(f"\nbest: {best_choice['relations']}, lr={best_choice['lr']}")

# %%
# Use it
# ------
# The search has fitted the best settings again on all training rows. `metric` can still be changed.
from sklearn.metrics import accuracy_score, f1_score

best = search.best_estimator_
print(f"test micro F1 {f1_score(Y_test, best.predict(X_test), average='micro'):.3f}")
labels = best.set_params(metric="accuracy").predict(X_test)
print(f"test subset accuracy {accuracy_score(Y_test, labels):.3f}")

# %%
# A picture of the grid
# ---------------------
import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for lr, rows in table.groupby("lr"):
    ax.errorbar(rows["f1_micro"], rows["relations"], xerr=rows["deviation"], fmt="o", label=lr)
ax.set_xlabel("micro F1, mean and deviation of two folds")
ax.legend(title="lr", frameon=False)
