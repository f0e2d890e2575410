"""Loaders of raw texts: what they read of small files, what they refuse, and the real sizes."""

import json

import numpy as np
import pytest

from sklearn_mrmp.datasets import load_goemotions, load_ohsumed, load_tagged_texts

COMMENTS = {
    "train": 'So happy for you!\t1,0\ta1\n“Quoted", and kept. \t2\ta2\n',
    "dev": "Not a \u2028 new line\t0\tb1\n",
    "test": "Oh.\t2\tc1\n",
}


@pytest.fixture
def comments(tmp_path):
    """A folder in the format of GoEmotions."""
    (tmp_path / "emotions.txt").write_text("anger\njoy\nneutral", encoding="utf-8")
    for part, content in COMMENTS.items():
        (tmp_path / f"{part}.tsv").write_text(content, encoding="utf-8")
    return tmp_path


def abstract(id, text, *labels, **more):
    return json.dumps({"id": id, "text": text, "labels": labels, **more}) + "\n"


@pytest.fixture
def abstracts(tmp_path):
    """A folder in the format of Ohsumed; C03 occurs in the test part alone."""
    train = abstract("7", "Heart\n and lung", "C14", "C08") + abstract("8", "None of these")
    (tmp_path / "train.jsonl").write_text(train)
    (tmp_path / "test.jsonl").write_text(abstract("9", "Worms in lungs", "C08", "C03"))
    return tmp_path


@pytest.fixture
def tagged(tmp_path):
    """Write a file of tagged texts and return its path."""

    def write(content, encoding="utf-8"):
        path = tmp_path / "titles.txt"
        path.write_bytes(content.encode(encoding))
        return path

    return write


def short(content):
    """Name a case by its message: files would make endless names."""
    return "" if isinstance(content, bytes) else content[:40]


def check_conventions(dataset):
    assert isinstance(dataset.target, np.ndarray)
    assert dataset.target.dtype == np.int32
    assert dataset.target.shape == (len(dataset.data), len(dataset.target_names))
    assert np.isin(dataset.target, (0, 1)).all()
    assert all(type(text) is str for text in dataset.data)
    assert f"{len(dataset.data)} texts, {len(dataset.target_names)} labels" in dataset.DESCR


def test_comments_come_with_the_emotions_that_their_numbers_name(comments):
    train = load_goemotions(comments, subset="train")
    check_conventions(train)
    assert train.data == ["So happy for you!", '“Quoted", and kept. ']
    assert train.target_names == ["anger", "joy", "neutral"]
    np.testing.assert_array_equal(train.target, [[1, 1, 0], [0, 0, 1]])
    assert train.document_ids.tolist() == ["a1", "a2"]
    assert "train.tsv (2 rows)" in train.DESCR


def test_all_comments_are_the_parts_in_order_with_the_same_columns(comments):
    whole = load_goemotions(str(comments))
    check_conventions(whole)
    assert whole.document_ids.tolist() == ["a1", "a2", "b1", "c1"]
    parts = [load_goemotions(comments, subset=part) for part in ("train", "dev", "test")]
    np.testing.assert_array_equal(whole.target, np.vstack([part.target for part in parts]))
    assert parts[1].data == ["Not a \u2028 new line"]
    assert all(part.target_names == whole.target_names for part in parts)


def test_a_byte_order_mark_windows_lines_and_empty_lines_are_no_content(comments):
    (comments / "emotions.txt").write_bytes(b"\xef\xbb\xbfanger\r\njoy\r\nneutral\r\n\r\n")
    (comments / "dev.tsv").write_bytes(b"\xef\xbb\xbfGood\t1\tb1\r\n\r\nBad\t0\tb2\r\n")
    dev = load_goemotions(comments, subset="dev")
    assert dev.target_names == ["anger", "joy", "neutral"]
    assert dev.data == ["Good", "Bad"]
    assert dev.document_ids.tolist() == ["b1", "b2"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("train.tsv", b"fine\t0\ta\nno id\t0\n", "train.tsv, line 2: expected 3 columns"),
        ("train.tsv", b"\n\na\t0\tb\tc\n", "train.tsv, line 3: expected 3 columns .* found 4"),
        ("train.tsv", b"a\t0\tb\nc\t1,3\td\n", "train.tsv, line 2: the label number '3' is none"),
        ("train.tsv", b"a\t-1\tb\n", "line 1: the label number '-1' is none of 0 … 2"),
        ("train.tsv", b"a\tjoy\tb\n", "line 1: the label number 'joy'"),
        ("train.tsv", "a\t²\tb\n".encode(), "line 1: the label number '²'"),
        ("train.tsv", b"a\t\tb\n", "line 1: the label number ''"),
        ("train.tsv", b"a\t" + b"9" * 9999 + b"\tb\n", "line 1: the label number '9{40}' is"),
        ("train.tsv", b"a\t0\tb\n\xff\t0\tc\n", "train.tsv, line 2: not UTF-8"),
        ("train.tsv", b"", "train.tsv: the file is empty"),
        ("train.tsv", b"\n\n", "train.tsv: the file is empty"),
        ("emotions.txt", b"", "emotions.txt: the file is empty"),
        ("emotions.txt", b"anger\n\njoy\n", "emotions.txt, line 2: a name is missing"),
        (
            "emotions.txt",
            b"anger\njoy\nanger\n",
            "emotions.txt, line 3: the label 'anger' .* more than once",
        ),
    ],
    ids=short,
)
def test_malformed_comments_are_reported_with_file_and_line(comments, file, content, message):
    (comments / file).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_goemotions(comments, subset="train")


