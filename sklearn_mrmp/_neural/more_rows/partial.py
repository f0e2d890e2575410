"""``partial_fit``: rows that come later, learned by those voters that can learn from them alone.

The first call is a fit. In later ones the networks take a pass over the rows and the neighbour
voter remembers them; all that needs all rows stays. Knows ensembles, the networks' pass and the
checks of the base class.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sklearn_mrmp._ensemble.row_marks import TRAINED, RowMarks, row_checksums
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._network.batches import TokenDataset
from sklearn_mrmp._network.one_pass import after_pass
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._network.voter import NetworkVoter
from sklearn_mrmp._neural.entry_options import EntryOptions
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._sklearn_compat import _fit_context
from sklearn_mrmp._voters.choice import NETWORK
from sklearn_mrmp._voters.shortlist import training_shortlist


class MoreRowsMixin:
    """Lets a fitted classifier learn from more rows."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from some more rows, without the old ones.

        The first call is a ``fit``. In later ones the network takes one pass over the rows, at a
        constant 3 % of its learning rate, and the neighbour voter remembers them. The linear voter
        and your own estimators, the label graph, the weights of the voters, the label sets and the
        decisions stay what the first call made them, since they need all rows: fit anew from time
        to time. Give hundreds of rows at once rather than a few. ``warm_start=True`` is the way to
        go on with all rows, or with new labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows like those of ``fit``.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Their labels; those of a data frame, or of lists of names, are matched by name. There
            can be no new labels after the first call.
        classes : array-like, default=None
            All classes that a vector `y` may have, or all names in lists of label names, for the
            first call; None is those of its `y`. Of a label matrix each column is a label.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, at least 0. There are no weights of labels here.

        Returns
        -------
        self : estimator
            The classifier. If a later call fails, it is what it was before.

        Examples
        --------
        >>> from sklearn_mrmp import MrMPClassifier
        >>> from sklearn_mrmp.datasets import make_related_labels
        >>> X, Y, _ = make_related_labels(150, 4, n_features=30, random_state=0)
        >>> clf = MrMPClassifier(d_model=8, max_epochs=1, random_state=0)
        >>> clf.partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:]).predict(X).shape
        (150, 4)
        """
        if not self.__sklearn_is_fitted__():
            entries = EntryOptions(sample_weight, classes=classes)
            return self._fit_whole(X, y, None, None, entries)
        self._target_encoding.check_classes(classes)
        more = self._more_rows(X, y, sample_weight)
        with torch_threads(self._n_threads):
            self._ensemble = more.learned_by(self._ensemble)
        if "_row_marks" in vars(self):
            self._row_marks = more.marked(self._row_marks)
        return self

    def _more_rows(self, X, y, sample_weight):
        """Check rows that are to be learned."""
        X, Y, known = self._with_target(self._check_rows(X), y, "y")
        entries = EntryOptions(sample_weight)
        keep, weights = entries.weights(X, Y, known, self.label_names_)
        if keep is not None:
            X, Y = X[keep], Y[keep]
        params = vars(self)
        seed = check_random_state(params.get("random_state")).randint(np.iinfo(np.int32).max)
        rate = params.get("encoder_lr", TrainingSettings.encoder_lr)
        return MoreRows(self._encoded(X), Y, weights, int(seed), rate)


@dataclass(frozen=True, eq=False)
class MoreRows:
    """Checked and encoded rows that come after those of a fit.

    Attributes
    ----------
    rows : EncodedRows
        The rows.
    Y : csr_array of shape (n_samples, n_labels)
        Their 0/1 labels.
    weights : EntryWeights or None
        What their entries count.
    seed : int
        Where chance comes from.
    encoder_lr : float
        Rate of an encoder inside the network.
    """

    rows: EncodedRows
    Y: object
    weights: EntryWeights | None
    seed: int
    encoder_lr: float

    def learned_by(self, ensemble):
        """Return an ensemble whose voters have learned from the rows as far as they can."""
        new = {}
        for name, voter in ensemble.voters.items():
            if name == NETWORK:
                new[name] = self._passed(voter, self._dataset(ensemble))
            elif hasattr(voter, "remembering"):
                new[name] = voter.remembering(self.rows, self.Y, self.weights)
        if not new:
            raise ValueError(
                "partial_fit has nothing to do: of the voters only 'network' and 'neighbors' learn "
                f"from some rows alone, and there are {list(ensemble.voters)}. Use fit."
            )
        return replace(ensemble, voters={**ensemble.voters, **new})

    def _passed(self, voter, dataset):
        """Networks after a pass over the rows, each with an order of its own."""
        return NetworkVoter(
            [
                replace(member, net=after_pass(member.net, dataset, seed, self.encoder_lr))
                for seed, member in enumerate(voter.members, start=self.seed)
            ]
        )

    def _dataset(self, ensemble):
        shortlist = None
        if ensemble.n_candidates is not None:
            scorer, n_candidates = ensemble.voters["linear"], ensemble.n_candidates
            shortlist = training_shortlist(scorer, self.rows, self.Y, n_candidates)
        return TokenDataset(self.rows.tokens, self.Y, shortlist, self.weights)

    def marked(self, marks):
        """Return marks of rows by which the networks know these, too."""
        checksums = row_checksums(self.rows.canonical)
        return RowMarks.of(checksums, np.full(len(checksums), TRAINED), marks)
