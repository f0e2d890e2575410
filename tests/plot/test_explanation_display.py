"""ExplanationDisplay draws the parts of the log odds and what the features add."""

import numpy as np
import pytest

from sklearn_mrmp import ExplanationDisplay
from tests.tiny import tiny

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def names(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_bars_are_the_parts_and_the_largest_features():
    features = {"sea": 2.0, "$x$": -1.0, "the": 0.5, "a": 0.25}
    display = ExplanationDisplay({"linear": 1.5, "frequency": -0.5}, features, "sea").plot(
        n_features=2
    )
    parts, words = display.axes_
    assert [bar.get_width() for bar in parts.patches] == [1.5, -0.5]
    assert names(parts) == ["linear", "frequency"]
    assert [bar.get_width() for bar in words.patches] == [2.0, -1.0]
    assert names(words) == ["sea", "$x$"]
    assert not words.get_yticklabels()[1].get_parse_math()
    colors = [bar.get_facecolor() for bar in words.patches]
    assert colors[0] != colors[1]
    assert words.get_xlabel() == "log odds; 2 others: +0.75"


def test_the_most_probable_predicted_label_of_the_first_row_is_drawn(related):
    X, Y = related
    clf = tiny(voters=("linear",), label_sets=False).fit(X, Y)
    display = ExplanationDisplay.from_estimator(clf, X[3:5])
    best = clf.label_names_[clf.predict_proba(X[3:4]).argmax()]
    assert display.title.startswith(f"{best} (row 0)")
    chosen = ExplanationDisplay.from_estimator(clf, X[3:5], label=2)
    assert chosen.title.startswith("2 (row 0)")


def test_given_axes_are_drawn_on():
    _, axes = plt.subplots(2)
    display = ExplanationDisplay({"linear": 1.0}, {}).plot(axes=axes)
    assert list(display.axes_) == list(axes)
    with pytest.raises(ValueError, match="2 Axes"):
        ExplanationDisplay({"linear": 1.0}, {}).plot(axes=np.append(axes, axes[0]))
