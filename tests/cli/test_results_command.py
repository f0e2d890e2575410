"""``sklearn-mrmp results``: it fits what a file lacks, shows what it has, and refuses the rest."""

import pytest

from sklearn_mrmp._cli import results
from sklearn_mrmp._compare.benchmark.fits import Fit, measured
from sklearn_mrmp._compare.benchmark.lines import ResultLine, add_line, read_lines
from sklearn_mrmp._compare.benchmark.sets import DATASETS, BenchmarkSet
from tests.compare.test_benchmark import line, related

MARKS = "<!-- results: begin -->\n<!-- results: end -->\n"


@pytest.fixture
def file(tmp_path):
    """A file of results."""
    path = tmp_path / "results.csv"
    for place, method in enumerate(("regression", "voters", "default"), 1):
        for dataset in ("emotions", "birds"):
            add_line(path, line(dataset, method, value=0.2 * place))
    return path


@pytest.fixture
def tiny(monkeypatch):
    """Make fits of small data, in this process; return those that were made."""
    made = []

    def fit(wanted, sources):
        made.append(wanted.key)
        return measured(wanted, sources)

    monkeypatch.setitem(DATASETS, "emotions", BenchmarkSet("Emotions", "few rows", related))
    monkeypatch.setattr(results, "fit_in_process", fit)
    return made


def test_fits_are_made_once_and_each_is_a_line(run, tiny, tmp_path):
    path = tmp_path / "new.csv"
    common = ("results", "--csv", path, "--data-home", tmp_path, "--dataset", "emotions")
    status, printed = run(*common, "--method", "voters", "--seeds", 2)
    assert status == 0
    assert tiny == [("emotions", "voters", 0), ("emotions", "voters", 1)]
    assert "emotions, voters, seed 1: AP 0." in printed.out
    status, printed = run(*common, "--method", "voters", "--method", "regression", "--seeds", 2)
    assert tiny[2:] == [("emotions", "regression", 0), ("emotions", "regression", 1)]
    assert "2 fits to make" in printed.err
    assert [found.key for found in read_lines(path)] == tiny


def test_data_that_are_not_there_are_named_and_others_are_fitted(run, tiny, tmp_path):
    path = tmp_path / "new.csv"
    common = ("results", "--csv", path, "--data-home", tmp_path, "--seeds", 1)
    options = ("--dataset", "birds", "--dataset", "emotions", "--method", "voters")
    status, printed = run(*common, *options, "--method", "regression", "--markdown")
    assert status == 1
    assert printed.err.count("birds, voters, seed 0: ") == 1
    assert "birds, regression" not in printed.err  # it would lack the same files
    assert "2 of 4 fits were not made" in printed.err
    assert [found.dataset for found in read_lines(path)] == ["emotions", "emotions"]
    assert "| Emotions |" in printed.out


def test_a_fit_that_fails_leaves_the_others_alone(run, monkeypatch, tmp_path):
    def fit(wanted, sources):
        if wanted.method == "voters":
            raise RuntimeError("out of luck")
        return ResultLine(*wanted.key, 1.0, *[0.5] * 5)

    monkeypatch.setattr(results, "fit_in_process", fit)
    path = tmp_path / "new.csv"
    common = ("results", "--csv", path, "--data-home", tmp_path, "--dataset", "birds")
    status, printed = run(*common, "--seeds", 1)
    assert status == 1
    assert "birds, voters, seed 0: out of luck" in printed.err
    assert [found.method for found in read_lines(path)] == ["regression", "default"]


def test_texts_need_an_encoder_only_for_methods_that_read_with_one(run, monkeypatch, tmp_path):
    made = []

    def fit(wanted, sources):
        made.append(wanted)
        return ResultLine(*wanted.key, 1.0, *[0.5] * 5)

    monkeypatch.setattr(results, "fit_in_process", fit)
    common = ("results", "--csv", tmp_path / "new.csv", "--data-home", tmp_path, "--seeds", 1)
    assert run(*common, "--dataset", "cooking", "--method", "default")[0] == 2
    status, printed = run(*common, "--dataset", "cooking")
    assert status == 0
    assert made == [Fit("cooking", method, 0) for method in ("regression", "words", "voters")]
    assert "there is no --encoder" in printed.err
    run(*common, "--dataset", "cooking", "--method", "default", "--encoder", "FOLDER")
    assert made[-1] == Fit("cooking", "default", 0)


def test_tables_are_printed(run, file):
    status, printed = run("results", "--csv", file, "--markdown")
    assert status == 0
    assert printed.out.startswith("| data set | method | seeds |")
    assert '`voters=("linear", "neighbors")`' in printed.out
    short = run("results", "--csv", file, "--markdown", "results-short")[1].out
    assert "neighbors" not in short


def test_pages_are_written_and_checked(run, file, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(MARKS)
    check = ("results", "--csv", file, "--check", "--pages", page)
    status, printed = run(*check)
    assert status == 1
    assert f"{page}: its tables are not those of {file}" in printed.err
    assert page.read_text() == MARKS
    assert run("results", "--csv", file, "--write", "--pages", page)[0] == 0
    assert "| Emotions |" in page.read_text()
    assert run(*check)[0] == 0
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "found.md").write_text(MARKS)
    monkeypatch.chdir(tmp_path)  # pages are looked for here
    status, printed = run("results", "--csv", file, "--write")
    assert status == 0
    assert printed.err.strip().endswith("found.md")


def test_the_picture_of_ranks_is_written(run, file, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("results", "--csv", file, "--picture", tmp_path / "ranks.svg")[0] == 0
    assert "<svg" in (tmp_path / "ranks.svg").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Nothing to do"),
        (["--markdown", "--dataset", "emotions"], "--dataset is about fits: give --data-home"),
        (["--write", "--check"], "--write and --check exclude each other"),
        (["--markdown", "--pages", "README.md"], "--pages names what --write or --check"),
        (["--data-home", ".", "--cache-dir", "states"], "give --encoder, too"),
        (
            ["--data-home", ".", "--dataset", "emotions", "--method", "states"],
            "None of these methods is for these data sets",
        ),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(run, file, options, message):
    status, printed = run("results", "--csv", file, *options)
    assert status == 2
    assert message in printed.err


def test_a_file_without_results_is_refused(run, tmp_path):
    status, printed = run("results", "--csv", tmp_path / "absent.csv", "--markdown")
    assert status == 1
    assert "make some with --data-home" in printed.err
