"""Any network behind a scikit-learn classifier: what fit checks and stores, and how it predicts.

A subclass is its constructor parameters, the name of its architecture, and a docstring. What is a
parameter of it is read from there, everything else has the default of `_settings`. fit: validate,
learn (`learning`), store. predict: validate, encode once, vote, weigh, decide, decode.
"""

from dataclasses import replace
from numbers import Real

from sklearn.utils.validation import check_consistent_length

from sklearn_mrmp._base import (
    BaseMultilabelClassifier,
    fitted_or_not,
)
from sklearn_mrmp._deciding import TunedDecisionsMixin, check_decision
from sklearn_mrmp._ensemble.model import inside
from sklearn_mrmp._ensemble.splits import check_held_out, is_share
from sklearn_mrmp._host.report import SILENT, Report
from sklearn_mrmp._host.torch_state import resolve_device, torch_threads
from sklearn_mrmp._input.kinds import input_kind, kind_of_rows
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._network.architecture import find_architecture
from sklearn_mrmp._network.distributed.group import world_of_fit
from sklearn_mrmp._neural.entry_options import EntryOptions
from sklearn_mrmp._neural.explaining import ExplainMixin
from sklearn_mrmp._neural.fit_settings import FitSettings
from sklearn_mrmp._neural.fit_tasks import FitTasksMixin
from sklearn_mrmp._neural.fitted_attributes import FittedAttributesMixin
from sklearn_mrmp._neural.fitted_voter import visual_block
from sklearn_mrmp._neural.learning import Lesson
from sklearn_mrmp._neural.more_rows.earlier import EarlierFit
from sklearn_mrmp._neural.more_rows.partial import MoreRowsMixin
from sklearn_mrmp._neural.out_of_fold import OutOfFoldMixin
from sklearn_mrmp._neural.reading import make_encoder
from sklearn_mrmp._neural.told_labels import Conditioning, ToldLabelsMixin
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.unknown import split_unknown
from sklearn_mrmp._onnx.mixin import OnnxMixin
from sklearn_mrmp._settings import EnsembleSettings, OutcomeSettings, RunSettings
from sklearn_mrmp._sklearn_compat import _check_y, _fit_context
from sklearn_mrmp._targets import read_target
from sklearn_mrmp._text_encoder import taken_apart
from sklearn_mrmp._voters.choice import check_voters


