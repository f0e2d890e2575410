"""Readers of files, on files that were damaged: a documented error, or a right-shaped answer.

A mutation flips, cuts, repeats or exchanges bytes of a good file; `HOSTILE` are files made to hurt.
"""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from sklearn_mrmp.datasets import (
    load_goemotions,
    load_mulan,
    load_ohsumed,
    load_reuters21578,
    load_tagged_texts,
)
from tests.properties.strategies import holds_for

DENSE = b"""% a comment
@relation 'tiny: -C 2'
@attribute wave numeric
@attribute "a \\"quoted\\" name" real
@attribute kind {calm,'very rough',"x,y"}
@attribute sea {0,1}
@attribute ship {0,1}
@data
0.5,-1e3,calm,1,0
?,2,'very rough',1,1
1e-5,3.25,"x,y",0,1
"""
SPARSE = b"""@relation tiny
@attribute w1 numeric
@attribute w2 {0,1}
@attribute kind {a,b}
@attribute sea {0,1}
@attribute ship {0,1}
@data
{0 2.5, 3 1}
{1 1,2 b,4 1}
{}
"""
LABELS = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sea"><label name="ship"></label></label>
</labels>
"""
WIRE = b"""<REUTERS TOPICS="YES" LEWISSPLIT="%b" CGISPLIT="X" OLDID="1" NEWID="%b">
<DATE>26-FEB-1987</DATE>
<TOPICS><D>%b</D><D>grain</D></TOPICS>
<TEXT>&#2;
<TITLE>WHEAT &amp; GRAIN</TITLE><BODY>Up &lt;a lot>.
Reuter
&#3;</BODY></TEXT>
</REUTERS>
"""
WIRES = b"<!DOCTYPE lewis SYSTEM 'lewis.dtd'>\n" + b"".join(
    WIRE % part
    for part in [
        (b"TRAIN", b"1", b"wheat"),
        (b"TRAIN", b"2", b"gold"),
        (b"TEST", b"3", b"wheat"),
        (b"NOT-USED", b"4", b"gold"),
    ]
)
PIECES = [
    b"", b"0", b"1", b"?", b"nan", b"inf", b"-inf", b"1e400", b"1_0", b"9" * 30, b"9" * 5000,
    b"{", b"}", b",", b"'", b'"', b"\\", b"%", b"@data", b"@attribute x numeric", b"\n", b"\r",
    b"\x00", b"\xff", b"\xef\xbb\xbf", "²".encode(), "٣".encode(), b"<", b">", b"&", b"&#2;",
    b"&#99999999999;", b"<!ENTITY a 'b'>", b"<D>", b"</D>", b"<TEXT>", b"</REUTERS>", b"<REUTERS ",
    b"<label name='x'>", b"</labels>", b"encoding='utf-16'", b"UTF-7", b"]]>", b" " * 300,
]  # fmt: skip


@st.composite
def mutations(draw, content):
    """`content` after one to four accidents."""
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["flip", "cut", "delete", "insert", "repeat", "line", "swap"]))
        i, j = sorted(draw(st.integers(0, len(content))) for _ in range(2))
        lines = content.split(b"\n")
        k = draw(st.integers(0, len(lines) - 1))
        if kind == "flip" and i < len(content):
            byte = content[i] ^ (1 << draw(st.integers(0, 7)))
            content = content[:i] + bytes([byte]) + content[i + 1 :]
        elif kind == "cut":
            content = content[:j]
        elif kind == "delete":
            content = content[:i] + content[j:] if j - i < 40 else content[:i] + content[i + 1 :]
        elif kind == "insert":
            content = content[:i] + draw(st.sampled_from(PIECES)) + content[i:]
        elif kind == "repeat":
            content = content[:j] + content[i:j] + content[j:]
        elif kind == "line":
            content = b"\n".join(lines[:k] + lines[k + 1 :])
        else:
            content = b"\n".join([*lines[:k], *lines[k:][::-1]])
    return content


def write_mulan(folder, arff, xml):
    (folder / "tiny.arff").write_bytes(arff)
    (folder / "tiny.xml").write_bytes(xml)


def check_mulan(folder):
    """Load a folder; whatever comes back must be labels and numbers."""
    try:
        data = load_mulan(folder, "tiny")
    except ValueError as error:  # ArffError is one
        return str(error)
    Y, X = data.target, data.data
    assert Y.shape == (X.shape[0], len(data.target_names))
    assert X.shape[1] == len(data.feature_names)
    assert np.isin(Y, (0, 1)).all()
    values = X.data if sp.issparse(X) else X
    assert not np.isinf(values).any(), "an infinite number was read"
    assert len(set(data.target_names)) == len(data.target_names)
    return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mutated")


@pytest.mark.parametrize("good", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_the_good_files_are_read(good, folder):
    write_mulan(folder, good, LABELS)
    assert check_mulan(folder) is None


@holds_for(150, arff=st.sampled_from([DENSE, SPARSE]).flatmap(mutations))
def test_damaged_arff_files_are_read_right_or_refused(arff, folder):
    write_mulan(folder, arff, LABELS)
    problem = check_mulan(folder)
    assert problem is None or "tiny" in problem  # the message names the file


@holds_for(100, xml=mutations(LABELS))
def test_damaged_label_files_are_read_right_or_refused(xml, folder):
    write_mulan(folder, DENSE, xml)
    problem = check_mulan(folder)
    assert problem is None or "tiny" in problem


def check_reuters(folder):
    try:
        data = load_reuters21578(folder)
    except ValueError as error:
        return str(error)
    n = len(data.data)
    assert data.target.shape == (n, len(data.target_names))
    assert all(isinstance(text, str) for text in data.data)
    assert np.isin(data.target.toarray(), (0, 1)).all()
    assert data.document_ids.shape == (n,)
    return None


@pytest.fixture(scope="module")
def wires(tmp_path_factory):
    return tmp_path_factory.mktemp("wires")


def test_the_good_wires_are_read(wires):
    (wires / "a.sgm").write_bytes(WIRES)
    assert check_reuters(wires) is None


@holds_for(120, content=mutations(WIRES))
def test_damaged_wires_are_read_right_or_refused(content, wires):
    (wires / "a.sgm").write_bytes(content)
    problem = check_reuters(wires)
    assert problem is None or str(wires) in problem


COMMENTS = 'Don’t "do" it!\t0,1\ta1\nGreat. \t1\ta2\n'.encode()
ABSTRACTS = b"""{"id": "1", "text": "Heart\\n and \\u00e9", "labels": ["C14", "C08"]}
{"id": "2", "text": "", "labels": []}
"""
TITLES = b"__label__egg __label__pan How to fry?\n__label__pan Why?\n"
TEXT_FILES = {
    "train.tsv": (COMMENTS, lambda path: load_goemotions(path.parent, subset="train")),
    "train.jsonl": (ABSTRACTS, lambda path: load_ohsumed(path.parent, subset="train")),
    "titles.txt": (TITLES, load_tagged_texts),
}


def check_texts(folder, file, content):
    (folder / "emotions.txt").write_text("anger\njoy\n")
    (folder / file).write_bytes(content)
    try:
        data = TEXT_FILES[file][1](folder / file)
    except ValueError as error:
        return str(error)
    assert data.target.shape == (len(data.data), len(data.target_names))
    assert np.isin(data.target, (0, 1)).all()
    assert len(set(data.target_names)) == len(data.target_names)
    for text in [*data.data, *data.target_names]:
        assert isinstance(text, str)
        text.encode()  # no half characters
    return None


@pytest.mark.parametrize("file", TEXT_FILES)
def test_the_good_texts_are_read(file, folder):
    assert check_texts(folder, file, TEXT_FILES[file][0]) is None


@holds_for(
    200,
    case=st.sampled_from(sorted(TEXT_FILES)).flatmap(
        lambda file: st.tuples(st.just(file), mutations(TEXT_FILES[file][0]))
    ),
)
def test_damaged_texts_are_read_right_or_refused(case, folder):
    problem = check_texts(folder, *case)
    assert problem is None or str(folder) in problem


HOSTILE_TEXTS = {
    "many numbers": ("train.tsv", b"a\t" + b"1," * 500_000 + b"\tid\n"),
    "many tabs": ("train.tsv", b"\t" * 1_000_000),
    "a stair of lists": ("train.jsonl", b"[" * 1_000_000),
    "a stair of objects": ("train.jsonl", b'{"id":' * 200_000),
    "a long number": ("train.jsonl", b'{"id": ' + b"9" * 1_000_000 + b"}"),
    "prefixes alone": ("titles.txt", b"__label__ " * 100_000),
    "many tags, the last without a name": ("titles.txt", b"__label__a " * 100_000 + b"__label__"),
}


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_texts_made_to_hurt_are_refused_at_once(name, folder):
    start = time.perf_counter()
    assert check_texts(folder, *HOSTILE_TEXTS[name]) is not None
    assert time.perf_counter() - start < 10


def laughs(n_levels):
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, n_levels)
    )
    return f'<!DOCTYPE labels [{entities}]><labels><label name="&a{n_levels - 1};"/></labels>'


HOSTILE_XML = {
    "billion laughs": laughs(10),
    "a few laughs": laughs(4),
    "one large entity": f'<!DOCTYPE l [<!ENTITY a "{"a" * 50_000}">]>'
    f'<labels><label name="{"&a;" * 5_000}"/></labels>',
    "a local file": '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    '<labels><label name="sea">&a;</label><label name="ship"/></labels>',
    "an endless stair": '<labels><label name="a">' + "<label name='b'>" * 200_000,
    "a deep stair": "<labels>"
    + "".join(f'<label name="{i}">' for i in range(50_000))
    + "</label>" * 50_000
    + "</labels>",
    "another encoding": '<?xml version="1.0" encoding="utf-7"?><labels/>',
    "no encoding": '<?xml version="1.0" encoding="nonsense"?><labels/>',
}


@pytest.mark.parametrize("name", HOSTILE_XML)
def test_label_files_made_to_hurt_are_refused_at_once(name, folder):
    write_mulan(folder, DENSE, HOSTILE_XML[name].encode())
    start = time.perf_counter()
    assert check_mulan(folder) is not None
    assert time.perf_counter() - start < 10


HOSTILE_ARFF = {
    "an open quote": DENSE + b"'" + b"a," * 100_000,
    "spaces": DENSE + b"1" + b" " * 100_000 + b"'",
    "quotes": DENSE + b"'a'" * 50_000,
    "backslashes": DENSE + b"'" + b"\\" * 100_001,
    "pairs": SPARSE + b"{" + b"0 'a', " * 50_000,
    "a long name": b"@relation r\n@attribute " + b"{" * 100_000 + b"\n@data\n",
    "a long number": SPARSE + b"{" + b"1" * 100_000 + b" 1}",
}


@pytest.mark.parametrize("name", HOSTILE_ARFF)
def test_arff_files_made_to_hurt_are_refused_at_once(name, folder):
    write_mulan(folder, HOSTILE_ARFF[name], LABELS)
    start = time.perf_counter()
    assert check_mulan(folder) is not None
    assert time.perf_counter() - start < 10


HOSTILE_SGML = {
    "opened only": b"<REUTERS >" * 100_000,
    "closed first": b"</REUTERS>" * 50_000 + b"<REUTERS >" * 50_000,
    "topics": b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1">'
    + b"<TOPICS>" * 100_000
    + b"<TEXT></TEXT></REUTERS>",
    "texts": b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TOPICS></TOPICS>'
    + b"<TEXT>" * 100_000
    + b"</REUTERS>",
    "titles": b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TOPICS></TOPICS><TEXT>'
    + b"<TITLE>" * 100_000
    + b"</TEXT></REUTERS>",
    "a huge number": WIRES.replace(b'NEWID="1"', b'NEWID="' + b"9" * 400 + b'"'),
}


@pytest.mark.parametrize("name", HOSTILE_SGML)
def test_wires_made_to_hurt_are_refused_at_once(name, wires):
    (wires / "a.sgm").write_bytes(HOSTILE_SGML[name])
    start = time.perf_counter()
    assert check_reuters(wires) is not None
    assert time.perf_counter() - start < 10
