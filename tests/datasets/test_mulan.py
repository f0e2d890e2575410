"""load_mulan: labels found by name wherever they stand, parts joined, problems named."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets import load_mulan

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sea"></label><label name="ship"></label></labels>"""
HEADER = (
    "@relation t\n@attribute wave numeric\n@attribute sea {0,1}\n@attribute ship {0,1}\n@data\n"
)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "tiny.xml").write_text(XML)
    (folder / "tiny-train.arff").write_text(HEADER + "0.5,1,0\n0.25,0,0\n")
    (folder / "tiny-test.arff").write_text(HEADER + "0.75,1,1\n")
    return folder


def test_all_rows_are_the_training_rows_followed_by_the_test_rows(folder):
    train, test, both = (load_mulan(folder, subset=s) for s in ("train", "test", "all"))
    np.testing.assert_array_equal(both.data, np.vstack([train.data, test.data]))
    np.testing.assert_array_equal(both.target, np.vstack([train.target, test.target]))
    np.testing.assert_array_equal(both.target, [[1, 0], [0, 0], [1, 1]])
    assert both.target.dtype == np.int32
    assert both.feature_names == ["wave"]
    assert both.target_names == ["sea", "ship"]
    assert "3 rows, 1 features (dense), 2 labels" in both.DESCR


def test_labels_may_stand_first_last_or_between(folder):
    expected = load_mulan(folder, subset="train")
    header = (
        "@relation t\n@attribute ship {0,1}\n@attribute wave real\n@attribute sea {0,1}\n@data\n"
    )
    (folder / "tiny-train.arff").write_text(header + "0,0.5,1\n0,0.25,0\n")
    moved = load_mulan(folder, subset="train")
    np.testing.assert_array_equal(moved.data, expected.data)
    np.testing.assert_array_equal(moved.target, expected.target)
    assert moved.target_names == ["sea", "ship"]


def test_sparse_rows_give_sparse_data(folder):
    (folder / "tiny-train.arff").write_text(HEADER + "{0 0.5,1 1}\n{0 0.25}\n")
    (folder / "tiny-test.arff").write_text(HEADER + "{0 0.75,1 1,2 1}\n")
    dataset = load_mulan(folder)
    assert isinstance(dataset.data, sp.csr_array)
    np.testing.assert_array_equal(dataset.data.toarray(), [[0.5], [0.25], [0.75]])
    np.testing.assert_array_equal(dataset.target, [[1, 0], [0, 0], [1, 1]])


def test_a_sparse_and_a_dense_part_are_joined_dense(folder):
    (folder / "tiny-test.arff").write_text(HEADER + "{0 0.75,1 1,2 1}\n")
    np.testing.assert_array_equal(load_mulan(folder).data, [[0.5], [0.25], [0.75]])


def test_a_single_file_holds_all_rows_and_has_no_parts(folder):
    (folder / "tiny-train.arff").rename(folder / "tiny.arff")
    (folder / "tiny-test.arff").unlink()
    assert load_mulan(folder).data.shape == (2, 1)
    with pytest.raises(FileNotFoundError, match=r'tiny-test.arff does not exist.*subset="all"'):
        load_mulan(folder, subset="test")


