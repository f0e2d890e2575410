"""The public splitters: folds and shuffled splits that keep label frequencies.

Parameters and methods are those of scikit-learn's splitters; what they do with labels is the
business of `_splits.stratify`. Knows numpy and scikit-learn.
"""

from numbers import Integral

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, ShuffleSplit
from sklearn.utils import check_random_state, indexable

from sklearn_mrmp._sklearn_compat import _num_samples, _safe_indexing
from sklearn_mrmp._splits.stratify import stratified_parts


class MultilabelStratifiedKFold(BaseCrossValidator):
    """K folds in which each label is as frequent as in all rows.

    The counterpart of scikit-learn's `StratifiedKFold` for label matrices. Each row is held out
    once, and the sizes of the folds differ by at most one row.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.

    shuffle : bool, default=False
        Whether to draw the folds. If False, they are the same at every call, and rows with the
        same label set stay in their order: the first of them are in the first fold.

    random_state : int, RandomState instance or None, default=None
        Source of the draw. Only with ``shuffle=True``.

    order : {1, 2}, default=1
        1 balances labels, 2 labels and pairs of labels that occur together.

    See Also
    --------
    MultilabelStratifiedShuffleSplit : Held-out rows drawn anew for each split.

    Notes
    -----
    Rows are sorted by label set, the rarest label of a set first, and dealt out to the folds in
    turn. Then rows of different folds are exchanged as long as this makes the squared differences
    between the label counts of the folds and their shares smaller. Labels with fewer rows than
    folds, rows without labels and label sets that occur once need no attention. A vector of
    classes is split like `StratifiedKFold` does it: the rows of a class in two folds differ by at
    most one. With ``order=2`` memory and time grow with the pairs of labels of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 1], [1, 0], [1, 0], [1, 1], [0, 0], [0, 1], [0, 0], [0, 1]])
    >>> for train, test in MultilabelStratifiedKFold(2).split(Y, Y):
    ...     print(test, Y[test].sum(axis=0))
    [0 1 4 5] [2 2]
    [2 3 6 7] [2 2]
    """

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None, order=1):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.order = order
        self._check_parameters()

    def _check_parameters(self):
        if not isinstance(self.n_splits, Integral) or isinstance(self.n_splits, bool):
            raise ValueError(f"n_splits must be a whole number, got {self.n_splits!r}.")
        if self.n_splits < 2:
            raise ValueError(f"n_splits must be at least 2, got {self.n_splits}.")
        if not isinstance(self.shuffle, (bool, np.bool_)):
            raise TypeError(f"shuffle must be True or False, got {self.shuffle!r}.")
        if not self.shuffle and self.random_state is not None:
            raise ValueError(
                "random_state has no effect without shuffle. Set shuffle=True, or leave it out."
            )
        _check_order(self.order)

    def split(self, X, y, groups=None):
        """Generate the row numbers of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. Only their number counts.

        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, dense, sparse or as a data frame; a list of label names for each
            row; or a vector of classes.

        groups : object, default=None
            Not used, there for scikit-learn's interface.

        Yields
        ------
        train : ndarray of int
            Rows to train on, rising.
        test : ndarray of int
            Rows held out, rising.
        """
        X, y = _checked_rows(X, y)
        yield from super().split(X, y)

    def _iter_test_masks(self, X=None, y=None, groups=None):
        n_samples = _num_samples(X)
        if self.n_splits > n_samples:
            raise ValueError(
                f"n_splits={self.n_splits} folds need as many rows; got n_samples={n_samples}."
            )
        sizes = n_samples // self.n_splits + (np.arange(self.n_splits) < n_samples % self.n_splits)
        draw = check_random_state(self.random_state) if self.shuffle else None
        part = stratified_parts(y, sizes, self.order, draw)
        for fold in range(self.n_splits):
            yield part == fold

    def get_n_splits(self, X=None, y=None, groups=None):
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Not used, there for scikit-learn's interface.

        Returns
        -------
        n_splits : int
        """
        return int(self.n_splits)


class MultilabelStratifiedShuffleSplit(BaseShuffleSplit):
    """Splits into training and test rows in which each label is as frequent as in all rows.

    The counterpart of scikit-learn's `StratifiedShuffleSplit` for label matrices. Splits are drawn
    one after the other, so a row can be held out by several of them.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.

    test_size : float or int, default=None
        Share or number of the rows held out. If None, what `train_size` leaves, or 0.1.

    train_size : float or int, default=None
        Share or number of the rows to train on. If None, what `test_size` leaves.

    random_state : int, RandomState instance or None, default=None
        Source of the draw.

    order : {1, 2}, default=1
        1 balances labels, 2 labels and pairs of labels that occur together.

    See Also
    --------
    MultilabelStratifiedKFold : Folds that hold out each row once.
    multilabel_train_test_split : One split, of the arrays themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import MultilabelStratifiedShuffleSplit
    >>> Y = np.array([[1, 1], [1, 0], [1, 0], [1, 1], [0, 0], [0, 1], [0, 0], [0, 1]])
    >>> splitter = MultilabelStratifiedShuffleSplit(3, test_size=0.5, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for train, test in splitter.split(Y, Y)]
    [[2, 2], [2, 2], [2, 2]]
    """

    def __init__(self, n_splits=10, *, test_size=None, train_size=None, random_state=None, order=1):
        super().__init__(
            n_splits, test_size=test_size, train_size=train_size, random_state=random_state
        )
        self.order = order
        _check_order(order)

    def split(self, X, y, groups=None):
        """Generate the row numbers of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. Only their number counts.

        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, dense, sparse or as a data frame; a list of label names for each
            row; or a vector of classes.

        groups : object, default=None
            Not used, there for scikit-learn's interface.

        Yields
        ------
        train : ndarray of int
            Rows to train on, in random order.
        test : ndarray of int
            Rows held out, in random order.
        """
        X, y = _checked_rows(X, y)
        yield from super().split(X, y)

    def _iter_indices(self, X, y=None, groups=None):
        n_samples = _num_samples(X)
        n_train, n_test = self._sizes(n_samples)
        sizes = [n_test, n_train, n_samples - n_train - n_test]
        draw = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part = stratified_parts(y, sizes[: 3 if sizes[2] else 2], self.order, draw)
            shuffled = draw.permutation(n_samples)
            test, train = (shuffled[part[shuffled] == number] for number in (0, 1))
            yield train, test

    def _sizes(self, n_samples):
        """Rows to train on and rows held out, as scikit-learn counts and checks them."""
        test_size = self.test_size
        if test_size is None and self.train_size is None:
            test_size = 0.1
        plain = ShuffleSplit(1, test_size=test_size, train_size=self.train_size, random_state=0)
        ((train, test),) = plain.split(np.empty(n_samples))
        return len(train), len(test)


def multilabel_train_test_split(
    *arrays, test_size=None, train_size=None, random_state=None, stratify=None, order=1
):
    """Split arrays into training and test rows in which each label is as frequent as in all rows.

    The counterpart of scikit-learn's `train_test_split` for label matrices.

    Parameters
    ----------
    *arrays : sequence of indexables of the same length
        Lists, arrays, sparse matrices or data frames, such as ``X, Y``.

    test_size : float or int, default=None
        Share or number of test rows. If None, what `train_size` leaves, or 0.25.

    train_size : float or int, default=None
        Share or number of training rows. If None, what `test_size` leaves.

    random_state : int, RandomState instance or None, default=None
        Source of the draw.

    stratify : {array-like, sparse matrix} of shape (n_samples, n_labels), default=None
        0/1 label matrix, a list of label names for each row, or a vector of classes. If None, the
        last of the arrays.

    order : {1, 2}, default=1
        1 balances labels, 2 labels and pairs of labels that occur together.

    Returns
    -------
    splitting : list of length 2 * len(arrays)
        Training and test rows of each array, such as ``X_train, X_test, Y_train, Y_test``.

    Examples
    --------
    >>> from sklearn_mrmp import multilabel_train_test_split
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(400, 4, random_state=0)
    >>> X_train, X_test, Y_train, Y_test = multilabel_train_test_split(X, Y, random_state=0)
    >>> X_train.shape[0], X_test.shape[0]
    (300, 100)
    >>> abs(Y_test.mean(axis=0) - Y.mean(axis=0)).max() < 0.01
    np.True_
    """
    if not arrays:
        raise ValueError("multilabel_train_test_split needs at least one array, got none.")
    if test_size is None and train_size is None:
        test_size = 0.25
    arrays = indexable(*arrays)
    splitter = MultilabelStratifiedShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state, order=order
    )
    ((train, test),) = splitter.split(arrays[0], arrays[-1] if stratify is None else stratify)
    return [_safe_indexing(array, rows) for array in arrays for rows in (train, test)]


def _checked_rows(X, y):
    """Rows and labels as scikit-learn indexes them; refuse a missing target."""
    if y is None:
        raise ValueError("A stratified split needs labels: y is None.")
    return indexable(X, y)


def _check_order(order):
    if isinstance(order, bool) or order not in (1, 2):
        raise ValueError(f"order must be 1 (labels) or 2 (labels and pairs), got {order!r}.")
