"""What counts as a weight of a fitted classifier."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import (
    MLKNNClassifier,
    MPVAEClassifier,
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
)
from sklearn_mrmp._compare.weights import n_weights
from sklearn_mrmp.datasets import make_related_labels


@pytest.fixture(scope="module")
def data():
    X, Y, _ = make_related_labels(60, 4, n_features=6, group_size=2, random_state=0)
    return X, Y


def test_coefficients_and_intercepts_count_wherever_they_are(data):
    model = OneVsRestClassifier(LogisticRegression())
    assert n_weights(model.fit(*data)) == 4 * 7
    assert n_weights(make_pipeline(MaxAbsScaler(), model).fit(*data)) == 4 * 7
    chain = ClassifierChain(LogisticRegression()).fit(data[0].toarray(), data[1])
    assert n_weights(chain) == 7 + 8 + 9 + 10


def test_pipelines_of_different_lengths_inside_a_vote_count(data):
    model = OneVsRestClassifier(LogisticRegression())
    scaled = make_pipeline(MaxAbsScaler(), model)
    both = [("plain", model), ("scaled", scaled), ("twice", make_pipeline(MaxAbsScaler(), scaled))]
    assert n_weights(SoftVotingMultilabelClassifier(both).fit(*data)) == 3 * 4 * 7


@pytest.mark.parametrize("kind", [MrMPClassifier, MPVAEClassifier])
def test_the_parameters_of_a_network_count_and_so_does_a_linear_voter(data, kind):
    small = {"d_model": 8, "max_epochs": 1, "random_state": 0, "label_sets": False}
    alone = kind(**small, voters=("network",)).fit(*data)
    size = sum(p.numel() for p in alone.net_.module_.parameters())
    assert n_weights(alone) == size
    # The linear voter has a column for each feature that it knows, and an intercept.
    both = kind(**small, voters=("network", "linear")).fit(*data)
    linear = both.voters_.linear.model
    assert n_weights(both) == size + linear.coef_.size + linear.intercept_.size


def test_training_rows_that_are_kept_are_no_weights(data):
    assert np.isnan(n_weights(MLKNNClassifier().fit(*data)))
