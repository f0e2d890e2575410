"""What "auto" stands for, and the paper's settings."""

import numpy as np
import pytest

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._input.token_rows import TokenRows
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._parameters import paper_settings
from tests.tiny import tiny


def rows(n_samples, length):
    starts = np.arange(0, n_samples * length + 1, length)
    return TokenRows(starts, np.ones(n_samples * length, dtype=np.int64))


def choices_of(cls):
    """Constraints of a class's parameters that name strings."""
    groups = getattr(cls, "_parameter_constraints", {}).values()
    constraints = [c for group in groups if group != "no_validation" for c in group]
    return [c for c in constraints if hasattr(c, "options")]


@pytest.mark.parametrize("name", sorted(sklearn_mrmp.__all__))
def test_errors_list_what_a_parameter_takes_in_one_order(name):
    for choice in choices_of(getattr(sklearn_mrmp, name)):
        assert str(choice) == f"a str among {{{', '.join(map(repr, sorted(choice.options)))}}}"


@pytest.mark.parametrize(("n_samples", "epochs"), [(10, 30), (4_000, 20), (100_000, 12)])
def test_auto_epochs_see_rows_more_often_when_there_are_few(n_samples, epochs):
    assert TrainingSettings().resolved(rows(n_samples, 1)).max_epochs == epochs


@pytest.mark.parametrize(
    ("length", "n_samples", "epochs"),
    [("short", 10, 8), ("short", 125_000, 8), ("short", 250_000, 4), ("short", 10**6, 2)]
    + [("auto", 250_000, 6), ("auto", 10**6, 2)],
)
def test_many_rows_are_seen_less_often(length, n_samples, epochs):
    training = TrainingSettings(max_epochs=length)
    assert training.resolved(rows(n_samples, 1)).max_epochs == epochs


@pytest.mark.parametrize(("length", "rate"), [(2, 0.1), (20, 0.2), (200, 0.5)])
def test_auto_feature_dropout_leaves_tokens_in_short_rows(length, rate):
    assert TrainingSettings().resolved(rows(5, length)).feature_dropout == pytest.approx(rate)


def test_numbers_are_left_alone():
    given = TrainingSettings(max_epochs=3, feature_dropout=0.25, batch_size=8, lr=0.1)
    assert given.resolved(rows(5, 5)) == given


def test_auto_trains_for_the_epochs_it_says(related):
    assert tiny(max_epochs="auto", batch_size=64).fit(*related).n_iter_ == 30


@pytest.mark.parametrize("schedule", ["onecycle", "cosine", "step", "constant"])
def test_auto_stops_early_unless_the_schedule_ends_low(schedule):
    stops = schedule in ("step", "constant")
    assert TrainingSettings(lr_schedule=schedule).patience == (10 if stops else None)
    for given, patience in ((True, 10), (False, None), (3, 3), (1, 1)):
        settings = TrainingSettings(lr_schedule=schedule, early_stopping=given)
        assert settings.patience == patience


@pytest.mark.parametrize(("given", "keeps"), [("auto", True), (False, False), (4, True)])
def test_without_early_stopping_no_epoch_is_the_best(given, keeps):
    assert TrainingSettings(early_stopping=given).keeps_best == keeps


def test_patience_is_in_epochs(related):
    # A learning rate of nothing: no epoch is better than the first.
    still = {"lr": 1e-30, "dropout": 0.0, "max_epochs": 9, "lr_schedule": "constant"}
    clf = tiny(**still, early_stopping=2, voters=("network",)).fit(*related)
    assert clf.n_iter_ == 3
    assert clf.best_epoch_ == 1


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "always"])
def test_a_patience_that_is_no_number_of_epochs_is_refused(related, wrong):
    with pytest.raises(ValueError, match="'early_stopping' parameter"):
        tiny(early_stopping=wrong).fit(*related)


@pytest.mark.parametrize("wrong", [0.0, 1.0, 1, 0, -2, None, "all"])
def test_what_says_nothing_about_held_out_rows_is_refused(related, wrong):
    with pytest.raises(ValueError, match="'cv' parameter"):
        tiny(cv=wrong).fit(*related)


def test_the_paper_has_the_network_alone_and_decodes_every_label():
    settings = paper_settings("bibtex")
    assert settings["voters"] == ("network",)
    assert settings["label_shortlist"] is None
    assert settings["n_members"] == 1


def test_the_papers_settings_are_parameters():
    assert paper_settings().keys() <= MrMPClassifier().get_params().keys()
    assert MrMPClassifier.paper("reuters").dropout == 0.2
    assert MrMPClassifier.paper("medical").dropout == 0.1


def test_rows_are_chosen_at_equal_distances_when_there_are_too_many():
    assert evenly_spaced(3, 5).tolist() == [0, 1, 2]
    assert evenly_spaced(9, 3).tolist() == [0, 4, 8]
