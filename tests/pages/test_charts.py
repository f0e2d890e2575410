"""Charts of pages: marks are where their values are."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from sklearn_mrmp._pages.charts import Scale, curve_chart, legend, limits, point_chart, row_chart

AXES = {"x_label": "x", "y_label": "y", "y_limits": (0, 1)}
EVIL = "<script>&"


def dots(svg):
    return [tuple(map(float, pair)) for pair in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)]


@pytest.mark.parametrize(
    "svg",
    [
        curve_chart(EVIL, [(EVIL, np.array([0, 1]), np.array([0, 1]))], x_limits=(0, 1), **AXES),
        point_chart(EVIL, [EVIL], np.array([0.5]), np.array([0.5]), diagonal=True, **AXES),
        row_chart(EVIL, [EVIL], [(EVIL, np.array([0.5]), np.array([0.1]))]),
        row_chart(EVIL, [EVIL], [(EVIL, np.array([np.nan]), np.array([np.nan]))], log=True),
        row_chart("nothing", [], []),
        legend([EVIL]),
    ],
)
def test_charts_are_well_formed_whatever_names_hold(svg):
    ElementTree.fromstring(svg)


def test_larger_values_are_further_right_and_higher():
    xs, ys = np.array([1, 10, 100]), np.array([0.1, 0.5, 0.9])
    svg = point_chart("t", ["a", "b", "c"], xs, ys, log_x=True, **AXES)
    (x1, y1), (x2, y2), (x3, y3) = dots(svg)
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)  # a logarithmic axis


def test_what_is_unknown_is_not_drawn():
    svg = row_chart("t", ["a", "b"], [("g", np.array([0.5, np.nan]), np.array([np.nan, np.nan]))])
    assert len(dots(svg)) == 1


def test_ticks_are_round_and_inside():
    assert Scale(0, 1, 0, 100).ticks() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert Scale(0.31, 0.42, 0, 100).ticks() == pytest.approx([0.32, 0.34, 0.36, 0.38, 0.4, 0.42])
    assert Scale(0.5, 2000, 0, 100, is_log=True).ticks() == pytest.approx([1, 10, 100, 1000])
    assert Scale(3, 32, 0, 100, is_log=True).ticks() == pytest.approx([5, 10, 20])


def test_no_tick_is_minus_zero():
    assert ">-0<" not in point_chart("t", ["a"], np.array([0.5]), np.array([0.5]), **AXES)
    ticks = Scale(-0.03, 1.03, 0, 100).ticks()
    assert not np.signbit(ticks[0])


def test_an_axis_of_equal_values_has_a_width():
    low, high = limits([0.5, 0.5])
    assert low < 0.5 < high
