"""The tables of a comparison bear any name of a classifier, decision or metric."""

import re

from sklearn_mrmp._compare.report import ComparisonResult
from sklearn_mrmp._compare.run import ComparisonRun


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_a_bar_or_a_line_break_in_a_name_does_not_break_the_markdown_table():
    runs = [
        ComparisonRun(name, 0, {"op|t": {"x|y": 0.5}}, fit_time=1.0) for name in ("b|c", "d\ne")
    ]
    lines = ComparisonResult(runs, ["b|c", "d\ne"], ["x|y"], ["op|t"]).to_markdown().splitlines()
    assert len(lines) == 4
    assert {len(cells_of(line)) for line in lines} == {7}
    assert cells_of(lines[0])[2] == r"x\|y"
    assert [cells_of(line)[:2] for line in lines[2:]] == [[r"b\|c", r"op\|t"], ["d e", r"op\|t"]]


def test_names_are_escaped_in_latex_everywhere():
    run = ComparisonRun(r"a\b^~", 0, {"my_rule": {"my_metric": 0.5}})
    text = ComparisonResult([run], [r"a\b^~"], ["my_metric"], ["my_rule"]).to_latex()
    assert r"a\textbackslash{}b\textasciicircum{}\textasciitilde{} & my\_rule" in text
    assert r"my\_metric" in text
