"""Explanations and reports of a model, from the command line."""

from sklearn_mrmp import MLKNNClassifier
from tests.cli.conftest import QUICK, posts, write_jsonl


def test_words_are_behind_a_label(model, tmp_path, run):
    write_jsonl(tmp_path / "new.jsonl", [{"body": "the"}, {"body": "salt tide wave salt"}])
    arguments = ("explain", model, tmp_path / "new.jsonl", "--first", 2, "--labels", "sea")
    status, printed = run(*arguments)
    assert status == 0
    assert "salt" in printed.out
    assert "row 0 is" in printed.err
    assert "new.jsonl, line 2" in printed.err
    page = tmp_path / "why.html"
    status, printed = run(*arguments, "--html", page)
    assert status == 0
    assert "salt" in page.read_text(encoding="utf-8")


def test_columns_are_behind_a_label(tmp_path, run):
    data, model = write_jsonl(tmp_path / "posts.jsonl", posts()), tmp_path / "m.mrmp"
    columns = ("--features", "size,vector", "--label-column", "tags")
    run("fit", data, *columns, "--model", model, *QUICK)
    status, printed = run("explain", model, data, "--rows", 1, "--labels", "desert")
    assert status == 0
    assert "vector_1" in printed.out


def test_rows_that_are_not_there_and_models_that_cannot_are_told(model, tmp_path, run, related):
    X, Y = related
    MLKNNClassifier().fit(X, Y).save(tmp_path / "knn.mrmp")
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    for command in ("explain", "report"):
        status, printed = run(command, tmp_path / "knn.mrmp", tmp_path / "rows.svm")
        assert status == 2
        assert "A MLKNNClassifier" in printed.err


def test_rows_behind_the_end_are_told(model, tmp_path, run):
    status, printed = run("explain", model, tmp_path / "posts.jsonl", "--first", 61)
    assert status == 1
    assert "posts.jsonl: there is no row 61" in printed.err


def test_labels_are_scored_where_they_were_in_fit(model, tmp_path, run):
    page, table = tmp_path / "report.html", tmp_path / "report.csv"
    arguments = ("report", model, tmp_path / "posts.jsonl", "--html", page, "--csv", table)
    status, printed = run(*arguments)
    assert status == 0
    for name in ("sea", "ship", "desert"):
        assert name in printed.out
        assert name in page.read_text(encoding="utf-8")
        assert name in table.read_text(encoding="utf-8")


def test_labels_that_the_model_does_not_know_are_left_out_with_a_warning(model, tmp_path, run):
    data = write_jsonl(
        tmp_path / "new.jsonl", [{**row, "tags": ["sea", "lake"]} for row in posts()]
    )
    status, printed = run("report", model, data)
    assert status == 0
    assert "warning: The model does not know 1 of the labels" in printed.err
