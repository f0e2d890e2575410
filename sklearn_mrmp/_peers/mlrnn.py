"""`MLRNNClassifier`: its parameters, how its network is made, and the publication's settings.

`_neural` has the code that fits and predicts. Knows `nn.MLRNNModule`.
"""

from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np

from sklearn_mrmp._network.architecture import Architecture, register
from sklearn_mrmp._network.mrmp import check_sizes
from sklearn_mrmp._neural.classifier import BaseNeuralClassifier
from sklearn_mrmp._neural.model_part import neural_part
from sklearn_mrmp._parameters import ARCHITECTURE, COUNT, SHARED
from sklearn_mrmp._peers.label_order import (
    FREE,
    FREQUENT_FIRST,
    RARE_FIRST,
    is_order,
    label_numbers,
    numbers_in_order,
)
from sklearn_mrmp._settings import Settings
from sklearn_mrmp._sklearn_compat import Interval, StrOptions
from sklearn_mrmp.nn import MLRNNLoss, MLRNNModule

_WIDTHS = ("d_model", "d_inner", "d_label")
_COUNTS = (*_WIDTHS, "beam_width", "max_labels")
_CHOICES = {"architecture": ("default", "paper"), "masked": (False, True)}
# Steps of a training sequence, for an estimate of memory; vectors of a token and of a step that are
# kept, and numbers for each label of a step.
_STEPS, _PER_TOKEN, _PER_STEP, _PER_LABEL = 8, 12, 10, 6


@dataclass(frozen=True)
class MLRNNSettings(Settings):
    """Parameters of the network, as `MLRNNClassifier` has them; none is ``"auto"`` in use."""

    d_model: int = 128
    d_inner: int = 256
    d_label: int = 64
    dropout: float | str = "auto"
    architecture: str = "default"
    label_order: str | tuple = FREQUENT_FIRST
    masked: bool = True
    beam_width: int = 16
    max_labels: int = 50
    length_penalty: float = 0.0


class MLRNNArchitecture(Architecture):
    """Recurrent network over label sequences."""

    name = "mlrnn"
    title = "MLRNN"
    settings = MLRNNSettings
    module = MLRNNModule
    loss = MLRNNLoss

    def automatic(self, params, input_type):
        """Return a rate and batches for recurrent networks of ordinary size."""
        return {"dropout": 0.2, "lr": 4e-3, "batch_size": 64}

    def module_arguments(self, settings, data):
        """Widths and search as set; the order of the labels of the training rows."""
        names = ("embedding", "n_labels", "prior", "trained_tokens")
        arguments = settings.as_dict() | {name: getattr(data, name) for name in names}
        return arguments | {"label_order": numbers_in_order(settings.label_order, data.prior)}

    def check_arguments(self, arguments):
        """Refuse counts that are no whole numbers, unknown choices, and what is no order."""
        check_sizes(arguments, ("n_labels", *_COUNTS), _CHOICES)
        order, penalty = arguments.get("label_order"), arguments.get("length_penalty")
        if order is not None and not is_order(order, arguments["n_labels"]):
            raise ValueError(f"label_order={order!r:.50}")
        if type(penalty) not in (int, float) or not 0 <= penalty < np.inf:
            raise ValueError(f"length_penalty={penalty!r:.50}")

    def activation_numbers(self, settings, sizes):
        """Count what tokens keep, as if all were attended to, and the steps of sequences."""
        attended = _PER_TOKEN * settings.d_model + _STEPS * settings.d_inner
        steps = _STEPS * (_PER_STEP * settings.d_inner + _PER_LABEL * sizes.n_decoded)
        return sizes.batch_size * (sizes.row_length * attended + steps)


register(MLRNNArchitecture())


