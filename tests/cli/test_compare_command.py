"""The command line on a small folder: what it prints, writes and refuses."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from sklearn_mrmp import MLKNNClassifier
from sklearn_mrmp._cli import compare as _cli
from sklearn_mrmp._cli.main import main
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.methods import METHODS, make_method
from sklearn_mrmp._compare.report import table_rows
from sklearn_mrmp.datasets import make_related_labels
from tests.pages.reading import block

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Processes of their own are tested with compare_classifiers; here they only take time."""

    def compare(*args, **options):
        return compare_classifiers(*args, **options, isolate=False)

    monkeypatch.setattr(_cli, "compare_classifiers", compare)


@pytest.fixture
def home(tmp_path):
    """A data home with the data set "tiny"."""
    folder = tmp_path / "home" / "mulan" / "tiny"
    folder.mkdir(parents=True)
    X, Y, _ = make_related_labels(80, 4, n_features=6, group_size=2, random_state=0)
    X = X.toarray()
    names = [f"@attribute w{j} numeric" for j in range(6)]
    names += [f"@attribute l{j} {{0,1}}" for j in range(4)]
    header = "\n".join(["@relation tiny", *names, "@data", ""])
    labels = "".join(f'<label name="l{j}"/>' for j in range(4))
    (folder / "tiny.xml").write_text(f"<labels>{labels}</labels>")
    for part, rows in (("train", slice(0, 60)), ("test", slice(60, 80))):
        lines = [",".join(f"{v:g}" for v in row) for row in np.hstack([X, Y])[rows]]
        (folder / f"tiny-{part}.arff").write_text(header + "\n".join(lines) + "\n")
    return tmp_path / "home"


def run(*arguments):
    return main(["compare", *map(str, arguments)])


def test_a_comparison_prints_the_table_and_writes_three_files(home, tmp_path, capsys):
    out = tmp_path / "out"
    status = run("--dataset", "tiny", "--data-home", home, "--methods", "br-lr,cc,lp", "--out", out)
    printed = capsys.readouterr().out
    assert status == 0
    assert "60 rows, 6 features (dense), 4 labels" in printed
    assert "[3/3] lp, seed 0: accuracy" in printed
    assert "| br-lr | optimal |" in printed
    found = {path.name for path in out.iterdir()}
    assert found == {"tiny.csv", "tiny.md", "tiny.png", "tiny.jsonl"}
    assert (out / "tiny.csv").read_text().startswith("decision,method,accuracy,")
    assert (out / "tiny.md").read_text() in printed


def test_a_report_is_a_page_with_the_names_of_the_data_set(home, tmp_path, capsys):
    report = tmp_path / "new" / "folder" / "report.html"
    options = ["--methods", "br-lr", "--out", tmp_path / "out", "--report", report]
    assert run("--dataset", "tiny", "--data-home", home, *options) == 0
    assert f"wrote {report}" in capsys.readouterr().out
    html = report.read_text(encoding="utf-8")
    assert block(html, "results-data")["names"] == ["l0", "l1", "l2", "l3"]
    assert "tiny: comparison of classifiers" in html


def test_a_folder_is_refused_as_a_report_before_the_run(home, tmp_path, capsys):
    options = ["--methods", "br-lr", "--out", tmp_path / "out", "--report", tmp_path]
    assert run("--dataset", "tiny", "--data-home", home, *options) == 1
    printed = capsys.readouterr()
    assert "is a folder; give a file" in printed.err
    assert "[1/1]" not in printed.out


def test_a_second_call_resumes_and_fresh_does_not(home, tmp_path, capsys):
    arguments = ("--dataset", "tiny", "--data-home", home, "--methods", "br-lr")
    arguments += ("--out", tmp_path / "out")
    run(*arguments)
    capsys.readouterr()
    run(*arguments)
    assert "1 of 1 runs were done before" in capsys.readouterr().out
    run(*arguments, "--fresh")
    assert "done before" not in capsys.readouterr().out


def test_a_data_set_can_be_a_folder(home, tmp_path):
    folder = home / "mulan" / "tiny"
    assert run("--dataset", folder, "--methods", "br-lr", "--out", tmp_path / "out") == 0
    assert (tmp_path / "out" / "tiny.md").is_file()


