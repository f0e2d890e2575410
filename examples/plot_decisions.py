"""
From probabilities to label sets
================================

Should a label with a probability of 0.4 be predicted? This depends on the metric. The same
probabilities give different label sets for different metrics, with this package's classifiers and
with any other.
"""

# %%
# One model
# ---------
from sklearn.model_selection import train_test_split

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import make_related_labels

X, Y, _ = make_related_labels(1500, 15, n_features=150, random_state=1)
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=0.4, random_state=0)
clf = MrMPClassifier(d_model=64, max_epochs=8, random_state=0).fit(X_train, Y_train)

# %%
# Every possible threshold
# ------------------------
# The simplest decision is one threshold for all labels. The best threshold depends on the metric:
# for macro F1 it is low here, and for subset accuracy it is high. The dotted thresholds were chosen
# on the few rows held out in `fit`. The curves are those of the test rows, so that the dotted lines
# need not be at their highest points. A dashed line is the score of the rule that is made for the
# metric.
from sklearn_mrmp import ThresholdDisplay

ThresholdDisplay.from_estimator(clf, X_test, Y_test)
print("chosen thresholds:", {metric: round(cut, 2) for metric, cut in clf.thresholds_.items()})

# %%
# Four operating points, one fit
# ------------------------------
# Rows of the table are metrics that decisions were made for, and columns are scores. The best score
# of each column should be on the diagonal, up to the noise of some hundred rows.
import pandas as pd
from sklearn.metrics import accuracy_score, f1_score

METRICS = ["accuracy", "f1_samples", "f1_micro", "f1_macro"]


def scores(labels):
    f1 = {
        f"f1_{average}": f1_score(Y_test, labels, average=average, zero_division=0)
        for average in ("samples", "micro", "macro")
    }
    return {"accuracy": accuracy_score(Y_test, labels)} | f1


rows = {"threshold 0.5": scores(clf.set_params(decision=0.5).predict(X_test))}
for metric in METRICS:
    labels = clf.set_params(metric=metric, decision="optimal").predict(X_test)
    rows[f"decided for {metric}"] = scores(labels)
print(pd.DataFrame(rows).T.round(3).to_string())

# %%
# The same for any classifier
# ---------------------------
# `TunedDecisionClassifier` makes these decisions for any multi-label classifier, and tunes them by
# cross-validation. Here the classifier is a logistic regression, whose own threshold is 0.5.
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import TunedDecisionClassifier

plain = OneVsRestClassifier(LogisticRegression()).fit(X_train, Y_train)
tuned = TunedDecisionClassifier(plain, random_state=0).fit(X_train, Y_train)
rows = {"logistic regression": scores(plain.predict(X_test))}
for metric in METRICS:
    rows[f"decided for {metric}"] = scores(tuned.set_params(metric=metric).predict(X_test))
print(pd.DataFrame(rows).T.round(3).to_string())
