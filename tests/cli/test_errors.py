"""What is wrong with a file or with arguments is said with its place, in one line."""

import pytest

from tests.cli.conftest import posts, write_jsonl

FIT_CSV = ("--text", "body", "--label-column", "tags")
FILES = {
    "cells": (
        "a.csv",
        "body,tags\nx,y\nx\n",
        FIT_CSV,
        "a.csv, line 3: has 1 cells, but there are 2",
    ),
    "later line": (
        "a.csv",
        'body,tags\n"two\nlines",a\nx\n',
        FIT_CSV,
        "a.csv, line 4: has 1 cells",
    ),
    "quotes": ("a.csv", 'body,tags\n"x" y,z\n', FIT_CSV, "a.csv, line 2: not readable: "),
    "unquoted": ("a.csv", 'body,tags\n"x" y,z\n', FIT_CSV, "Give --no-quotes if double quotes"),
    "empty": ("a.csv", "", FIT_CSV, "a.csv, line 1: the first line has to name the columns"),
    "no rows": ("a.csv", "body,tags\n", FIT_CSV, "a.csv: there are no rows"),
    "twice": ("a.csv", "body,body\nx,y\n", FIT_CSV, "line 1: two columns are named 'body'"),
    "unnamed": ("a.csv", "body,\nx,y\n", FIT_CSV, "line 1: column 2 has no name"),
    "text column": (
        "a.csv",
        "b,tags\nx,y\n",
        FIT_CSV,
        "there is no column 'body'; the columns are",
    ),
    "label column": ("a.csv", "body,t\nx,y\n", FIT_CSV, "line 2: there is no column 'tags'"),
    "number": (
        "a.csv",
        "x,y\n1,0\nred,1\n",
        ("--labels", "y"),
        "a.csv, line 3, column 'x': 'red' is no number",
    ),
    "underscore": ("a.csv", "x,y\n1_0,1\n", ("--labels", "y"), "'1_0' is no number"),
    "infinite": ("a.csv", "x,y\ninf,1\n", ("--labels", "y"), "'inf' is no finite number"),
    "0 or 1": (
        "a.csv",
        "x,y\n1,0\n2,2\n",
        ("--labels", "y"),
        "a.csv, line 3, column 'y': '2' is neither 0 nor 1",
    ),
    "pattern": ("a.csv", "x,y\n1,0\n", ("--labels", "tag_*"), "there is no column 'tag_*'"),
    "encoding": ("a.csv", b"body,tags\n\xff,b\n", FIT_CSV, "is not UTF-8"),
    "json": ("a.jsonl", '{"body": }\n', FIT_CSV, "a.jsonl, line 1, character 10: no JSON"),
    "json list": ("a.jsonl", "\n[1]\n", FIT_CSV, "a.jsonl, line 2: each line has to be an object"),
    "json deep": ("a.jsonl", "[" * 100_000, FIT_CSV, "a.jsonl, line 1: "),
    "json nan": ("a.jsonl", '{"body": NaN}', FIT_CSV, "NaN is no value of JSON"),
    "json text": (
        "a.jsonl",
        '{"body": 5, "tags": ["sea"]}',
        FIT_CSV,
        "a.jsonl, line 1, column 'body': 5 is no text",
    ),
    "json label": (
        "a.jsonl",
        '{"body": "x", "tags": [1.5]}',
        FIT_CSV,
        "line 1, column 'tags': 1.5 is no name of a label",
    ),
    "json object": ("a.jsonl", '{"body": "x", "tags": {}}', FIT_CSV, "neither a text nor a list"),
    "vector": (
        "a.jsonl",
        '{"v": [1, 2], "y": 1}\n{"v": [1], "y": 0}\n',
        ("--labels", "y"),
        "a.jsonl, line 2, column 'v': has 1 numbers, but 2 in the first row",
    ),
    "no labels": ("a.jsonl", '{"body": "x", "tags": []}', FIT_CSV, "at least one label is needed"),
    "libsvm": ("a.svm", "1 1:1\n1 x:1\n", (), "a.svm, line 2: not readable as libsvm"),
    "arff": ("a.arff", "@relation a\n@data\n", (), "a.xml does not exist"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_used_are_named_with_line_and_column(case, tmp_path, run):
    name, content, columns, message = FILES[case]
    data = tmp_path / name
    data.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, printed = run("fit", data, *columns, "--model", tmp_path / "m.mrmp")
    assert status == 1
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert not (tmp_path / "m.mrmp").exists()


USES = {
    "two kinds of columns": (["--text", "a", "--features", "b"], "exclude each other"),
    "two kinds of labels": (["--labels", "a", "--label-column", "b"], "exclude each other"),
    "no labels": (["--text", "body"], "Say where the labels are"),
    "separator": (["--text", "body", "--labels", "a", "--separator", ";"], "give --label-column"),
    "encoder": (["--labels", "a", "--encoder", "x"], "--encoder reads texts"),
    "weights": ([*FIT_CSV, "--encoder-weights"], "give --encoder, too"),
    "parameter": ([*FIT_CSV, "--param", "depth=3"], "--param: Invalid parameter 'depth'"),
}


@pytest.mark.parametrize("case", USES)
def test_arguments_that_contradict_have_a_status_of_their_own(case, tmp_path, run):
    options, message = USES[case]
    data = write_jsonl(tmp_path / "a.jsonl", posts(5))
    status, printed = run("fit", data, *options, "--model", tmp_path / "m.mrmp")
    assert status == 2
    assert message in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "a.csv", "--model", "no/folder/m"], "there is no folder 'no"),
        (["fit", "a.csv", "--model", "m", "--param", "x"], "'x' is not NAME=VALUE"),
        (["fit", "a.csv", "--model", "m", "--labels", "a,,b"], "no list of names"),
        (["predict", "m", "a.csv", "--chunk-rows", "0"], "0 is less than 1"),
        (["graph"], "data"),
        ([], "command"),
    ],
)
def test_wrong_arguments_are_explained(arguments, message, run, capsys):
    with pytest.raises(SystemExit) as stop:
        run(*arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_an_unknown_ending_asks_for_the_format(tmp_path, run):
    status, printed = run("graph", tmp_path / "rows.dat", "--labels", "a")
    assert status == 2
    assert "give --format, one of csv, tsv, jsonl" in printed.err


def test_missing_files_are_reported(tmp_path, run, model):
    status, printed = run("graph", tmp_path / "rows.csv", "--labels", "a")
    assert (status, "rows.csv" in printed.err) == (1, True)
    status, printed = run("predict", tmp_path / "none.mrmp", tmp_path / "posts.jsonl")
    assert (status, "none.mrmp" in printed.err) == (1, True)
    (tmp_path / "none.mrmp").write_bytes(b"something else")
    assert run("predict", tmp_path / "none.mrmp", tmp_path / "posts.jsonl")[0] == 1


def test_a_model_is_not_asked_about_files_of_another_kind(tmp_path, run, model):
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    status, printed = run("predict", model, tmp_path / "rows.svm")
    assert status == 2
    assert "The model reads a table" in printed.err
    status, printed = run("predict", model, tmp_path / "posts.jsonl", "--text", "body")
    assert status == 2
    assert "says itself which columns it reads" in printed.err
    status, printed = run("predict", model, tmp_path / "posts.jsonl", "--keep", "date")
    assert status == 1
    assert "posts.jsonl, line 1, column 'date': there is no such column to keep" in printed.err


@pytest.mark.parametrize("command", ["fit", "predict", "graph", "explain", "report", "compare"])
def test_help_has_examples(command, run, capsys):
    with pytest.raises(SystemExit) as stop:
        run(command, "--help")
    assert stop.value.code == 0
    assert f"  sklearn-mrmp {command} " in capsys.readouterr().out
