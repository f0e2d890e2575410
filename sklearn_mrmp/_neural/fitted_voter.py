"""One voter of a fitted classifier, seen from outside: it predicts alone, and shows its weight.

Knows the ensemble, and scikit-learn's HTML blocks.
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._host.chunks import predict_in_chunks
from sklearn_mrmp._numerics.log_odds import to_probabilities
from sklearn_mrmp._sklearn_compat import _VisualBlock


class FittedVoter:
    """A voter of a fitted classifier; see its ``voters_``.

    Attributes
    ----------
    name : str
        Name of the voter.
    weight : float
        How much its log odds count in the vote.
    model : object
        What is inside: the networks, the regression, the remembered rows, or your own estimator's
        wrapper with its ``estimator_``.

    Examples
    --------
    >>> from sklearn_mrmp import MrMPClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(100, 4, n_features=30, random_state=0)
    >>> clf = MrMPClassifier(d_model=8, max_epochs=1, random_state=0).fit(X, Y)
    >>> clf.voters_.linear.predict_proba(X).shape
    (100, 4)
    """

    def __init__(self, classifier, name):
        self._classifier = classifier
        self.name = name

    @property
    def model(self):
        """What is inside."""
        check_is_fitted(self._classifier)
        return self._classifier._ensemble.voters[self.name]

    @property
    def weight(self):
        """How much its log odds count in the vote."""
        return self._classifier.vote_weights_[self.name]

    def decision_function(self, X):
        """Log odds of each label by this voter alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_labels), float32
        """
        check_is_fitted(self._classifier)
        classifier = self._classifier

        def logits(rows):
            return classifier._voter_logits(self.name, classifier._encoded(rows))

        n_labels = classifier._target_encoding.n_labels
        return predict_in_chunks(logits, classifier._check_rows(X), n_labels)

    def predict_proba(self, X):
        """Probability of each label by this voter alone; as of the classifier itself.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels)
        """
        P = to_probabilities(self.decision_function(X).copy())
        return self._classifier._target_encoding.shape_probabilities(P)

    def predict(self, X):
        """Predict labels that are more likely than not; no decision was tuned for one voter.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        y : {ndarray, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        """
        P, encoding = to_probabilities(self.decision_function(X).copy()), self._encoding
        if not encoding.is_matrix:
            return encoding.decode_scores(P)
        return encoding.decode_labels(P >= np.float32(0.5))

    @property
    def _encoding(self):
        return self._classifier._target_encoding

    def __repr__(self):
        inside = getattr(self.model, "estimator_", None)
        what = type(self.model).__name__ if inside is None else repr(inside)
        return f"{self.name}: weight {self.weight:.2f}, {what}"


def visual_block(classifier):
    """Block of scikit-learn's HTML representation: a fitted classifier shows who votes."""
    if not classifier.__sklearn_is_fitted__():
        return _VisualBlock(
            "single", classifier, names=type(classifier).__name__, name_details=str(classifier)
        )
    voters = list(classifier.voters_.values())
    names = [f"{voter.name} (weight {voter.weight:.2f})" for voter in voters]
    return _VisualBlock("parallel", [repr(v) for v in voters], names=names, dash_wrapped=False)
