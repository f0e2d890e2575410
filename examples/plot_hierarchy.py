"""
Relations you know: a hierarchy
===============================

Relations need not be learned. You can pass a hierarchy of labels, or any other graph, alone or
together with the learned relations.
"""

# %%
# A tree of topics
# ----------------
# There are three subjects with four topics each. A text about *chess* is also about *games*. Some
# topics have many texts, and some only a handful.
import numpy as np

tree = {
    "games": ["chess", "go", "poker", "bridge"],
    "sports": ["tennis", "rowing", "judo", "golf"],
    "music": ["opera", "jazz", "folk", "techno"],
}
parents = {topic: subject for subject, topics in tree.items() for topic in topics}
names = [*tree, *parents]
position = {name: j for j, name in enumerate(names)}


def write_texts(n_texts, rng, n_words=90):
    """Bags of words: some words belong to a subject, some to a topic, most to nothing."""
    own_words = rng.integers(n_words, size=(len(names), 6))
    topics = list(parents)
    shares = np.tile([0.5, 0.3, 0.13, 0.07], len(tree)) / len(tree)
    X, Y = np.zeros((n_texts, n_words)), np.zeros((n_texts, len(names)), dtype=int)
    for row in range(n_texts):
        for topic in rng.choice(topics, size=rng.integers(1, 3), replace=False, p=shares):
            for name in (topic, parents[topic]):
                Y[row, position[name]] = 1
                X[row, rng.choice(own_words[position[name]], size=2)] = 1
        X[row, rng.integers(n_words, size=8)] = 1
    return X, Y


X, Y = write_texts(1400, np.random.default_rng(0))
X_train, Y_train, X_test, Y_test = X[:700], Y[:700], X[700:], Y[700:]
print({name: int(count) for name, count in zip(names, Y_train.sum(axis=0), strict=True)})

# %%
# The hierarchy as a relation
# ---------------------------
# `hierarchy_relation` turns the tree into an adjacency from parent to child. Arrows show the
# direction. The network has separate weights for the two directions.
from sklearn_mrmp import LabelGraph, LabelGraphDisplay, hierarchy_relation

parent_of = hierarchy_relation(parents, label_names=names)
LabelGraphDisplay.from_graph(LabelGraph({"parent": parent_of}, names), layout="spring")

# %%
# Together with learned relations
# -------------------------------
# In a mapping, ``"chi2"`` means the learned relation of that name. The learned graph contains most
# of the tree, and also that topics of a subject avoid each other. It does not know which of two
# labels is the parent.
import pandas as pd
from sklearn.metrics import f1_score

from sklearn_mrmp import MrMPClassifier

Y_train_named = pd.DataFrame(Y_train, columns=names)
priors = {
    "no relations": None,
    "hierarchy": {"parent": parent_of},
    "learned": "chi2",
    "learned and hierarchy": {"pulling": "chi2", "pushing": "chi2", "parent": parent_of},
}
rows, fitted = {}, {}
for name, relations in priors.items():
    clf = MrMPClassifier(
        d_model=32,
        max_epochs=8,
        lr=0.003,
        feature_dropout=0.5,
        relations=relations,
        voters=("network",),  # the network alone, to see what relations change in it
        label_sets=False,
        random_state=0,
    )
    fitted[name] = clf.fit(X_train, Y_train_named)
    labels = clf.set_params(metric="f1_micro").predict(X_test)
    child_without_parent = sum(
        np.sum(labels[:, position[topic]] > labels[:, position[subject]])
        for topic, subject in parents.items()
    )
    rows[name] = {
        "micro F1": f1_score(Y_test, labels, average="micro"),
        "macro F1": f1_score(Y_test, labels, average="macro", zero_division=0),
        "topics without their subject": child_without_parent,
    }
print(pd.DataFrame(rows).T.round(3).to_string())

# %%
# With one seed and a few hundred rows, differences of one or two hundredths are noise. To see
# whether a given graph helps on your data, compare classifiers with different `relations` over
# several seeds, with `compare_classifiers`.
LabelGraphDisplay.from_estimator(fitted["learned and hierarchy"])