@pytest.mark.parametrize("file", ["emotions.txt", "dev.tsv"])
def test_a_missing_file_of_comments_is_named(comments, file):
    (comments / file).unlink()
    with pytest.raises(FileNotFoundError, match=f"{file} does not exist; .* GoEmotions"):
        load_goemotions(comments)


def test_a_missing_part_of_the_comments_does_not_hinder_the_others(comments):
    (comments / "dev.tsv").unlink()
    assert len(load_goemotions(comments, subset="test").data) == 1


def test_the_labels_of_abstracts_are_the_same_for_every_subset(abstracts):
    whole, train, test = (load_ohsumed(abstracts, subset=s) for s in ("all", "train", "test"))
    for part in (whole, train, test):
        check_conventions(part)
        assert part.target_names == ["C03", "C08", "C14"]
        assert "labels are those of train.jsonl and test.jsonl" in part.DESCR
    np.testing.assert_array_equal(train.target, [[0, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(test.target, [[1, 1, 0]])
    np.testing.assert_array_equal(whole.target, np.vstack([train.target, test.target]))
    assert train.data == ["Heart\n and lung", "None of these"]
    assert whole.document_ids.tolist() == ["7", "8", "9"]


def test_without_the_other_part_the_labels_are_those_that_are_there(abstracts):
    (abstracts / "test.jsonl").unlink()
    train = load_ohsumed(abstracts, subset="train")
    assert train.target_names == ["C08", "C14"]
    assert "labels are those of train.jsonl." in train.DESCR
    for subset in ("test", "all"):
        with pytest.raises(FileNotFoundError, match=r"test.jsonl does not exist; .* Ohsumed"):
            load_ohsumed(abstracts, subset=subset)


GOOD = abstract("1", "a", "C01").encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + b'{"id": "2", "text": "b"\n', "line 2: not JSON .*delimiter"),
        (GOOD + b"\n" + b'"C01"\n', "line 3: expected an object with .* found 'C01'"),
        (b"[" * 100_000, "line 1: not JSON"),
        (b'{"id": ' + b"9" * 9999 + b"}", "line 1: not JSON"),
        (b'{"id": "2", "labels": []}', "line 1: the row has no 'text'"),
        (
            b'{"id": "2", "text": null, "labels": []}',
            "line 1: 'text' must be a string, found NoneType",
        ),
        (b'{"id": 2, "text": "", "labels": []}', "line 1: 'id' must be a string, found int"),
        (b'{"id": "2", "text": "\\ud800", "labels": []}', "line 1: 'text' .* half a character"),
        (
            b'{"id": "2", "text": "", "labels": "C01"}',
            "line 1: 'labels' must be a list of names, found 'C01'",
        ),
        (
            b'{"id": "2", "text": "", "labels": [1]}',
            "line 1: 'labels' must be a list of names, found int",
        ),
        (
            b'{"id": "2", "text": "", "labels": [""]}',
            "line 1: 'labels' must be a list of names, found ''",
        ),
        (GOOD + b'{"id": "2", "text": "\xe9", "labels": []}', "line 2: not UTF-8"),
        (b"", "test.jsonl: the file is empty"),
    ],
    ids=short,
)
def test_malformed_abstracts_are_reported_with_file_and_line(abstracts, content, message):
    (abstracts / "test.jsonl").write_bytes(content)
    for subset in ("train", "test"):  # labels are those of both files
        with pytest.raises(ValueError, match=f"test.jsonl.*{message.removeprefix('test.jsonl')}"):
            load_ohsumed(abstracts, subset=subset)


