"""Fitted attributes that show what a classifier with a network is made of.

Each is read from the fitted ensemble when it is asked for. Knows ensembles.
"""

from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._neural.fitted_voter import FittedVoter
from sklearn_mrmp._voters.choice import NETWORK


class FittedAttributesMixin:
    """``voters_``, ``vote_weights_``, ``label_sets_``, ``net_`` and others."""

    @property
    def voters_(self):
        """Each fitted voter by name; it can predict on its own."""
        check_is_fitted(self)
        return Bunch(**{name: FittedVoter(self, name) for name in self._ensemble.voters})

    @property
    def vote_weights_(self):
        """Weight of each voter, and of the labels' frequency where several vote."""
        check_is_fitted(self)
        if self._ensemble.weights is None:
            return dict.fromkeys(self._ensemble.voters, 1.0)
        return dict(self._ensemble.weights)

    @property
    def label_sets_(self):
        """The distribution over label sets that is mixed in, or None."""
        check_is_fitted(self)
        return self._label_sets

    @property
    def net_(self):
        """The fitted skorch net; with several members, the first."""
        if not self.__sklearn_is_fitted__() or NETWORK not in self._ensemble.voters:
            raise AttributeError(f"This {type(self).__name__} has no net_: no network was fitted.")
        return self._ensemble.voters[NETWORK].nets[0]

    @property
    def device_(self):
        """Where the network computes."""
        return str(self.net_.device)

    @property
    def label_shortlist_(self):
        """Candidate labels per row that the network looks at; None is every label."""
        check_is_fitted(self)
        return self._ensemble.n_candidates

    @property
    def label_embeddings_(self):
        """Vectors of the labels inside the network, (n_labels, d_model)."""
        check_is_fitted(self)
        vectors = self.net_.module_.label_embeddings()
        if vectors is None:
            raise AttributeError(f"The network of {type(self).__name__} embeds no labels.")
        return vectors.detach().cpu().numpy()
