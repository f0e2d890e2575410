"""What "auto" stands for, and the paper's settings."""

import numpy as np
import pytest

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._input.tokens import TokenRows
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._parameters import paper_settings, resolve_auto, stops_early


def rows(n_samples, length):
    starts = np.arange(0, n_samples * length + 1, length)
    return TokenRows(starts, np.ones(n_samples * length, dtype=np.int64))


AUTO = {"max_epochs": "auto", "feature_dropout": "auto", "batch_size": 32}


@pytest.mark.parametrize(("n_samples", "epochs"), [(10, 30), (4_000, 20), (100_000, 12)])
def test_auto_epochs_see_rows_more_often_when_there_are_few(n_samples, epochs):
    assert resolve_auto(AUTO, rows(n_samples, 1))["max_epochs"] == epochs


@pytest.mark.parametrize(("length", "rate"), [(2, 0.1), (20, 0.2), (200, 0.5)])
def test_auto_feature_dropout_leaves_tokens_in_short_rows(length, rate):
    assert resolve_auto(AUTO, rows(5, length))["feature_dropout"] == pytest.approx(rate)


def test_numbers_are_left_alone():
    given = {"max_epochs": 3, "feature_dropout": 0.25, "batch_size": 8}
    assert resolve_auto(given, rows(5, 5)) == given


def test_auto_trains_for_the_epochs_it_says(related):
    clf = MrMPClassifier(d_model=8, n_heads=2, batch_size=64, random_state=0)
    assert clf.fit(*related).n_iter_ == 30


@pytest.mark.parametrize("schedule", ["onecycle", "cosine", "step", "constant"])
def test_auto_stops_early_unless_the_schedule_ends_low(schedule):
    params = {"early_stopping": "auto", "lr_schedule": schedule}
    assert stops_early(params) == (schedule in ("step", "constant"))
    for given in (True, False):
        assert stops_early(params | {"early_stopping": given}) == given


def test_the_paper_has_no_linear_path_and_decodes_every_label():
    settings = paper_settings("bibtex")
    assert not settings["linear_path"]
    assert settings["label_shortlist"] is None
    assert settings["n_members"] == 1


def test_rows_are_chosen_at_equal_distances_when_there_are_too_many():
    assert evenly_spaced(3, 5).tolist() == [0, 1, 2]
    assert evenly_spaced(9, 3).tolist() == [0, 4, 8]
