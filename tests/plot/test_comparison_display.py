"""ComparisonDisplay draws every classifier, marks the best, and copes with failures."""

import numpy as np
import pytest

from sklearn_mrmp._compare.report import ComparisonResult
from sklearn_mrmp._compare.run import ComparisonRun
from sklearn_mrmp._plot.comparison import ComparisonDisplay

plt = pytest.importorskip("matplotlib.pyplot")
METRICS, DECISIONS = ("accuracy", "f1_micro"), ("optimal", "threshold")


@pytest.fixture(autouse=True)
def close_figures():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def make_run(method, seed, value):
    scores = {d: dict.fromkeys(METRICS, value + 0.01 * seed) for d in DECISIONS}
    return ComparisonRun(method, seed, scores, fit_time=20 * value, predict_time=0.1)


@pytest.fixture
def result():
    runs = [make_run(m, s, v) for m, v in (("low", 0.2), ("high", 0.6)) for s in (0, 1)]
    runs += [ComparisonRun("bad", s, error="ValueError: no") for s in (0, 1)]
    return ComparisonResult(runs, ["low", "high", "bad"], METRICS, DECISIONS)


def test_there_is_a_panel_per_metric_and_one_for_times(result):
    display = ComparisonDisplay.from_result(result, title="tiny")
    assert [ax.get_title() for ax in display.axes_] == ["ACC", "miF1", "fit time"]
    assert display.figure_.get_suptitle() == "tiny"
    names = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert names == ["low", "high", "bad (failed)"]
    (legend,) = display.figure_.legends
    assert [t.get_text() for t in legend.get_texts()] == [f"decision: {d}" for d in DECISIONS]


def test_points_are_the_means_and_the_best_is_ringed(result):
    ax = ComparisonDisplay.from_result(result).axes_[0]
    points = ax.containers[0].lines[0].get_xdata()
    np.testing.assert_allclose(points, [0.205, 0.605, np.nan])
    rings = [line for line in ax.lines if line.get_markersize() == 11]
    assert len(rings) == 2
    assert all(ring.get_xdata()[0] == pytest.approx(0.605) for ring in rings)


def test_given_axes_are_drawn_on_and_their_number_is_checked(result):
    figure, axes = plt.subplots(1, 3)
    display = ComparisonDisplay.from_result(result, axes=axes)
    assert display.figure_ is figure
    assert not figure.legends
    with pytest.raises(ValueError, match="axes must be 3 Axes"):
        display.plot(axes=axes[:2])


def test_a_comparison_in_which_all_failed_can_be_drawn():
    runs = [ComparisonRun("bad", 0, error="ValueError: no")]
    result = ComparisonResult(runs, ["bad"], METRICS, DECISIONS[:1])
    display = ComparisonDisplay.from_result(result)
    assert display.axes_[-1].get_xscale() == "linear"
    assert not display.figure_.legends
    display.figure_.canvas.draw()
