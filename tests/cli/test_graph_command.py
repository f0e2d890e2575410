"""The label graph of a file."""

import pytest

from sklearn_mrmp import label_graph
from tests.cli.conftest import posts, read_table, write_jsonl


def together(n_rows=40):
    tags = [["sea", "ship"], ["desert"], [], ["sea", "ship"]]
    return [{**row, "tags": tags[i % 4]} for i, row in enumerate(posts(n_rows))]


def test_edges_are_printed_and_written(tmp_path, run):
    data, edges = write_jsonl(tmp_path / "posts.jsonl", together()), tmp_path / "edges.csv"
    status, printed = run("graph", data, "--label-column", "tags", "--csv", edges, "--top", 1)
    assert status == 0
    graph = label_graph([row["tags"] for row in together()])
    lines = printed.out.splitlines()
    assert lines[0] == repr(graph)
    assert (
        lines[1] == "  sea and ship: pulling, together in 20 rows, 2.0 times as often as expected"
    )
    assert lines[2] == "  and 2 more"
    rows = read_table(edges)
    assert (rows[0]["source"], rows[0]["target"]) == ("sea", "ship")
    frame = graph.to_frame().set_index(["source", "target"])
    for row in rows:
        edge = frame.loc[(row["source"], row["target"])]
        assert row["relation"] == edge["relation"]
        assert float(row["chi2"]) == pytest.approx(edge["chi2"])


def test_the_picture_is_drawn(tmp_path, run):
    pytest.importorskip("matplotlib").use("Agg")
    data, picture = write_jsonl(tmp_path / "posts.jsonl", together()), tmp_path / "graph.png"
    assert run("graph", data, "--label-column", "tags", "--picture", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_page_is_written(tmp_path, run):
    data, page = write_jsonl(tmp_path / "posts.jsonl", together()), tmp_path / "graph.html"
    assert run("graph", data, "--label-column", "tags", "--html", page)[0] == 0
    assert "ship" in page.read_text(encoding="utf-8")
