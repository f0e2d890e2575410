"""What entries of a label matrix count."""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.entry_weights import EntryWeights, label_totals
from sklearn_mrmp._numerics.unknown import split_unknown, without_unknown

KNOWN = np.array([[True, False], [True, True], [False, True]])


def test_nothing_is_said_of_entries_that_are_all_known_and_count_alike():
    assert EntryWeights.of(np.ones((2, 3), dtype=bool), [1, 1], [1.0, 1, 1]) is None


def test_entries_count_as_their_row_unless_they_are_unknown():
    weights = EntryWeights.of(KNOWN, [2, 1, 3], [1, 10])
    assert weights.entries().tolist() == [[2, 0], [1, 1], [0, 3]]
    assert weights.in_loss().tolist() == [[2, 0], [1, 10], [0, 30]]
    assert weights.take(slice(1, 2)).entries().tolist() == [[1, 1]]


def test_labels_weigh_in_losses_alone():
    weights = EntryWeights.of(labels=[1.0, 3.0])
    assert weights.entries() is None
    assert weights.in_loss().tolist() == [[1, 3]]


def test_totals_are_those_of_repeated_rows_and_of_known_entries():
    Y, rows = sp.csr_array([[1, 0], [0, 1], [0, 1]]), np.array([2.0, 1.0, 3.0])
    repeated = np.repeat(np.arange(3), [2, 1, 3])
    counts, totals = label_totals(Y, EntryWeights.of(rows=rows))
    assert counts.tolist() == label_totals(Y[repeated])[0].tolist()
    assert totals.tolist() == [6, 6]
    counts, totals = label_totals(without_unknown(Y, KNOWN), EntryWeights.of(KNOWN, rows))
    assert (counts.tolist(), totals.tolist()) == ([2, 4], [3, 4])


def test_whole_weights_repeat_rows_exactly_and_fractions_nearly():
    rng = np.random.default_rng(0)
    whole = rng.integers(1, 5, 50)
    numbers = EntryWeights.of(rows=whole).repetitions()
    np.testing.assert_array_equal(np.bincount(numbers), whole)
    weights = rng.random(1000) * 2 + 0.01
    counts = np.bincount(EntryWeights.of(rows=weights).repetitions(), minlength=1000)
    assert np.abs(counts - weights * counts.sum() / weights.sum()).max() <= 1


def test_weights_of_groups_of_rows_are_put_together():
    weights = EntryWeights.of(KNOWN, [2, 1, 3])
    parts = [weights.take(np.array([0, 1])), weights.take(np.array([2]))]
    np.testing.assert_array_equal(EntryWeights.concatenated(parts).entries(), weights.entries())
    assert EntryWeights.concatenated([None, None]) is None


def test_unknown_entries_are_found_in_arrays_and_sparse_matrices_alike():
    Y = np.array([[1, np.nan], [0, 1]])
    for given in (Y, sp.csr_array(Y), sp.csc_matrix(Y)):
        labels, known = split_unknown(given)
        labels = labels.toarray() if sp.issparse(labels) else labels
        assert labels.tolist() == [[1, 0], [0, 1]]
        assert known.tolist() == [[True, False], [True, True]]
    assert split_unknown(sp.csr_array([[1.0, 0]]))[1] is None
