"""
Suggest tags: some are known, which others?
===========================================

A question has some tags already, or its author accepts one suggestion after the other. Pass the
known labels of a row to ``predict_proba`` as `known`. All other probabilities are then conditional
on them.
"""

# %%
# Questions about cooking
# -----------------------
# The titles are short, so that their words alone are not enough to predict all tags. The tags come
# in groups: questions about *dough* are often also about *yeast* and *ovens*, and hardly ever about
# *sushi*.
import numpy as np

groups = {
    "bread": ["bread", "dough", "yeast", "oven"],
    "fish": ["fish", "sushi", "rice", "knives"],
    "sweets": ["cake", "chocolate", "sugar", "oven"],
    "storage": ["freezing", "food-safety", "meat", "fish"],
}
tags = sorted({tag for group in groups.values() for tag in group})


def write_questions(n_questions, rng, n_words=80):
    """Bags of a few words; each tag has words of its own, and most words mean nothing."""
    own_words = rng.integers(n_words, size=(len(tags), 4))
    X, Y = np.zeros((n_questions, n_words)), np.zeros((n_questions, len(tags)), dtype=int)
    for row in range(n_questions):
        group = groups[rng.choice(list(groups))]
        for tag in rng.choice(group, size=rng.integers(2, 5), replace=False):
            Y[row, tags.index(tag)] = 1
            if rng.random() < 0.5:  # not every tag has left a word in the title
                X[row, rng.choice(own_words[tags.index(tag)])] = 1
        X[row, rng.integers(n_words, size=3)] = 1
    return X, Y


X, Y = write_questions(1500, np.random.default_rng(0))

# %%
# A classifier that reads known tags
# ----------------------------------
# `known` works after any fit, by the label graph, the label sets and the neighbours. `known_rate`
# is about the share of the tags that will be known. With it, the logistic regression, and the
# network if there is one, are also trained to read known tags. Predictions without known tags do
# not change.
from sklearn_mrmp import MrMPClassifier

classifier = MrMPClassifier(voters=("linear", "neighbors"), random_state=0)
classifier.fit(X[:1200], Y[:1200], known_rate=0.5)

# %%
# How much does it help? The author names half of the tags, and the others are to be predicted.
from sklearn.metrics import average_precision_score

is_told = (Y[1200:] == 1) & (np.random.default_rng(1).random((300, len(tags))) < 0.5)
told = np.where(is_told, 1, np.nan)
untold = np.isnan(told)
for name, known in (("ignored", None), ("read", told)):
    P = classifier.predict_proba(X[1200:], known=known)
    print(f"known tags {name}: {average_precision_score(Y[1200:][untold], P[untold]):.3f}")

# %%
# Suggest, accept one, suggest again
# ----------------------------------
# An accepted suggestion is a 1, a rejected one is a 0, and everything else is NaN, which means not
# known. Here the author of a question with four tags accepts the right ones and rejects the others.
row = 1200 + np.flatnonzero(Y[1200:].sum(axis=1) == 4)[0]
question, truth = X[[row]], Y[row]
known = np.full((1, len(tags)), np.nan)
history = [classifier.predict_proba(question)[0]]
while len(history) < 5:
    suggested = np.where(np.isnan(known[0]), history[-1], -1).argmax()
    known[0, suggested] = truth[suggested]
    history.append(classifier.predict_proba(question, known=known)[0])
    answer = "accepted" if truth[suggested] else "rejected"
    print(f"{tags[suggested]}: {answer}")

print("tags of the question:", [tag for tag, has in zip(tags, truth, strict=True) if has])

# %%
# With every answer the probabilities of the related tags rise, and the others fall.
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for j, tag in enumerate(tags):
    ax.plot([P[j] for P in history], marker="o", label=tag, lw=3 if truth[j] else 1)
ax.set(xlabel="answers of the author", ylabel="probability", xticks=range(len(history)))
fig.legend(loc="outside right", fontsize="small", title="bold lines are right")
plt.show()
