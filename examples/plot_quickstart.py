"""
Quickstart
==========

Fit `MrMPClassifier`, predict, and look at what it has learned.
"""

# %%
# Data
# ----
# A row can have any number of labels. `make_related_labels` draws word counts in which some labels
# occur together and some avoid each other. You can use any dense or sparse matrix, or a data frame.
from sklearn.model_selection import train_test_split

from sklearn_mrmp.datasets import make_related_labels

X, Y, planted = make_related_labels(1200, 12, n_features=150, random_state=0)
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)
print(f"{X_train.shape[0]} training rows, {X.shape[1]} words, {Y.shape[1]} labels")
print(f"labels per row: {Y.sum(axis=1).mean():.2f}")

# %%
# Fit
# ---
# The rows need no preparation. Three base learners are fitted: a network, a logistic regression,
# and the most similar training rows. A tenth of the training rows is held out to find their weights
# and to tune the decisions. There are few epochs here, to save time.
from sklearn_mrmp import MrMPClassifier

clf = MrMPClassifier(max_epochs=8, random_state=0).fit(X_train, Y_train)
print(f"trained {clf.n_iter_} epochs; losses of the last: {clf.history_[-1]['train_loss']:.3f} on")
print(f"training rows, {clf.history_[-1]['valid_loss']:.3f} on the held-out rows")
print("weights:", {name: round(weight, 2) for name, weight in clf.vote_weights_.items()})

# %%
# Predict
# -------
# `predict_proba` has a column for each label. The decisions of `predict` are tuned for
# micro-averaged F1.
import numpy as np

P = clf.predict_proba(X_test)
labels = clf.predict(X_test)
np.set_printoptions(precision=2, suppress=True)
print("probabilities", P[1])
print("predicted    ", labels[1])
print("true         ", Y_test[1])

# %%
# The best decisions depend on the metric. Another metric needs no new training, since `fit` has
# tuned the decisions for four metrics.
from sklearn.metrics import accuracy_score, f1_score

for metric in ("f1_micro", "accuracy"):
    labels = clf.set_params(metric=metric).predict(X_test)
    print(
        f"decided for {metric:8}:  micro F1 {f1_score(Y_test, labels, average='micro'):.3f},"
        f"  all labels right {accuracy_score(Y_test, labels):.3f},"
        f"  labels per row {labels.sum(axis=1).mean():.2f}"
    )

# %%
# Look inside
# -----------
# These pictures show the label graph that was learned, and the losses of the training.
from sklearn_mrmp import LabelGraphDisplay, TrainingHistoryDisplay

print(clf.label_graph_)
LabelGraphDisplay.from_estimator(clf)
TrainingHistoryDisplay.from_estimator(clf)

# %%
# Keep it
# -------
# A fitted classifier is an ordinary scikit-learn estimator. It can be cloned, used in searches and
# pipelines, and saved.
import tempfile
from pathlib import Path

import joblib

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.joblib")
    joblib.dump(clf, path)
    again = joblib.load(path)
print("the same after loading:", np.array_equal(again.predict_proba(X_test), P))
