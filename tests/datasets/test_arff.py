"""The ARFF reader: what it reads, and how it says what it cannot read."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets._arff import read_arff

HEADER = "@relation r\n@attribute x numeric\n@attribute c {red,'dark green'}\n@attribute y {0,1}\n"


@pytest.fixture
def write(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "data.arff"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_dense_and_sparse_rows_give_the_same_values(write):
    dense = read_arff(write(HEADER + "@data\n1.5,red,0\n0,'dark green',1\n")).values
    sparse = read_arff(write(HEADER + "@data\n{0 1.5}\n{1 'dark green', 2 1}\n")).values
    assert isinstance(dense, np.ndarray)
    assert isinstance(sparse, sp.csr_array)
    np.testing.assert_array_equal(dense, [[1.5, 0, 0], [0, 1, 1]])
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.indices.dtype == np.int32  # what liblinear takes


def test_keywords_ignore_case_and_comments_and_blank_lines_are_skipped(write):
    text = "% hello\n@RELATION r\n\n@Attribute a REAL\n@attribute b Integer\n@DATA\n% rows\n\n1,2\n"
    table = read_arff(write(text))
    np.testing.assert_array_equal(table.values, [[1, 2]])
    np.testing.assert_array_equal(table.lines, [9])


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("plain", "plain"),
        ("'two words'", "two words"),
        ('"double quoted"', "double quoted"),
        (r"'Swainson\'s Thrush'", "Swainson's Thrush"),
        (r"'back\\slash'", r"back\slash"),
        (r"TAG_m\'usica", r"TAG_m\'usica"),
        ("'braces {0,1}'", "braces {0,1}"),
        ("café", "café"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_attribute_names_are_unquoted_and_unescaped(write, declared, name, encoding):
    table = read_arff(write(f"@relation r\n@attribute {declared} {{0,1}}\n@data\n1\n", encoding))
    assert table.attributes[0].name == name
    assert table.attributes[0].categories == ("0", "1")


def test_categories_that_are_numbers_keep_their_value(write):
    table = read_arff(write("@relation r\n@attribute n {2, 10,1}\n@data\n10\n1\n'2'\n"))
    np.testing.assert_array_equal(table.values, [[10], [1], [2]])


def test_omitted_nominal_values_are_the_first_category(write):
    text = "@relation r\n@attribute a {1,0}\n@attribute b numeric\n@data\n{1 7}\n{0 0}\n{}\n"
    table = read_arff(write(text))
    np.testing.assert_array_equal(table.values.toarray(), [[1, 7], [0, 0], [1, 0]])


def test_missing_values_are_nan(write):
    dense = read_arff(write(HEADER + "@data\n?,?,1\n")).values
    sparse = read_arff(write(HEADER + "@data\n{0 ?,2 1}\n")).values.toarray()
    np.testing.assert_array_equal(dense, [[np.nan, np.nan, 1]])
    np.testing.assert_array_equal(sparse, [[np.nan, 0, 1]])


def test_commas_and_escaped_quotes_inside_quotes_do_not_split(write):
    text = "@relation r\n@attribute a {'x, y','it\\'s',z}\n@attribute b numeric\n@data\n"
    dense = read_arff(write(text + "'x, y',1\n'it\\'s',2\nz,3\n"))
    sparse = read_arff(write(text + "{0 'x, y',1 1}\n{0 'it\\'s',1 2}\n{0 z,1 3}\n"))
    assert dense.attributes[0].categories == ("x, y", "it's", "z")
    np.testing.assert_array_equal(dense.values, [[0, 1], [1, 2], [2, 3]])
    np.testing.assert_array_equal(sparse.values.toarray(), dense.values)


def test_a_file_without_rows_is_an_empty_table(write):
    assert read_arff(write(HEADER + "@data\n")).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("@relation r\n@data\n", 2, "before any @attribute"),
        (HEADER, 4, "without an @data"),
        ("@relation r\nhello\n", 2, "found 'hello'"),
        ("@relation r\n@attribute\n", 2, "cannot read the attribute declaration"),
        ("@relation r\n@attribute s string\n@data\n", 2, "'s' has the type 'string'"),
        ("@relation r\n@attribute s {a,,b}\n@data\n", 2, "unreadable category"),
        ("@relation r\n@attribute s {a,'b}\n@data\n", 2, "unreadable category"),
        (HEADER + "@data\n1,red,0\n1,red\n", 7, "expected 3 values, found 2"),
        (HEADER + "@data\n1,'red,0\n", 6, "unclosed quote"),
        (HEADER + "@data\n1,blue,0\n", 6, "'c' must be one of {red,dark green}, found 'blue'"),
        (HEADER + "@data\nmany,red,0\n", 6, "'x' must be a number, found 'many'"),
        (HEADER + "@data\n{0 1}\n1,red,0\n", 7, "in braces"),
        (HEADER + "@data\n{0 1\n", 6, "in braces"),
        (HEADER + "@data\n{0 1,}\n", 6, "{index value"),
        (HEADER + "@data\n{0 1 1,2 1}\n", 6, "{index value"),
        (HEADER + "@data\n{1 'red' 2}\n", 6, "{index value"),
        (HEADER + "@data\n{one 1}\n", 6, "not a whole number"),
        (HEADER + "@data\n{3 1}\n", 6, "outside 0 … 2"),
        (HEADER + "@data\n{-1 1}\n", 6, "outside 0 … 2"),
        (HEADER + "@data\n{0 1,0 2}\n", 6, "occurs twice"),
        (HEADER + "@data\n{2 5}\n", 6, "'y' must be one of {0,1}, found '5'"),
    ],
)
def test_malformed_files_are_reported_with_file_and_line(write, text, line, message):
    path = write(text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is checked in three parts
        read_arff(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert message in str(caught.value)
