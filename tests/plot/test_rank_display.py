"""RankDisplay shows every method at its mean rank, and joins what was not told apart."""

import numpy as np
import pytest

from sklearn_mrmp import RankDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")  # matplotlib 3.8 warns when a backend is changed under open figures
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def scores(n_methods=5, n_datasets=9):
    rng = np.random.default_rng(0)
    return {f"m{k}": k + 3 * rng.random(n_datasets) for k in range(n_methods)}


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def bars(display):
    return [line for line in display.ax_.lines if line.get_linewidth() == 4]


def test_every_method_is_named_with_its_mean_rank():
    display = RankDisplay.from_scores(scores(), title="all of them")
    for name, rank in zip(display.methods, display.mean_ranks, strict=True):
        assert sum(name in text and f"{rank:.2f}" in text for text in texts(display)) == 1
    assert display.ax_.get_title() == "all of them"
    assert display.n_datasets == 9
    assert 0 <= display.p_value <= 1


def test_there_is_a_bar_for_each_group_which_spans_its_methods():
    display = RankDisplay.from_scores(scores())
    assert len(display.groups) > 0
    for bar, (first, last) in zip(bars(display), display.groups, strict=True):
        left, right = bar.get_xdata()
        assert left <= display.mean_ranks[first] < display.mean_ranks[last] <= right


def test_the_scale_is_there_for_the_critical_difference_alone():
    with_scale = RankDisplay.from_scores(scores())
    assert f"critical difference {with_scale.critical_difference:.2f}" in texts(with_scale)
    without = RankDisplay.from_scores(scores(), test="wilcoxon")
    assert without.critical_difference is None
    assert not any("critical" in text for text in texts(without))


def test_names_overlap_neither_each_other_nor_the_scale():
    display = RankDisplay.from_scores(scores(n_methods=9))
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    for box in boxes:
        assert sum(box.overlaps(other) for other in boxes) == 1  # itself
        assert display.figure_.bbox.x0 <= box.x0
        assert box.x1 <= display.figure_.bbox.x1


def test_it_draws_into_given_axes_and_shows_names_as_they_are():
    figure, ax = plt.subplots()
    named = dict(zip(["$a$ $b$", "a\nc", "x" * 99], scores(3).values(), strict=True))
    display = RankDisplay.from_scores(named, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    shown = " ".join(texts(display))
    assert "$a$ $b$" in shown
    assert "a c" in shown
    assert "x" * 99 not in shown
    figure.draw_without_rendering()


def test_low_scores_can_be_the_good_ones():
    up, down = (RankDisplay.from_scores(scores(3), greater_is_better=g) for g in (True, False))
    np.testing.assert_allclose(np.sort(4 - up.mean_ranks), down.mean_ranks)
