"""`MrMPClassifier`: its parameters, its architecture, and the paper's settings.

How it is fitted and how it predicts is the affair of `_neural`.
"""

from sklearn_mrmp._neural.classifier import BaseNeuralClassifier
from sklearn_mrmp._neural.model_part import neural_part
from sklearn_mrmp._parameters import CONSTRAINTS, paper_settings


class MrMPClassifier(BaseNeuralClassifier):
    """Multi-label classifier with Multi-relation Message Passing between labels.

    The classifier is a network and, by default, two more voters stacked with it: a logistic
    regression and the most similar training rows. Their log odds are added up with weights tuned
    on held-out rows. The fitted model then contains training rows, and its size grows with them;
    ``voters=("network", "linear")`` contains none.

    In the network, labels that attract each other (pulling) and labels that avoid each other
    (pushing) form a graph, learned from the training labels. A graph network turns it into label
    embeddings; each of them attends to the input and votes for its label. Decisions for four
    metrics are tuned on the same held-out rows, so that `metric` can be changed without fitting
    again.

    Parameters
    ----------
    d_model : int or "auto", default="auto"
        Network: width of all embeddings. What ``"auto"`` stands for is in Notes, here and below.
    n_heads : int or "auto", default="auto"
        Network: attention heads; must divide `d_model`.
    d_inner : int or "auto", default="auto"
        Network: width of the feed-forward blocks; ``"auto"`` is ``2 * d_model``, as in the paper.
    n_encoder_layers, n_decoder_layers : int or "auto", default="auto"
        Network: depth of the encoder and of the decoder.
    n_relation_layers : int, default=2
        Network: depth of the label-relation module.
    dropout : float or "auto", default="auto"
        Network: dropout rate.
    feature_dropout : float or "auto", default="auto"
        Network: probability of leaving an input token out, drawn anew every time a row is seen; in
        a sequence it becomes an unknown token. ``"auto"`` leaves about 16 tokens of a row of mean
        length, within 0.1 and 0.5; of token states it is 0.1, with `encoder_lr` 0, and of vectors,
        where the mean takes the place of a value, 0.2.
    architecture : {"default", "paper", "paper-repaired"}, default="default"
        Network: ``"paper"`` is the paper's network to the letter, and ``"paper-repaired"`` departs
        from it as little as it must to learn; see Notes for what differs.
    input_type : {"auto", "features", "vectors", "sequence", "states", "text"}, default="auto"
        Input: ``"features"``: each non-zero feature is a token and its standardised value
        modulates the token. ``"vectors"``: all dense columns are one token, columns that are mostly
        zero are tokens beside it. ``"sequence"``: an integer matrix of token ids, 0 = padding,
        order matters. ``"states"``: a vector for each token of a row. ``"text"``: strings, which
        `encoder` reads. ``"auto"`` tells them apart by their form; a matrix is ``"vectors"`` if at
        least 384 columns are different from zero in half of the rows, else ``"features"``.
    max_tokens : int, default=None
        Input: use at most this many tokens of a row: the largest absolute feature values, or the
        start of a sequence. None uses all; of a text, what `encoder` reads at once.
    encoder : str, path-like, (model, tokenizer) or TextEncoder, default=None
        Input: reads raw texts: name or folder of a pretrained encoder that `transformers` (extra
        ``text``) understands, or both objects. A `TextEncoder` brings its `revision` and its
        `cache_dir` along and, where `max_tokens` is None, its `max_tokens`; its `pooling` must be
        None, and its `device` and `verbose` are those of the classifier.
    encoder_lr : float, default=0.0
        Input: learning rate of the encoder. 0 leaves it as it is; above 0 it is fine-tuned together
        with the network, whose own rate is `lr`, and 2e-5 is a common value. A GPU is recommended.
        Every training starts from the pretrained weights, and objects that were given stay as they
        are.
    relations : "chi2", None, LabelGraph, mapping or callable, default="chi2"
        Graph: learned by chi-squared tests on the training labels, none (ablation), given, a
        mapping of relation names to (n_labels, n_labels) adjacencies, or a function of the training
        labels that returns one of these, such as
        ``functools.partial(label_graph, correction="fdr_bh")``.
    alpha : float, default=0.05
        Graph: level of the test of independence.
    composition : {"sum", "sub", "mult"}, default="sum"
        Graph: how a neighbour's vector and the relation's are put together.
    relation_loss : float, default=0.001
        Graph: weight of the relational loss, which aligns pulling labels; 0 turns it off.
    voters : sequence, default=("network", "linear", "neighbors")
        Ensemble: who votes. ``"network"``; ``"linear"``, a logistic regression of all labels,
        fitted in seconds; ``"neighbors"``, the most similar training rows, which vote for their
        own labels; or ``(name, estimator)`` with any multi-label classifier of scikit-learn's
        kind. They make different errors, so that their weighted vote is better than each of them.
    label_sets : bool, default=True
        Ensemble: mix the probability of each label with the one it has under the label sets of the
        training rows, given all other labels. Held-out rows choose how much, or not at all.
    label_shortlist : int, "auto" or None, default="auto"
        Ensemble: candidate labels per row that the network looks at, named by the other voters,
        which also decide about all other labels; None looks at every label. ``"auto"`` looks at
        every label of up to 256, else at enough candidates to hold 90 % of the held-out rows'
        labels, 32 to 128.
    n_members : int, default=1
        Ensemble: number of networks, trained from different seeds, whose logits are averaged.
    max_epochs : int or "auto", default="auto"
        Training: passes over the training rows; ``"auto"`` takes about 2,500 steps, within 12 and
        30 passes, and 8 passes over token states, or 3 with `encoder_lr`. A bag of words gets 8
        passes first, and more only where they pay; see Notes.
    batch_size : int or "auto", default="auto"
        Training: rows per step; ``"auto"`` is 32, of dense measurements 64, of vectors 128.
    lr : float or "auto", default="auto"
        Training: learning rate; the peak of a schedule that rises.
    weight_decay : float, default=0.0
        Training: decoupled weight decay.
    lr_schedule : {"onecycle", "cosine", "step", "constant"}, default="onecycle"
        Training: course of the learning rate; ``"step"`` is the paper's, 10 % less every 10 epochs.
    early_stopping : bool, int or "auto", default="auto"
        Training: stop after this many epochs (True: 10) in which the validation loss has not
        fallen, and return to the best weights. ``"auto"`` does so unless the schedule ends low
        (``"onecycle"``, ``"cosine"``): its last epochs are the best, and a few held-out rows tell
        that worse than the schedule does. False trains the network of a bag of words at full
        length, also where a short training will do.
    refit : bool, default=False
        Training: train the network anew on all rows in the end, for the number of epochs that was
        best; the decisions stay those tuned on the held-out rows. The other voters are always
        fitted on all rows in the end.
    warm_start : bool, default=False
        Training: with True, ``fit`` of a fitted classifier starts the network from its weights
        instead of drawing them; columns must be the same, labels may be added. All else is learned
        anew from the rows of the call: pass old and new rows together. A few `max_epochs` will do.
        See Notes.
    cv : float, int or cross-validation splitter, default=0.1
        Held-out rows: a share of the rows, held out once; or cross-fitting with this many folds
        (or those of a splitter): a network per fold, all of which vote. Weights and decisions are
        then tuned on the held-out votes of all rows, and no row is lost to training; it takes `cv`
        times as long to fit and to predict.
    metric : {"f1_micro", "accuracy", "f1_samples", "f1_macro"}, default="f1_micro"
        Decisions: the metric to be good at, read when predicting. ``score`` follows it, and so
        does a search with ``scoring=None``.
    decision : {"optimal", "threshold", "label_sets", "top_k", "at_least_one"}, decision object or \
float, default="optimal"
        Decisions: by the rule made for the metric, by the paper's global cut, which is
        ``thresholds_[metric]``, by another rule of `fit_decision_rules`, by a decision object such
        as ``PrecisionFloor(0.9)``, or by a probability of your own. Read when predicting. For a
        vector of two classes ``"optimal"`` is the more probable one, as scikit-learn wants it, and
        the others decide about the second class; of more classes the most probable is predicted.
    device : str, default="auto"
        Run: ``"auto"`` takes CUDA, then MPS, then the CPU. A device that is not there is refused.
        Processes that ``torchrun`` starts train one network together, with a CUDA device each.
    n_threads : int, default=None
        Run: threads of torch during our calls; None leaves the setting alone.
    n_jobs : int, default=None
        Run: folds of `cv`, or members, trained at once, each in a process with one thread, or with
        `n_threads`. ``joblib.parallel_config`` may send them to dask, Ray or Spark.
    callbacks : list of skorch callbacks, default=None
        Run: added to training.
    checkpoint_dir : path-like, default=None
        Run: folder for the state of training, written after every epoch and every five minutes.
        After a crash or a kill, ``fit`` with the same data and parameters goes on from there, and
        ends with the same model bit for bit; after a finished fit it returns the finished model.
        Each fit needs a folder of its own: other data or parameters are refused with a ValueError.
        See Notes.
    verbose : int, default=0
        Run: 1 prints a line for each stage of the fit, with the time it took, and one per epoch.
    progress_bar : bool, default=False
        Run: show a progress bar over all batches; where stderr is a file, a line per epoch.
    random_state : int, RandomState instance or None, default=None
        Run: pass an int for results that are the same bit for bit on a CPU. Your own estimators
        among the voters keep the `random_state` they have.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label of a label matrix; the classes of a vector target.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : ndarray of str
        Column names of `X`, where it had any.
    label_names_ : ndarray of str
        Column names of `y`, else those of a graph given as `relations`, else numbers.
    voters_ : Bunch
        The fitted voters by name. Each has ``predict_proba``, ``decision_function`` (log odds) and
        ``predict`` of its own, its ``weight``, and what is inside as ``model``.
    vote_weights_ : dict of str to float
        Weight of each voter's log odds. ``"frequency"`` is that of the label's own log odds: below
        zero it undoes that every voter has counted the label's frequency.
    network_gain_ : object or None
        What the network adds to the vote of the others: ``gain``, the share of the log loss on
        held-out rows that disappears through it, and its ``standard_error``. None without a
        network, or without others.
    label_sets_ : object or None
        The distribution over label sets that is mixed in, with its ``share``.
    label_graph_ : LabelGraph or None
        The relations used; with several folds those of all rows, while each network has its fold's.
    thresholds_ : dict of str to float
        Best global cut per metric on the held-out rows.
    decision_rules_ : dict of str to dict
        For each `decision` that has a name, the fitted rule per metric. That for ``"accuracy"`` may
        want to know which training rows are similar to a row; `predict` tells it.
    decision_rule_ : rule
        The rule of the present `metric` and `decision`; its attributes say what was chosen.
    oof_proba_ : ndarray of shape (n_samples, n_labels)
        With folds in `cv`: probabilities of the training rows, each by voters that were not fitted
        on it; NaN for rows that no fold held out. In pickles, not in model files.
    label_embeddings_ : ndarray of shape (n_labels, d_model)
        Output of the label-relation module.
    history_ : list of dict
        Losses and times per whole epoch; with `refit`, of the training before it.
    n_iter_ : int
        Whole epochs trained.
    best_epoch_ : int
        Epoch whose weights are used, from 1.
    max_epochs_, feature_dropout_, device_ : int, float, str
        What was used, also where the parameter is ``"auto"``.
    label_shortlist_ : int or None
        Candidate labels per row that the network looks at; None is every label.
    net_ : skorch.NeuralNet
        The fitted net; of several the first, as for the attributes above that a net has. Those
        are missing without ``"network"`` among the voters.
    input_type_ : {"features", "sequence", "states", "text"}
        How `X` was read.

    See Also
    --------
    TextEncoder : Token states of texts, kept in a folder between fits.
    TunedDecisionClassifier : The same decisions for any multi-label classifier.
    label_graph : The label graph on its own.

    Notes
    -----
    What ``architecture="default"`` changes: a neighbourhood's messages are averaged instead of
    added up and V^0 is added to their outcome, so that hubs neither explode nor lose their
    identity; the decoder's branches have layer norms; labels vote with an output vector and a
    bias of their own (started at the label's frequency) instead of V^T; and attention starts with
    the tokens that count (tf-idf). The other voters and `label_sets` are not the paper's either,
    and are off in `paper()`.

    What ``architecture="paper-repaired"`` changes: V^0 is added to V^T, so that labels with many
    neighbours remain different from each other. All else is the paper's. ``paper(repaired=True)``
    has it, and a `relation_loss` of 0.001 instead of 1, since at 1 that loss outweighs the cross
    entropy.

    With 4,096 labels or more and shortlists, the relational loss of a step is that of the graph
    between the labels it decodes.

    ``"auto"`` is `d_model` 64, `n_heads` 2, `n_encoder_layers` 2, `n_decoder_layers` 2, `dropout`
    0.1 and `lr` 0.002. For features more than a quarter of which are not zero it is 64, 2, 0, 1,
    0.1 and 0.003; for token states, which come from an encoder that has done an encoder's work,
    128, 4, 0, 1, 0.2 and 0.001; for vectors 128, 4, 0, 1, 0.3 and 0.003. With another width there
    are fewer heads if they would not divide it.

    On a bag of words, where `max_epochs` and `early_stopping` are ``"auto"`` and others vote beside
    the network, it is first trained for 8 passes with 0 encoder layers, 1 decoder layer, a
    `d_inner` of half the width and a rate of 0.004. If that lowers the log loss of the vote on
    held-out rows by more than 5 %, by two standard errors, the network is trained anew with the
    values above; otherwise it stays.

    A feature's value x enters as ``E_j + t D_j`` with ``t = (x − mean_j) / std_j`` over the
    training rows where feature j is not zero: binary features are their plain embedding, tf-idf
    weights and standardised measurements are treated alike.

    Ctrl-C stops training after the batch. The best weights so far are kept, decisions are tuned,
    and then ``fit`` raises KeyboardInterrupt: the classifier can be used, and a search around it
    stops. So it does while decisions are tuned. Before the end of the first epoch there is nothing
    to keep; a second Ctrl-C does not wait. A fit that fails leaves the classifier unfitted.

    Predictions for training rows tell nothing of the classifier: with ``"neighbors"`` a row finds
    itself.

    With folds or members and `n_jobs` these are trained in processes of their own: Ctrl-C stops
    all of them, nothing is kept, and callbacks are copies, whose records are lost.

    With `checkpoint_dir`, ``random_state=None`` draws its seed at the first start and keeps it in
    the folder. Parameters under *Run* (but for `device` and `random_state`) and *Decisions*,
    `refit` and `label_sets` may differ between the fits (with another number of threads, so may
    the last digits);
    attributes of callbacks that end in an underscore are part of the state as far as they are plain
    values, tensors, or have a ``state_dict``. The folder is never deleted.

    With ``warm_start=True`` labels are matched by name, where both fits have names, else by number;
    one that was there must not be missing. New labels, and columns or tokens that no row had, get
    fresh weights. Sizes that are ``"auto"`` stay what they were; a network of a short training
    stays one. `n_members` and the number of folds have to stay. Rows that the network was trained
    on are known by checksums, which the classifier then keeps, and are not held out again: set it
    before the first fit. A fit that fails leaves the earlier one as it was. Without a network
    there is nothing to go on from, and ``fit`` is what it always is.

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
    >>> clf.set_params(metric="accuracy").predict(X).shape    # no refitting
    (200, 6)
    >>> list(clf.vote_weights_)
    ['network', 'linear', 'neighbors', 'frequency']
    """

    _architecture = "mrmp"
    _model_part = neural_part()
    _parameter_constraints: dict = CONSTRAINTS

    def __init__(
        self,
        *,
        d_model="auto",
        n_heads="auto",
        d_inner="auto",
        n_encoder_layers="auto",
        n_relation_layers=2,
        n_decoder_layers="auto",
        dropout="auto",
        feature_dropout="auto",
        architecture="default",
        input_type="auto",
        max_tokens=None,
        encoder=None,
        encoder_lr=0.0,
        relations="chi2",
        alpha=0.05,
        composition="sum",
        relation_loss=0.001,
        voters=("network", "linear", "neighbors"),
        label_sets=True,
        label_shortlist="auto",
        n_members=1,
        max_epochs="auto",
        batch_size="auto",
        lr="auto",
        weight_decay=0.0,
        lr_schedule="onecycle",
        early_stopping="auto",
        refit=False,
        warm_start=False,
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
        self.n_relation_layers = n_relation_layers
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
        self.composition = composition
        self.relation_loss = relation_loss
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
        self.warm_start = warm_start
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
    def paper(cls, dataset=None, *, repaired=False, **overrides):
        """Return a classifier with the paper's network and hyperparameters.

        Parameters
        ----------
        dataset : str, default=None
            The paper's dropout depends on it: 0.2 for ``"bibtex"`` and ``"reuters"``, else 0.1.
        repaired : bool, default=False
            Whether to depart from the letter where it keeps the network from learning:
            ``architecture="paper-repaired"`` and ``relation_loss=0.001``.
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
        return cls(**{**paper_settings(dataset, repaired), **overrides})
