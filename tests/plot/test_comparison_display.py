"""ComparisonDisplay draws every classifier, marks the best, and copes with failures."""

import numpy as np
import pytest

from sklearn_mrmp._compare.report import ComparisonResult
from sklearn_mrmp._compare.run import ComparisonRun
from sklearn_mrmp._plot.comparison import ComparisonDisplay

plt = pytest.importorskip("matplotlib.pyplot")
Bbox = pytest.importorskip("matplotlib.transforms").Bbox
METRICS, DECISIONS = ("accuracy", "f1_micro"), ("optimal", "threshold")


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")  # matplotlib 3.8 warns when a backend is changed under open figures
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
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:2] == [f"decision: {d}" for d in DECISIONS]


@pytest.mark.parametrize("n_decisions", [1, 2])
def test_the_legend_explains_the_rings(result, n_decisions):
    part = ComparisonResult(result.runs, result.methods, METRICS, DECISIONS[:n_decisions])
    (legend,) = ComparisonDisplay.from_result(part).figure_.legends
    assert [text.get_text() for text in legend.get_texts()][-1] == "best mean of the decision"
    assert legend.legend_handles[-1].get_markersize() == 11


@pytest.mark.parametrize("size", [None, (12, 3.5)], ids=["own figure", "low axes"])
def test_times_of_fourteen_methods_overlap_neither_each_other_nor_points_nor_frames(size):
    runs = [make_run(f"m{k}", 0, 0.01 if k else 0.9) for k in range(14)]
    result = ComparisonResult(runs, [run.method for run in runs], METRICS, DECISIONS)
    axes = None if size is None else plt.subplots(1, 3, figsize=size)[1]
    display = ComparisonDisplay.from_result(result, axes=axes)
    display.figure_.draw_without_rendering()
    ax = display.axes_[-1]
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 14
    frame = ax.get_window_extent()
    radius = ax.lines[0].get_markersize() / 2 * display.figure_.dpi / 72
    centres = ax.transData.transform(np.column_stack([display.fit_times, np.arange(14)]))
    points = [Bbox([centre - radius, centre + radius]) for centre in centres]
    for box in boxes:
        assert sum(box.overlaps(other) for other in boxes) == 1  # itself
        assert frame.x0 < box.x0
        assert box.x1 < frame.x1
        assert not any(box.overlaps(point) for point in points)


def test_names_are_shown_as_they_are_on_one_line_and_shortened(result):
    odd = {"low": r"$\frac$ of $5", "high": "a long\nname " * 9, "bad": "$a$ $b$"}
    runs = [ComparisonRun(**{**vars(run), "method": odd[run.method]}) for run in result.runs]
    renamed = ComparisonResult(runs, list(odd.values()), METRICS, ("$d$", "e$$"))
    for run in renamed.runs:
        if run.error is None:
            run.scores.update(dict.fromkeys(renamed.decisions, run.scores["optimal"]))
    display = ComparisonDisplay.from_result(renamed, title=r"$\nothing$")
    display.figure_.draw_without_rendering()
    first, second, third = [t.get_text() for t in display.axes_[0].get_yticklabels()]
    assert (first, third) == (r"$\frac$ of $5", "$a$ $b$ (failed)")
    assert len(second) <= 32
    assert "…" in second
    assert display.methods == list(odd.values())


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
