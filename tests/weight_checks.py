"""scikit-learn's checks of `sample_weight` that cannot hold, each with the reason: the one list.

Everything else that scikit-learn checks of every classifier has to pass. What the parts of a
classifier make of weights is held by `tests/test_sample_weight.py`.
"""

_EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
_REASON = (
    "weights equal repeated rows where rows are counted, but only to the precision of a solver in "
    "float32; rows held out at random are others, a network sees other batches, and a neighbour of "
    "ML-KNN is one row, whatever its weight"
)


def expected_failures(estimator):
    """Return the checks that fail for an estimator, by name, with the reason."""
    return dict.fromkeys(_EQUIVALENCE, _REASON)
