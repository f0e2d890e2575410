"""What a voter is: a base learner that gives every label of a row its log odds.

`LinearVoter`, `CentroidVoter`, `NeighborVoter`, `EstimatorVoter` and the network have this face.
Some have more, by which explanations look inside: ``terms``, ``nearest_rows`` or ``attributor``;
one that has ``remembering(rows, Y, weights)``, which returns a voter that knows these rows besides,
takes part in ``partial_fit``.
To add a voter that users can name, write a class in a file of its own and add an entry to `VOTERS`
in `_voters/choice.py`. Knows nothing of any of them.
"""

from typing import ClassVar, Protocol


class Voter(Protocol):
    """A base learner of the ensemble.

    Attributes
    ----------
    decodes_candidates : bool
        Whether it looks at some labels of a row where others name candidates: a voter that takes
        long for each label. The others score all labels, and name the candidates.
    """

    decodes_candidates: ClassVar[bool] = False

    def fit(self, rows, Y, rows_valid, Y_valid, weights=None, weights_valid=None):
        """Fit on training rows, choosing whatever is to be chosen on held-out ones.

        Parameters
        ----------
        rows, rows_valid : EncodedRows
            Training rows and held-out rows.
        Y, Y_valid : csr_array of shape (n_samples, n_labels)
            Their 0/1 labels.
        weights, weights_valid : EntryWeights, default=None
            What their entries count, and which are not known.

        Returns
        -------
        voter : Voter
            Fitted; this object or another one.
        """

    def refit(self, rows, Y, seen=False, weights=None):
        """Fit anew on other rows with the choices that were made; returns a new voter.

        `seen` says that the rows it was fitted on are among these, and none of them is held out:
        then it may start from what it has learned.
        """

    def logits(self, rows, candidates=None):
        """Log odds of labels.

        Parameters
        ----------
        rows : EncodedRows
            Rows to predict.
        candidates : int64 ndarray of shape (n_samples, k), default=None
            Labels to look at, where `decodes_candidates`; None is all.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_labels) or (n_samples, k), float32
            A row's numbers depend on that row alone.
        """


class TransparentVoter(Voter, Protocol):
    """A voter whose log odds are a sum over columns of the rows."""

    def terms(self, rows, row, label):
        """Return the terms that the logit of a label is the sum of.

        Parameters
        ----------
        rows : EncodedRows
            Rows.
        row, label : int
            Which of the rows, and which label.

        Returns
        -------
        columns : int ndarray of shape (n_terms,)
            Columns of ``rows.bag``.
        values : float64 ndarray of shape (n_terms,)
            What each of them adds.
        constant : float
            What is added whatever the row.
        """
