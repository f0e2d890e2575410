"""The beam search, on distributions that are tables."""

import itertools
import math

import pytest
import torch

from sklearn_mrmp.nn._recurrent.beam import Hypotheses, beam_search

N_LABELS = 3


def table_step(tables):
    """Step whose scores depend on the last label, by the tables (B, 1 + L, 1 + L) of the rows."""

    def step(rows, previous, states, given):
        later = torch.arange(1 + N_LABELS) > previous[:, None]
        later[:, 0] = True
        scores = tables[rows, previous].masked_fill(~later, -torch.inf)
        return torch.log_softmax(scores, dim=1), states

    return step


def tables(n_rows, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randn(n_rows, 1 + N_LABELS, 1 + N_LABELS, generator=generator)


def enumerated(table):
    """Log probability of each label set, by the chain rule."""
    found = {}
    for size in range(N_LABELS + 1):
        for labels in itertools.combinations(range(1, 1 + N_LABELS), size):
            total, previous = 0.0, 0
            for label in (*labels, 0):
                options = [0, *range(previous + 1, 1 + N_LABELS)]
                scores = torch.log_softmax(table[previous, options], dim=0)
                total, previous = total + float(scores[options.index(label)]), label
            found[tuple(i + 1 in labels for i in range(N_LABELS))] = total
    return found


def search(rows, width, max_labels=N_LABELS):
    return beam_search(table_step(rows), torch.zeros(len(rows), 1), N_LABELS, width, max_labels)


def test_a_beam_that_holds_all_sets_is_the_enumeration():
    rows = tables(4)
    found = search(rows, 2**N_LABELS)
    for row in range(4):
        sets = dict(
            zip(map(tuple, found.sets[row].tolist()), found.log_p[row].tolist(), strict=True)
        )
        assert sets == pytest.approx(enumerated(rows[row]), abs=1e-5)
    torch.testing.assert_close(found.coverage(), torch.ones(4))


def test_marginals_of_all_sets_are_those_of_the_distribution():
    rows = tables(2)
    expected = torch.zeros(2, N_LABELS)
    for row in range(2):
        for labels, log_p in enumerated(rows[row]).items():
            expected[row] += math.exp(log_p) * torch.tensor(labels)
    torch.testing.assert_close(search(rows, 50).marginals(), expected)


def test_the_best_set_is_the_most_probable_one():
    rows = tables(6)
    best = search(rows, 2**N_LABELS).best()
    for row in range(6):
        sets = enumerated(rows[row])
        assert tuple(best[row].tolist()) == max(sets, key=sets.get)


def test_what_is_found_does_not_depend_on_other_rows():
    rows = tables(5)
    together = search(rows, 3)
    for row in range(5):
        alone = search(rows[row : row + 1], 3)
        torch.testing.assert_close(alone.sets[0], together.sets[row])
        torch.testing.assert_close(alone.log_p[0], together.log_p[row])


def test_a_narrow_beam_follows_the_best_step():
    table = torch.full((1, 1 + N_LABELS, 1 + N_LABELS), -20.0)
    table[0, 0, 2], table[0, 2, 3], table[0, 3, 0] = 5.0, 5.0, 5.0
    found = search(table, 1)
    assert found.sets.tolist() == [[[False, True, True]]]
    assert float(found.log_p) == pytest.approx(0.0, abs=1e-3)


def test_sets_have_no_more_labels_than_allowed():
    table = torch.full((1, 1 + N_LABELS, 1 + N_LABELS), 0.0)
    table[:, :, 0] = -20.0
    assert search(table, 8, max_labels=2).sets.sum(dim=2).max() == 2


def test_sequences_of_one_set_count_together_for_the_best():
    sets = torch.tensor([[[True, False], [False, True], [False, True]]])
    found = Hypotheses(torch.log(torch.tensor([[0.4, 0.3, 0.3]])), sets)
    assert found.best().tolist() == [[False, True]]


def test_a_length_penalty_favours_large_sets():
    sets = torch.tensor([[[True, False], [True, True]]])
    found = Hypotheses(torch.log(torch.tensor([[0.5, 0.4]])), sets)
    assert found.best().tolist() == [[True, False]]
    assert found.best(length_penalty=1.0).tolist() == [[True, True]]


def test_places_without_a_sequence_have_no_say():
    sets = torch.tensor([[[True, False], [False, True]]])
    found = Hypotheses(torch.tensor([[math.log(0.5), -math.inf]]), sets)
    assert found.best(1.0).tolist() == [[True, False]]
    torch.testing.assert_close(found.marginals(), torch.tensor([[1.0, 0.0]]))
