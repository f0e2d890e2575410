"""scikit-learn's common checks, for every classifier; the only exceptions are `weight_checks`."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

from sklearn_mrmp import (
    CalibratedMultilabelClassifier,
    LabelChainClassifier,
    LabelPowersetClassifier,
    MLARAMClassifier,
    MLKNNClassifier,
    SoftVotingMultilabelClassifier,
    TunedBinaryRelevanceClassifier,
    TunedDecisionClassifier,
)
from tests.tiny import tiny
from tests.weight_checks import expected_failures


def make_mrmp(**options):
    """Make a classifier small enough for dozens of fits, large enough to learn."""
    shallow = {"n_encoder_layers": 1, "n_relation_layers": 1, "n_decoder_layers": 1}
    defaults = {"max_epochs": 20, "lr": 0.01, "random_state": None}
    return tiny(**{**shallow, **defaults, **options})


ESTIMATORS = [
    make_mrmp(),
    make_mrmp(architecture="paper", relations=None, max_epochs=25),
    make_mrmp(voters=("linear", "neighbors")),
    MLKNNClassifier(),
    MLARAMClassifier(),
    TunedBinaryRelevanceClassifier((1.0,)),  # a tuned penalty depends on the rows held out
    LabelPowersetClassifier(),
    LabelChainClassifier(),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


WRAPPERS = [  # their common checks are in files of their own
    TunedDecisionClassifier(MLKNNClassifier()),
    SoftVotingMultilabelClassifier([("knn", MLKNNClassifier())]),
    CalibratedMultilabelClassifier(MLKNNClassifier()),
]


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *WRAPPERS], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "check", [check_param_validation, check_dataframe_column_names_consistency]
)
def test_checks_that_scikit_learn_keeps_for_itself(estimator, check):
    check(type(estimator).__name__, estimator)
