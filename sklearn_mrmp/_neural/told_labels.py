"""Prediction for rows of which some labels are told: ``predict_proba(X, known=...)``.

What is told comes back as told, and all other labels are conditioned on it; a row of which nothing
is told is predicted as it always is. Knows ensembles, label sets and chunks of rows.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklearn_mrmp._deciding import check_decision
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._ensemble.told import ToldVote
from sklearn_mrmp._host.chunks import predict_in_chunks
from sklearn_mrmp._numerics.log_odds import to_probabilities
from sklearn_mrmp._numerics.told import impose, read_told


class ToldLabelsMixin:
    """``predict`` and ``predict_proba`` that take labels of the rows which are known already."""

    def predict_proba(self, X, known=None):
        """Probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.
        known : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels), default=None
            Labels of these rows that are known already: 1 for a label that a row has, 0 for one
            that it has not, NaN for one that is not known. Entries that a sparse matrix does not
            store are not known, while a stored 0 is a known 0. Columns of a data frame are matched
            by name, and labels without a column are not known. For label matrices only.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels)
            One independent probability per label for a label matrix target; for a vector target one
            column per class, with rows that sum to 1. Known labels have a probability next to 0 or
            1, and the other probabilities are conditional on them.
        """
        if known is None:
            return super().predict_proba(X)
        X, told = self._check_told(X, known)

        def predict(X, told):
            return self._label_probabilities(self._encoded(X), told)

        return predict_in_chunks(predict, X, told.shape[1], told)

    def predict(self, X, known=None):
        """Predict the labels of each row, as `metric` and `decision` say.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.
        known : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels), default=None
            Labels of these rows that are known already, as for `predict_proba`. They are returned
            as they are.

        Returns
        -------
        y : {ndarray, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 labels in the dtype of the training target, sparse when that was sparse; for a
            vector target the predicted classes.
        """
        check_is_fitted(self)
        encoding, (metric, decision) = self._target_encoding, self._operating_point
        check_decision(decision, encoding)
        if getattr(decision, "needs_all_rows", False):
            labels = self._decided(self.predict_proba(X, known), None, metric, decision)
            told = None if known is None else read_told(known, encoding.label_names)
            return encoding.decode_labels(labels if told is None else _as_told(labels, told))
        if known is None:
            return super().predict(X)
        X, told = self._check_told(X, known)

        def predict(X, told):
            rows = self._encoded(X)
            labels = self._predict_labels(self._label_probabilities(rows, told), rows)
            return encoding.decode_labels(_as_told(labels, told))

        return predict_in_chunks(predict, X, told.shape[1], told)

    def predict_labels(self, X, known=None):
        """Predict the names of the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.
        known : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels), default=None
            Labels of these rows that are known already, as for `predict_proba`.

        Returns
        -------
        names : list of list of str
            For each row the names of the predicted labels, in the order of `label_names_`: ``"0"``,
            ``"1"``, … if the training labels had no names. Not for a vector target, whose classes
            `predict` returns.
        """
        return self._named(self.predict(X, known))

    def _check_told(self, X, known):
        """Check rows and what is told of them."""
        check_is_fitted(self)
        encoding = self._target_encoding
        if not encoding.is_matrix:
            raise ValueError(
                f"known tells labels of a label matrix, but the target of fit was a "
                f"{encoding.kind} vector, whose classes exclude each other."
            )
        X, told = self._check_rows(X), read_told(known, encoding.label_names)
        check_consistent_length(X, told)
        return X, told


def _as_told(labels, told):
    """Decisions with the told ones in their places, a new array."""
    return impose(np.array(labels), told, True, False)


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Everybody who can say something about the other labels when some are told.

    Attributes
    ----------
    ensemble : Ensemble
        Who votes.
    label_sets : LabelSetVote or None
        The label sets that are mixed in.
    told : ToldVote or None
        What told labels add to the vote; None is nothing.
    """

    ensemble: Ensemble
    label_sets: LabelSetVote | None
    told: ToldVote | None

    def probabilities(self, P, P_alone, votes, rows, told):
        """Probabilities given what is told.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_labels), float32
            What is predicted without it; kept for rows of which nothing is told.
        P_alone : ndarray of shape (n_samples, n_labels), float32
            The same before label sets were mixed in.
        votes : Votes
            Votes for the rows.
        rows : EncodedRows
            The rows.
        told : csr_array of shape (n_samples, n_labels)
            1 and -1 where a label is told to be there or not to be.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels), float32
        """
        chosen = np.flatnonzero(np.diff(told.indptr))
        if not len(chosen):
            return P
        some, P_some = sp.csr_array(told[chosen]), P_alone[chosen]
        if self.told is not None:
            P_some = to_probabilities(
                self.told.log_odds(self.ensemble, votes.take(chosen), rows, some, chosen)
            )
        if self.label_sets is not None:
            P_some = self.label_sets.mix_told(P_some, P_alone[chosen], some)
        P = P.copy()
        P[chosen] = P_some
        return impose(P, told, np.float32(1), np.float32(0))
