"""From a file to a model file, and from this to predictions in a file."""

import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import sklearn_mrmp
from sklearn_mrmp import MLKNNClassifier, MrMPClassifier, TopK, TunedDecisionClassifier
from sklearn_mrmp._cli.formats.json_lines import JsonLinesFile
from sklearn_mrmp._cli.models import labels_and_probabilities
from tests.cli.conftest import QUICK, WORDS, posts, read_jsonl, read_table, write_jsonl, write_table
from tests.tiny import tiny

NAMES = sorted(WORDS)


def expected(rows):
    """What the same model does in Python."""
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True), MrMPClassifier(voters=("linear",), random_state=0)
    )
    texts = [row["body"] for row in rows]
    model.fit(texts, [row["tags"] for row in rows])
    features = model[0].transform(texts)
    return model[-1].predict_labels(features), model[-1].predict_proba(features)


def test_predictions_are_those_of_the_same_model_in_python(model, tmp_path, run):
    rows, out = posts(), tmp_path / "out.jsonl"
    arguments = (model, tmp_path / "posts.jsonl", "--keep", "id", "--chunk-rows", 7)
    status, printed = run("predict", *arguments, "--out", out)
    assert status == 0
    assert "predicted 60 rows" in printed.err
    labels, P = expected(rows)
    found = read_jsonl(out)
    assert [row["id"] for row in found] == list(range(60))
    assert [row["labels"] for row in found] == labels
    for row, probabilities in zip(found, P, strict=True):
        places = [NAMES.index(name) for name in row["labels"]]
        np.testing.assert_allclose(row["scores"], probabilities[places], atol=1e-5)


@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_go_in_and_out(tmp_path, run, ending, delimiter):
    rows = posts()
    data = write_table(tmp_path / f"posts.{ending}", rows, delimiter)
    model, out = tmp_path / "posts.mrmp", tmp_path / f"out.{ending}"
    columns = ("--text", "body", "--label-column", "tags", "--separator", ";")
    assert run("fit", data, *columns, "--model", model, *QUICK)[0] == 0
    assert run("predict", model, data, "--out", out, "--keep", "id", "--separator", "|")[0] == 0
    found, (labels, P) = read_table(out, delimiter), expected(rows)
    assert [row["labels"] for row in found] == ["|".join(names) for names in labels]
    assert list(found[0]) == ["id", "labels", "scores"]
    assert all(
        len(row["scores"].split("|")) == max(len(n), 1)
        for row, n in zip(found, labels, strict=True)
    )
    assert run("predict", model, data, "--wide", "--out", out)[0] == 0
    wide = read_table(out, delimiter)
    assert list(wide[0]) == ["labels", *NAMES]
    found = np.array([[float(row[name]) for name in NAMES] for row in wide])
    np.testing.assert_allclose(found, P, atol=1e-5)


def test_double_quotes_can_be_ordinary_characters(tmp_path, run):
    data, model = tmp_path / "posts.tsv", tmp_path / "m.mrmp"
    data.write_text("body\ttags\n" + '"salt" he said\tsea\nsand "\tdesert\n' * 20)
    options = ("--text", "body", "--label-column", "tags", "--no-quotes", "--model", model)
    assert "40 rows, 2 labels" in run("fit", data, *options, *QUICK)[1].err
    status, printed = run("predict", model, data, "--no-quotes", "--keep", "body")
    assert status == 0
    assert printed.out.splitlines()[1].startswith('"""salt"" he said",sea,')


def test_wide_json_has_the_probability_of_each_label(model, tmp_path, run):
    data = tmp_path / "posts.jsonl"
    status, printed = run("predict", model, data, "--wide", "--out-format", "jsonl")
    assert status == 0
    (tmp_path / "out.jsonl").write_text(printed.out)
    assert list(read_jsonl(tmp_path / "out.jsonl")[0]["scores"]) == NAMES


def test_columns_of_0_and_1_keep_labels_that_never_occur_and_unknown_ones(tmp_path, run):
    rows = posts()
    for row in rows:
        row["is_never"] = 0
    rows[0]["is_sea"] = None
    data, model = write_jsonl(tmp_path / "posts.jsonl", rows), tmp_path / "posts.mrmp"
    assert run("fit", data, "--text", "body", "--labels", "is_*", "--model", model, *QUICK)[0] == 0
    loaded = sklearn_mrmp.load(model)
    assert loaded[-1].label_names_.tolist() == ["is_sea", "is_ship", "is_desert", "is_never"]
    assert loaded[0].label_columns == ["is_sea", "is_ship", "is_desert", "is_never"]


