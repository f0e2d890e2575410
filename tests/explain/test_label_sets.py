"""What single labels do through label sets is what comes of leaving them out."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sklearn_mrmp._decisions.label_set_model import LabelSetModel, to_logits
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._explain.label_sets import LabelSetEffect


@pytest.fixture
def vote():
    rng = np.random.default_rng(0)
    Y = rng.random((60, 5)) < 0.4
    Y[:, 1] |= Y[:, 0]
    return LabelSetVote(LabelSetModel.from_labels(Y, 100, [1.2, -0.1, 0.5, -0.3]), 0.5)


def mixed(vote, p, Z, label):
    marginals = vote.model.marginals(Z[None].astype(np.float32))[0]
    return logit((1 - vote.share) * p + vote.share * float(marginals[label]))


def test_terms_are_the_changes_when_a_label_has_its_frequency_instead(vote):
    P = np.array([0.9, 0.3, 0.2, 0.6, 0.05], dtype=np.float32)
    effect, Z = LabelSetEffect(vote, P), to_logits(P)
    for label in range(5):
        log_odds = float(logit(P[label].astype(float)))
        whole = mixed(vote, expit(log_odds), Z, label)
        assert log_odds + effect.change(label, log_odds) == pytest.approx(whole, abs=1e-5)
        found = dict(zip(*effect.terms(label, log_odds), strict=True))
        for other in set(range(5)) - {label}:
            without = Z.copy()
            without[other] = vote.model.label_prior[other]
            left = mixed(vote, expit(log_odds), without, label)
            assert found.get(other, 0.0) == pytest.approx(whole - left, abs=1e-4)


def test_a_label_that_always_comes_along_is_raised_by_the_other(vote):
    effect = LabelSetEffect(vote, np.full(5, 0.3, dtype=np.float32))
    likely = LabelSetEffect(vote, np.array([0.95, 0.3, 0.3, 0.3, 0.3], dtype=np.float32))
    assert likely.change(1, -0.8) > effect.change(1, -0.8)
    labels, values = likely.terms(1, -0.8)
    assert values[labels == 0] > 0
    assert 1 not in labels


def test_told_labels_leave_the_sets_that_agree(vote):
    P, told = np.full(5, 0.3, dtype=np.float32), np.array([1, 0, -1, 0, 0], dtype=np.float32)
    effect = LabelSetEffect(vote, P, told)
    assert effect.marginals[[0, 2]] == pytest.approx([1.0, 0.0], abs=1e-9)
    nobody = LabelSetEffect(vote, P, np.array([1, -1, 0, 0, 0], dtype=np.float32))
    assert nobody.change(3, 0.7) == 0.0
