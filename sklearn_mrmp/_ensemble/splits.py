"""Which rows are held out: one part of them, given rows, or each of several folds in turn.

Always at random where we choose: stratified rows gave no better decisions (docs/dev/splits.md), and
callers can pass a splitter. Knows numpy, scikit-learn and encoded rows.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold, check_cv

from sklearn_mrmp._ensemble.row_marks import NEW
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._numerics.entry_weights import EntryWeights


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows held out, with their 0/1 labels and what these count.

    `numbers` are the held-out rows' numbers among all rows, or their own where they were given.
    """

    rows: EncodedRows
    Y: sp.csr_array
    rows_valid: EncodedRows
    Y_valid: sp.csr_array
    numbers: np.ndarray
    weights: EntryWeights | None = None
    weights_valid: EntryWeights | None = None

    @property
    def train(self):
        """Rows to train on and rows held out, as ``fit`` of a voter takes them."""
        held_out = self.rows_valid, self.Y_valid
        return self.rows, self.Y, *held_out, self.weights, self.weights_valid


def make_splits(
    rows, Y, given, cv, random_state, is_vector=False, weights=None, earlier=None, known_parts=None
):
    """Rows to train on and rows held out, with the encoder fitted on the former.

    Several folds share one encoder, which is fitted on all rows.

    Parameters
    ----------
    rows : EncodedRows
        All rows, whose encoder is not fitted.
    Y : csr_array
        Their 0/1 labels.
    given : (X, csr_array, EntryWeights or None), or None
        Held-out rows that the caller gave; none of `rows` is held out then.
    cv, random_state, is_vector
        As for `split_rows`.
    weights : EntryWeights, default=None
        What the entries of `Y` count.
    earlier : input kind, default=None
        Fitted: what the encoder goes on from.
    known_parts : ndarray of int of shape (n_samples,), default=None
        As for `split_rows`.

    Returns
    -------
    splits : list of Split
    """
    if given is not None:
        X_valid, Y_valid, weights_valid = given
        valid = EncodedRows.of(rows.encoder, X_valid)
        numbers = np.arange(len(valid))
        rows.fit_encoder(earlier)
        return [Split(rows, Y, valid, Y_valid, numbers, weights, weights_valid)]
    parts = split_rows(rows.X, Y, cv, random_state, is_vector, known_parts)
    if len(parts) > 1:
        rows.fit_encoder(earlier)
        _ = rows.tokens  # once, for all folds

    def weights_of(part):
        return None if weights is None else weights.take(part)

    splits = [
        Split(
            rows.take(train),
            Y[train],
            rows.take(held_out),
            Y[held_out],
            held_out,
            weights_of(train),
            weights_of(held_out),
        )
        for train, held_out in parts
    ]
    if len(parts) == 1:
        splits[0].rows.fit_encoder(earlier)
    return splits


def is_share(cv):
    """Whether `cv` is the share of rows to hold out once."""
    return isinstance(cv, Real) and not isinstance(cv, Integral)


def split_rows(X, Y, cv, random_state, is_vector=False, known_parts=None):
    """Row numbers to train on and row numbers held out, for each split.

    Parameters
    ----------
    X, Y : {ndarray, csr_array}
        Rows and their labels; only splitters look at them.
    cv : float, int or cross-validation splitter
        A share of the rows, held out once; a number of folds; or what scikit-learn's `check_cv`
        takes.
    random_state : RandomState instance
        Source of the draw.
    is_vector : bool, default=False
        Whether the caller's target is a vector of classes, which splitters then see.
    known_parts : ndarray of int of shape (n_samples,), default=None
        The part in which each row was held out in an earlier fit, `TRAINED` or `NEW`: rows that a
        network was trained on are not held out. Splitters of the caller do as they do.

    Returns
    -------
    splits : list of (ndarray, ndarray) of int

    Examples
    --------
    >>> X = np.zeros((10, 1))
    >>> [(train, held_out)] = split_rows(X, X, 0.2, np.random.RandomState(0))
    >>> len(train), len(held_out)
    (8, 2)
    """
    n_samples = X.shape[0]
    if is_share(cv):
        return [_one_part(n_samples, cv, random_state, known_parts)]
    if isinstance(cv, Integral):
        if n_samples < cv:
            raise ValueError(f"cv={cv} folds need as many rows; got n_samples={n_samples}.")
        cv = KFold(cv, shuffle=True, random_state=random_state)
        if known_parts is not None:
            return _known_folds(cv.split(X), known_parts)
    target = None if isinstance(cv, KFold) else _for_splitters(Y, is_vector)
    parts = check_cv(cv).split(X, target)
    splits = [(np.asarray(train), np.asarray(held_out)) for train, held_out in parts]
    if not splits or any(not len(part) for split in splits for part in split):
        raise ValueError(
            f"cv={cv!r} must give at least one split with rows to train on and rows held out."
        )
    return splits


def _for_splitters(Y, is_vector):
    """Labels as an array, or the classes of a vector target."""
    Y = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    if not is_vector:
        return Y
    return Y[:, 0] if Y.shape[1] == 1 else Y.argmax(axis=1)


def _known_folds(splits, known_parts):
    """Folds in which the rows of earlier ones are where they were."""
    splits = list(splits)
    folds = np.empty(len(known_parts), dtype=np.intp)
    for fold, (_, held_out) in enumerate(splits):
        folds[held_out] = fold
    is_known = (known_parts >= 0) & (known_parts < len(splits))
    folds[is_known] = known_parts[is_known]
    found = [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))
        for fold in range(len(splits))
    ]
    return found if all(len(part) for split in found for part in split) else splits


def _one_part(n_samples, share, random_state, known_parts=None):
    """Both parts, rising; at least one row in each."""
    if n_samples < 2:
        raise ValueError(
            "Rows are held out to weigh the voters and to tune decisions, so at least 2 are "
            f"needed; got n_samples={n_samples}."
        )
    n_held_out = min(max(1, round(share * n_samples)), n_samples - 1)
    order = random_state.permutation(n_samples)
    held_out = order[:n_held_out]
    if known_parts is not None:
        new = order[known_parts[order] == NEW]
        chosen = np.append(np.flatnonzero(known_parts >= 0), new[: round(share * len(new))])
        # Where there are hardly any such rows, the others have to do.
        if n_held_out <= 2 * len(chosen) and len(chosen) < n_samples:
            held_out = chosen
    return np.setdiff1d(order, held_out), np.sort(held_out)


def check_held_out(X_val, y_val, cv, refit):
    """Refuse held-out rows without labels, and whatever has no place beside folds."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together.")
    if is_share(cv):
        return
    for name, is_set in (("X_val", X_val is not None), ("refit=True", refit)):
        if is_set:
            raise ValueError(
                f"{name} has no place beside cv={cv}: with folds, rows that one of them holds out "
                "train the others. Leave one of them out."
            )
