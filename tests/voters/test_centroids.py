"""Centroids: the linear voter of very many labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import average_precision_score

from sklearn_mrmp import load
from sklearn_mrmp._voters import choice
from sklearn_mrmp._voters.centroids import CentroidVoter
from tests.tiny import feature_rows, tiny


def test_their_labels_are_ranked_above_chance_and_calibrated(split):
    Z, truth = CentroidVoter().fit(*split).logits(split[2]), split[3].toarray()
    assert average_precision_score(truth, Z) > 2 * truth.mean()
    assert (1 / (1 + np.exp(-Z))).mean() == pytest.approx(truth.mean(), rel=0.2)


def test_a_label_keeps_its_largest_features(split, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._voters.centroids._FEATURES_PER_LABEL", 3)
    voter = CentroidVoter().fit(*split)
    assert np.diff(sp.csc_array(voter.centroids_).indptr).max() == 3
    assert voter.shape == (60, 6)


def test_rows_without_any_label_calibrate_nothing(split):
    voter = CentroidVoter().fit(*split[:3], sp.csr_array((100, 6), dtype=int))
    np.testing.assert_array_equal(voter.calibration_, [1, 1, 0])


def test_refitting_keeps_the_calibration_and_takes_the_rows(matrices, split):
    X, Y = matrices
    voter = CentroidVoter().fit(*split)
    again = voter.refit(feature_rows(X), Y)
    np.testing.assert_array_equal(again.calibration_, voter.calibration_)
    assert abs(again.centroids_ - voter.centroids_).max() > 0


@pytest.mark.parametrize("limit", ["_REGRESSION_PRODUCTS", "_REGRESSION_WEIGHTS"])
def test_stand_in_for_regressions_of_too_many_labels(matrices, limit, monkeypatch, tmp_path):
    monkeypatch.setattr(choice, limit, 0)
    X, Y = matrices
    clf = tiny(max_epochs=1, label_shortlist=3).fit(X, Y)
    assert isinstance(clf.voters_.linear.model, CentroidVoter)
    clf.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
