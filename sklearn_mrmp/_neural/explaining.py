"""Why a label was predicted: ``explain`` of every classifier with a network.

Knows what predicts, and hands it to the room of explanations.
"""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklearn_mrmp._explain.gathering import Gatherer
from sklearn_mrmp._explain.naming import item_names
from sklearn_mrmp._explain.voting import RowParts, VotingModel
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._input.text import as_texts
from sklearn_mrmp._numerics.told import impose
from sklearn_mrmp._sklearn_compat import _num_samples

# Labels that are explained in one call: seconds to minutes of work, and not hours.
_MOST_INSIDE, _MOST_PARTS = 2_000, 20_000


class ExplainMixin:
    """``explain``: log odds as a sum of the voters, and each of them of what it saw."""

    def explain(self, X, labels=None, *, known=None, feature_names=None, texts=None, inside=True):
        """Say why labels have their probabilities.

        The log odds of a label are a sum of parts: what each base learner adds, a correction for
        the frequency of the label, a shift that is learned with cross-fitting, and what known
        labels and the label sets of the training rows change. The parts add up to
        ``logit(predict_proba(X))``. Most parts are explained further: the logistic regression is an
        exact sum over features, the neighbours are training rows, and what the network adds is
        divided among the tokens by integrated gradients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to explain.
        labels : str, int, or sequence of these, default=None
            Names or numbers of the labels to explain in each row; for a vector target those of
            classes. None explains the predicted labels of each row, or the most probable label if
            no label is predicted.
        known : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels), default=None
            Labels of these rows that are known already, as for `predict_proba`.
        feature_names : sequence of str, or mapping of str to int, default=None
            Names of the columns of `X`, such as ``get_feature_names_out()`` of a vectorizer, or a
            ``vocabulary_``; for token sequences the latter. None uses ``feature_names_in_``, or
            numbers.
        texts : sequence of str, default=None
            Texts that the rows of `X` were made from, in which words are then marked. Not needed if
            `X` contains texts.
        inside : bool, default=True
            Whether to explain the parts further. Without it, many more labels can be explained at
            once.

        Returns
        -------
        explanation : Explanation
            One item for each label of each row.

        Notes
        -----
        Integrated gradients start at a row whose tokens are all zeros, or, for vectors, at the
        means of the columns. Steps are added until the shares of all tokens add up to the network's
        log odds within 0.02. The remaining difference is the ``residual`` of the terms. For several
        classes, the last part, ``other_classes``, is the change that makes all probabilities sum to
        1.

        Examples
        --------
        >>> from sklearn_mrmp import MrMPClassifier
        >>> from sklearn_mrmp.datasets import make_related_labels
        >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
        >>> clf = MrMPClassifier(voters=("linear",), label_sets=False).fit(X, Y)
        >>> why = clf.explain(X[:1], labels=["2"])[0]
        >>> log_odds = clf.voters_.linear.decision_function(X[:1])[0, 2]
        >>> bool(abs(why.log_odds - log_odds) < 1e-5)
        True
        """
        check_is_fitted(self)
        numbers = None if labels is None else _label_numbers(labels, self.label_names_)
        _check_number(_num_samples(X), 1 if numbers is None else len(numbers), inside)
        X, told = (self._check_rows(X), None) if known is None else self._check_told(X, known)
        rows, encoding = self._encoded(X), self._target_encoding
        P = self._label_probabilities(rows, told)
        pairs = self._pairs(numbers, P, rows, told)
        _check_number(1, len(pairs), inside)
        names = item_names(
            self._ensemble.encoder, rows, self._names_of_features(feature_names), _texts(texts, X)
        )
        is_multiclass = encoding.kind == "multiclass"
        model = VotingModel(self._ensemble, self._label_sets, self._told, is_multiclass)
        shown = encoding.shape_probabilities(P) if is_multiclass else P
        with torch_threads(self._n_threads):
            parts = RowParts(model, rows, P, told)
            gatherer = Gatherer(parts, names, self.label_names_, self.label_graph_, shown, inside)
            return gatherer.explanation(pairs)

    def _pairs(self, numbers, P, rows, told):
        """Return pairs of row and label to explain: the given labels, or those predicted."""
        if numbers is not None:
            return [(row, label) for row in range(len(P)) for label in numbers]
        encoding = self._target_encoding
        if not encoding.is_matrix:
            return list(enumerate(P.argmax(axis=1).tolist()))
        labels = self._decided(P, rows, *self._operating_point)
        labels = np.array(labels.toarray() if hasattr(labels, "toarray") else labels) > 0
        if told is not None:
            labels = impose(labels, told, True, False)
        nothing = np.flatnonzero(~labels.any(axis=1))
        labels[nothing, P[nothing].argmax(axis=1)] = True
        return [(int(row), int(label)) for row, label in zip(*np.nonzero(labels), strict=True)]

    def _names_of_features(self, feature_names):
        if feature_names is None and self._ensemble.encoder.name in ("features", "vectors"):
            return getattr(self, "feature_names_in_", None)
        return feature_names


def _label_numbers(labels, names):
    """Return the numbers of labels that are given by name or number."""
    labels = [labels] if isinstance(labels, (str, Integral)) else list(labels)
    known, numbers = {}, []
    for number, name in enumerate(names):
        known.setdefault(str(name), []).append(number)
    for label in labels:
        if isinstance(label, Integral) and not isinstance(label, bool):
            if not 0 <= label < len(names):
                raise ValueError(f"Label number {label} is outside 0 … {len(names) - 1}.")
            numbers.append(int(label))
            continue
        found = known.get(str(label), [])
        if len(found) != 1:
            problem = "is not known" if not found else f"names {len(found)} labels"
            raise ValueError(
                f"Label {label!r} {problem}; pass names of label_names_, or their numbers."
            )
        numbers += found
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(
            "labels must name at least one label, and none twice; use labels=None for those that "
            "are predicted."
        )
    return numbers


def _check_number(n_rows, n_labels, inside):
    """Refuse work that would take hours."""
    most = _MOST_INSIDE if inside else _MOST_PARTS
    if n_rows * n_labels > most:
        hint = ", or inside=False, which is much faster" if inside else ""
        raise ValueError(
            f"explain was asked for {n_rows * n_labels} labels or more in all, at most {most} are "
            f"explained in one call. Pass fewer rows, fewer labels{hint}."
        )


def _texts(texts, X):
    """Return the texts of rows as a list, or None."""
    if texts is None:
        return None
    if hasattr(X, "texts"):
        raise ValueError("texts is for rows that were made of texts, but X holds texts already.")
    texts = as_texts(texts)
    check_consistent_length(X, texts)
    return texts
