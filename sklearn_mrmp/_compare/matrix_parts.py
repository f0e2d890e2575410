"""Data sets of sparse rows that ``python -m sklearn_mrmp compare`` knows by name, in two parts.

Knows where their files (SciPy's npz) lie in the data home.
"""

import scipy.sparse as sp
from sklearn.utils import Bunch

from sklearn_mrmp.datasets._fetch import data_home_folder

# Name to how its files begin, and what the rows are.
MATRIX_SETS = {"rcv1": ("rcv1_union", "RCV1, tf-idf rows, union of Mulan's five subsets")}


def load_matrix_parts(name, data_home=None):
    """Return the training part and the test part of a data set of sparse rows.

    Parameters
    ----------
    name : str
        A key of `MATRIX_SETS`.
    data_home : path-like, default=None
        The folder with ``npz/<files>_train_X.npz``, ``…_train_Y.npz``, ``…_test_X.npz`` and
        ``…_test_Y.npz``; scikit-learn's data home when None.

    Returns
    -------
    train, test : Bunch
        Each with ``data``, ``target`` and ``DESCR``.
    """
    prefix, description = MATRIX_SETS[name]
    folder = data_home_folder(data_home) / "npz"
    return tuple(_part(folder, prefix, part, description) for part in ("train", "test"))


def _part(folder, prefix, part, description):
    paths = [folder / f"{prefix}_{part}_{letter}.npz" for letter in "XY"]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {path}. Give --data-home.")
    X, Y = (sp.csr_array(sp.load_npz(path)) for path in paths)
    return Bunch(
        data=X,
        target=Y.toarray().astype("int32"),
        DESCR=f"{description} ({part} rows).\n{X.shape[0]} rows, {X.shape[1]} features (sparse), "
        f"{Y.shape[1]} labels, {Y.sum() / max(1, Y.shape[0]):.2f} labels per row.",
    )