def test_numbers_lists_and_missing_cells_are_features(tmp_path, run):
    data, model = write_jsonl(tmp_path / "posts.jsonl", posts()), tmp_path / "posts.mrmp"
    columns = ("--label-column", "tags", "--ignore", "id,body,is_sea,is_ship,is_desert")
    assert run("fit", data, *columns, "--model", model, *QUICK)[0] == 0
    loaded = sklearn_mrmp.load(model)
    assert loaded[0].features == ["size", "vector"]
    assert loaded[-1].n_features_in_ == 3
    X = loaded[:-1].transform([{"size": None, "vector": [1, 0]}])
    known = [row["size"] for row in posts() if row["size"] is not None]
    np.testing.assert_allclose(X, [[np.median(known), 1, 0]])
    assert run("predict", model, data)[0] == 0


def test_a_model_file_takes_rows_by_name_in_python(model):
    loaded = sklearn_mrmp.load(model)
    rows = [{"body": "salt tide wave"}, {"body": "sand dune"}]
    assert loaded.predict(rows).tolist() == loaded.predict(pd.DataFrame(rows)).tolist()
    with pytest.raises(TypeError, match="list of dicts"):
        loaded.predict(["salt tide wave"])


@pytest.mark.parametrize("first", [0, 1])
def test_libsvm_files_are_read_and_the_model_remembers_where_counting_begins(tmp_path, run, first):
    rng = np.random.default_rng(0)
    X = (rng.random((60, 8)) < 0.4).astype(float)
    Y = X[:, :3].astype(int)
    data, model, out = (tmp_path / name for name in ("rows.svm", "rows.mrmp", "out.csv"))
    dump_svmlight_file(X, Y, str(data), multilabel=True, zero_based=first == 0)
    zero_based = ["--zero-based"] if first == 0 else []
    assert run("fit", data, *zero_based, "--model", model, *QUICK)[0] == 0
    assert run("predict", model, data, "--out", out, "--chunk-rows", 9)[0] == 0
    reference = MrMPClassifier(voters=("linear",), random_state=0).fit(X, Y)
    named = [",".join(names) for names in reference.predict_labels(X)]
    assert [row["labels"] for row in read_table(out)] == named


def test_rows_of_libsvm_that_have_nothing_are_rows(tmp_path, run):
    data, model, out = (tmp_path / name for name in ("rows.svm", "rows.mrmp", "out.csv"))
    data.write_text("# a comment\n" + "1 1:1\n\n2 2:1 # another\n" * 20 + "\n\n")
    assert "60 rows, 2 labels" in run("fit", data, "--model", model, *QUICK)[1].err
    assert run("predict", model, data, "--out", out, "--chunk-rows", 7)[0] == 0
    assert len(read_table(out)) == 60


def test_a_file_that_counts_from_0_is_not_misread(tmp_path, run):
    (tmp_path / "rows.svm").write_text("1 1:1\n0,1 0:1 2:1\n")
    status, printed = run("fit", tmp_path / "rows.svm", "--model", tmp_path / "m", *QUICK)
    assert status == 1
    assert "rows.svm, line 2: " in printed.err
    assert "--zero-based" in printed.err


def test_arff_files_are_read_with_their_labels(tmp_path, run):
    header = (
        "@relation t\n@attribute x numeric\n@attribute sea {0,1}\n@attribute ship {0,1}\n@data\n"
    )
    rows = "".join(f"{i % 2},{i % 2},{int(i % 3 == 0)}\n" for i in range(40))
    (tmp_path / "t-train.arff").write_text(header + rows)
    (tmp_path / "t.xml").write_text('<labels><label name="sea"/><label name="ship"/></labels>')
    data, model = tmp_path / "t-train.arff", tmp_path / "t.mrmp"
    assert run("fit", data, "--model", model, *QUICK)[0] == 0
    status, printed = run("predict", model, data, "--wide", "--chunk-rows", 6)
    assert status == 0
    assert printed.out.splitlines()[0] == "labels,sea,ship"
    assert len(printed.out.splitlines()) == 41