def test_abstracts_without_a_label_are_refused(tmp_path):
    (tmp_path / "train.jsonl").write_text(abstract("1", "a"))
    with pytest.raises(ValueError, match="no row has a label"):
        load_ohsumed(tmp_path, subset="train")


def test_tags_stand_before_the_text(tagged):
    path = tagged("__label__egg __label__pan\tHow to fry? \n__label__pan Why __label__x\nNo tags\n")
    titles = load_tagged_texts(path)
    check_conventions(titles)
    assert titles.data == ["How to fry? ", "Why __label__x", "No tags"]
    assert titles.target_names == ["egg", "pan"]
    np.testing.assert_array_equal(titles.target, [[1, 1], [0, 1], [0, 0]])
    assert "titles.txt (3 rows)" in titles.DESCR
    assert "document_ids" not in titles


def test_rare_tags_lose_their_column_and_no_text_is_lost(tagged):
    path = tagged("__label__a __label__b x\n__label__b y\n__label__c __label__c z\n")
    titles = load_tagged_texts(path, min_count=2)
    assert titles.target_names == ["b"]
    assert titles.data == ["x", "y", "z"]
    np.testing.assert_array_equal(titles.target, [[1], [1], [0]])
    with pytest.raises(ValueError, match="no tag has 3 rows; the most frequent one has 2"):
        load_tagged_texts(path, min_count=3)


def test_the_prefix_of_tags_can_be_another(tagged):
    path = tagged("#a.b #c\u00a0d text\n##a.b\n")
    assert load_tagged_texts(path, prefix="#").target_names == ["#a.b", "a.b", "c\u00a0d"]


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        ("__label__a x\n__label__ y\n", "utf-8", "titles.txt, line 2: a tag has no name"),
        ("__label__a x\n__label__b é\n", "latin-1", "titles.txt, line 2: not UTF-8"),
        ("a text\nanother\n", "utf-8", "titles.txt: no line begins with the prefix '__label__'"),
        ("", "utf-8", "titles.txt: the file is empty"),
    ],
)
def test_malformed_tagged_texts_are_reported(tagged, content, encoding, message):
    with pytest.raises(ValueError, match=message):
        load_tagged_texts(tagged(content, encoding))


def test_a_folder_or_nothing_is_no_file_of_tagged_texts(tmp_path):
    for path in (tmp_path, tmp_path / "absent.txt"):
        with pytest.raises(FileNotFoundError, match="is no file"):
            load_tagged_texts(path)


@pytest.mark.parametrize("prefix", ["", "a b", "\t"])
def test_prefixes_that_mark_nothing_are_refused(tagged, prefix):
    with pytest.raises(ValueError, match="prefix must be characters without spaces"):
        load_tagged_texts(tagged("__label__a x\n"), prefix=prefix)


def test_unknown_subsets_and_counts_are_refused(tmp_path):
    for load, subset in ((load_goemotions, "valid"), (load_ohsumed, "dev")):
        with pytest.raises(ValueError, match="'subset' parameter"):
            load(tmp_path, subset=subset)
    with pytest.raises(ValueError, match="'min_count' parameter"):
        load_tagged_texts(tmp_path, min_count=0)


@pytest.mark.data
def test_goemotions_has_its_known_sizes(data_home):
    sizes = {"train": 43410, "dev": 5426, "test": 5427, "all": 54263}
    for subset, n_rows in sizes.items():
        part = load_goemotions(data_home / "text" / "goemotions", subset=subset)
        check_conventions(part)
        assert part.target.shape == (n_rows, 28)
        assert len(set(part.document_ids)) == n_rows
        assert part.target.any(axis=1).all()
        assert part.target_names[-1] == "neutral"


@pytest.mark.data
def test_ohsumed_has_its_known_sizes(data_home):
    for subset, n_rows in {"train": 6286, "test": 7643, "all": 6286 + 7643}.items():
        part = load_ohsumed(data_home / "text" / "ohsumed", subset=subset)
        check_conventions(part)
        assert part.target.shape == (n_rows, 23)
        assert part.target_names == [f"C{i:02}" for i in range(1, 24)]
        assert part.target.any(axis=1).all()


@pytest.mark.data
def test_cooking_has_its_known_sizes(data_home):
    path = data_home / "text" / "cooking" / "cooking.stackexchange.txt"
    titles = load_tagged_texts(path)
    check_conventions(titles)
    assert titles.target.shape == (15404, 736)
    assert titles.target.any(axis=1).all()
    assert not any("__label__" in text for text in titles.data)
    frequent = load_tagged_texts(path, min_count=10)
    assert frequent.data == titles.data
    assert (frequent.target.sum(axis=0) >= 10).all()
