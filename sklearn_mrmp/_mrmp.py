"""`MrMPClassifier`: parameters, and the five steps of fit.

Validate and encode, split, learn the label graph, train, tune the decisions. Each step lives in a
module of its own; this one puts them together.
"""

import warnings
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._base import BaseMultilabelClassifier, TunedDecisionsMixin
from sklearn_mrmp._checkpoints.run import CheckpointRun
from sklearn_mrmp._decisions.label_set_model import CollectedLabelSets
from sklearn_mrmp._decisions.operating_points import (
    DECISION_ENTRIES,
    OperatingPoints,
    dense_part,
    rows_to_tune_on,
)
from sklearn_mrmp._ensemble.cross_fitting import cross_fit
from sklearn_mrmp._ensemble.fitting import ModelFitting, best_epoch, n_epochs_done
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._ensemble.splits import check_held_out, fold_rows, split_rows
from sklearn_mrmp._graph.resolve import resolve_relations
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._network.interrupt import inside_search
from sklearn_mrmp._parameters import CONSTRAINTS, paper_settings
from sklearn_mrmp._sklearn_compat import _fit_context
from sklearn_mrmp._text import is_token_sequence


class MrMPClassifier(TunedDecisionsMixin, BaseMultilabelClassifier):
    """Multi-label classifier with Multi-relation Message Passing between labels.

    Labels that attract each other (pulling) and labels that avoid each other (pushing) form a
    graph, learned from the training labels. A graph network turns it into label embeddings; each
    of them attends to the input and votes for its label. Thresholds for four metrics are tuned on
    held-out rows.

    Parameters
    ----------
    d_model : int, default=64
        Width of all embeddings.
    n_heads : int, default=2
        Attention heads; must divide `d_model`.
    d_inner : int, default=None
        Width of the feed-forward blocks; None is ``2 * d_model``, as in the paper.
    n_encoder_layers, n_relation_layers, n_decoder_layers : int, default=2
        Depth of the encoder, the label-relation module and the decoder.
    dropout : float, default=0.1
        Dropout rate inside the network.
    feature_dropout : float or "auto", default="auto"
        Probability of leaving an input token out, drawn anew every time a row is seen; in a
        sequence it becomes an unknown token. ``"auto"`` leaves about 16 tokens of a row of mean
        length, within 0.1 and 0.5.
    label_shortlist : int, "auto" or None, default="auto"
        Decode this many candidate labels per row, named by the paths, whose probabilities also
        serve for all other labels; None decodes every label. ``"auto"`` decodes every label
        of up to 256, else enough candidates to hold 90 % of the held-out rows' labels, 32 to 128.
    linear_path : bool, default=True
        Let a logistic regression of all labels, fitted in seconds, vote beside the network. Both
        make different errors; their weights are tuned on the held-out rows. Shortlists need it.
    neighbor_path : bool, default=True
        Let the most similar training rows vote as well, each for its own labels. The model then
        contains training rows: leave it out where they must not leave the house.
    label_sets : bool, default=True
        Draw the probability of each label towards the one it has under the label sets of the
        training rows, given all others; held-out rows say how far.
    n_members : int, default=1
        Number of networks, trained from different seeds, whose logits are averaged.
    cv : int, default=None
        Cross-fitting: train networks on this many folds, each holding out another part of the
        rows, and let all of them vote. Weights and decisions are tuned on the held-out votes of
        all rows, and no row is lost to training. Takes `cv` times as long to fit and to predict;
        None holds out `validation_fraction` once.
    architecture : {"default", "paper"}, default="default"
        ``"paper"`` is the paper's network to the letter; see Notes for what differs.
    input_type : {"auto", "features", "sequence"}, default="auto"
        ``"features"``: each non-zero feature is a token and its standardised value modulates the
        token. ``"sequence"``: an integer matrix of token ids, 0 = padding, order matters.
        ``"auto"`` is ``"sequence"`` for the output of `TokenSequenceVectorizer`, else
        ``"features"``.
    max_tokens : int, default=None
        Use at most this many tokens of a row: the largest absolute feature values, or the start
        of a sequence. None uses all.
    relations : "chi2", None, LabelGraph, mapping or callable, default="chi2"
        The label graph: learned by chi-squared tests on the training labels, none (ablation),
        given, a mapping of relation names to (n_labels, n_labels) adjacencies, or a function of
        the training labels that returns one of these.
    alpha : float, default=0.05
        Level of the test of independence.
    correction : {None, "bonferroni", "fdr_bh"}, default=None
        Correction for testing many pairs.
    edge_weight : {"binary", "conditional"}, default="binary"
        Edges of weight 1, or ``|P(j|i) − P(j)|``, which is directed.
    composition : {"sum", "sub", "mult"}, default="sum"
        How a neighbour's vector and the relation's are put together.
    relation_loss : float, default=0.001
        Weight of the relational loss, which aligns pulling labels; 0 turns it off.
    max_epochs : int or "auto", default="auto"
        Passes over the training rows; ``"auto"`` takes about 2,500 steps, within 12 and 30
        passes.
    batch_size : int, default=32
        Rows per step.
    lr : float, default=0.002
        Learning rate; the peak of a schedule that rises.
    weight_decay : float, default=0.0
        Decoupled weight decay.
    lr_schedule : {"onecycle", "cosine", "step", "constant"}, default="onecycle"
        Course of the learning rate; ``"step"`` is the paper's, 10 % less every 10 epochs.
    early_stopping : bool or "auto", default="auto"
        Stop when the validation loss no longer falls, and return to the best weights. ``"auto"``
        does so unless the schedule ends low (``"onecycle"``, ``"cosine"``): its last epochs are
        the best, and a few held-out rows tell that worse than the schedule does.
    patience : int, default=10
        Epochs without improvement before stopping; of no effect where it does not stop early.
    validation_fraction : float, default=0.1
        Share of the rows held out for weights of the votes, decisions and early stopping.
    refit : bool, default=False
        Afterwards train anew on all rows for the number of epochs that was best; the decisions
        stay those tuned on the held-out rows.
    device : str, default="auto"
        ``"auto"`` takes CUDA, then MPS, then the CPU.
    n_threads : int, default=None
        Threads of torch during our calls; None leaves the setting alone.
    n_jobs : int, default=None
        Folds of `cv` trained at once, each in a process with one thread.
    callbacks : list of skorch callbacks, default=None
        Added to training.
    checkpoint_dir : path-like, default=None
        Folder for the state of training, written after every epoch and every five minutes. After
        a crash or a kill, ``fit`` with the same data and parameters goes on from there, and ends
        with the same model bit for bit; after a finished fit it returns the finished model. Each
        fit needs a folder of its own: other data or parameters are refused with a ValueError. See
        Notes.
    verbose : int, default=0
        1 prints a line per epoch.
    progress_bar : bool, default=False
        Show a progress bar over all batches.
    random_state : int, RandomState instance or None, default=None
        Pass an int for results that are the same bit for bit on a CPU.
    threshold : float or str, default="f1_micro"
        The operating point, read when predicting: a probability, or the metric to be good at
        (``"accuracy"``, ``"f1_samples"``, ``"f1_micro"``, ``"f1_macro"``).
    decision : {"optimal", "threshold"}, default="optimal"
        How a metric's operating point is reached: by the rule made for that metric, or by the
        paper's global cut, which is ``thresholds_[metric]``.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label of a label matrix; the classes of a vector target.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : ndarray of str
        Column names of `X`, where it had any.
    label_names_ : ndarray of str
        Column names of `y`, or numbers.
    label_graph_ : LabelGraph or None
        The relations used; with `cv` those of all rows, while each network has its fold's.
    thresholds_ : dict of str to float
        Best global cut per metric on the held-out rows.
    decision_rules_ : dict of str to dict
        For each `decision`, the fitted rule per metric. That for ``"accuracy"`` may want to know
        which training rows are similar to a row; `predict` tells it.
    label_embeddings_ : ndarray of shape (n_labels, d_model)
        Output of the label-relation module.
    history_ : list of dict
        Losses and times per epoch.
    n_iter_ : int
        Epochs trained.
    best_epoch_ : int
        Epoch whose weights are used, from 1.
    net_ : MrMPNet
        The fitted skorch net; of several the first, as for the attributes above that a net has.
    input_type_ : {"features", "sequence"}
        How `X` was read.

    See Also
    --------
    TunedDecisionClassifier : The same decisions for any multi-label classifier.
    label_graph : The label graph on its own.

    Notes
    -----
    What ``architecture="default"`` changes: a neighbourhood's messages are averaged instead of
    added up and V^0 is added to their outcome, so that hubs neither explode nor lose their
    identity; the decoder's branches have layer norms; labels vote with an output vector and a
    bias of their own (started at the label's frequency) instead of V^T; and attention starts with
    the tokens that count (tf-idf). `linear_path`, `neighbor_path` and `label_sets` are not the
    paper's either, and are off in `paper()`.

    With shortlists of 4,096 labels and more, the relational loss of a step is that of the graph
    between the labels it decodes.

    A feature's value x enters as ``E_j + t D_j`` with ``t = (x − mean_j) / std_j`` over the
    training rows where feature j is not zero: binary features are their plain embedding, tf-idf
    weights and standardised measurements are treated alike.

    Ctrl-C stops training after the batch; the best weights so far are kept, decisions are tuned
    and there is a warning. Before the end of the first epoch there is nothing to keep, and inside
    a search, a cross-validation or an ensemble the next fit would follow: there, and on a second
    Ctrl-C, ``fit`` raises KeyboardInterrupt.

    With `cv` and `n_jobs` folds are trained in processes of their own: Ctrl-C stops all of them
    and ``fit`` raises KeyboardInterrupt, and callbacks are copies, whose records are lost.

    With `checkpoint_dir`, ``random_state=None`` draws its seed at the first start and keeps it in
    the folder. `callbacks`, `verbose`, `progress_bar`, `n_threads`, `n_jobs`, `refit`,
    `label_sets`, `threshold` and `decision` may differ between the fits (with another number of
    threads, so may the last digits); attributes of callbacks that end in an underscore are
    part of the state as far as they are plain values, tensors, or have a ``state_dict``. The
    folder is never deleted.

    References
    ----------
    Ozmen, Zhang, Wang, Coates: Multi-relation Message Passing for Multi-label Text
    Classification, ICASSP 2022. https://arxiv.org/abs/2202.04844

    Examples
    --------
    >>> from sklearn_mrmp import MrMPClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, planted = make_related_labels(200, 6, random_state=0)
    >>> clf = MrMPClassifier(d_model=16, max_epochs=3, random_state=0).fit(X, Y)
    >>> clf.predict_proba(X).shape
    (200, 6)
    >>> clf.set_params(threshold="accuracy").predict(X).shape    # no refitting
    (200, 6)
    """

    _parameter_constraints: dict = CONSTRAINTS

    def __init__(
        self,
        *,
        d_model=64,
        n_heads=2,
        d_inner=None,
        n_encoder_layers=2,
        n_relation_layers=2,
        n_decoder_layers=2,
        dropout=0.1,
        feature_dropout="auto",
        label_shortlist="auto",
        linear_path=True,
        neighbor_path=True,
        label_sets=True,
        n_members=1,
        cv=None,
        architecture="default",
        input_type="auto",
        max_tokens=None,
        relations="chi2",
        alpha=0.05,
        correction=None,
        edge_weight="binary",
        composition="sum",
        relation_loss=0.001,
        max_epochs="auto",
        batch_size=32,
        lr=2e-3,
        weight_decay=0.0,
        lr_schedule="onecycle",
        early_stopping="auto",
        patience=10,
        validation_fraction=0.1,
        refit=False,
        device="auto",
        n_threads=None,
        n_jobs=None,
        callbacks=None,
        checkpoint_dir=None,
        verbose=0,
        progress_bar=False,
        random_state=None,
        threshold="f1_micro",
        decision="optimal",
    ):
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_inner = d_inner
        self.n_encoder_layers = n_encoder_layers
        self.n_relation_layers = n_relation_layers
        self.n_decoder_layers = n_decoder_layers
        self.dropout = dropout
        self.feature_dropout = feature_dropout
        self.label_shortlist = label_shortlist
        self.linear_path = linear_path
        self.neighbor_path = neighbor_path
        self.label_sets = label_sets
        self.n_members = n_members
        self.cv = cv
        self.architecture = architecture
        self.input_type = input_type
        self.max_tokens = max_tokens
        self.relations = relations
        self.alpha = alpha
        self.correction = correction
        self.edge_weight = edge_weight
        self.composition = composition
        self.relation_loss = relation_loss
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.lr_schedule = lr_schedule
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.device = device
        self.n_threads = n_threads
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose
        self.progress_bar = progress_bar
        self.random_state = random_state
        self.threshold = threshold
        self.decision = decision

    @classmethod
    def paper(cls, dataset=None, **overrides):
        """Return a classifier with the paper's network and hyperparameters.

        Parameters
        ----------
        dataset : str, default=None
            The paper's dropout depends on it: 0.2 for ``"bibtex"`` and ``"reuters"``, else 0.1.
        **overrides : dict
            Parameters to set differently.

        Returns
        -------
        clf : MrMPClassifier

        Examples
        --------
        >>> from sklearn_mrmp import MrMPClassifier
        >>> MrMPClassifier.paper("bibtex", max_epochs=5).dropout
        0.2
        """
        return cls(**{**paper_settings(dataset), **overrides})

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, *, X_val=None, y_val=None):
        """Learn the label graph, the network and the decisions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; see `input_type`.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, or a vector of classes.
        X_val, y_val : like `X` and `y`, default=None
            Held-out rows that take the place of a split of `X`.

        Returns
        -------
        self : MrMPClassifier
        """
        check_held_out(X_val, y_val, self.cv, self.refit)
        self.input_type_ = self._resolve_input_type(X)
        X, Y = self._validate_fit(X, y, **self._type_checks())
        checkpoints = CheckpointRun(self.checkpoint_dir)
        random_state = checkpoints.random_state(self.random_state)
        if self.cv is None:
            train, valid = self._split(X, Y, X_val, y_val, random_state)
        else:
            train, splits = (X, Y), fold_rows(Y.shape[0], self.cv, random_state)
        self.label_graph_ = self._learn_graph(train[1])
        given = (None, None) if X_val is None else valid
        checkpoints.claim(
            self.get_params(deep=False),
            {"X": X, "y": Y, "X_val": given[0], "y_val": given[1]},
            self.label_graph_,
        )
        seed = random_state.randint(np.iinfo(np.int32).max)
        fitting = ModelFitting(
            self.get_params(deep=False), self.input_type_, self.label_graph_, seed, checkpoints
        )
        with torch_threads(self.n_threads):
            if self.cv is not None:
                return self._fit_folds(fitting, X, Y, splits)
            self._keep(fitting.fit(train, valid))
            chosen = rows_to_tune_on(*valid[1].shape)
            P = self._model.block_probabilities(valid[0][chosen], Y.shape[1])
            self._tune_decisions(
                valid[1][chosen],
                P,
                train[1],
                lambda: self._model.similar_rows(valid[0][chosen]),
                forget_held_out=X_val is not None,
            )
            if X_val is None:
                self._use_all_rows(fitting, X, Y)
        return self

    def _fit_folds(self, fitting, X, Y, splits):
        """Train a network per fold, and tune on what each fold held out."""
        result = cross_fit(
            fitting,
            X,
            Y,
            splits,
            self._learn_graph,
            most_entries=DECISION_ENTRIES,
            n_jobs=self.n_jobs,
        )
        self._keep(result.model, depth=6)
        others = np.setdiff1d(np.arange(Y.shape[0]), result.rows)
        Y_others = Y[others] if len(others) else None
        self._tune_decisions(Y[result.rows], result.P, Y_others, lambda: result.similar)
        return self

    def _keep(self, model, depth=5):
        """Take a trained model, or what is there of an interrupted one."""
        self._model = model
        if self._model.nets[-1].interrupted_:
            self._end_interrupted_training(self._model.nets[-1], depth=depth)
        self.history_ = self.net_.history[:]
        self.n_iter_ = len(self.history_)
        self.best_epoch_ = best_epoch(self.net_)

    def _use_all_rows(self, fitting, X, Y):
        """Let the held-out rows teach, too; decisions stay those tuned on them."""
        if self.refit and not self._model.nets[-1].interrupted_:
            model = fitting.refit(self._model, X, Y)
            if not model.nets[-1].interrupted_:
                self._model = model
                return
            self._end_interrupted_training(self._model.nets[-1], refitting=True)
        fitting.refit_paths(self._model, X, Y)

    def _resolve_input_type(self, X):
        if self.input_type != "auto":
            return self.input_type
        return "sequence" if is_token_sequence(X) else "features"

    def _type_checks(self):
        """Return how to check `X`: ids arrive as they are, since a cast would hide fractions."""
        return {"dtype": "numeric"} if self.input_type_ == "sequence" else {}

    def _split(self, X, Y, X_val, y_val, random_state):
        """Training and held-out rows with their labels."""
        if X_val is not None:
            return (X, Y), self._validate_holdout(X_val, y_val, **self._type_checks())
        rest, held_out = split_rows(X.shape[0], self.validation_fraction, random_state)
        return (X[rest], Y[rest]), (X[held_out], Y[held_out])

    def _learn_graph(self, Y):
        return resolve_relations(
            self.relations,
            Y,
            alpha=self.alpha,
            correction=self.correction,
            edge_weight=self.edge_weight,
            label_names=self.label_names_,
        )

    def _end_interrupted_training(self, net, refitting=False, depth=5):
        """Keep what was learned with a warning, or stop what is around the fit as well."""
        if not n_epochs_done(net) or inside_search():
            raise KeyboardInterrupt
        if refitting:
            message = "Training on all rows was interrupted; the model trained before is used."
        else:
            message = (
                f"Training was interrupted after {n_epochs_done(net)} whole epochs; the "
                f"{'best' if net.returned_to_best_ else 'last'} weights so far are used."
            )
        warnings.warn(message, stacklevel=depth)

    def _tune_decisions(self, Y, P, Y_others, find_similar, forget_held_out=False):
        """Fit the rules of all four metrics, so that `set_params` can switch between them."""
        self.thresholds_, self.decision_rules_ = {}, {}
        if self._target_encoding.kind != "multilabel":
            return  # classes of a vector target exclude each other: the largest wins
        Y, Y_others = Y.toarray() > 0, dense_part(Y_others)
        collected = CollectedLabelSets.of(Y, Y_others)
        if self.label_sets:
            self._model.sets, P = LabelSetVote.fit(
                Y, P, Y_others, forget_held_out=forget_held_out, collected=collected
            )
        points = OperatingPoints.tune(Y, P, Y_others, similar=find_similar(), collected=collected)
        self.thresholds_, self.decision_rules_ = points.thresholds, points.rules

    @property
    def _points(self):
        return OperatingPoints(self.decision_rules_)

    def _tunes_on_all_rows(self):
        return self.cv is not None

    @property
    def net_(self):
        """The fitted skorch net; with several members, the first."""
        if "_model" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: no net_.")
        return self._model.nets[0]

    @property
    def label_embeddings_(self):
        """Output of the label-relation module, (n_labels, d_model)."""
        check_is_fitted(self)
        return self.net_.module_.label_relations().detach().cpu().numpy()

    def _check_rows(self, X):
        return self._validate_input(X, **self._type_checks())

    def _label_probabilities(self, X):
        with torch_threads(self.n_threads):
            return self._model.probabilities(X)

    def _predict_labels(self, P, X):
        decision = self.threshold if isinstance(self.threshold, Real) else self.decision
        return self._predict_at(P, X, self.threshold, decision)

    def _labels_at(self, P, X, metric, decision):
        if self._points.needs_rows(metric, decision):
            X = self._check_rows(X)
        return self._predict_at(P, X, metric, decision)

    def _predict_at(self, P, X, metric, decision):
        """Label sets of checked rows; similar rows are looked for only if a rule wants them."""
        similar = None
        if self._points.needs_rows(metric, decision):
            with torch_threads(self.n_threads):
                similar = self._model.similar_rows(X)
        return self._points.predict(P, metric, decision, similar)
