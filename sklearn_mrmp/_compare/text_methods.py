"""Methods of ``python -m sklearn_mrmp compare`` that read texts with a pretrained encoder.

Classifiers are imported when they are asked for: the command line itself loads no torch.
"""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_mrmp._baselines.tuned_relevance import TunedBinaryRelevanceClassifier
from sklearn_mrmp._voting import SoftVotingMultilabelClassifier

# Where the search for the penalty of standardised states starts.
_START = 0.1


def _mrmp(words, **source):
    from sklearn_mrmp import MrMPClassifier, TextEncoder

    return MrMPClassifier(encoder=TextEncoder(**source))


def _mrmp_network(words, **source):
    return _mrmp(words, **source).set_params(voters=("network",))


def _pooled_regression(words, refit=False, **source):
    from sklearn_mrmp import TextEncoder

    regression = TunedBinaryRelevanceClassifier(start=_START, refit=refit)
    return make_pipeline(TextEncoder(pooling="mean", **source), StandardScaler(), regression)


def _both_regressions(words, **source):
    # A vote gets no rows set aside: its members choose their penalties on rows of their own, and
    # are then fitted on all rows.
    states = _pooled_regression(words, refit=True, **source)
    return SoftVotingMultilabelClassifier([("words", words), ("states", states)])


TEXT_METHODS = {
    "pooled-lr": (_pooled_regression, "tuned-lr on mean states of the encoder"),
    "both-lr": (_both_regressions, "the mean of tuned-lr on words and on mean states"),
    "mrmp-text-network": (_mrmp_network, "MrMP on token states, the network alone"),
    "mrmp-text": (_mrmp, "MrMP with encoder= and its other defaults"),
}


def encoder_wanted(name):
    """Say that a method needs an encoder."""
    return f"{name} reads texts with a pretrained encoder: give --encoder FOLDER."


def make_text_method(name, words, encoder, cache_dir=None):
    """Return the classifier of texts of that name.

    Parameters
    ----------
    name : str
        A key of `TEXT_METHODS`.
    words : estimator
        A tuned regression of tf-idf words that refits, for the vote.
    encoder : str
        Name or folder of a pretrained encoder.
    cache_dir : path-like, default=None
        Where token states are kept.

    Returns
    -------
    estimator : classifier or Pipeline
    """
    if encoder is None:
        raise ValueError(encoder_wanted(name))
    return TEXT_METHODS[name][0](words, encoder=encoder, cache_dir=cache_dir)
