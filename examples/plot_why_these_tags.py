"""
Why these tags?
===============

``explain`` shows how the log odds of a label are computed: what each base learner (voter) adds,
which words it reads, which training rows are similar, and which other labels matter. The parts add
up to the log odds of what ``predict_proba`` returns.
"""

# %%
# Questions about cooking
# -----------------------
# Each question is a sentence, and its tags follow from some of its words. Where a question is about
# *yeast*, it is about *bread* as well, whether or not it says so.
import numpy as np

words = {
    "bread": ["loaf", "crust", "flour", "knead"],
    "yeast": ["yeast", "rise", "proof"],
    "fish": ["salmon", "fillet", "tuna"],
    "freezing": ["freeze", "thaw", "icy"],
    "knives": ["knife", "blade", "sharpen"],
}
fillers = ["how", "can", "this", "when", "my", "is", "too", "the", "and", "why", "does", "it", "at"]
tags = list(words)


def write_questions(n_questions, rng):
    texts, Y = [], np.zeros((n_questions, len(tags)), dtype=int)
    for row in range(n_questions):
        text = list(rng.choice(fillers, size=8))
        for tag in rng.choice(tags, size=rng.integers(1, 3), replace=False):
            Y[row, tags.index(tag)] = 1
            text += list(rng.choice(words[tag], size=2))
        Y[row, tags.index("bread")] |= Y[row, tags.index("yeast")]
        texts.append(" ".join(rng.permutation(text)))
    return texts, Y


texts, Y = write_questions(600, np.random.default_rng(0))
print(texts[0], "->", [tag for tag, on in zip(tags, Y[0], strict=True) if on])

# %%
# A pipeline of tf-idf weights and a classifier, as for any texts.
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from sklearn_mrmp import Explanation, ExplanationDisplay, MrMPClassifier

classifier = MrMPClassifier(d_model=32, max_epochs=8, random_state=0)
model = make_pipeline(TfidfVectorizer(), classifier).fit(texts, pd.DataFrame(Y, columns=tags))

# %%
# Why?
# ----
# `Explanation.from_estimator` takes the names of the words from the pipeline. Without `labels` it
# is about the predicted labels. There is a line for each base learner, with what it adds and which
# words it reads. *Baseline* is what it adds for a row without words. Here, with few different
# words, the logistic regression reads standardised columns, so that *absent* words matter as well.
question = ["Why does the yeast not rise when I thaw the icy flour?"]
explanation = Explanation.from_estimator(model, question)
print(explanation)

# %%
# The sum is exact: the parts add up to the log odds of the probability. Probabilities next to 1
# have few digits in single precision, which shows in their log odds.
from scipy.special import logit

P = model.predict_proba(question)
for item in explanation:
    p = P[0, tags.index(item.label)]
    print(f"{item.label:10} parts {sum(item.parts.values()):+.4f}   predicted {logit(p):+.4f}")

# %%
# As a picture
# ------------
# Blue bars raise the probability, red ones lower it. The right panel has what a word adds by the
# network and by the linear voter together.
ExplanationDisplay.from_explanation(explanation, (0, "yeast"), n_features=8)

# %%
# Any label can be asked about, also one that was not predicted.
ExplanationDisplay.from_estimator(model, question, label="knives", n_features=8)

# %%
# As a table and as a page
# ------------------------
# In a notebook, `explanation` shows the text with its words highlighted; `to_html` returns
# the same, or writes it to a file that needs nothing else. A table is there for further work.
html = explanation.to_html()
print(explanation.to_frame().round(2).to_string(index=False))

# %%
# Is it true?
# -----------
# If an explanation is right, the probability falls when the words with the largest shares are
# deleted. Here the two words that add most to a tag are deleted, and, for comparison, two other
# words.
new_texts, _ = write_questions(100, np.random.default_rng(2026))
changes = {"named words": [], "other words": []}
for item in Explanation.from_estimator(model, new_texts):
    in_text = [word for word in item.features() if "absent" not in word]
    by_value = sorted(in_text, key=lambda word: -item.features()[word])
    for name, deleted in (("named words", by_value[:2]), ("other words", by_value[2:4])):
        left = " ".join(word for word in item.text.split() if word not in deleted)
        P = model.predict_proba([left])[0, tags.index(item.label)]
        changes[name].append(P - item.probability)
for name, values in changes.items():
    print(f"without two {name}: probability {np.mean(values):+.2f}")
