"""What a fitted classifier shows of itself, and what can be changed without a new fit."""

import numpy as np
import pytest

from tests.tiny import tiny


def test_what_auto_has_chosen_is_visible(related):
    X, Y = related
    clf = tiny(max_epochs="auto", feature_dropout="auto").fit(X[:40], Y[:40])
    assert clf.max_epochs_ == clf.n_iter_ == 30
    assert 0.1 <= clf.feature_dropout_ <= 0.5
    assert clf.device_ in ("cpu", "cuda", "mps")
    assert clf.label_shortlist_ is None
    short = tiny(label_shortlist=2, max_epochs=1, feature_dropout=0.25, device="cpu").fit(X, Y)
    assert (short.label_shortlist_, short.feature_dropout_) == (2, 0.25)
    assert (short.max_epochs_, short.device_) == (1, "cpu")


@pytest.mark.parametrize(
    "decision", ["optimal", "threshold", "label_sets", "top_k", "at_least_one"]
)
def test_every_decision_is_there_after_every_fit(related, decision, tmp_path):
    X, Y = related
    fitted, path = tiny().fit(X, Y), tmp_path / "model.mrmp"
    fitted.save(path)
    for clf in (fitted, type(fitted).load(path)):
        for metric in ("f1_micro", "accuracy"):
            clf.set_params(decision=decision, metric=metric)
            P = clf.predict_proba(X)
            np.testing.assert_array_equal(clf.predict(X), clf._labels_at(P, X, metric, decision))
        if decision == "at_least_one":
            assert clf.predict(X).any(axis=1).all()
        if decision == "top_k":
            assert len(set(clf.predict(X).sum(axis=1))) == 1
