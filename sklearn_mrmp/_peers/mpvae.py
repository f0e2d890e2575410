"""`MPVAEClassifier`: its parameters, how its network is made, and the publication's settings.

`_neural` has the code that fits and predicts. Knows `nn.MPVAEModule`.
"""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._graph.value import LabelGraph
from sklearn_mrmp._network.architecture import Architecture, register
from sklearn_mrmp._network.mrmp import check_sizes
from sklearn_mrmp._neural.classifier import BaseNeuralClassifier
from sklearn_mrmp._neural.model_part import neural_part
from sklearn_mrmp._parameters import ARCHITECTURE, COUNT, SHARED
from sklearn_mrmp._settings import Settings
from sklearn_mrmp._sklearn_compat import Interval
from sklearn_mrmp.nn import MPVAELoss, MPVAEModule

_WIDTHS = ("d_model", "d_inner", "d_latent")
_COUNTS = ("n_labels", *_WIDTHS, "n_samples")
_LOSSES = ("likelihood_loss", "ranking_loss", "divergence_loss")
# Numbers that a training step keeps for each draw, row and label, in each of two branches.
_PER_DRAW = 8
# What "auto" stands for, chosen on training rows (docs/dev/neural_peers.md).
_OF_BAGS = {"dropout": 0.5, "lr": 5e-4, "batch_size": 128}
_OF_OTHERS = {"dropout": 0.5, "lr": 1e-3, "batch_size": 32}
# What differs between the publication's data sets: rate, epochs, weights of likelihood and ranking.
_PAPER = {
    "bibtex": (2.5e-4, 200, 10.0, 0.1),
    "delicious": (5e-4, 200, 10.0, 0.1),
    "yeast": (6e-4, 800, 0.1, 20.0),
    "scene": (2e-3, 400, 0.1, 40.0),
}


@dataclass(frozen=True)
class MPVAESettings(Settings):
    """Parameters of the network, as `MPVAEClassifier` has them; none is ``"auto"`` in use."""

    d_model: int = 256
    d_inner: int = 512
    d_latent: int = 50
    covariance_rank: int | None = 64
    n_samples: int = 16
    dropout: float | str = "auto"
    architecture: str = "default"
    likelihood_loss: float = 10.0
    ranking_loss: float = 0.1
    divergence_loss: float = 1.1


class MPVAEArchitecture(Architecture):
    """Multivariate probit variational autoencoder."""

    name = "mpvae"
    title = "MPVAE"
    settings = MPVAESettings
    module = MPVAEModule
    loss = MPVAELoss

    def automatic(self, params, input_type):
        """Dropout, rate and rows of a step; bags of words want large steps at a low rate."""
        return _OF_BAGS if input_type == "features" else _OF_OTHERS

    def module_arguments(self, settings, data):
        """Widths as set; sizes, and where the labels start, from the data."""
        arguments = settings.as_dict()
        for name in _LOSSES:
            del arguments[name]
        names = ("embedding", "n_labels", "prior", "trained_tokens")
        return arguments | {name: getattr(data, name) for name in names}

    def loss_arguments(self, settings, data):
        """Return the weights of its three parts."""
        return {name.removesuffix("_loss"): getattr(settings, name) for name in _LOSSES}

    def check_arguments(self, arguments):
        """Refuse counts that are no whole numbers, and unknown choices."""
        is_full = arguments.get("covariance_rank") is None
        counts = _COUNTS if is_full else (*_COUNTS, "covariance_rank")
        check_sizes(arguments, counts, {"architecture": ("default", "paper")})

    def activation_numbers(self, settings, sizes):
        """Layers of a row, and what each draw keeps of its labels."""
        layers = 8 * (settings.d_model + settings.d_inner)
        draws = 2 * _PER_DRAW * settings.n_samples * sizes.n_decoded
        return sizes.batch_size * (layers + draws)


register(MPVAEArchitecture())


