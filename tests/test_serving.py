"""The web service of docs/serving.md runs as it is printed there, and refuses what it says."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sklearn_mrmp
from sklearn_mrmp import MLKNNClassifier, save

pytest.importorskip("fastapi", reason="the program of docs/serving.md needs fastapi")
pytest.importorskip("httpx2", reason="the client of the tests needs httpx2")
PAGE = (Path(__file__).parents[1] / "docs" / "serving.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
MAKES_THE_MODEL, PROGRAM = BLOCKS


def client_of(folder):
    """A client of the program, which is started in a folder with a model and an example."""
    from fastapi.testclient import TestClient

    (folder / "serve.py").write_text(PROGRAM, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("serve_of_the_page", folder / "serve.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODEL", str(folder / "model.safetensors"))
        spec.loader.exec_module(module)
    return TestClient(module.app, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(MAKES_THE_MODEL, "serving.md", "exec"), {})
    return client_of(folder), sklearn_mrmp.load(folder / "model.safetensors")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.random(40), "colour": ["red", "blue"] * 20})
    Y = pd.DataFrame({"large": X["size"] > 0.5, "red | hot": X["colour"] == "red"}).astype(int)
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(columns, MLKNNClassifier(3)).fit(X, Y)
    save(model, folder / "model.safetensors")
    rows = X.to_dict("records")
    (folder / "example.json").write_text(json.dumps({"rows": rows[:1]}))
    return client_of(folder), model, X


def test_the_request_of_the_page_is_answered_as_the_model_predicts(texts):
    client, model = texts
    curl = shlex.split(re.search(r"^curl .*?'$", PAGE, re.M | re.S)[0].replace("\\\n", ""))
    body = json.loads(curl[curl.index("-d") + 1])
    answer = client.post("/predict", json=body)
    assert answer.status_code == 200
    rows = model[0].transform(body["texts"])
    P = model[-1].predict_proba(rows)
    found = answer.json()["predictions"]
    assert [row["labels"] for row in found] == model[-1].predict_labels(rows)
    for row, p in zip(found, P, strict=True):
        assert len(row["probabilities"]) == body["top"]
        by_name = dict(zip(model[-1].label_names_, p.tolist(), strict=True))
        for name, value in row["probabilities"].items():
            assert value == pytest.approx(by_name[name], abs=1e-6)
        assert list(row["probabilities"].values()) == sorted(p.round(6), reverse=True)[:2]


def test_rows_of_a_table_are_given_by_column(table):
    client, model, X = table
    rows = [dict(reversed(row.items())) for row in X.to_dict("records")]  # in any order
    found = client.post("/predict", json={"rows": rows}).json()["predictions"]
    np.testing.assert_array_equal(
        [[name in row["labels"] for name in ("large", "red | hot")] for row in found],
        model.predict(X) == 1,
    )


def test_probabilities_can_be_left_out(texts):
    client, _ = texts
    (row,) = client.post("/predict", json={"texts": ["fish"], "top": 0}).json()["predictions"]
    assert row["probabilities"] == {}


def test_health_says_how_many_labels(texts):
    assert texts[0].get("/health").json()["labels"] == 4


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"texts": []},
        {"texts": [3]},
        {"texts": "fish"},
        {"texts": ["fish"] * 257},
        {"texts": ["fish" * 20_000]},
        {"texts": ["fish"], "top": -1},
        {"texts": ["fish"], "rows": [{"size": 1}]},
        {"texts": ["fish"], "other": 1},
        {"rows": [{"size": 1, "colour": "red"}]},
        ["fish"],
    ],
    ids=lambda body: f"{body!s:.40}",
)
def test_what_is_no_batch_of_texts_is_refused(texts, body):
    answer = texts[0].post("/predict", json=body)
    assert answer.status_code == 422
    assert len(answer.content) < 3000
    assert answer.json()["detail"][0]["what"]


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([{"size": 1}], "missing: ['colour']"),
        ([{"size": 1, "colour": "red", "taste": 1}], "missing: ['taste']"),
        ([{"size": 1, "colour": "red"}, {}], "row 1"),
        ([{"size": None, "colour": "red"}], "number"),
        ([{"size": "red", "colour": "red"}], "red"),
        ([{"size": 1, "colour": "green"}], "green"),
    ],
)
def test_what_is_no_batch_of_rows_is_refused_with_a_reason(table, rows, what):
    answer = table[0].post("/predict", json={"rows": rows})
    assert answer.status_code == 422
    assert what in answer.text


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(table, number):
    body = f'{{"rows": [{{"size": {number}, "colour": "red"}}]}}'
    answer = table[0].post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
def test_a_body_that_is_too_long_is_refused(texts, chunked):
    body = b'{"texts": ["' + b"a" * 3_000_000 + b'"]}'
    parts = (body[start : start + 65536] for start in range(0, len(body), 65536))
    answer = texts[0].post("/predict", content=parts if chunked else body)
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"{", b"\x80\x04\x95", b"[" * 100_000, b""])
def test_what_is_no_json_is_refused(texts, body):
    answer = texts[0].post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)


def test_the_program_unpickles_nothing():
    assert not re.search(r"pickle|joblib|torch\.load|eval\(|exec\(", PROGRAM)
