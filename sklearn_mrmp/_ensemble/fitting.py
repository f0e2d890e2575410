"""From rows and a label graph to a `LabelModel`: encoder, paths, shortlists, networks.

Puts the trainings of one fit in order; each step lives in a module of its own. Knows the flat
hyperparameters of `MrMPClassifier`; nothing of validation, targets or thresholds.
"""

from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from sklearn_mrmp._ensemble.model import LabelModel
from sklearn_mrmp._input.tokens import FeatureTokens, SequenceTokens
from sklearn_mrmp._network.batches import TokenDataset
from sklearn_mrmp._network.training import train_network
from sklearn_mrmp._parameters import resolve_auto
from sklearn_mrmp._voters.centroids import LabelCentroids
from sklearn_mrmp._voters.linear import LinearPath
from sklearn_mrmp._voters.logistic import frequency_intercepts
from sklearn_mrmp._voters.neighbors import NeighborPath
from sklearn_mrmp._voters.shortlist import shortlist_size, training_shortlist

# A regression per label takes about a hundred sparse products of this many multiplications (some
# minutes), and several arrays of this many weights (64 MB each).
_REGRESSION_PRODUCTS = 2_000_000_000
_REGRESSION_WEIGHTS = 2**24


@dataclass(frozen=True, eq=False)
class ModelFitting:
    """What all trainings of a fit share.

    Attributes
    ----------
    params : dict
        Parameters of `MrMPClassifier`, by name.
    input_type : {"features", "sequence"}
        How rows are read.
    graph : LabelGraph or None
        Label relations.
    seed : int
        Seed of the first member; the others count on from it.
    checkpoints : CheckpointRun
        Gives each training a checkpoint of its own.
    """

    params: dict
    input_type: str
    graph: object
    seed: int
    checkpoints: object

    def fit(self, train, valid):
        """Fit with held-out rows.

        Parameters
        ----------
        train, valid : tuple of (X, csr_array)
            Rows and 0/1 labels.

        Returns
        -------
        model : LabelModel
            Its last net is ``interrupted_`` when the user stopped the training.
        """
        model = self.with_paths(self.make_encoder().fit(train[0]), train, valid)
        self.train_members(model, train, valid)
        if n_epochs_done(model.nets[-1]):
            model.tune(*valid)
        return model

    def make_encoder(self):
        """Return an unfitted encoder of rows."""
        kind = SequenceTokens if self.input_type == "sequence" else FeatureTokens
        # The paper's attention knows nothing of how rare a word is.
        return kind(self.params["max_tokens"], weighted=self.params["architecture"] == "default")

    def with_paths(self, encoder, train, valid, like=None):
        """Fit the paths, and choose the size of shortlists.

        Parameters
        ----------
        encoder : FeatureTokens or SequenceTokens
            Fitted.
        train, valid : tuple of (X, csr_array)
            Rows and 0/1 labels.
        like : LabelModel, default=None
            Take penalty, power and size from this model instead of choosing them.

        Returns
        -------
        model : LabelModel
            Without networks.
        """
        self._check_shortlist()
        bags = encoder.bag(train[0]), encoder.bag(valid[0])
        model = LabelModel(encoder, [], log_odds=frequency_intercepts(train[1]))
        if like is not None:
            model.linear, model.neighbors = self._refitted_paths(like, bags[0], train[1])
            model.n_candidates = like.n_candidates
            model.outside_weights = like.outside_weights
            return model
        if self.params["linear_path"]:
            model.linear = make_linear_path(bags[0], train[1].shape[1])
            model.linear.fit(bags[0], train[1], bags[1], valid[1])
        if self.params["neighbor_path"]:
            model.neighbors = NeighborPath().fit(bags[0], train[1], bags[1], valid[1])
        if self.params["linear_path"] and self.params["label_shortlist"] is not None:
            model.tune_outside(*valid)
            size = self.params["label_shortlist"]
            model.n_candidates = shortlist_size(size, model, bags[1], valid[1])
        return model

    def _check_shortlist(self):
        if not self.params["linear_path"] and isinstance(self.params["label_shortlist"], Integral):
            raise ValueError(
                f"label_shortlist={self.params['label_shortlist']} needs linear_path=True, which "
                "names the labels of the list; use label_shortlist=None without it."
            )

    def train_members(self, model, train, valid, stage="train"):
        """Train the networks of a model; the last one says whether the user stopped it."""
        datasets = self._dataset(model, *train), self._dataset(model, *valid)
        for member in range(self.params["n_members"]):
            net = self._train(model, *datasets, member, stage)
            if net.interrupted_ and model.nets and not n_epochs_done(net):
                model.nets[-1].interrupted_ = True  # the members before it will do
                break
            model.nets.append(net)
            if net.interrupted_:
                break

    def refit_paths(self, model, X, Y):
        """Fit the paths anew on all rows: it takes seconds, and more rows help."""
        bag = model.encoder.bag(X)
        model.linear, model.neighbors = self._refitted_paths(model, bag, Y)
        model.log_odds = frequency_intercepts(Y)

    @staticmethod
    def _refitted_paths(model, bag, Y):
        return (None if p is None else p.refit(bag, Y) for p in (model.linear, model.neighbors))

    def refit(self, model, X, Y):
        """Train every member anew on all rows, for the number of epochs that was best for it.

        Returns
        -------
        model : LabelModel
            A new one; its last net is ``interrupted_`` when the user stopped the training.
        """
        new = replace(model, encoder=self.make_encoder().fit(X), nets=[])
        self.refit_paths(new, X, Y)
        dataset = self._dataset(new, X, Y)
        for member, net in enumerate(model.nets):
            # A schedule that was trained to its end is the whole schedule of more rows, too.
            n_stop = best_epoch(net) if net.returned_to_best_ else None
            new.nets.append(self._train(new, dataset, None, member, "refit", n_stop))
            if new.nets[-1].interrupted_:
                break
        return new

    def _dataset(self, model, X, Y):
        shortlist = None
        if model.n_candidates is not None:
            bag = model.encoder.bag(X)
            shortlist = training_shortlist(model.linear, bag, Y, model.n_candidates)
        return TokenDataset(model.encoder.transform(X), Y, shortlist)

    def _train(self, model, train, valid, member, stage, n_stop=None):
        name = stage if member == 0 else f"{stage}-{member}"
        params = resolve_auto(self.params, train.rows)
        return train_network(
            params,
            model.encoder,
            train,
            valid,
            self.graph,
            n_epochs=params["max_epochs"],
            n_stop=min(n_stop or params["max_epochs"], params["max_epochs"]),
            seed=(self.seed + member) % np.iinfo(np.int32).max,
            checkpoint=self.checkpoints.stage(name),
        )


def make_linear_path(bag, n_labels):
    """Return a regression per label, or centroids where there are too many labels for that."""
    is_small = bag.nnz * n_labels <= _REGRESSION_PRODUCTS
    fits = bag.shape[1] * n_labels <= _REGRESSION_WEIGHTS
    return LinearPath() if is_small and fits else LabelCentroids()


def n_epochs_done(net):
    """Whole epochs a net was trained for."""
    return sum("train_loss" in epoch for epoch in net.history)


def best_epoch(net):
    """Epoch whose weights a net uses, from 1."""
    losses = [epoch["valid_loss"] for epoch in net.history if "valid_loss" in epoch]
    return int(np.argmin(losses)) + 1 if net.returned_to_best_ and losses else len(net.history)
