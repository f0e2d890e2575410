# %% [markdown]
# # Which moods does this song have? MrMP beside its baselines
#
# A song may be *happy* and *amazed* at once, hardly ever *happy* and *sad*. The **emotions** data
# (Trohidis et al., 2008) describe 593 songs by 72 measurements of rhythm and timbre, and experts
# have given each of them some of six moods. How well can the moods be told from the sound, and
# which classifier should we use?
#
# The data are read from `SKLEARN_MRMP_DATA_HOME` when that names a folder which has them, and are
# downloaded once otherwise.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_mrmp.datasets import fetch_mulan

data_home = os.environ.get("SKLEARN_MRMP_DATA_HOME")
train = fetch_mulan("emotions", data_home=data_home, subset="train")
test = fetch_mulan("emotions", data_home=data_home, subset="test")
moods = ["amazed-surprised", "happy-pleased", "relaxing-calm", "quiet-still", "sad-lonely", "angry"]
X_train, Y_train, X_test, Y_test = train.data, train.target, test.data, test.target
print(f"{len(X_train)} songs to learn from, {len(X_test)} to test on, {X_train.shape[1]} features")
pd.DataFrame({"training songs": Y_train.sum(axis=0), "test songs": Y_test.sum(axis=0)}, index=moods)

# %% [markdown]
# ## Who goes with whom
#
# Before any model: a chi-squared test on every pair of moods. Blue moods come together more
# often than chance would have it, red ones less often. An arrow from i to j is as thick as
# knowing i changes what to expect of j.

# %%
from sklearn_mrmp import LabelGraphDisplay, label_graph

graph = label_graph(Y_train, label_names=moods, correction="fdr_bh", edge_weight="conditional")
picture = LabelGraphDisplay.from_graph(graph)
columns = ["source", "target", "relation", "weight", "lift", "co_occurrence"]
graph.to_frame()[columns].head(6).round(2)

# %% [markdown]
# ## The contestants
#
# MrMP with and without its label graph, the paper's two classical baselines, and three that every
# practitioner would try: one logistic regression per mood (binary relevance), a chain of them,
# and a random forest. Scale matters to some of them, so they get standardised features; MrMP
# standardises by itself.

# %%
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_mrmp import MLARAMClassifier, MLKNNClassifier, MrMPClassifier

logistic = LogisticRegression(max_iter=1000)
methods = {
    "MrMP": MrMPClassifier(d_model=64, n_threads=1),
    "MrMP without graph": MrMPClassifier(d_model=64, n_threads=1, relations=None),
    "ML-KNN": make_pipeline(StandardScaler(), MLKNNClassifier()),
    "ML-ARAM": MLARAMClassifier(),
    "logistic regression": make_pipeline(StandardScaler(), OneVsRestClassifier(logistic)),
    "classifier chain": make_pipeline(
        StandardScaler(), ClassifierChain(logistic, order="random", random_state=0)
    ),
    "random forest": RandomForestClassifier(n_estimators=300, min_samples_leaf=2),
}

# %% [markdown]
# ## A fair comparison
#
# For each of three seeds a tenth of the training songs is set aside. Every method is fitted on the
# same other songs, and its decisions are tuned on the same songs set aside, separately for each
# metric. The test songs are scored once. ACC is the share of songs whose moods are *all* right;
# ebF1, miF1 and maF1 are F1 averaged over songs, over decisions, and over moods.

# %%
from IPython.display import Markdown

from sklearn_mrmp import compare_classifiers

result = compare_classifiers(methods, X_train, Y_train, X_test, Y_test, seeds=3, isolate=False)
Markdown(result.to_markdown())

# %% [markdown]
# The same as a picture; the ring marks the best of each metric. Bars are deviations over seeds, and
# with about two hundred test songs, a difference of one or two hundredths means little.

# %%
from sklearn_mrmp import ComparisonDisplay

picture = ComparisonDisplay.from_result(result, title="emotions, 202 test songs")
# %% [markdown]
# ## Two decisions, one model
#
# *optimal* is the rule made for the metric, *threshold* is one cut for all moods, as in the
# paper. How much is won by deciding well, with any of the methods?

# %%
frame = result.to_frame().set_index(["decision", "method"])
metrics = list(result.metrics)
won = frame.loc["optimal", metrics] - frame.loc["threshold", metrics]
won.astype(float).round(3)

# %% [markdown]
# ## Where the errors are
#
# The winner by micro F1, mood by mood. The picture of its errors says which moods are taken for
# which: the share of songs *with* the mood of the row, *without* that of the column, that were
# given that of the column.

# %%
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from sklearn_mrmp import TunedDecisionClassifier

winner = result.best["optimal", "f1_micro"]
model = TunedDecisionClassifier(clone(methods[winner]), metric="f1_micro", cv=5, random_state=0)
predicted = model.fit(X_train, Y_train).predict(X_test)
aucs = roc_auc_score(Y_test, model.predict_proba(X_test), average=None)
print(f"best by micro F1: {winner}")
for mood, auc in sorted(zip(moods, aucs, strict=True), key=lambda pair: -pair[1]):
    print(f"  {mood:18} ROC-AUC {auc:.3f}")

# %%
missing = 1 - Y_test
songs = np.maximum(Y_test.T @ missing, 1)  # no song is with and without the same mood
mistaken = Y_test.T @ (predicted * missing) / songs
figure, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
image = ax.imshow(mistaken, cmap="Reds", vmin=0)
ax.set_xticks(range(len(moods)), moods, rotation=40, ha="right")
ax.set_yticks(range(len(moods)), moods)
ax.set(xlabel="given, though it is not there", ylabel="songs that are")
bar = figure.colorbar(image, label="share of songs")

# %% [markdown]
# ## What to take home
#
# - The label graph says in one picture what the moods have to do with each other, before any model.
# - All methods are compared on the same songs with the same decisions; what remains is the model.
# - Deciding for the metric you care about is often worth as much as the choice of the model, and
#   `TunedDecisionClassifier` does it for any of them.
# - Hundreds of songs with six moods are few for a network: read the table, not the title. MrMP was
#   made for thousands of texts with dozens to hundreds of labels, and the same comparison there is
#   `python -m sklearn_mrmp compare --dataset bibtex`.
