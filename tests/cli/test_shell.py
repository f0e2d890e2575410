"""The program as a shell starts it: pipes, signals and statuses."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

import sklearn_mrmp
from sklearn_mrmp import MLKNNClassifier
from sklearn_mrmp._cli.columns import ColumnReader
from tests.cli.conftest import QUICK, posts, write_jsonl

COMMAND = [sys.executable, "-m", "sklearn_mrmp"]
# Programs that were started in the background ignore Ctrl-C, and so do those that they start.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from sklearn_mrmp._cli.main import main
sys.exit(main())
"""


@pytest.fixture
def light(tmp_path):
    """A model that loads in no time, since it needs no torch."""
    steps = [("read", ColumnReader(["body"])), ("words", TfidfVectorizer())]
    rows, path = posts(), tmp_path / "knn.mrmp"
    model = Pipeline([*steps, ("classify", MLKNNClassifier())])
    sklearn_mrmp.save(model.fit(rows, [row["tags"] for row in rows]), path)
    return path


def test_a_model_is_fitted_and_used_from_a_shell(tmp_path):
    data, model = write_jsonl(tmp_path / "posts.jsonl", posts()), tmp_path / "m.mrmp"
    fit = ["fit", str(data), "--text", "body", "--label-column", "tags", "--model", str(model)]
    done = subprocess.run([*COMMAND, *fit, *QUICK], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert "60 rows, 3 labels" in done.stderr
    predict = [*COMMAND, "predict", str(model), "-", "--format", "jsonl"]
    done = subprocess.run(predict, input=data.read_text(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 61


def test_wrong_input_sets_the_status_of_the_process(light):
    predict = [*COMMAND, "predict", str(light), "-", "--format", "jsonl"]
    done = subprocess.run(predict, input="no JSON", capture_output=True, text=True)
    assert done.returncode == 1
    assert "sklearn_mrmp: standard input, line 1" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes of other systems break with a signal")
def test_a_reader_that_goes_away_is_no_error(light, tmp_path):
    many = write_jsonl(tmp_path / "many.jsonl", [{"body": "salt tide " * 50}] * 5_000)
    predict = [*COMMAND, "predict", str(light), str(many), "--wide", "--chunk-rows", "100"]
    with subprocess.Popen(predict, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"labels,desert,sea,ship\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(os.name == "nt", reason="signals of other systems differ")
def test_ctrl_c_is_quiet(light, tmp_path):
    pipe = tmp_path / "rows.jsonl"
    os.mkfifo(pipe)
    out = tmp_path / "out.csv"
    predict = [sys.executable, "-c", LISTENING, "predict", str(light), str(pipe), "--out", str(out)]
    with subprocess.Popen(predict, stderr=subprocess.PIPE, text=True) as process:
        with pipe.open("w") as rows:  # opens once the program reads
            rows.write('{"body": "salt"}\n')
            rows.flush()
            process.send_signal(signal.SIGINT)
            message = process.stderr.read()
        assert process.wait() == 130
    assert message == "sklearn_mrmp: interrupted; nothing was written\n"
    assert not out.exists()


@pytest.mark.skipif(shutil.which("sklearn-mrmp") is None, reason="the package is not installed")
def test_the_console_script_is_the_same_program():
    shown = subprocess.run(["sklearn-mrmp", "--help"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("usage: sklearn-mrmp ")