def test_parquet_files_are_read(tmp_path, run):
    pytest.importorskip("pyarrow")
    data, model = tmp_path / "posts.parquet", tmp_path / "posts.mrmp"
    pd.DataFrame(posts()).to_parquet(data)
    columns = ("--text", "body", "--label-column", "tags")
    assert run("fit", data, *columns, "--model", model, *QUICK)[0] == 0
    status, printed = run("predict", model, data, "--chunk-rows", 9)
    assert status == 0
    assert len(printed.out.splitlines()) == 61


def test_without_pyarrow_the_extra_is_named(tmp_path, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    status, printed = run(
        "fit",
        tmp_path / "x.parquet",
        "--text",
        "a",
        "--label-column",
        "b",
        "--model",
        tmp_path / "m",
    )
    assert status == 1
    assert 'pip install "sklearn-mrmp[parquet]"' in printed.err


def test_models_saved_in_python_are_told_which_column_to_read(tmp_path, run):
    rows = posts()
    model = make_pipeline(TfidfVectorizer(), MLKNNClassifier())
    model.fit([row["body"] for row in rows], [row["tags"] for row in rows])
    sklearn_mrmp.save(model, tmp_path / "knn.mrmp")
    data = write_jsonl(tmp_path / "posts.jsonl", rows)
    status, printed = run("predict", tmp_path / "knn.mrmp", data, "--text", "body")
    assert status == 0
    assert len(printed.out.splitlines()) == 61
    status, printed = run("predict", tmp_path / "knn.mrmp", data)
    assert status == 2
    assert "Say which columns it reads" in printed.err


def test_what_stands_before_a_classifier_says_how_many_features_a_row_has(tmp_path, run, related):
    X, Y = related
    model = make_pipeline(TruncatedSVD(3, random_state=0), MLKNNClassifier()).fit(X, Y)
    sklearn_mrmp.save(model, tmp_path / "m.mrmp")
    data = tmp_path / "rows.svm"
    dump_svmlight_file(X[:9], Y[:9], str(data), multilabel=True, zero_based=False)
    status, printed = run("predict", tmp_path / "m.mrmp", data, "--chunk-rows", 4)
    assert status == 0
    named = [",".join(names) for names in model[-1].predict_labels(model[:-1].transform(X[:9]))]
    (tmp_path / "out.csv").write_text(printed.out)
    assert [row["labels"] for row in read_table(tmp_path / "out.csv")] == named


@pytest.mark.parametrize("kind", ["classes", "margins"])
def test_models_that_say_nothing_of_labels_are_refused(tmp_path, run, related, kind):
    X, Y = related
    if kind == "classes":
        model, message = MLKNNClassifier().fit(X, Y[:, 0]), "classes that exclude each other"
    else:
        model = TunedDecisionClassifier(OneVsRestClassifier(LinearSVC()), cv=2).fit(X, Y)
        message = "without probabilities"
    sklearn_mrmp.save(model, tmp_path / "m.mrmp")
    status, printed = run("predict", tmp_path / "m.mrmp", tmp_path / "rows.svm")
    assert status == 1
    assert message in printed.err


def test_other_metrics_decide_anew(model, tmp_path, run):
    data = tmp_path / "posts.jsonl"
    status, printed = run("predict", model, data, "--metric", "accuracy")
    assert status == 0
    loaded = sklearn_mrmp.load(model)
    loaded[-1].set_params(metric="accuracy")
    rows = loaded[:-1].transform(posts())
    named = [",".join(names) for names in loaded[-1].predict_labels(rows)]
    (tmp_path / "out.csv").write_text(printed.out)
    assert [row["labels"] for row in read_table(tmp_path / "out.csv")] == named


@pytest.mark.parametrize(
    "classifier",
    [
        tiny(),
        tiny(metric="accuracy"),
        MLKNNClassifier(),
        sklearn_mrmp.LabelPowersetClassifier(),
        TunedDecisionClassifier(MLKNNClassifier(), cv=2, random_state=0),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_labels_and_probabilities_in_one_pass_are_those_of_two(classifier, related):
    X, Y = related
    labels, P = labels_and_probabilities(classifier.fit(X, Y), X[:20])
    np.testing.assert_array_equal(np.asarray(labels) != 0, classifier.predict(X[:20]) != 0)
    np.testing.assert_allclose(P, classifier.predict_proba(X[:20]), rtol=1e-5)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "libsvm"])
def test_memory_does_not_grow_with_the_rows_to_predict(ending, model, tmp_path, run):
    if ending == "libsvm":
        few_rows = "0 1:1 2:1\n1 2:1 4000:1\n" * 20
        (tmp_path / "few.libsvm").write_text(few_rows)
        model = tmp_path / "libsvm.mrmp"
        assert run("fit", tmp_path / "few.libsvm", "--model", model, *QUICK)[0] == 0

    def write(path, n_rows):
        row = {"body": "salt tide wave " * 200, "id": 1, "tags": []}
        if ending == "libsvm":
            path.write_text(f"0 {' '.join(f'{column}:1' for column in range(1, 600))}\n" * n_rows)
        else:
            (write_table if ending == "csv" else write_jsonl)(path, [row] * n_rows)

    def peak(n_rows):
        data = tmp_path / f"{n_rows}.{ending}"
        write(data, n_rows)
        assert data.stat().st_size > n_rows * 3_000
        arguments = ("predict", model, data, "--out", tmp_path / "out.csv", "--chunk-rows", 25)
        tracemalloc.start()
        assert run(*arguments)[0] == 0
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = peak(50), peak(600)  # the rows alone are 0.15 and 1.8 MB
    assert many < few + 300_000


def test_no_more_rows_are_read_than_were_asked_for(tmp_path):
    data = write_jsonl(tmp_path / "posts.jsonl", posts(10))
    with data.open("a") as file:
        file.write("no JSON\n")
    chunks = JsonLinesFile(str(data)).chunks(4)
    assert [len(next(chunks)), len(next(chunks))] == [4, 4]
    with pytest.raises(ValueError, match="line 11"):
        next(chunks)


def test_what_fails_on_the_way_leaves_the_old_output_alone(model, tmp_path, run):
    out = tmp_path / "out.csv"
    out.write_text("old")
    with (tmp_path / "posts.jsonl").open("a") as file:
        file.write('{"id": 1}\n')
    arguments = (model, tmp_path / "posts.jsonl", "--chunk-rows", 5)
    status, printed = run("predict", *arguments, "--out", out)
    assert status == 1
    assert "posts.jsonl, line 61, column 'body': missing; this row has 'id'" in printed.err
    assert out.read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_decisions_with_an_entry_for_each_row_are_refused(tmp_path, run, related):
    X, Y = related
    clf = tiny(voters=("linear",), decision=TopK(np.ones(X.shape[0], dtype=int))).fit(X, Y)
    clf.save(tmp_path / "m.mrmp")
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    status, printed = run("predict", tmp_path / "m.mrmp", tmp_path / "rows.svm")
    assert status == 1
    assert "an entry for each row" in printed.err


def test_labels_that_contain_the_separator_are_not_written_ambiguously(tmp_path, run):
    rows = [{"body": "salt", "tags": ["sea, deep"]}, {"body": "sand", "tags": ["desert"]}] * 20
    data, model = write_jsonl(tmp_path / "posts.jsonl", rows), tmp_path / "m.mrmp"
    run("fit", data, "--text", "body", "--label-column", "tags", "--model", model, *QUICK)
    status, printed = run("predict", model, data)
    assert status == 2
    assert "contain the separator ',': 'sea, deep'" in printed.err
    assert run("predict", model, data, "--separator", ";")[0] == 0


def test_an_interrupted_fit_writes_nothing(tmp_path, run, monkeypatch):
    def interrupt(self, *args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(MrMPClassifier, "fit", interrupt)
    data = write_jsonl(tmp_path / "posts.jsonl", posts())
    columns = ("--text", "body", "--label-column", "tags", "--model", tmp_path / "m.mrmp")
    status, printed = run("fit", data, *columns)
    assert status == 130
    assert printed.err.splitlines()[-1] == "sklearn_mrmp: interrupted; nothing was written"
    assert not (tmp_path / "m.mrmp").exists()
