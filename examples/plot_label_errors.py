"""
Find wrong labels
=================

People who write down labels forget some and get others wrong. Out-of-fold probabilities and the
other labels of a row show which entries of a label matrix to check first. This example adds errors
to correct data, so that one can count how many are found.
"""

# %%
# Labels with errors
# ------------------
# The labels are related: some occur together, and some exclude each other. Of all labels that rows
# have, 5 % are removed, and as many wrong labels are added.
import numpy as np

from sklearn_mrmp.datasets import make_related_labels

options = {"strength": 1.0, "words_per_label": 1.5}  # few words, close relations
X, Y, _ = make_related_labels(1000, 15, n_features=150, **options, random_state=0)
truth = np.asarray(Y) == 1
rng = np.random.default_rng(0)
n_errors = round(0.05 * truth.sum())
forgotten = rng.permutation(np.flatnonzero(truth))[:n_errors]
mistaken = rng.permutation(np.flatnonzero(~truth))[:n_errors]
given = truth.copy()
given.flat[forgotten], given.flat[mistaken] = False, True
is_error = truth != given
print(f"{is_error.sum()} of {is_error.size} entries are wrong")

# %%
# Probabilities of rows that were not seen
# ----------------------------------------
# The classifier is cross-fitted on the labels with errors. The out-of-fold probabilities of a row
# do not depend on the labels of this row.
from sklearn_mrmp import MrMPClassifier

classifier = MrMPClassifier(voters=("linear", "neighbors"), cv=5, random_state=0)
P = classifier.fit(X, given.astype(int)).oof_proba_

# %%
# The most suspicious entries
# ---------------------------
# ``given`` is the entry of the matrix, ``suggested`` the opposite, and ``because`` the label of the
# row that is the strongest evidence against the given entry.
from sklearn_mrmp import label_errors, label_graph

graph = label_graph(given.astype(int))
errors = label_errors(given, P, graph)
print(errors.to_frame().head(10).to_string())

# %%
# How many of the first k are wrong
# ---------------------------------
# The simplest way is to rank entries by the difference between label and probability. With related
# labels more errors are found, since a label is suspicious if related labels are missing, or if the
# row has a label that excludes it.
import matplotlib.pyplot as plt


def found(order, n_most=200):
    """Share of errors among the first k entries, for every k."""
    return is_error.flat[order[:n_most]].cumsum() / np.arange(1, n_most + 1)


def order_of(errors):
    """Positions of the entries in the matrix, the most suspicious first."""
    return np.ravel_multi_index((errors.rows, errors.labels), given.shape)


everything = {"min_score": 0.0}
ways = {
    "with the label graph": order_of(label_errors(given, P, graph, **everything)),
    "without it": order_of(label_errors(given, P, **everything)),
    "difference to the probability": np.argsort(-np.abs(given - P), axis=None),
}
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, order in ways.items():
    share = found(order)
    print(f"{name}: {share[99]:.0%} of the first 100 are wrong")
    ax.plot(np.arange(1, len(share) + 1), share, label=name)
ax.set(xlabel="entries looked at", ylabel="share that is wrong", ylim=(0, 1.02))
ax.legend()
plt.show()
