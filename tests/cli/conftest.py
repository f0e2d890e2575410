"""Files of a few rows for the command line."""

import csv
import json

import numpy as np
import pytest

from sklearn_mrmp._cli.main import main

WORDS = {"sea": "wave salt tide", "ship": "deck sail anchor", "desert": "sand dune camel"}


def posts(n_rows=60):
    """Rows with a text, tags, 0/1 columns, a number, a vector and a missing number."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(n_rows):
        tags = [tag for tag in WORDS if rng.random() < 0.4]
        words = [word for tag in tags for word in rng.choice(WORDS[tag].split(), 3)]
        flags = [float(tag in tags) for tag in WORDS]
        rows.append(
            {
                "id": number,
                "body": " ".join([*words, "the"]),
                "tags": tags,
                **{f"is_{tag}": int(flag) for tag, flag in zip(WORDS, flags, strict=True)},
                "size": None if number % 7 == 0 else round(flags[0] + rng.normal() / 10, 3),
                "vector": [flags[1], flags[2]],
            }
        )
    return rows


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_table(path, rows, delimiter=","):
    cells = [{**row, "tags": ";".join(row["tags"])} for row in rows]
    names = [name for name in rows[0] if name != "vector"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(cells)
    return path


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_table(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.fixture
def run(capsys):
    """Run a command; return the status and what was printed."""

    def run_main(*arguments):
        status = main([str(argument) for argument in arguments])
        return status, capsys.readouterr()

    return run_main


QUICK = ("--voters", "linear", "--param", "random_state=0")


@pytest.fixture
def model(tmp_path, run):
    """A model of the texts, and its training rows."""
    data, path = write_jsonl(tmp_path / "posts.jsonl", posts()), tmp_path / "posts.mrmp"
    columns = ("--text", "body", "--label-column", "tags")
    status, printed = run("fit", data, *columns, "--model", path, *QUICK)
    assert status == 0, printed.err
    return path
