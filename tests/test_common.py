"""scikit-learn's common checks, for every classifier, with nothing expected to fail."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

from sklearn_mrmp import MLARAMClassifier, MLKNNClassifier, MrMPClassifier


def make_mrmp(**options):
    """Make a classifier small enough for dozens of fits."""
    tiny = {
        "d_model": 8,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_relation_layers": 1,
        "n_decoder_layers": 1,
        "max_epochs": 20,
        "lr": 0.01,
        "batch_size": 16,
    }
    return MrMPClassifier(**{**tiny, **options})


ESTIMATORS = [
    make_mrmp(),
    make_mrmp(architecture="paper", relations=None, max_epochs=25),
    MLKNNClassifier(),
    MLARAMClassifier(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "check", [check_param_validation, check_dataframe_column_names_consistency]
)
def test_checks_that_scikit_learn_keeps_for_itself(estimator, check):
    check(type(estimator).__name__, estimator)
