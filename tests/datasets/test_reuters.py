"""load_reuters21578: the ModApte rules on a handful of wires, and on the real distribution."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets import load_reuters21578

WIRE = """<REUTERS TOPICS="{topics}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" NEWID="{id}">
<DATE>1</DATE><TOPICS>{marked}</TOPICS><PLACES><D>usa</D></PLACES>
{text}</REUTERS>
"""
TEXT = "<TEXT>\n<TITLE>A TITLE</TITLE><DATELINE>x</DATELINE><BODY>Body\ntext. &#3;</BODY></TEXT>"


def wire(id, split, *marked, topics="YES", text=TEXT):
    marked = "".join(f"<D>{topic}</D>" for topic in marked)
    return WIRE.format(id=id, split=split, marked=marked, topics=topics, text=text)


@pytest.fixture
def write(tmp_path):
    def write(*wires):
        (tmp_path / "reut2-000.sgm").write_text("<!DOCTYPE lewis>\n" + "".join(wires), "latin-1")
        return tmp_path

    return write


def test_only_topics_of_both_parts_and_their_documents_remain(write):
    folder = write(
        wire(3, "TEST", "corn"),
        wire(1, "TRAIN", "wheat", "corn"),
        wire(2, "TRAIN", "gold"),
        wire(4, "TEST", "wheat"),
        wire(5, "TEST", "zinc"),
        wire(6, "NOT-USED", "corn"),
        wire(7, "TRAIN", "corn", topics="NO"),
        wire(8, "TEST"),
    )
    both = load_reuters21578(folder)
    assert both.target_names == ["corn", "wheat"]
    np.testing.assert_array_equal(both.document_ids, [1, 3, 4])
    assert isinstance(both.target, sp.csr_array)
    np.testing.assert_array_equal(both.target.toarray(), [[1, 1], [1, 0], [0, 1]])
    train, test = (load_reuters21578(folder, subset=s) for s in ("train", "test"))
    np.testing.assert_array_equal(train.document_ids, [1])
    np.testing.assert_array_equal(test.document_ids, [3, 4])
    assert test.target_names == both.target_names
    assert "2 documents, 2 topics" in test.DESCR


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (TEXT, "A TITLE\n\nBody\ntext."),
        ('<TEXT TYPE="BRIEF">&#2;<TITLE>SHORT</TITLE>&#3;</TEXT>', "SHORT"),
        ('<TEXT TYPE="UNPROC">&#2;\nAll of\nit &#22; 1\n</TEXT>', "All of\nit  1"),
        ("<TEXT><BODY>AT&amp;T &lt;T.N> rose\x1b</BODY></TEXT>", "AT&T <T.N> rose"),
    ],
)
def test_texts_are_title_and_body_without_markup(write, markup, text):
    folder = write(wire(1, "TRAIN", "corn", text=markup), wire(2, "TEST", "corn"))
    assert load_reuters21578(folder, subset="train").data == [text]


def test_malformed_files_are_reported_with_file_and_line(write, tmp_path):
    good = wire(1, "TRAIN", "corn")
    cases = {
        "line 7: <REUTERS> is never closed": good + good.replace("</REUTERS>", "") + good,
        "line 2: <REUTERS> is never closed": good.replace("</REUTERS>", ""),
        "line 2: the document has no <TOPICS>": good.replace("TOPICS>", "TROPICS>"),
        "line 7: the document has no <TEXT>": good + wire(2, "TEST", "corn", text=""),
        "line 2: the document has the unknown LEWISSPLIT 'VALID'": wire(1, "VALID", "corn"),
        "line 2: the document has the NEWID 'x', not a number": wire("x", "TRAIN", "corn"),
    }
    for message, content in cases.items():
        with pytest.raises(ValueError, match=f"reut2-000.sgm, {message}"):
            load_reuters21578(write(content))


def test_a_folder_without_usable_documents_is_reported(write, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no \*.sgm files"):
        load_reuters21578(tmp_path)
    with pytest.raises(ValueError, match="no topic occurs in both"):
        load_reuters21578(write(wire(1, "TRAIN", "corn")))


def test_unknown_splits_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'split' parameter"):
        load_reuters21578(tmp_path, split="random")


@pytest.mark.data
@pytest.mark.skipif("SKLEARN_MRMP_DATA_HOME" not in os.environ, reason="no SKLEARN_MRMP_DATA_HOME")
def test_modapte_has_its_known_sizes():
    folder = Path(os.environ["SKLEARN_MRMP_DATA_HOME"], "reuters21578")
    both = load_reuters21578(folder)
    assert both.target.shape == (7770 + 3019, 90)
    assert len(both.data) == 10789
    assert load_reuters21578(folder, subset="test").target.shape == (3019, 90)
    assert (both.target.sum(axis=1) >= 1).all()
    assert both.target_names[:3] == ["acq", "alum", "barley"]
