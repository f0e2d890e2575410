"""AblationDisplay draws a panel per relation, bars for groups and points for labels."""

import numpy as np
import pytest

from sklearn_mrmp._compare.ablation import auc_gain_by_degree
from sklearn_mrmp._graph.learning import LabelGraph
from sklearn_mrmp._plot.ablation import AblationDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")  # matplotlib 3.8 warns when a backend is changed under open figures
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def make_result(n_seeds, *, with_gap=False):
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 5)) < 0.5).astype(int)
    P_with, P_without = (rng.random((n_seeds, 40, 5)) + level * Y for level in (0.9, 0.1))
    if with_gap:
        Y[:, 4] = 0
    star = np.zeros((5, 5))
    star[0, 1:] = 1
    graph = LabelGraph({"pulling": star, "parent": np.eye(5, k=1)})
    return auc_gain_by_degree(Y, P_with, P_without, graph)


def test_bars_are_the_gains_of_the_groups_and_points_the_labels():
    result = make_result(1)
    display = AblationDisplay.from_result(result)
    assert [ax.get_title() for ax in display.axes_] == ["pulling", "parent"]
    for ax in display.axes_:
        groups = [g for g in result.groups if g.relation == ax.get_title()]
        assert [bar.get_height() for bar in ax.patches] == pytest.approx([g.gain for g in groups])
        ticks = [tick.get_text() for tick in ax.get_xticklabels()]
        assert [tick.partition("\n")[0] for tick in ticks] == [g.degrees for g in groups]
        drawn = [y for line in ax.lines[: len(groups)] for y in line.get_ydata()]
        assert sorted(drawn) == pytest.approx(sorted(result.gain))
        assert not any(getattr(c, "has_yerr", False) for c in ax.containers)


def test_several_seeds_have_error_bars():
    display = AblationDisplay.from_result(make_result(3))
    assert any(getattr(c, "has_yerr", False) for c in display.axes_[0].containers)


def test_labels_left_out_are_mentioned():
    display = AblationDisplay.from_result(make_result(1, with_gap=True))
    assert "1 label without both classes" in display.figure_.get_supxlabel()


def test_given_axes_are_used_and_counted():
    figure, axes = plt.subplots(1, 2)
    display = AblationDisplay.from_result(make_result(1), axes=axes)
    assert display.figure_ is figure
    with pytest.raises(ValueError, match="axes must be 2 Axes"):
        AblationDisplay.from_result(make_result(1), axes=axes[:1])


def test_a_relation_named_with_dollars_is_shown_as_it_is():
    rng = np.random.default_rng(0)
    Y = rng.random((40, 3)) < 0.5
    graph = LabelGraph({r"$\frac$": np.eye(3, k=1)})
    result = auc_gain_by_degree(Y, rng.random(Y.shape), rng.random(Y.shape), graph)
    display = AblationDisplay.from_result(result)
    display.figure_.draw_without_rendering()
    assert display.axes_[0].get_title() == r"$\frac$"