class BaseNeuralClassifier(
    FittedAttributesMixin,
    FitTasksMixin,
    ExplainMixin,
    OnnxMixin,
    OutOfFoldMixin,
    ToldLabelsMixin,
    MoreRowsMixin,
    TunedDecisionsMixin,
    BaseMultilabelClassifier,
):
    """A network, and whoever votes beside it, as a multi-label classifier.

    Attributes
    ----------
    _architecture : str
        Name of the network's architecture.
    """

    _architecture: str

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        X_val=None,
        y_val=None,
        Y_observed=None,
        label_weight=None,
        known_rate=None,
    ):
        """Learn the label graph, the base learners with their weights, and the decisions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; see `input_type`.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes. NaN in a
            label matrix, or pandas' NA, is an unknown entry, from which nothing is learned.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, at least 0: a row of weight 2 counts like two equal rows.
        X_val, y_val : like `X` and `y`, default=None
            Held-out rows to use instead of a split of `X`. Labels of a data frame are matched by
            name. A pipeline transforms `X_val` only with ``transform_input=["X_val"]``.
        Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels), default=None
            1 for the entries of `y` that are known. Use it with a sparse `y`, in which NaN would
            need much memory. None means that all entries are known.
        label_weight : "balanced", mapping of str to float, array-like of shape (n_labels,) or \
None, default=None
            Weights of the labels in the losses of the network and of the logistic regression. A
            mapping has the weights of some labels by name. ``"balanced"`` gives weights that are
            inversely proportional to the frequency, with a mean of 1 over the true entries.
        known_rate : float, default=None
            Mean share of a row's labels that will be known in ``predict_proba(X, known=...)``,
            above 0 and below 1. The logistic regression, and the network along the label graph, are
            then trained to read known labels, too. With None, known labels are used only by the
            parts that need no such training. Predictions for rows without known labels do not
            change.

        Returns
        -------
        self : estimator
            The fitted classifier.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. If the network had been trained for an epoch by then, the classifier is
            fitted with what was learned so far. After a second Ctrl-C, or with folds in separate
            processes, it is not fitted.
        """
        entries = EntryOptions(sample_weight, Y_observed, label_weight, known_rate)
        return self._fit_whole(X, y, X_val, y_val, entries)

    def _fit_whole(self, X, y, X_val, y_val, entries):
        """Fit anew, or go on from an earlier fit; that, or nothing, is what a failure leaves."""
        earlier = EarlierFit.of(self)
        whole = fitted_or_not(self, keeps=earlier is not None)
        with whole, self._root_task(X, y, entries.sample_weight) as task:
            interrupted = self._fit(X, y, X_val, y_val, entries, task, earlier)
        if interrupted:
            raise KeyboardInterrupt("The fit was interrupted; what was learned so far is kept.")
        return self

    def _fit(self, X, y, X_val, y_val, entries, task, earlier):
        """Check, learn and store; say whether the user stopped it when something was learned."""
        params, architecture = self.get_params(deep=False), find_architecture(self._architecture)
        has_encoder = params.get("encoder") is not None
        literal = params.get("architecture", "default") != "default"
        input_type = params.get("input_type", "auto")
        if earlier is not None:
            vars(self).update(earlier.columns)
            input_type = earlier.kind(input_type)
        kind = input_kind(input_type, X, has_encoder, literal)
        if earlier is None:
            settings = FitSettings.of(params, architecture, kind_of_rows(kind, X))
        else:
            sizes = kind_of_rows(kind, X), earlier.made_with
            settings = FitSettings.going_on(params, architecture, *sizes)
        device = resolve_device(settings.training.device)  # refused here, not after minutes
        with world_of_fit(device) as world:
            data = X, y, X_val, y_val
            how = settings.in_world(world), entries, task, earlier
            return self._fit_in(world, kind, data, *how)

    def _fit_in(self, world, kind, data, settings, entries, task, earlier):
        """Do so as one of the processes that fit together, or alone."""
        X, y, X_val, y_val = data
        params, architecture = self.get_params(deep=False), find_architecture(self._architecture)
        voters = check_voters(settings.ensemble.voters, settings.ensemble.label_shortlist)
        check_held_out(X_val, y_val, settings.ensemble.cv, settings.outcome.refit)
        report = Report(settings.run.verbose, doing=task)
        with report.task("read-rows"), report.stage("rows and labels: read"):
            encoder, settings = make_encoder(kind, settings)
            X, Y, known, earlier = self._checked_fit(encoder, X, y, entries, report, earlier)
            reads = architecture.module.can_read_told and settings.graph.relations is not None
            known_rate = entries.check_known_rate(self._target_encoding, voters, reads)
            n_samples = Y.shape[0]
            keep, weights = entries.weights(X, Y, known, self.label_names_)
            if keep is not None:  # rows of weight 0 are as if they were not there
                X, Y = X[keep], Y[keep]
            names = getattr(settings.graph.relations, "label_names", None)  # a graph brings its own
            check_decision(settings.outcome.decision, self._target_encoding, names)
            settings = self._with_label_numbers(settings)
            given = None
            if X_val is not None:
                *given, known = self._with_target(self._checked(encoder, X_val, report), y_val)
                given = *given, EntryWeights.of(known, labels=getattr(weights, "labels", None))
        learned = Lesson(
            settings,
            architecture,
            encoder,
            self._target_encoding,
            X,
            Y,
            weights,
            given,
            params.get("random_state"),
            report,
            known_rate,
            world,
            earlier,
        ).learn()
        self._store(learned)
        self._store_out_of_fold(learned.oof, keep, n_samples)
        self._tune_given_decision()
        return learned.interrupted

    def _with_label_numbers(self, settings):
        """Return the settings of a fit with numbers for labels that parameters name."""
        return settings

    def _store(self, learned):
        """Set the fitted attributes, all at once."""
        self.input_type_ = learned.ensemble.encoder.name
        self.label_graph_ = graph = learned.graph
        if graph is not None:  # labels without names have those of a graph that was given
            names = graph.label_names.copy()
            self._target_encoding = replace(self._target_encoding, label_names=names)
            self.label_names_ = names
        self._label_sets, self._points = learned.label_sets, learned.points
        self._told = learned.told
        if learned.marks is not None:
            self._row_marks = learned.marks
        self.network_gain_ = learned.gain
        if learned.network is not None:
            net = learned.network.net
            self.history_ = net.history[:]
            self.n_iter_ = len(self.history_)
            self.best_epoch_ = learned.network.best_epoch
            self.max_epochs_ = net.max_epochs
            self.feature_dropout_ = net.iterator_train__feature_dropout
        self._ensemble = learned.ensemble

    def __sklearn_is_fitted__(self):
        return "_ensemble" in vars(self)

    def _tunes_on_all_rows(self):
        return not is_share(self.get_params(deep=False).get("cv", EnsembleSettings.cv))

    def _sk_visual_block_(self):
        return visual_block(self)

    def _checked_fit(self, kind, X, y, entries, report, earlier):
        """Check rows and target of ``fit``, and match them with an earlier one to go on from."""
        if earlier is None:
            return *self._checked_rows_and_target(kind, X, y, entries, report), None
        earlier.check_encoder(kind)
        y = earlier.with_all_labels(y)
        found = self._checked_rows_and_target(kind, X, y, entries, report, reset=False)
        earlier, self._target_encoding = earlier.matched(self._target_encoding)
        self.label_names_ = self._target_encoding.label_names
        return *found, earlier

    def _checked_rows_and_target(self, kind, X, y, entries, report, reset=True):
        """Check them; rows that are no matrix are checked by their kind."""
        told = entries.Y_observed, entries.classes
        if kind.checks is not None:
            return self._validate_partly_known(X, y, *told, reset=reset, **kind.checks)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y, names = read_target(y, entries.classes)
        y, known = split_unknown(y)
        y = _check_y(y, multi_output=True, estimator=self)
        check_consistent_length(X, y)
        Y, known = self._learn_partly_known(y, names, known, *told)
        if not reset:
            return self._checked(kind, X, report), Y, known
        rows = kind.checked(X, report)  # last, since it may take minutes
        self.n_features_in_ = rows.shape[1]
        return rows, Y, known

    def _checked(self, kind, X, report=SILENT):
        """Check rows that must be like those of ``fit``."""
        if kind.checks is not None:
            return self._validate_input(X, **kind.checks)
        rows = kind.checked(X, report)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has vectors of width {rows.shape[1]}, but {type(self).__name__} is expecting "
                f"{self.n_features_in_}, as in fit."
            )
        return rows

    def _check_rows(self, X):
        encoder = self._ensemble.encoder
        if encoder.name == "text":  # a loaded classifier may need an encoder that files do not hold
            source, *_ = taken_apart(getattr(self, "encoder", None))
            encoder.encoder = encoder.encoder.given(source)
        return self._checked(encoder, X)

    def _encoded(self, X):
        return EncodedRows.of(self._ensemble.encoder, X)

    def _label_probabilities(self, rows, told=None):
        with torch_threads(self._n_threads):
            votes = self._ensemble.votes(rows)
            P_alone = P = self._ensemble.combined(votes)
            if self._label_sets is not None:
                P = self._label_sets.mix(P)
            if told is not None:
                conditioned = Conditioning(self._ensemble, self._label_sets, self._told)
                P = conditioned.probabilities(P, P_alone, votes, rows, told)
        return inside(P)

    def _voter_logits(self, name, rows):
        """Log odds of all labels by one of the voters."""
        with torch_threads(self._n_threads):
            return self._ensemble.voters[name].logits(rows)

    @property
    def _n_threads(self):
        return getattr(self, "n_threads", RunSettings.n_threads)

    @property
    def _outcome(self):
        # Parameters are attributes; scikit-learn's `get_params` reads the constructor's signature
        # anew each time, which takes long beside the prediction of one row.
        return OutcomeSettings.from_params(vars(self))

    @property
    def _operating_point(self):
        return self._outcome.metric, self._outcome.decision

    def _predict_chunk(self, X):
        encoding = self._target_encoding
        if encoding.is_matrix and self._finds_sets(*self._operating_point):
            return encoding.decode_labels(self._most_probable_sets(self._encoded(X)))
        return super()._predict_chunk(X)

    def _predict_labels(self, P, rows):
        return self._decided(P, rows, *self._operating_point)

    def _predict_classes(self, P, rows):
        """Classes of a vector target: the largest probability wins, or whatever `decision` asks."""
        decision, encoding = self._outcome.decision, self._target_encoding
        if encoding.kind == "binary" and decision != "optimal":
            return encoding.decode_labels(self._predict_labels(P, rows))
        if isinstance(decision, Real):
            raise ValueError(
                f"decision={decision!r} cuts the probability of a label, but the target of fit "
                f"has {len(encoding.classes)} classes that exclude each other. Use "
                "decision='optimal', which predicts the most probable one."
            )
        return super()._predict_classes(P, rows)

    def _decided(self, P, rows, metric, decision):
        if self._finds_sets(metric, decision):
            return self._most_probable_sets(rows)
        similar = None
        if self._points.needs_rows(metric, decision):
            with torch_threads(self._n_threads):
                similar = self._ensemble.similar_rows(rows)
        return self._points.predict(P, metric, decision, similar, self.label_names_)

    def _finds_sets(self, metric, decision):
        # The most probable set is the best prediction for subset accuracy.
        is_asked = metric == "accuracy" and isinstance(decision, str) and decision == "optimal"
        return is_asked and self._label_sets is None and self._ensemble.finds_sets

    def _most_probable_sets(self, rows):
        with torch_threads(self._n_threads):
            return self._ensemble.most_probable_sets(rows)

    def _labels_at(self, P, X, metric, decision):
        return self._decided(P, self._encoded(self._check_rows(X)), metric, decision)
