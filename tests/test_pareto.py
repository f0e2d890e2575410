"""The chart's bookkeeping: which runs are made, what the file keeps, and who is on the front."""

import argparse
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import _pareto_picture as picture
import pareto

NOTHING_ASKED = {"redo": False, "cheap": 20.0, "limit": 100}


def row(method="default", *, seconds=1.0, score=0.5, share=1.0, seed=0, status="ok", limit=100):
    """Return a run on Yeast as the file holds it."""
    measured = {"fit_seconds": seconds, "f1_micro": score, "average_precision": score}
    known = {"dataset": "yeast", "method": method, "share": share, "seed": seed, "limit": limit}
    return known | {"status": status} | (measured if status == "ok" else {})


def asked(**options):
    return argparse.Namespace(**NOTHING_ASKED | options)


@pytest.fixture
def table(tmp_path):
    return pareto.Table(tmp_path / "runs.csv")


def test_a_run_in_the_file_is_not_made_again_unless_asked_for(table):
    table.add(row())
    read = pareto.Table(table.path)
    assert not pareto.is_wanted(row(), read, asked())
    assert pareto.is_wanted(row(), read, asked(redo=True))
    assert pareto.is_wanted(row("linear"), read, asked())
    assert pareto.is_wanted(row(share=0.5), read, asked())


def test_a_stopped_run_is_made_again_with_a_higher_limit_alone(table):
    table.add(row(status=pareto.OVER_THE_LIMIT))
    read = pareto.Table(table.path)
    assert not pareto.is_wanted(row(), read, asked(limit=100))
    assert pareto.is_wanted(row(), read, asked(limit=101))


@pytest.mark.parametrize(("seconds", "wanted"), [(20.0, True), (20.1, False)])
def test_other_seeds_are_for_cheap_runs(table, seconds, wanted):
    assert not pareto.is_wanted(row(seed=1), table, asked())
    table.add(row(seconds=seconds))
    assert pareto.is_wanted(row(seed=1), table, asked()) is wanted


def test_a_run_that_is_made_again_takes_the_place_of_the_first(table):
    for seconds in (1.0, 2.0):
        table.add(row(seconds=seconds))
        table.add(row("linear"))
    read = pareto.Table(table.path).rows.values()
    assert [(r["method"], r["fit_seconds"]) for r in read] == [
        ("default", "2.0"),
        ("linear", "1.0"),
    ]
    assert len(table.path.read_text(encoding="utf-8").splitlines()) == 3


def test_a_run_of_another_process_is_kept(table):
    other = pareto.Table(table.path)
    table.add(row())
    other.add(row("linear"))
    table.add(row(seconds=2.0))
    assert {key[1] for key in pareto.Table(table.path).rows} == {"default", "linear"}


def test_points_are_means_over_seeds_of_whole_runs():
    rows = [row(seconds=1.0), row(seconds=3.0, seed=1), row(seconds=9.0, share=0.5)]
    rows += [row("network", status=pareto.OVER_THE_LIMIT)]
    (point,) = picture.points(rows, "yeast", "f1_micro")
    assert (point.method, point.seconds, point.score) == ("default", 2.0, 0.5)
    assert picture.stopped(rows, "yeast") == ["network"]


def test_the_front_holds_what_nothing_is_faster_and_better_than():
    fast, good, slow = (
        picture.Point("linear", 1.0, 0.5),
        picture.Point("default", 9.0, 0.7),
        picture.Point("forest", 9.5, 0.6),
    )
    assert picture.front([fast, good, slow]) == [fast, good]


def test_verdicts_name_other_methods_that_are_faster_and_better():
    rows = [row(seconds=9.0, score=0.7), row("linear", seconds=1.0, score=0.8)]
    said = "\n".join(picture.verdicts(rows, ["yeast"]))
    assert "beaten by no other method" in said  # ours do not count against ours
    said = "\n".join(picture.verdicts([*rows, row("forest", score=0.75)], ["yeast"]))
    assert "MrMP, default (9.0 s, 0.700): beaten by random forest (1.0 s, 0.750)" in said


def test_pictures_are_drawn_of_a_file_that_is_not_complete(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [row() | {"n_rows": 8}, row("forest", status=pareto.OVER_THE_LIMIT)]
    picture.draw(rows, pareto.DATASETS, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "pareto_f1_micro.png",
        "pareto_average_precision.png",
        "pareto_growth.png",
    }
