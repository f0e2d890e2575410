"""`LaMPClassifier`: its parameters, how its network is made, and the publication's settings.

`_neural` has the code that fits and predicts. Knows `nn.LaMPModule`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sklearn_mrmp._graph.resolve import ALL_PAIRS, CO_OCCURRENCE, LEARNED, NO_EDGES
from sklearn_mrmp._graph.value import LabelGraph
from sklearn_mrmp._network.architecture import Architecture, register
from sklearn_mrmp._network.mrmp import automatic_sizes, check_sizes
from sklearn_mrmp._neural.classifier import BaseNeuralClassifier
from sklearn_mrmp._neural.model_part import neural_part
from sklearn_mrmp._parameters import ARCHITECTURE, CONSTRAINTS, SHARED
from sklearn_mrmp._settings import Settings
from sklearn_mrmp._sklearn_compat import StrOptions
from sklearn_mrmp.nn import LaMPLoss, LaMPModule

_COUNTS = ("n_labels", "d_model", "n_heads", "d_inner", "n_encoder_layers", "n_decoder_layers")
_CHOICES = {"architecture": ("default", "paper"), "all_pairs": (False, True)}
# Vectors of a half round that are kept for the backward pass, of width d_model and of width
# d_inner, and vectors of a token before the first layer.
_WIDE, _INNER, _EMBEDDED = 10, 2, 6
# On bags of words a short cycle at a high rate, of one round without encoder layers, was better
# than two rounds, in half the time (docs/dev/neural_peers.md).
_OF_BAGS = {"n_encoder_layers": 0, "n_decoder_layers": 1, "lr": 4e-3, "max_epochs": 8}
_STRONG_DROPOUT = ("bibtex", "reuters")


@dataclass(frozen=True)
class LaMPSettings(Settings):
    """Parameters of the network, as `LaMPClassifier` has them; none is ``"auto"`` in use."""

    d_model: int | str = "auto"
    n_heads: int | str = "auto"
    d_inner: int | str = "auto"
    n_encoder_layers: int | str = "auto"
    n_decoder_layers: int | str = "auto"
    dropout: float | str = "auto"
    architecture: str = "default"
    relations: object = CO_OCCURRENCE


class LaMPArchitecture(Architecture):
    """Label message passing."""

    name = "lamp"
    title = "LaMP"
    settings = LaMPSettings
    module = LaMPModule
    loss = LaMPLoss

    def automatic(self, params, input_type):
        """Sizes and rates as those of MrMP, and a short cycle for bags of words."""
        values = automatic_sizes(params, input_type)
        return values | _OF_BAGS if input_type == "features" else values

    def module_arguments(self, settings, data):
        """Widths and depths as set; the graph, and where the labels' biases start."""
        relations = settings.relations
        return settings.as_dict() | {
            "embedding": data.embedding,
            "n_labels": data.n_labels,
            "relations": data.relations,
            "all_pairs": isinstance(relations, str) and relations == ALL_PAIRS,
            "prior": data.prior,
            "trained_tokens": data.trained_tokens,
        }

    def check_arguments(self, arguments):
        """Refuse counts that are no whole numbers, and unknown choices."""
        check_sizes(arguments, _COUNTS, _CHOICES)

    def activation_numbers(self, settings, sizes):
        """Vectors that layers keep, of tokens and of labels, whose rounds have two halves."""
        d, n_rounds = settings.d_model, settings.n_decoder_layers
        layer = _WIDE * d + _INNER * settings.d_inner
        tokens = settings.n_encoder_layers * layer + (_EMBEDDED + 2 * n_rounds) * d
        labels = 2 * n_rounds * layer
        return sizes.batch_size * (sizes.row_length * tokens + sizes.n_decoded * labels)


register(LaMPArchitecture())