class MPVAEClassifier(BaseNeuralClassifier):
    """Multi-label classifier with a multivariate probit variational autoencoder, MPVAE.

    Label sets are drawn from a Gaussian that depends on the row and whose covariance between labels
    is learned: `label_covariance_`. Two encoders, one of rows and one of rows with their labels,
    map to one latent space, and one decoder gives the Gaussian's mean. Decisions for four metrics
    are tuned on held-out rows.

    Parameters
    ----------
    d_model, d_inner : int, default=256 and 512
        Network: width of the narrow and of the wide layers of encoders and decoder.
    d_latent : int, default=50
        Network: width of the latent space.
    covariance_rank : int or None, default=64
        Network: rank of the covariance beside its diagonal, at most the number of labels; None is
        that number.
    n_samples : int, default=16
        Network: draws of the probit's noise in a training step. Prediction needs none.
    dropout : float or "auto", default="auto"
        Network: dropout in the encoders; ``"auto"`` is 0.5.
    feature_dropout : float or "auto", default="auto"
        Network: probability of leaving an input token out.
    architecture : {"default", "paper"}, default="default"
        Network: ``"paper"`` reads sums of tokens as they are; ``"default"`` brings rows to one
        scale, weighs words by tf-idf, and starts labels at their frequencies.
    likelihood_loss, ranking_loss, divergence_loss : float, default=10.0, 0.1 and 1.1
        Loss: weights of the negative log likelihood, of the ranking of a row's labels before all
        others, and of the divergence between the two latent distributions.
    input_type, max_tokens, encoder, encoder_lr
        Input: as for `MrMPClassifier`. A sequence is read as a bag of its tokens, token states by
        their sum.
    voters : sequence, default=("network",)
        Ensemble: the base learners, as for `MrMPClassifier`; by default the network alone.
    label_sets : bool, default=False
        Ensemble: whether to mix in the probabilities by the label sets of the training rows.
    label_shortlist : int, "auto" or None, default=None
        Ensemble: number of candidate labels per row, which the logistic regression chooses.
    n_members : int, default=1
        Ensemble: number of networks, trained from different seeds, whose logits are averaged.
    max_epochs, batch_size, lr, weight_decay, lr_schedule, early_stopping, refit
        Training: as for `MrMPClassifier`; ``"auto"`` is a `batch_size` of 128 and an `lr` of 0.0005
        for bags of words, else 32 and 0.001.
    cv : float, int or cross-validation splitter, default=0.1
        Held-out rows: as for `MrMPClassifier`.
    metric, decision
        Decisions: as for `MrMPClassifier`; both are read when predicting.
    device, n_threads, n_jobs, callbacks, checkpoint_dir, verbose, progress_bar, random_state
        Run: as for `MrMPClassifier`.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label of a label matrix; the classes of a vector target.
    label_covariance_ : ndarray of shape (n_labels, n_labels)
        Covariance of the labels' Gaussian, given the row; `covariance_graph` makes a graph of it.
    label_embeddings_ : ndarray of shape (n_labels, d_inner)
        Vectors by which the decoder decides about labels.
    thresholds_, decision_rules_, voters_, vote_weights_, history_, n_iter_, best_epoch_, net_
        As for `MrMPClassifier`, like its other attributes; `label_graph_` is None.

    See Also
    --------
    LaMPClassifier : Labels that send each other messages.

    Notes
    -----
    Where sampling can be avoided, it is: the probability of a label is the exact mean over the
    probit's noise, and prediction takes the mean of the latent distribution, so that it is the same
    every time. The sum over pairs of labels in the ranking loss is a product of two sums.

    As in the authors' code, the label encoder and the decoder read the row, too. In contrast to it,
    both branches share the whole decoder, as in the publication. The covariance is that of what
    neither the row nor, in training, the latent vector explains: not of the labels as such.

    References
    ----------
    Bai, Kong, Gomes: Disentangled Variational Autoencoder based Multi-Label Classification with
    Covariance-Aware Multivariate Probit Model, IJCAI 2020. https://arxiv.org/abs/2007.06126

    Examples
    --------
    >>> from sklearn_mrmp import MPVAEClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, planted = make_related_labels(200, 6, random_state=0)
    >>> clf = MPVAEClassifier(d_model=16, max_epochs=3, random_state=0).fit(X, Y)
    >>> clf.predict_proba(X).shape, clf.label_covariance_.shape
    ((200, 6), (6, 6))
    """

    _architecture = "mpvae"
    _model_part = neural_part()
    _parameter_constraints: ClassVar[dict] = {
        **{name: SHARED[name] for name in SHARED if name not in ("relations", "alpha")},
        **{name: [COUNT] for name in (*_WIDTHS, "n_samples")},
        **{name: [Interval(Real, 0, None, closed="left")] for name in _LOSSES},
        "covariance_rank": [COUNT, None],
        "architecture": ARCHITECTURE,
    }

    def __init__(
        self,
        *,
        d_model=256,
        d_inner=512,
        d_latent=50,
        covariance_rank=64,
        n_samples=16,
        dropout="auto",
        feature_dropout="auto",
        architecture="default",
        likelihood_loss=10.0,
        ranking_loss=0.1,
        divergence_loss=1.1,
        input_type="auto",
        max_tokens=None,
        encoder=None,
        encoder_lr=0.0,
        voters=("network",),
        label_sets=False,
        label_shortlist=None,
        n_members=1,
        max_epochs="auto",
        batch_size="auto",
        lr="auto",
        weight_decay=0.0,
        lr_schedule="onecycle",
        early_stopping="auto",
        refit=False,
        cv=0.1,
        metric="f1_micro",
        decision="optimal",
        device="auto",
        n_threads=None,
        n_jobs=None,
        callbacks=None,
        checkpoint_dir=None,
        verbose=0,
        progress_bar=False,
        random_state=None,
    ):
        self.d_model = d_model
        self.d_inner = d_inner
        self.d_latent = d_latent
        self.covariance_rank = covariance_rank
        self.n_samples = n_samples
        self.dropout = dropout
        self.feature_dropout = feature_dropout
        self.architecture = architecture
        self.likelihood_loss = likelihood_loss
        self.ranking_loss = ranking_loss
        self.divergence_loss = divergence_loss
        self.input_type = input_type
        self.max_tokens = max_tokens
        self.encoder = encoder
        self.encoder_lr = encoder_lr
        self.voters = voters
        self.label_sets = label_sets
        self.label_shortlist = label_shortlist
        self.n_members = n_members
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.lr_schedule = lr_schedule
        self.early_stopping = early_stopping
        self.refit = refit
        self.cv = cv
        self.metric = metric
        self.decision = decision
        self.device = device
        self.n_threads = n_threads
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose
        self.progress_bar = progress_bar
        self.random_state = random_state

    @property
    def label_covariance_(self):
        """Covariance of the labels' Gaussian given the row, (n_labels, n_labels)."""
        check_is_fitted(self)
        return self.net_.module_.label_covariance().detach().cpu().numpy()

    def covariance_graph(self, min_correlation=0.1):
        """Return the learned covariance as a label graph.

        Parameters
        ----------
        min_correlation : float, default=0.1
            Labels whose correlation is smaller, without its sign, have no edge.

        Returns
        -------
        graph : LabelGraph
            Correlations above zero are ``"pulling"``, those below ``"pushing"``; weights are their
            sizes.

        Examples
        --------
        >>> from sklearn_mrmp import MPVAEClassifier
        >>> from sklearn_mrmp.datasets import make_related_labels
        >>> X, Y, planted = make_related_labels(100, 4, n_features=30, random_state=0)
        >>> clf = MPVAEClassifier(d_model=8, max_epochs=1, random_state=0).fit(X, Y)
        >>> list(clf.covariance_graph().relations)
        ['pulling', 'pushing']
        """
        covariance = self.label_covariance_.astype(np.float64)
        deviations = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(deviations, deviations)
        correlation[np.abs(correlation) < min_correlation] = 0.0
        relations = {
            "pulling": sp.csr_array(np.maximum(correlation, 0.0)),
            "pushing": sp.csr_array(np.maximum(-correlation, 0.0)),
        }
        return LabelGraph(relations, self.label_names_)

    @classmethod
    def paper(cls, dataset=None, **overrides):
        """Return a classifier with the publication's network and hyperparameters.

        Parameters
        ----------
        dataset : {"bibtex", "delicious", "yeast", "scene"}, default=None
            Rate, epochs and weights of the losses depend on it; those of any other, and of None,
            are those of Bibtex. Delicious has 5 draws of the noise, the others 100.
        **overrides : dict
            Parameters to set differently.

        Returns
        -------
        clf : MPVAEClassifier

        Notes
        -----
        The publication lowers the rate four times by a fifth, and keeps the epoch with the best
        macro-averaged F1 on validation rows. Here the rate is constant, and training stops after 20
        epochs without a lower validation loss and returns to the best.

        Examples
        --------
        >>> from sklearn_mrmp import MPVAEClassifier
        >>> MPVAEClassifier.paper("scene").ranking_loss
        40.0
        """
        name = "" if dataset is None else dataset.lower()
        lr, max_epochs, likelihood, ranking = _PAPER.get(name, _PAPER["bibtex"])
        settings = {
            "architecture": "paper",
            "covariance_rank": None,
            "n_samples": 5 if name == "delicious" else 100,
            "dropout": 0.5,
            "feature_dropout": 0.0,
            "likelihood_loss": likelihood,
            "ranking_loss": ranking,
            "max_epochs": max_epochs,
            "batch_size": 128,
            "lr": lr,
            "weight_decay": 1e-5,
            "lr_schedule": "constant",
            "early_stopping": 20,
            "decision": "threshold",
        }
        return cls(**{**settings, **overrides})
