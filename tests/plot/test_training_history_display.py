"""The picture of a training run."""

import matplotlib as mpl
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_mrmp import MrMPClassifier, TrainingHistoryDisplay

mpl.use("Agg")


def test_shows_both_losses_and_the_epoch_used(related):
    clf = MrMPClassifier(d_model=8, n_heads=2, max_epochs=3, random_state=0).fit(*related)
    display = TrainingHistoryDisplay.from_estimator(clf)
    assert [line.get_label() for line in display.lines_] == ["training", "validation"]
    assert display.lines_[1].get_ydata().tolist() == [e["valid_loss"] for e in clf.history_]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"used: epoch {clf.best_epoch_}" in texts


def test_draws_into_given_axes_without_validation():
    ax = mpl.figure.Figure().subplots()
    display = TrainingHistoryDisplay([{"train_loss": 1.0}]).plot(ax=ax)
    assert display.ax_ is ax
    assert len(display.lines_) == 1


def test_needs_a_fitted_classifier():
    with pytest.raises(NotFittedError):
        TrainingHistoryDisplay.from_estimator(MrMPClassifier())
