"""scikit-learn's checks of `sample_weight` that cannot hold, each with the reason: the one list.

Everything else that scikit-learn checks of every classifier has to pass. What the parts of a
classifier make of weights is held by `tests/test_sample_weight.py`.
"""

from sklearn.utils.validation import has_fit_parameter

_EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
_NETWORK = (
    "weights equal repeated rows where rows are counted, but to the precision of float32, not to "
    "seven digits; a network sees the rows in other batches, and other rows are held out"
)
_REASONS = {
    "MrMPClassifier": _NETWORK,
    "LaMPClassifier": _NETWORK,
    "MLRNNClassifier": _NETWORK,
    "MPVAEClassifier": _NETWORK,
    "MeanLinearClassifier": _NETWORK,
    "MLKNNClassifier": "a neighbour is one row, whatever it weighs",
    "SoftVotingMultilabelClassifier": "one of the members in the tests is ML-KNN",
}


def expected_failures(estimator):
    """Return the checks that fail for an estimator, by name, with the reason."""
    reason = _REASONS.get(type(estimator).__name__)
    inner = getattr(estimator, "estimator", None)
    if inner is not None and not has_fit_parameter(inner, "sample_weight"):
        reason = "the classifier inside takes no weights"
    return {} if reason is None else dict.fromkeys(_EQUIVALENCE, reason)
