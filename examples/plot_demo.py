"""
The demo: MrMP and the baselines
================================

This script draws bag-of-words data in which some labels attract and some avoid each other. It
trains MrMP and the baselines on the data, and prints how many of the planted relations the learned
label graph contains. It takes about a minute and a half on two cores. ``make demo`` runs it.
"""

# %%
# Data with known relations
# -------------------------
# Half of the labels of each group add hardly any words to their rows, so that they must mostly be
# predicted by related labels.
from pathlib import Path

import matplotlib as mpl

if __name__ == "__main__":
    mpl.use("Agg")

from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import (
    ComparisonDisplay,
    LabelGraphDisplay,
    MLARAMClassifier,
    MLKNNClassifier,
    MrMPClassifier,
    compare_classifiers,
    label_graph,
)
from sklearn_mrmp.datasets import make_related_labels

X, Y, planted = make_related_labels(2000, 20, n_features=300, random_state=0)
X_train, Y_train, X_test, Y_test = X[:1500], Y[:1500], X[1500:], Y[1500:]
print(f"{X_train.shape[0]} training rows, {X_test.shape[0]} test rows, {Y.shape[1]} labels")

# %%
# Compare
# -------
# Every method gets the same rows and the same decision rules. To add a baseline, add a line.
methods = {
    "MrMP": MrMPClassifier(random_state=0),
    "MrMP without graph": MrMPClassifier(relations=None),
    "one-vs-rest LR": OneVsRestClassifier(LogisticRegression(max_iter=1000)),
    "ML-KNN": MLKNNClassifier(),
    "ML-ARAM": MLARAMClassifier(),
}
result = compare_classifiers(methods, X_train, Y_train, X_test, Y_test, isolate=False, verbose=1)
print(result)

# %%
# The label graph
# ---------------
graph = label_graph(Y_train, correction="fdr_bh")
recovery = planted.recovery(graph)
print(graph)
print(
    f"planted relations recovered: precision {recovery.precision:.2f}, recall {recovery.recall:.2f}"
)

# %%
# Pictures
# --------
folder = Path("demo_output")
folder.mkdir(exist_ok=True)
LabelGraphDisplay.from_graph(graph).figure_.savefig(folder / "label_graph.png", dpi=120)
ComparisonDisplay.from_result(result).figure_.savefig(folder / "comparison.png", dpi=120)
print(f"pictures: {', '.join(str(path) for path in sorted(folder.glob('*.png')))}")
