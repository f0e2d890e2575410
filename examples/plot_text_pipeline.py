"""
From text to labels when word order matters
===========================================

*Oak buys Pine* and *Pine buys Oak* have the same words and different labels. A bag of words cannot
tell them apart. `TokenSequenceVectorizer` keeps the order, and `MrMPClassifier` reads it.
"""

# %%
# Some news
# ---------
# Each text says which company buys which other one. A company can be a buyer, a target, or neither,
# so that there are two labels for each company.
import numpy as np

companies = ["Oak", "Pine", "Elm", "Ash"]
openings = ["", "This morning", "Reuters:", "It is official,", "After long talks"]
endings = ["", "for cash", "says the board", "and shares rise", "in a surprise move"]
label_names = [f"{company} {role}" for company in companies for role in ("buys", "is bought")]


def write_news(n_texts, rng):
    texts, Y = [], np.zeros((n_texts, len(label_names)), dtype=int)
    for row in range(n_texts):
        buyer, target = rng.choice(len(companies), size=2, replace=False)
        words = [rng.choice(openings), companies[buyer], "buys", companies[target]]
        texts.append(" ".join([*words, rng.choice(endings)]).strip())
        Y[row, 2 * buyer] = Y[row, 2 * target + 1] = 1
    return texts, Y


texts_train, Y_train = write_news(800, np.random.default_rng(0))
texts_test, Y_test = write_news(200, np.random.default_rng(2026))
for text, labels in zip(texts_train[:4], Y_train, strict=False):
    print(f"{text!r:55} {[name for name, on in zip(label_names, labels, strict=True) if on]}")

# %%
# A pipeline
# ----------
# The vectorizer turns a text into a row of token numbers, padded with zeros. The classifier
# recognises such rows, and uses the positions of the tokens. The texts are short and every word
# matters, so that few tokens are dropped in training (by default half of them are).
from sklearn.pipeline import make_pipeline

from sklearn_mrmp import MrMPClassifier, TokenSequenceVectorizer

vectorizer = TokenSequenceVectorizer()
print(vectorizer.fit_transform(texts_train[:3]))

classifier = MrMPClassifier(
    d_model=32, max_epochs=15, lr=0.002, feature_dropout=0.1, random_state=0
)
model = make_pipeline(TokenSequenceVectorizer(), classifier)
model.fit(texts_train, Y_train)
print("read as:", model[-1].input_type_)

# %%
# Compared with a bag of words
# ----------------------------
# These are the shares of texts whose labels are all right. A bag of words says which two companies
# are involved, but not which of them buys, so that it can be right in about half of the texts.
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

bag = make_pipeline(TfidfVectorizer(), clone(classifier))
bag.fit(texts_train, Y_train)
for name, pipeline in (("sequence", model), ("bag of words", bag)):
    pipeline[-1].set_params(metric="accuracy")
    print(f"{name:12}  all labels right: {pipeline.score(texts_test, Y_test):.2f}")

# %%
# New texts
# ---------
# Words that were never seen become the unknown token, and all other words are read.
for text in ("Elm buys Ash", "Ash buys Elm", "Yesterday Pine buys Oak, finally"):
    (labels,) = model.predict([text])
    print(f"{text!r:38} {[name for name, on in zip(label_names, labels, strict=True) if on]}")