class LaMPClassifier(BaseNeuralClassifier):
    """Multi-label classifier with label message passing, LaMP.

    Each label is a vector. In each round, every label first attends to the tokens of the row, and
    then to its neighbours in a label graph. In the end, the probability of each label is computed
    from its vector. In contrast to `MrMPClassifier`, messages between labels depend on the row, and
    the graph only determines which labels may exchange them. Decisions for four metrics are tuned
    on held-out rows.

    Parameters
    ----------
    d_model : int or "auto", default="auto"
        Network: width of all embeddings. What ``"auto"`` stands for, here and below, is said in
        Notes.
    n_heads : int or "auto", default="auto"
        Network: attention heads; must divide `d_model`.
    d_inner : int or "auto", default="auto"
        Network: width of the feed-forward blocks; ``"auto"`` is ``2 * d_model``.
    n_encoder_layers : int or "auto", default="auto"
        Network: depth of the encoder.
    n_decoder_layers : int or "auto", default="auto"
        Network: rounds of messages; each has two halves with weights of their own.
    dropout, feature_dropout : float or "auto", default="auto"
        Network: dropout rate, and probability of leaving an input token out.
    architecture : {"default", "paper"}, default="default"
        Network: ``"paper"`` has no bias and starts label embeddings at unit scale; ``"default"``
        has a bias per label, which starts at its frequency.
    input_type, max_tokens, encoder, encoder_lr
        Input: as for `MrMPClassifier`.
    relations : {"prior", "full", "edgeless", "chi2"}, None, LabelGraph, mapping or callable, \
default="prior"
        Graph: which labels send messages to each other, besides each to itself. ``"prior"``:
        labels that occur together in any training row. ``"full"``: all. ``"edgeless"`` or None:
        none. The others are those of `MrMPClassifier`; labels that any relation links, in either
        direction, exchange messages.
    alpha : float, default=0.05
        Graph: level of the tests of ``"chi2"``.
    voters : sequence, default=("network",)
        Ensemble: the base learners, as for `MrMPClassifier`; by default the network alone.
    label_sets : bool, default=False
        Ensemble: whether to mix in the probabilities by the label sets of the training rows.
    label_shortlist : int, "auto" or None, default=None
        Ensemble: number of candidate labels per row, which the logistic regression chooses.
        Only candidates exchange messages. None computes all labels.
    n_members : int, default=1
        Ensemble: number of networks, trained from different seeds, whose logits are averaged.
    max_epochs, batch_size, lr, weight_decay, lr_schedule, early_stopping, refit
        Training: as for `MrMPClassifier`.
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
    label_graph_ : LabelGraph or None
        Which labels exchange messages; None for ``"full"`` and ``"edgeless"``.
    label_embeddings_ : ndarray of shape (n_labels, d_model)
        Vectors that labels start from.
    thresholds_, decision_rules_, voters_, vote_weights_, history_, n_iter_, best_epoch_, net_
        As for `MrMPClassifier`, like its other attributes.

    See Also
    --------
    MrMPClassifier : Messages between labels along several relations, the same for all rows.

    Notes
    -----
    The loss is the mean over the rounds of the cross entropy of each round's prediction, as in the
    publication. Its code uses the last round alone; it also drops the encoder's self-attention, and
    it has dropout on attention weights and projections without bias. Here the encoder attends,
    dropout is on the outcome of attention, and projections have biases.

    ``"auto"`` is what it is for `MrMPClassifier`, except for bags of words: one round without
    encoder layers, 8 epochs and a rate of 0.004.

    Time and memory of label-to-label attention grow with the square of the number of labels, and
    its scores are never held at once: a training step with 983 labels, 32 rows and the
    publication's width of 512 takes 3.4 GB. With thousands of labels use `label_shortlist`.

    References
    ----------
    Lanchantin, Sekhon, Qi: Neural Message Passing for Multi-label Classification, ECML-PKDD 2019.
    https://arxiv.org/abs/1904.08049

    Examples
    --------
    >>> from sklearn_mrmp import LaMPClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, planted = make_related_labels(200, 6, random_state=0)
    >>> clf = LaMPClassifier(d_model=16, max_epochs=3, random_state=0).fit(X, Y)
    >>> clf.predict_proba(X).shape
    (200, 6)
    """

    _architecture = "lamp"
    _model_part = neural_part()
    _parameter_constraints: ClassVar[dict] = {
        **SHARED,
        **{name: CONSTRAINTS[name] for name in _COUNTS[1:]},
        "architecture": ARCHITECTURE,
        "relations": [
            StrOptions({LEARNED, CO_OCCURRENCE, ALL_PAIRS, NO_EDGES}),
            None,
            LabelGraph,
            Mapping,
            callable,
        ],
    }

    def __init__(
        self,
        *,
        d_model="auto",
        n_heads="auto",
        d_inner="auto",
        n_encoder_layers="auto",
        n_decoder_layers="auto",
        dropout="auto",
        feature_dropout="auto",
        architecture="default",
        input_type="auto",
        max_tokens=None,
        encoder=None,
        encoder_lr=0.0,
        relations="prior",
        alpha=0.05,
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
        self.n_heads = n_heads
        self.d_inner = d_inner
        self.n_encoder_layers = n_encoder_layers
        self.n_decoder_layers = n_decoder_layers
        self.dropout = dropout
        self.feature_dropout = feature_dropout
        self.architecture = architecture
        self.input_type = input_type
        self.max_tokens = max_tokens
        self.encoder = encoder
        self.encoder_lr = encoder_lr
        self.relations = relations
        self.alpha = alpha
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

    @classmethod
    def paper(cls, dataset=None, **overrides):
        """Return a classifier with the publication's network and hyperparameters.

        Parameters
        ----------
        dataset : str, default=None
            Its dropout is 0.2 for ``"bibtex"`` and ``"reuters"``, else 0.1.
        **overrides : dict
            Parameters to set differently, such as ``relations="full"``.

        Returns
        -------
        clf : LaMPClassifier

        Notes
        -----
        The publication trains for 50 epochs and takes, for each metric, the one that is best on
        validation rows. Here training stops after 10 epochs without a lower validation loss. Adam's
        second moment decays by 0.999 instead of 0.98.

        Examples
        --------
        >>> from sklearn_mrmp import LaMPClassifier
        >>> LaMPClassifier.paper("delicious", relations="full").dropout
        0.1
        """
        strong = dataset is not None and dataset.lower().startswith(_STRONG_DROPOUT)
        settings = {
            "architecture": "paper",
            "d_model": 512,
            "d_inner": 512,
            "n_heads": 4,
            "n_encoder_layers": 2,
            "n_decoder_layers": 2,
            "dropout": 0.2 if strong else 0.1,
            "feature_dropout": 0.0,
            "max_epochs": 50,
            "batch_size": 32,
            "lr": 2e-4,
            "lr_schedule": "constant",
            "early_stopping": 10,
            "decision": "threshold",
        }
        return cls(**{**settings, **overrides})