class MLRNNClassifier(BaseNeuralClassifier):
    """Multi-label classifier that predicts the labels of a row one after the other, ML-RNN.

    A recurrent network computes the probability of the next label, or of the end, given the row and
    the labels so far. By the chain rule, this gives a probability of every label set, and a beam
    search finds the most probable ones. For subset accuracy, the most probable set is the
    prediction. For other metrics, the probabilities of labels are computed from these sets, and
    decisions are tuned on held-out rows.

    Parameters
    ----------
    d_model : int, default=128
        Network: width of tokens.
    d_inner : int, default=256
        Network: width of the state from which the next label is decided.
    d_label : int, default=64
        Network: width of labels, and of the layer before the output.
    dropout : float or "auto", default="auto"
        Network: dropout of states, and of the layer before the output; ``"auto"`` is 0.2.
    feature_dropout : float or "auto", default="auto"
        Network: probability of leaving an input token out.
    architecture : {"default", "paper"}, default="default"
        Network: ``"paper"`` reads means of tokens as they are; ``"default"`` normalises them,
        weighs words by tf-idf, and starts labels at their frequencies.
    label_order : {"f2r", "r2f", "free"} or sequence, default="f2r"
        Labels: the order of the labels in a sequence. ``"f2r"``: frequent ones first. ``"r2f"``:
        rare ones first. You can also pass all label numbers, or all label names, in the order
        that you want. ``"free"``: any order; the network is trained on sequences that it
        generates itself, and learns which labels are still missing.
    masked : bool, default=True
        Labels: whether the network cannot predict labels against the order, or twice, so that
        every label set is one sequence and the probabilities of all sets sum to 1. The
        publication has no such mask.
    beam_width : int, default=16
        Search: number of label sets that are kept for each row.
    max_labels : int, default=50
        Search: largest number of labels of a predicted set.
    length_penalty : float, default=0.0
        Search: the log probability of a set is divided by this power of its size plus 1 when the
        best set is chosen. 0 takes the most probable set; the publication's code has 1, which
        favours large sets.
    input_type, max_tokens, encoder, encoder_lr
        Input: as for `MrMPClassifier`. The network reads sequences and token states in their order
        and attends to them at each step; of bags and vectors it reads the mean of the tokens.
    voters : sequence, default=("network",)
        Ensemble: the base learners, as for `MrMPClassifier`; by default the network alone.
    label_sets : bool, default=False
        Ensemble: whether to mix in the probabilities by the label sets of the training rows.
    label_shortlist : int, "auto" or None, default=None
        Ensemble: number of candidate labels per row, which the logistic regression chooses.
    n_members : int, default=1
        Ensemble: number of networks, trained from different seeds, whose logits are averaged.
    max_epochs, batch_size, lr, weight_decay, lr_schedule, early_stopping, refit
        Training: as for `MrMPClassifier`; ``"auto"`` is a `batch_size` of 64 and an `lr` of 0.004.
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
    label_order_ : ndarray of shape (n_labels,), or None
        Label numbers in the order of the sequences; None if it is free.
    label_embeddings_ : ndarray of shape (n_labels, d_label)
        Vectors of the labels that the network reads after it has predicted them.
    thresholds_, decision_rules_, voters_, vote_weights_, history_, n_iter_, best_epoch_, net_
        As for `MrMPClassifier`, like its other attributes; `label_graph_` is None.

    See Also
    --------
    LaMPClassifier : Labels that send each other messages.
    MPVAEClassifier : Label sets drawn from a Gaussian with a learned covariance.

    Notes
    -----
    ``metric="accuracy"`` with ``decision="optimal"`` predicts the most probable label set, if there
    is one network and nothing else: without other `voters`, with one member, and without folds or
    `label_sets`. Otherwise, and for the other metrics, decisions are made from probabilities of
    labels. These are their shares among the sets that the search keeps. All labels that are in none
    of these sets have the same small probability.

    References
    ----------
    Nam, Loza Mencía, Kim, Fürnkranz: Maximizing Subset Accuracy with Recurrent Neural Networks in
    Multi-label Classification, NeurIPS 2017.
    Tsai, Lee: Order-Free Learning Alleviating Exposure Bias in Multi-Label Classification, AAAI
    2020, for ``label_order="free"``.

    Examples
    --------
    >>> from sklearn_mrmp import MLRNNClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, planted = make_related_labels(200, 6, random_state=0)
    >>> clf = MLRNNClassifier(d_model=16, d_inner=16, max_epochs=3, random_state=0).fit(X, Y)
    >>> clf.set_params(metric="accuracy").predict(X).shape
    (200, 6)
    """

    _architecture = "mlrnn"
    _model_part = neural_part()
    _parameter_constraints: ClassVar[dict] = {
        **{name: SHARED[name] for name in SHARED if name not in ("relations", "alpha")},
        **{name: [COUNT] for name in _COUNTS},
        "architecture": ARCHITECTURE,
        "label_order": [StrOptions({FREQUENT_FIRST, RARE_FIRST, FREE}), "array-like"],
        "masked": ["boolean"],
        "length_penalty": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        d_model=128,
        d_inner=256,
        d_label=64,
        dropout="auto",
        feature_dropout="auto",
        architecture="default",
        label_order="f2r",
        masked=True,
        beam_width=16,
        max_labels=50,
        length_penalty=0.0,
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
        self.d_label = d_label
        self.dropout = dropout
        self.feature_dropout = feature_dropout
        self.architecture = architecture
        self.label_order = label_order
        self.masked = masked
        self.beam_width = beam_width
        self.max_labels = max_labels
        self.length_penalty = length_penalty
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
    def label_order_(self):
        """Label numbers in the order in which they are named, or None if that is free."""
        module = self.net_.module_
        return None if module.is_free else module.order.cpu().numpy()

    def _with_label_numbers(self, settings):
        label_order = settings.network.label_order
        if isinstance(label_order, str):
            return settings
        numbers = label_numbers(label_order, self.label_names_)
        return replace(settings, network=replace(settings.network, label_order=numbers))

    @classmethod
    def paper(cls, dataset=None, **overrides):
        """Return a classifier with the publication's network and hyperparameters.

        Parameters
        ----------
        dataset : str, default=None
            It trains for 40 epochs on ``"reuters"``, and for 20 on others, which are larger.
        **overrides : dict
            Parameters to set differently.

        Returns
        -------
        clf : MLRNNClassifier

        Notes
        -----
        Predictions are the best label sets, whatever they are scored by.

        The publication starts from word vectors that were learned on Wikipedia and keeps them. Here
        they are learned with the network. It compares validation losses every 100 steps; here that
        is done after each epoch, and training stops after 10 epochs without a lower one.

        Examples
        --------
        >>> from sklearn_mrmp import MLRNNClassifier
        >>> MLRNNClassifier.paper("reuters", label_order="r2f").max_epochs
        40
        """
        is_reuters = dataset is not None and dataset.lower().startswith("reuters")
        settings = {
            "architecture": "paper",
            "d_model": 512,
            "d_inner": 1024,
            "d_label": 256,
            "dropout": 0.2,
            "feature_dropout": 0.0,
            "masked": False,
            "beam_width": 5,
            "max_labels": 50,
            "length_penalty": 1.0,
            "max_tokens": 300,
            "max_epochs": 40 if is_reuters else 20,
            "batch_size": 64,
            "lr": 2e-4,
            "lr_schedule": "constant",
            "early_stopping": 10,
            "metric": "accuracy",
            "decision": "optimal",
        }
        return cls(**{**settings, **overrides})
