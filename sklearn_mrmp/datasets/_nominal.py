"""Nominal attributes as columns: which value is 1, and which attributes only name rows.

The choice depends on the rows, so it is made once, on the training rows, and holds for all files of
a data set. Knows attributes of ARFF files, numpy and scipy, and nothing of labels.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

# An attribute names rows if these have at least this many different values, and at least this share
# as many values as there are rows. Of fewer values one cannot tell.
_FEWEST_NAMES = 10
_SHARE_OF_NAMES = 0.9


@dataclass(frozen=True)
class Coding:
    """How attributes become columns.

    An attribute of numbers is a column as it is. Of other categories, the rarer of two is 1 in one
    column, so that a bag of flags is sparse however its flags are spelled; several have a column
    each; and names of rows have none.

    Attributes
    ----------
    attributes : list of Attribute
        The attributes, in the order of the file.
    ones : list of tuple of float or None
        For each attribute the values (positions of categories) that are 1 in a column of their
        own; None for an attribute of numbers.
    """

    attributes: list
    ones: list

    @classmethod
    def choose(cls, attributes, values):
        """Choose by the rows in `values`, of shape (n_rows, n_attributes)."""
        columns = _by_columns(values)
        ones = [
            _ones(attribute, _column(columns, j)) if attribute.is_symbolic else None
            for j, attribute in enumerate(attributes)
        ]
        return cls(attributes, ones)

    @property
    def feature_names(self):
        """Names of the columns: that of the attribute, or ``attribute=category``."""
        names = []
        for attribute, ones in zip(self.attributes, self.ones, strict=True):
            if ones is None or len(ones) == 1:
                names.append(attribute.name)
            else:
                names += [f"{attribute.name}={attribute.categories[int(one)]}" for one in ones]
        return names

    @property
    def categories(self):
        """Categories of each attribute that is not of numbers; of two, the second is 1."""
        found = {}
        for attribute, ones in zip(self.attributes, self.ones, strict=True):
            if ones:
                listed = list(attribute.categories)
                found[attribute.name] = listed[::-1] if ones == (0.0,) else listed
        return found

    @property
    def left_out(self):
        """Names of the attributes that have no column."""
        pairs = zip(self.attributes, self.ones, strict=True)
        return [attribute.name for attribute, ones in pairs if ones == ()]

    def transform(self, values):
        """Return the columns of rows `values`, sparse exactly when these are."""
        plain = [j for j, ones in enumerate(self.ones) if ones is None]
        if len(plain) == len(self.ones):
            return values
        columns, places, coded = _by_columns(values), list(plain), []
        for j, ones in enumerate(self.ones):
            for one in ones or ():
                places.append(j)
                coded.append(_indicator(_column(columns, j), one, keep_missing=len(ones) == 1))
        return _side_by_side(values[:, plain], coded)[:, np.argsort(places, kind="stable")]


def _by_columns(values):
    return values.tocsc() if sp.issparse(values) else values


def _column(values, j):
    column = values[:, [j]]
    return column.toarray()[:, 0] if sp.issparse(column) else column[:, 0]


def _ones(attribute, column):
    """Positions of the categories that are 1 in a column: the rarer of two, all, or none."""
    present = column[~np.isnan(column)].astype(int)
    counts = np.bincount(present, minlength=2)
    if len(attribute.categories) <= 2:
        return (0.0,) if counts[0] < counts[1] else (1.0,)
    n_names = np.count_nonzero(counts)
    if n_names >= max(_FEWEST_NAMES, _SHARE_OF_NAMES * len(present)):
        return ()
    return tuple(map(float, range(len(attribute.categories))))


def _indicator(column, one, keep_missing):
    """1 where a column has the value `one`; among several columns a missing value is 1 in none."""
    indicator = (column == one).astype(float)
    if keep_missing:
        indicator[np.isnan(column)] = np.nan
    return indicator


def _side_by_side(matrix, columns):
    if not columns:
        return matrix
    if not sp.issparse(matrix):
        return np.column_stack([matrix, *columns])
    block = sp.vstack([sp.csr_array(column[np.newaxis]) for column in columns], format="csr")
    return sp.hstack([matrix, block.T], format="csr")
