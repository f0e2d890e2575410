"""The network as a voter: members are averaged, and each split has its own trainer."""

import numpy as np
import pytest

from sklearn_mrmp._network.training import TrainedNetwork
from sklearn_mrmp._network.voter import NetworkVoter
from tests.tiny import PLAIN, tiny


class Net:
    """A net that knows its logits."""

    def __init__(self, Z, losses=()):
        self.Z = np.float32(Z)
        self.history = [{"train_loss": 1.0, "valid_loss": loss} for loss in losses]

    @property
    def n_epochs_done(self):
        return len(self.history)

    def label_logits(self, rows, candidates=None):
        return self.Z.copy()


class Rows:
    tokens = None


def test_members_are_averaged_in_logits():
    voter = NetworkVoter([TrainedNetwork(Net(Z)) for Z in ([[3.0, 1.0]], [[-3.0, 0.0]])])
    np.testing.assert_array_equal(voter.logits(Rows()), [[0.0, 0.5]])


def test_voters_of_several_splits_are_one_with_all_members():
    first, second = (NetworkVoter([TrainedNetwork(Net([[z]]))]) for z in (1.0, 3.0))
    joined = NetworkVoter.joined([first, second])
    assert joined.members == [*first.members, *second.members]
    np.testing.assert_array_equal(joined.logits(Rows()), [[2.0]])


def test_a_voter_has_learned_after_a_whole_epoch():
    assert not NetworkVoter([]).has_learned
    assert not NetworkVoter([TrainedNetwork(Net([[0.0]]))]).has_learned
    assert NetworkVoter([TrainedNetwork(Net([[0.0]], losses=[1.0]))]).has_learned


def test_what_is_kept_does_not_remember_how_the_run_ended():
    trained = TrainedNetwork(Net([[0.0]]), returned_to_best=True, interrupted=True)
    kept = NetworkVoter([trained], interrupted=True).finished()
    assert not kept.interrupted
    assert not kept.members[0].interrupted
    assert kept.members[0].returned_to_best
    assert kept.nets == [trained.net]


@pytest.mark.parametrize(("returned", "best"), [(True, 2), (False, 3)])
def test_the_best_epoch_is_the_one_whose_weights_are_used(returned, best):
    net = Net([[0.0]], losses=[3.0, 1.0, 2.0])
    assert TrainedNetwork(net, returned_to_best=returned).best_epoch == best


def test_a_refit_trains_every_member_anew_on_all_rows(related):
    X, Y = related
    before, after = (tiny(n_members=2, refit=refit, **PLAIN).fit(X, Y) for refit in (False, True))
    first, second = (clf.voters_.network.model.nets for clf in (before, after))
    assert len(first) == len(second) == 2
    rows = before._encoded(X).tokens
    for old, new in zip(first, second, strict=True):
        assert not np.array_equal(old.label_logits(rows), new.label_logits(rows))
    assert after.thresholds_ == before.thresholds_  # tuned on the held-out rows


def test_members_trained_at_once_are_those_trained_one_after_the_other(related):
    X, Y = related
    options = {"n_members": 2, "n_threads": 1, **PLAIN}
    P = [tiny(n_jobs=n, **options).fit(X, Y).predict_proba(X) for n in (None, 2)]
    np.testing.assert_array_equal(*P)
