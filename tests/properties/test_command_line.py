"""Files for the command line that were damaged: read right, or refused with their name."""

import numpy as np
import pytest
from hypothesis import strategies as st

from sklearn_mrmp._cli.columns import ColumnReader
from sklearn_mrmp._cli.formats.choice import open_rows
from sklearn_mrmp._cli.formats.chunks import DataError
from sklearn_mrmp._cli.labels import LabelReader
from sklearn_mrmp._cli.models import read_columns
from sklearn_mrmp._cli.options import LabelColumns
from tests.properties.strategies import holds_for
from tests.properties.test_readers import mutations

FILES = {
    "rows.csv": b'size,tags\n1.5,"sea, ""deep"",ship"\n,\n"2\n",desert\n',
    "rows.tsv": b"size\ttags\n1.5\tsea,ship\nNA\t\n-3e2\tdesert\n",
    "rows.jsonl": b'{"size": 1.5, "tags": ["sea", "ship"]}\n{"size": null, "tags": "desert"}\n',
    "rows.svm": b"3,7 1:0.5 4:1\n\n# nothing\n 2:1e3\n1 3:4 # a comment\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


def check(path):
    """Read a file; whatever comes back must be names and numbers, one row for each place."""
    data = open_rows(str(path))
    labels = LabelReader(LabelColumns(listed=None if data.is_matrix else "tags"), data)
    reader, n_rows = ColumnReader(features=["size"]), 0
    try:
        for chunk in data.chunks(2):
            labels.read(chunk)
            X = chunk.rows if data.is_matrix else read_columns(reader, chunk, learn=True)
            assert X.shape[0] == len(chunk)
            n_rows += len(chunk)
    except DataError as error:
        return str(error)
    try:
        table = labels.table()
    except ValueError as error:  # no rows, or no labels
        return f"{path}: {error}"
    assert table.to_numpy().shape == (n_rows, len(table.columns))
    assert np.isin(table.to_numpy(), (0, 1)).all()
    assert len(set(table.columns)) == len(table.columns)
    return None


@pytest.mark.parametrize("name", FILES)
def test_the_good_files_are_read(name, folder):
    (folder / name).write_bytes(FILES[name])
    assert check(folder / name) is None


@holds_for(
    200,
    damaged=st.sampled_from(sorted(FILES)).flatmap(
        lambda name: st.tuples(st.just(name), mutations(FILES[name]))
    ),
)
def test_damaged_tables_are_read_right_or_refused_with_their_name(damaged, folder):
    name, content = damaged
    (folder / name).write_bytes(content)
    problem = check(folder / name)
    assert problem is None or name in problem
