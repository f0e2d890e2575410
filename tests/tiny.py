"""Classifiers that are fitted in a second, and rows as voters read them."""

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.sequence import SequenceInput

TINY = {
    "d_model": 8,
    "n_heads": 2,
    "max_epochs": 2,
    "batch_size": 16,
    "n_threads": 1,
    "random_state": 0,
}
# The network and nothing else.
PLAIN = {"voters": ("network",), "label_sets": False}


def tiny(**options):
    """Return a small classifier with these options."""
    return MrMPClassifier(**{**TINY, **options})


def feature_rows(X):
    """Return rows of features, encoded by an encoder that was fitted on them."""
    return EncodedRows.of(FeatureInput(), X).fit_encoder()


def feature_input(X, **options):
    """Return an encoder of features that was fitted on some rows."""
    return FeatureInput(**options).fit(FeatureInput.canonical(X))


def sequence_input(X, **options):
    """Return an encoder of sequences that was fitted on some rows."""
    return SequenceInput(**options).fit(SequenceInput.canonical(X))


def tokens(encoder, X):
    """Return what an encoder makes of rows."""
    return encoder.tokens(encoder.canonical(X))