def test_the_name_defaults_to_the_folders(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert load_mulan(".").data.shape == (3, 1)
    assert load_mulan(folder.parent / "tiny", "tiny").data.shape == (3, 1)


def test_nested_labels_are_labels_with_parents(folder):
    nested = '<labels><label name="sea"><label name="ship"/></label><note/></labels>'
    (folder / "tiny.xml").write_text(nested)
    dataset = load_mulan(folder)
    assert dataset.target_names == ["sea", "ship"]
    assert dataset.parents == {"ship": "sea"}


def declare_wave(folder, kind, train, test=()):
    """Write files whose only feature is of this kind, with these values."""
    header = HEADER.replace("wave numeric", f"wave {kind}")
    for part, values in (("train", train), ("test", test)):
        rows = "".join(f"{value},1,0\n" for value in values)
        (folder / f"tiny-{part}.arff").write_text(header + rows)


def test_the_rarer_of_two_categories_is_one(folder):
    declare_wave(folder, "{YES,NO}", ["NO", "YES", "NO", "?"])
    dataset = load_mulan(folder, subset="train")
    np.testing.assert_array_equal(dataset.data, [[0], [1], [0], [np.nan]])
    assert dataset.feature_names == ["wave"]
    assert dataset.categories == {"wave": ["NO", "YES"]}
    declare_wave(folder, "{YES,NO}", ["YES", "NO"])  # as often: the later one
    np.testing.assert_array_equal(load_mulan(folder, subset="train").data, [[0], [1]])


@pytest.mark.parametrize("is_sparse", [False, True])
def test_flags_are_the_same_however_they_are_spelled(folder, is_sparse):
    """As in Genbase: 1,185 flags {YES,NO}, some twenty of them set in a row."""
    flags = np.random.default_rng(0).random((30, 8)) < 0.2
    for no, yes, declared in (("0", "1", "{0,1}"), ("NO", "YES", "{YES,NO}"), ("n", "y", "{n,y}")):
        names = "".join(f"@attribute f{j} {declared}\n" for j in range(8))
        rows = [[*(yes if flag else no for flag in row), "1", "0"] for row in flags]
        if is_sparse:
            rows = [[f"{j} {value}" for j, value in enumerate(row)] for row in rows]
        lines = ["{" + ",".join(row) + "}" if is_sparse else ",".join(row) for row in rows]
        header = HEADER.replace("@attribute wave numeric\n", names)
        (folder / "tiny-train.arff").write_text(header + "\n".join(lines) + "\n")
        data = load_mulan(folder, subset="train").data
        assert sp.issparse(data) == is_sparse
        np.testing.assert_array_equal(data.toarray() if is_sparse else data, flags)
        assert not is_sparse or data.nnz == flags.sum()


def test_several_categories_are_a_column_each(folder):
    declare_wave(folder, "{low,mid,high}", ["high", "low", "?"])
    dataset = load_mulan(folder, subset="train")
    np.testing.assert_array_equal(dataset.data, [[0, 0, 1], [1, 0, 0], [0, 0, 0]])
    assert dataset.feature_names == ["wave=low", "wave=mid", "wave=high"]
    assert dataset.categories == {"wave": ["low", "mid", "high"]}


def test_categories_that_are_numbers_are_these_numbers(folder):
    declare_wave(folder, "{4,2,8}", [2, 8, 2])
    dataset = load_mulan(folder, subset="train")
    np.testing.assert_array_equal(dataset.data, [[2], [8], [2]])
    assert dataset.categories == {}


def test_what_is_one_is_chosen_on_the_training_rows_for_all_rows(folder):
    declare_wave(folder, "{YES,NO}", ["NO", "YES", "NO"], ["YES", "YES", "NO"])
    np.testing.assert_array_equal(load_mulan(folder, subset="test").data, [[1], [1], [0]])
    np.testing.assert_array_equal(load_mulan(folder).data[:, 0], [0, 1, 0, 1, 1, 0])
    (folder / "tiny-train.arff").unlink()
    with pytest.raises(FileNotFoundError, match=r"tiny-train.arff does not exist.*'wave'"):
        load_mulan(folder, subset="test")


@pytest.mark.parametrize("n_again", [0, 1])
def test_names_of_rows_are_no_feature(folder, n_again):
    names = [f"row{i}" for i in range(20)]
    train = names[:12] + names[:n_again]
    declare_wave(folder, "{" + ",".join(names) + "}", train, names[12:])
    for subset in ("train", "test", "all"):
        dataset = load_mulan(folder, subset=subset)
        assert dataset.data.shape == (len(dataset.target), 0)
        assert dataset.feature_names == []
        assert "Left out, because it names rows: wave" in dataset.DESCR


def test_categories_that_many_rows_share_name_no_rows(folder):
    names = [f"row{i}" for i in range(20)]
    declare_wave(folder, "{" + ",".join(names) + "}", names * 2)
    dataset = load_mulan(folder, subset="train")
    assert dataset.data.shape == (40, 20)
    assert "Left out" not in dataset.DESCR


def test_nominal_features_of_sparse_rows_stay_in_their_places(folder):
    header = HEADER.replace(
        "@attribute wave numeric",
        "@attribute wind {calm,strong}\n@attribute wave numeric\n@attribute sky {a,b,c}",
    )
    rows = ["{0 strong,1 .5,2 b,3 1}", "{0 strong}", "{1 2,2 c,4 1}"]
    (folder / "tiny-train.arff").write_text(header + "\n".join(rows) + "\n")
    dataset = load_mulan(folder, subset="train")
    assert isinstance(dataset.data, sp.csr_array)
    assert dataset.data.indices.dtype == np.int32
    assert dataset.feature_names == ["wind", "wave", "sky=a", "sky=b", "sky=c"]
    np.testing.assert_array_equal(
        dataset.data.toarray(), [[0, 0.5, 0, 1, 0], [0, 0, 1, 0, 0], [1, 2, 0, 0, 1]]
    )
    assert dataset.categories == {"wind": ["strong", "calm"], "sky": ["a", "b", "c"]}
    np.testing.assert_array_equal(dataset.target, [[1, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("declared", ["'m\\'er'", "m\\'er"])
@pytest.mark.parametrize("listed", ["m'er", "m\\'er"])
def test_label_names_match_with_and_without_escapes(folder, declared, listed):
    for part in ("train", "test"):
        path = folder / f"tiny-{part}.arff"
        path.write_text(path.read_text().replace("ship", declared))
    (folder / "tiny.xml").write_text(XML.replace("ship", listed))
    np.testing.assert_array_equal(load_mulan(folder).target[:, 1], [0, 0, 1])


def test_missing_files_are_named(folder, tmp_path):
    (folder / "tiny-test.arff").unlink()
    with pytest.raises(FileNotFoundError, match=r"tiny-test.arff does not exist\.$"):
        load_mulan(folder)
    with pytest.raises(FileNotFoundError, match=r"other.xml does not exist"):
        load_mulan(folder, "other")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("tiny.xml", "<labels>\n<label>\n</labels>", r"tiny.xml, line 3: not well-formed"),
        ("tiny.xml", "<labels/>", r"tiny.xml: no <label"),
        ("tiny.xml", "<labels><label/></labels>", r"label number 1 has no name"),
        ("tiny.xml", XML.replace("ship", "sea"), r"'sea' occurs more than once"),
        ("tiny.xml", XML.replace("ship", "boat"), r"no attribute named 'boat'"),
        ("tiny-train.arff", HEADER.replace("wave", "sea") + "1,1,1\n", r"2 attributes named 'sea'"),
        ("tiny-test.arff", HEADER.replace("wave", "foam") + "1,1,1\n", r"different attributes"),
        (
            "tiny-train.arff",
            HEADER.replace("sea {0,1}", "sea numeric") + "1,0,0\n1,2,0\n",
            r"tiny-train.arff, line 7: the label 'sea' must be 0 or 1, found 2",
        ),
        (
            "tiny-train.arff",
            HEADER.replace("sea {0,1}", "sea {YES,NO}") + "1,YES,0\n",
            r"'sea' has the categories YES, NO; a label must be {0,1}",
        ),
        (
            "tiny-train.arff",
            HEADER + "1,?,0\n",
            r"line 6: the label 'sea' must be 0 or 1, found nan",
        ),
    ],
)
def test_malformed_files_are_reported(folder, file, content, message):
    (folder / file).write_text(content)
    with pytest.raises(ValueError, match=message):
        load_mulan(folder, subset="all" if "different" in message else "train")


def test_unknown_subsets_are_refused(folder):
    with pytest.raises(ValueError, match="'subset' parameter"):
        load_mulan(folder, subset="validation")


DATA_HOME = os.environ.get("SKLEARN_MRMP_DATA_HOME")
needs_data = pytest.mark.skipif(DATA_HOME is None, reason="SKLEARN_MRMP_DATA_HOME is not set")


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "n_features", "n_labels", "seconds"),
    [
        ("bibtex", 4880, 2515, 1836, 159, 2),
        ("delicious", 12920, 3185, 500, 983, 3),
        ("medical", 333, 645, 1449, 45, 1),
        ("emotions", 391, 202, 72, 6, 1),
        ("yeast", 1500, 917, 103, 14, 1),
        ("birds", 322, 323, 260, 19, 1),
        ("scene", 1211, 1196, 294, 6, 1),
    ],
)
def test_real_data_sets_have_their_known_sizes(
    name, n_train, n_test, n_features, n_labels, seconds
):
    start = time.process_time()
    dataset = load_mulan(Path(DATA_HOME, "mulan", name))
    if sys.gettrace() is None:  # a debugger or coverage multiplies the time
        assert time.process_time() - start < seconds
    assert dataset.data.shape == (n_train + n_test, n_features)
    assert dataset.target.shape == (n_train + n_test, n_labels)
    assert load_mulan(Path(DATA_HOME, "mulan", name), subset="test").data.shape[0] == n_test
