"""`MrMPClassifier`: its parameters, its architecture, and the paper's settings.

`_neural` has the code that fits and predicts.
"""

from sklearn_mrmp._neural.classifier import BaseNeuralClassifier
from sklearn_mrmp._neural.model_part import neural_part
from sklearn_mrmp._parameters import CONSTRAINTS, paper_settings


class MrMPClassifier(BaseNeuralClassifier):
    """Multi-label classifier with Multi-relation Message Passing between labels.

    The classifier stacks three base learners, also called voters: a neural network, a logistic
    regression, and the most similar training rows. Their log odds are added up with weights that
    are learned on held-out rows. By default the fitted model contains training rows, and its size
    grows with them. With ``voters=("network", "linear")`` it contains none.

    In the network, labels that attract each other (pulling) and labels that avoid each other
    (pushing) form a graph, which is learned from the training labels. A graph network turns it
    into label embeddings. Each embedding attends to the input and gives the probability of its
    label. Decisions for four metrics are tuned on the same held-out rows, so that `metric` can be
    changed without fitting again.

    Parameters
    ----------
    d_model : int or "auto", default="auto"
        Network: width of all embeddings. The values of ``"auto"``, here and below, are in Notes.
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
        Network: probability of leaving out an input token, drawn again every time a row is seen.
        In a sequence the token is replaced by an unknown token, and in a vector a value is replaced
        by its mean. ``"auto"`` keeps about 16 tokens of a row of mean length, within 0.1 and 0.5.
        It is 0.1 for token states (0 with `encoder_lr`), and 0.2 for vectors.
    architecture : {"default", "paper", "paper-repaired"}, default="default"
        Network: ``"paper"`` is exactly the paper's network, and ``"paper-repaired"`` has the
        smallest change with which it learns well; see Notes for the differences.
    input_type : {"auto", "features", "vectors", "sequence", "states", "text"}, default="auto"
        Input: ``"features"``: each non-zero feature is a token, and its standardised value
        modifies the token. ``"vectors"``: all dense columns together are one token, and columns
        that are mostly zero are further tokens. ``"sequence"``: an integer matrix of token ids, in
        which 0 is padding and the order matters. ``"states"``: a vector for each token of a row.
        ``"text"``: strings, which `encoder` reads. ``"auto"`` recognises the kind by the form of
        the rows; a matrix is ``"vectors"`` if at least 384 columns are different from zero in half
        of the rows, else ``"features"``.
    max_tokens : int, default=None
        Input: use at most this many tokens of a row: the largest absolute feature values, or the
        start of a sequence. None uses all; for a text, as many as `encoder` reads at once.
    encoder : str, path-like, (model, tokenizer) or TextEncoder, default=None
        Input: pretrained encoder that reads raw texts: a name or folder that `transformers` (extra
        ``text``) understands, or the two objects. Of a `TextEncoder`, the `revision` and the
        `cache_dir` are used, and its `max_tokens` if that of the classifier is None. Its `pooling`
        must be None, and `device` and `verbose` are those of the classifier.
    encoder_lr : float, default=0.0
        Input: learning rate of the encoder. With 0 the encoder is not changed. Above 0 it is
        fine-tuned together with the network, whose own rate is `lr`; 2e-5 is a common value. A GPU
        is recommended. Every training starts from the pretrained weights, and objects that you
        passed are not changed.
    relations : "chi2", None, LabelGraph, mapping or callable, default="chi2"
        Graph: ``"chi2"`` learns it by chi-squared tests on the training labels, and None uses no
        graph (ablation). You can also pass a graph, a mapping of relation names to adjacencies of
        shape (n_labels, n_labels), or a function of the training labels that returns one of these,
        such as ``functools.partial(label_graph, correction="fdr_bh")``.
    alpha : float, default=0.05
        Graph: level of the test of independence.
    composition : {"sum", "sub", "mult"}, default="sum"
        Graph: how the vectors of a neighbour and of the relation are combined.
    relation_loss : float, default=0.001
        Graph: weight of the relational loss, which makes the embeddings of pulling labels similar
        and those of pushing labels dissimilar; 0 turns it off.
    voters : sequence, default=("network", "linear", "neighbors")
        Ensemble: the base learners that are stacked. ``"network"``; ``"linear"``, a logistic
        regression for each label, fitted in seconds; ``"neighbors"``, which predicts by the labels
        of the most similar training rows; or ``(name, estimator)`` with any multi-label classifier
        of scikit-learn's kind.
    label_sets : bool, default=True
        Ensemble: whether to mix the probability of each label with the one that follows from the
        label sets of the training rows. The share is chosen on held-out rows, and may be 0.
    label_shortlist : int, "auto" or None, default="auto"
        Ensemble: number of candidate labels per row. The other base learners choose the
        candidates, the network computes only these, and all other labels keep the probability of
        the other base learners. None computes all labels. ``"auto"`` computes all if there are at
        most 256; otherwise it uses 32 to 128 candidates, enough to include 90 % of the labels of
        the held-out rows.
    n_members : int, default=1
        Ensemble: number of networks, trained from different seeds, whose logits are averaged.
    max_epochs : int or "auto", default="auto"
        Training: passes over the training rows. ``"auto"`` takes about 2,500 steps, within 12 and
        30 passes. It takes 8 passes over token states, or 3 with `encoder_lr`. On bags of words it
        first takes 8 passes, and more only if they help; see Notes.
    batch_size : int or "auto", default="auto"
        Training: rows per step; ``"auto"`` is 32, for dense measurements 64, for vectors 128.
    lr : float or "auto", default="auto"
        Training: learning rate; if the schedule rises, its highest value.
    weight_decay : float, default=0.0
        Training: decoupled weight decay.
    lr_schedule : {"onecycle", "cosine", "step", "constant"}, default="onecycle"
        Training: schedule of the learning rate; ``"step"`` is the paper's, which lowers it
        by 10 % every 10 epochs.
    early_stopping : bool, int or "auto", default="auto"
        Training: stop after this many epochs (True: 10) in which the validation loss has not
        fallen, and return to the best weights. ``"auto"`` does so unless the schedule ends at a low
        rate (``"onecycle"``, ``"cosine"``), where the last epochs usually are the best. False does
        not stop early, and also trains the network at full length on bags of words.
    refit : bool, default=False
        Training: train the network again on all rows in the end, for the number of epochs that was
        best. The decisions are still those tuned on the held-out rows. The other base learners are
        always fitted on all rows in the end.
    cv : float, int or cross-validation splitter, default=0.1
        Held-out rows: a float is the share of the rows that is held out once. An int or a splitter
        does cross-fitting: a network is trained for each fold, and their predictions are averaged.
        Weights and decisions are then tuned on out-of-fold predictions of all rows, and every row
        is used for training. With k folds, fit and predict take about k times as long.
    metric : {"f1_micro", "accuracy", "f1_samples", "f1_macro"}, default="f1_micro"
        Decisions: the metric that predictions are tuned for, read when predicting. ``score``
        computes it, and therefore also a search with ``scoring=None``.
    decision : {"optimal", "threshold", "label_sets", "top_k", "at_least_one"}, decision object or \
float, default="optimal"
        Decisions: how label sets are predicted from probabilities, read when predicting.
        ``"optimal"`` is the rule that is made for the metric, and ``"threshold"`` the paper's
        global threshold, ``thresholds_[metric]``. Other names are those of `fit_decision_rules`. A
        decision object such as ``PrecisionFloor(0.9)``, or a threshold of your own, can be passed
        as well. For a vector of two classes, ``"optimal"`` predicts the more probable one, as
        scikit-learn expects, and the others decide about the second class. For more classes, the
        most probable one is predicted.
    device : str, default="auto"
        Run: ``"auto"`` takes CUDA, then MPS, then the CPU. A device that does not exist is
        refused. Processes that ``torchrun`` starts train one network together, each with its own
        CUDA device.
    n_threads : int, default=None
        Run: number of torch's threads during calls of this classifier; None does not change it.
    n_jobs : int, default=None
        Run: number of folds of `cv`, or of members, that are trained at the same time, each in a
        process with one thread, or with `n_threads`. ``joblib.parallel_config`` can send them to
        dask, Ray or Spark.
    callbacks : list of skorch callbacks, default=None
        Run: callbacks for the training of the network.
    checkpoint_dir : path-like, default=None
        Run: folder for the state of training, written after every epoch and every five minutes.
        After a crash or a kill, ``fit`` with the same data and parameters continues from there, and
        ends with the same model bit for bit. After a finished fit it returns the finished model.
        Each fit needs its own folder: other data or parameters are refused with a ValueError.
        See Notes.
    verbose : int, default=0
        Run: 1 prints a line for each stage of the fit, with the time it took, and one per epoch.
    progress_bar : bool, default=False
        Run: show a progress bar over all batches; where stderr is a file, a line per epoch.
    random_state : int, RandomState instance or None, default=None
        Run: pass an int for results that are the same bit for bit on a CPU. Your own estimators
        in `voters` keep their own `random_state`.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label of a label matrix; the classes of a vector target.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : ndarray of str
        Column names of `X`, if it had any.
    label_names_ : ndarray of str
        Column names of `y`, else those of a graph given as `relations`, else numbers.
    voters_ : Bunch
        The fitted base learners by name. Each has its own ``predict_proba``,
        ``decision_function`` (log odds) and ``predict``, its ``weight``, and the fitted object as
        ``model``.
    vote_weights_ : dict of str to float
        Weight of the log odds of each base learner. ``"frequency"`` is the weight of the log odds
        of the label's frequency. It is usually negative, because every base learner already takes
        this frequency into account.
    network_gain_ : object or None
        How much the network adds to the other base learners: ``gain`` is the share by which the
        log loss on held-out rows is lower with the network, and ``standard_error`` its standard
        error. None without a network, or without other base learners.
    label_sets_ : object or None
        The distribution over label sets that is mixed in, with its ``share``.
    label_graph_ : LabelGraph or None
        The relations. With several folds they are those of all rows, while each network uses those
        of its fold.
    thresholds_ : dict of str to float
        Best global threshold for each metric on the held-out rows.
    decision_rules_ : dict of str to dict
        For each `decision` that has a name, the fitted rule for each metric. The rule for
        ``"accuracy"`` may need the training rows that are similar to a row, which `predict` passes
        to it.
    decision_rule_ : rule
        The rule of the present `metric` and `decision`; its attributes say what was chosen.
    oof_proba_ : ndarray of shape (n_samples, n_labels)
        With folds in `cv`: out-of-fold probabilities of the training rows, by base learners that
        were not fitted on the row; NaN for rows that no fold held out. Pickles contain it, and
        model files do not.
    label_embeddings_ : ndarray of shape (n_labels, d_model)
        Output of the label-relation module.
    history_ : list of dict
        Losses and times of each whole epoch; with `refit`, of the first training.
    n_iter_ : int
        Whole epochs trained.
    best_epoch_ : int
        Epoch whose weights are used, from 1.
    max_epochs_, feature_dropout_, device_ : int, float, str
        The values that were used, also if the parameter is ``"auto"``.
    label_shortlist_ : int or None
        Number of candidate labels per row; None means all labels.
    net_ : skorch.NeuralNet
        The fitted net. If there are several, this attribute and those above that describe a net
        are those of the first one. They do not exist without ``"network"`` in `voters`.
    input_type_ : {"features", "vectors", "sequence", "states", "text"}
        How `X` was read.

    See Also
    --------
    TextEncoder : Token states of texts, which can be kept in a folder between fits.
    TunedDecisionClassifier : The same decisions for any multi-label classifier.
    label_graph : The label graph on its own.

    Notes
    -----
    ``architecture="default"`` differs from the paper in these points: messages of a neighbourhood
    are averaged instead of summed, and V^0 is added to the result, so that embeddings of labels
    with many neighbours neither grow nor become equal; the decoder's branches have layer norms;
    each label has its own output vector and bias (which starts at the label's frequency) instead
    of V^T; and attention starts at tf-idf weights. The other base learners and `label_sets` are
    not part of the paper, either, and are off in `paper()`.

    ``architecture="paper-repaired"`` differs from the paper in one point: V^0 is added to V^T, so
    that labels with many neighbours remain different from each other. ``paper(repaired=True)``
    uses it, with a `relation_loss` of 0.001 instead of 1. At 1 this loss is larger than the cross
    entropy.

    With 4,096 labels or more and candidate labels, the relational loss of a step is computed on
    the graph between the labels of the step.

    ``"auto"`` is `d_model` 64, `n_heads` 2, `n_encoder_layers` 2, `n_decoder_layers` 2, `dropout`
    0.1 and `lr` 0.002. For features more than a quarter of which are not zero it is 64, 2, 0, 1,
    0.1 and 0.003; for token states, which come from an encoder that has done an encoder's work,
    128, 4, 0, 1, 0.2 and 0.001; for vectors 128, 4, 0, 1, 0.3 and 0.003. If the
    number of heads does not divide another width, there are fewer heads.

    On bags of words the network is first trained for 8 passes with 0 encoder layers, 1 decoder
    layer, a `d_inner` of half the width and a rate of 0.004, if `max_epochs` and `early_stopping`
    are ``"auto"`` and there are other base learners. If this network lowers the log loss of the
    ensemble on held-out rows by more than 5 % plus two standard errors, the network is trained
    again with the values above. Otherwise the first one is used.

    A feature's value x is embedded as ``E_j + t D_j`` with ``t = (x − mean_j) / std_j`` over the
    training rows in which feature j is not zero. Binary features are embedded as ``E_j``, and
    tf-idf weights and standardised measurements are treated alike.

    Ctrl-C stops training after the current batch. The best weights so far are kept, decisions are
    tuned, and then ``fit`` raises KeyboardInterrupt: the classifier can be used, and a search
    around it stops. The same holds for Ctrl-C while decisions are tuned. Before the end of the
    first epoch there is nothing to keep. A second Ctrl-C stops at once. After a fit that failed,
    the classifier is not fitted.

    Scores on training rows are meaningless with ``"neighbors"``, because each training row is its
    own nearest neighbour.

    With `n_jobs`, folds or members are trained in separate processes. Ctrl-C then stops all of
    them, and nothing is kept. Callbacks are copied, and what the copies record is lost.

    With `checkpoint_dir`, ``random_state=None`` draws its seed at the first start and keeps it in
    the folder. Parameters under *Run* (except `device` and `random_state`) and *Decisions*,
    `refit` and `label_sets` may differ between the fits. With another number of threads, the last
    digits of the result may differ. Attributes of callbacks that end in an underscore are part of
    the state if they are plain values or tensors, or have a ``state_dict``. The folder is never
    deleted.

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
    >>> clf.set_params(metric="accuracy").predict(X).shape    # without a new fit
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
            Whether to make two changes without which the network hardly learns:
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