def test_reuters_is_read_from_the_data_home_as_texts(tmp_path, capsys):
    words = {"corn": "maize harvest acres", "gold": "ounce mine metal"}
    wires = [
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{"TEST" if i % 4 == 0 else "TRAIN"}" NEWID="{i}">'
        f"<TOPICS><D>{topic}</D></TOPICS><TEXT><BODY>{words[topic]} {i % 5}</BODY></TEXT></REUTERS>"
        for i, topic in enumerate(["corn", "gold"] * 16 + ["gold", "corn"] * 16)
    ]
    folder = tmp_path / "reuters21578"
    folder.mkdir()
    (folder / "reut2-000.sgm").write_text("\n".join(wires))
    arguments = ("--dataset", "reuters", "--data-home", tmp_path, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", "br-lr,lp") == 0
    assert run(*arguments, "--methods", "br-lr", "--titles") == 0
    assert "| br-lr | optimal | **1.000** |" in capsys.readouterr().out


def test_a_failing_method_is_reported_and_sets_the_status(home, tmp_path, capsys, monkeypatch):
    def broken(dataset):
        return make_method("br-lr", dataset).set_params(maxabsscaler="nonsense")

    monkeypatch.setitem(METHODS, "cc", (broken, ""))
    arguments = ("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", "cc,br-lr") == 1
    assert "`cc` failed: " in capsys.readouterr().out
    assert (tmp_path / "out" / "tiny.png").is_file()
    assert run(*arguments, "--methods", "cc", "--fresh", "--out", tmp_path / "none") == 1
    assert not (tmp_path / "none" / "tiny.png").exists()


def test_the_paper_table_names_the_methods_of_the_paper_once(home, tmp_path, monkeypatch):
    asked = []

    def note(estimators, *args, **options):
        asked.append(dict(estimators))
        return compare_classifiers({"mlknn": estimators["mlknn"]}, *args, **options, isolate=False)

    monkeypatch.setattr(_cli, "compare_classifiers", note)
    arguments = ("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", "mlknn,paper-table") == 0
    kinds = [type(model).__name__ for model in asked[0].values()]
    assert kinds == [
        "MLKNNClassifier",
        "MLARAMClassifier",
        "MLRNNClassifier",
        *["LaMPClassifier"] * 3,
        "MPVAEClassifier",
        *["MrMPClassifier"] * 3,
        *["Pipeline"] * 3,
    ]
    assert [m.relations for m in asked[0].values() if type(m).__name__ == "LaMPClassifier"] == [
        "edgeless",
        "full",
        "prior",
    ]


def test_rows_are_drawn_and_the_table_says_how_many_weights_there_are(home, tmp_path, capsys):
    arguments = ("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", "br-lr", "--rows", 40) == 0
    printed = capsys.readouterr().out
    assert "40 of these rows are drawn" in printed
    assert printed.splitlines()[-3].endswith("| 28.0 |")  # 4 labels, 6 coefficients, intercepts


def test_sparse_matrices_are_read_from_the_data_home(tmp_path, capsys):
    X, Y, _ = make_related_labels(80, 4, n_features=6, group_size=2, random_state=0)
    arguments = ("--dataset", "rcv1", "--data-home", tmp_path, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", "br-lr") == 1
    assert "no file" in capsys.readouterr().err
    (tmp_path / "npz").mkdir()
    for part, rows in (("train", slice(0, 60)), ("test", slice(60, 80))):
        for letter, matrix in (("X", X), ("Y", sp.csr_array(Y))):
            sp.save_npz(tmp_path / "npz" / f"rcv1_union_{part}_{letter}.npz", matrix[rows])
    assert run(*arguments, "--methods", "br-lr") == 0
    assert "60 rows, 6 features (sparse), 4 labels" in capsys.readouterr().out


def test_titles_of_features_are_refused(home, tmp_path, capsys):
    arguments = ("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out")
    assert run(*arguments, "--titles") == 1
    assert "--titles is for texts, and the rows of tiny are features" in capsys.readouterr().err


def test_missing_data_is_reported_without_a_traceback(tmp_path, capsys):
    assert run("--dataset", "absent", "--data-home", tmp_path) == 1
    assert "no data set" in capsys.readouterr().err
    assert run("--dataset", "reuters", "--data-home", tmp_path) == 1
    assert "holds no *.sgm files" in capsys.readouterr().err


def test_looking_for_data_makes_no_folder(tmp_path):
    assert run("--dataset", "absent", "--data-home", tmp_path / "home") == 1
    assert not (tmp_path / "home").exists()


def test_a_data_set_without_parts_is_explained(home, tmp_path, capsys):
    folder = home / "mulan" / "tiny"
    (folder / "tiny-train.arff").rename(folder / "tiny.arff")
    (folder / "tiny-test.arff").unlink()
    assert run("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out") == 1
    message = capsys.readouterr().err
    assert "tiny.arff is one file" in message
    assert "tiny-train.arff and tiny-test.arff" in message
    assert "subset=" not in message
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_data_set(home, tmp_path, capsys):
    table = tmp_path / "rows.csv"
    table.write_text("a,b\n1,0\n")
    assert run("--dataset", table) == 1
    message = capsys.readouterr().err
    assert "rows.csv is a file" in message
    assert "compare_classifiers" in message
    assert run("--dataset", home / "mulan" / "tiny" / "tiny-train.arff") == 1
    assert f"--dataset {home / 'mulan' / 'tiny'}" in capsys.readouterr().err


def without(monkeypatch, *packages):
    """Make packages look as if they were not installed."""
    for name in [*sys.modules, *packages]:
        if name.partition(".")[0] in packages:
            monkeypatch.setitem(sys.modules, name, None)


def test_without_pandas_and_matplotlib_only_the_picture_is_left_out(
    home, tmp_path, capsys, monkeypatch
):
    arguments = ("--dataset", "tiny", "--data-home", home, "--methods", "br-lr,lp")
    out, bare = tmp_path / "out", tmp_path / "bare"
    run(*arguments, "--out", out)
    bare.mkdir()
    (bare / "tiny.jsonl").write_text((out / "tiny.jsonl").read_text())  # times differ otherwise
    capsys.readouterr()
    without(monkeypatch, "pandas", "matplotlib")
    assert run(*arguments, "--out", bare) == 0
    assert {path.name for path in bare.iterdir()} == {"tiny.csv", "tiny.md", "tiny.jsonl"}
    for name in ("tiny.csv", "tiny.md"):
        assert (bare / name).read_text() == (out / name).read_text()
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "no picture will be written" in printed.err
    assert 'pip install "sklearn-mrmp[plot]"' in printed.err
    assert "tiny.png" not in printed.out


def test_a_missing_package_is_told_before_the_run(home, tmp_path, capsys, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_cli, "compare_classifiers", stop)
    without(monkeypatch, "matplotlib")
    assert run("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out") == 130
    assert "no picture will be written" in capsys.readouterr().err


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_csv_file_is_what_pandas_would_write(tmp_path, seeds):
    pytest.importorskip("pandas")
    X, Y, _ = make_related_labels(80, 4, n_features=6, group_size=2, random_state=0)
    methods = {"br, lr": make_method("br-lr", "tiny"), "broken": MLKNNClassifier(n_neighbors=-1)}
    parts = X[:60], Y[:60], X[60:], Y[60:]
    result = compare_classifiers(methods, *parts, seeds=seeds, isolate=False)
    _cli._write_csv(table_rows(result), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == result.to_frame().to_csv(index=False)


def test_an_interruption_says_how_to_go_on(home, tmp_path, capsys, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_cli, "compare_classifiers", interrupt)
    assert run("--dataset", "tiny", "--data-home", home, "--out", tmp_path / "out") == 130
    assert "the same command resumes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "x", "--methods", "svm"], "unknown method 'svm'"),
        (["--dataset", "x", "--seeds", "0"], "0 is less than 1"),
        (["--dataset", "x", "--seeds", "x"], "--seeds: 'x' is not a whole number"),
        (["--dataset", "x", "--n-jobs", "1.5"], "--n-jobs: '1.5' is not a whole number"),
        ([], "--dataset"),
    ],
)
def test_bad_arguments_are_explained(arguments, message, capsys):
    with pytest.raises(SystemExit):
        run(*arguments)
    assert message in capsys.readouterr().err


def test_help_lists_all_methods(capsys):
    with pytest.raises(SystemExit):
        run("--help")
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_made_for_features_and_for_texts(name):
    assert hasattr(make_method(name, "bibtex"), "predict_proba")
    assert isinstance(make_method(name, "reuters", text=True), Pipeline)


def test_methods_are_what_their_names_say():
    assert make_method("mrmp-no-graph", "bibtex").relations is None
    assert make_method("mrmp-paper", "bibtex").dropout == 0.2
    assert make_method("mrmp-cv", "bibtex").cv == 5
    assert make_method("tuned-lr-cv", "bibtex").estimator[-1].refit
    assert make_method("tuned-lr-cv", "reuters", text=True)[-1].estimator.refit
    assert make_method("br-lr", "reuters", text=True)[0].sublinear_tf
    for name in ("reuters", "goemotions", "ohsumed", "cooking"):  # a scaler would undo tf-idf
        assert len(make_method("tuned-lr", name, text=True)) == 2
    with pytest.raises(ValueError, match="Unknown method 'svm'"):
        make_method("svm", "bibtex")


def test_words_of_a_title_count_once_more_when_asked():
    features = make_method("br-lr", "reuters", text=True, titles=True)[0]
    assert all(part.sublinear_tf for _, part in features.transformer_list)
    features.fit(["Cocoa up\nprices of cocoa", "Gold\ngold up", "Cocoa Gold\nprices up"])
    assert list(features.get_feature_names_out()) == [
        "text__cocoa",
        "text__gold",
        "text__prices",
        "text__up",
        "title__cocoa",
        "title__gold",
    ]
    row = features.transform(["Gold\nprices of cocoa"]).toarray()[0]
    assert (row[[0, 1, 2, 5]] > 0).all()
    assert row[[3, 4]].tolist() == [0, 0]
    np.testing.assert_allclose(np.linalg.norm(row[:4]), 2 * np.linalg.norm(row[4:]))


def test_methods_are_separated_by_commas():
    assert _cli._methods("all") == ["all"]
    assert _cli._methods("lp, cc") == ["lp", "cc"]
