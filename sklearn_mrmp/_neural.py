"""Any network behind a scikit-learn classifier: the steps of fit and predict.

A subclass is its constructor parameters, the name of its architecture, and a docstring. What is a
parameter of it is read from there, everything else has the default of `_settings`. fit: validate,
split, learn the graph, fit the voters and weigh them, tune the decisions, fit on all rows. predict:
validate, encode once, vote, weigh, decide, decode.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    TunedDecisionsMixin,
    complete_classifier,
)
from sklearn_mrmp._checkpoints.run import CheckpointRun
from sklearn_mrmp._decisions.label_set_model import CollectedLabelSets
from sklearn_mrmp._decisions.operating_points import OperatingPoints, dense_part
from sklearn_mrmp._ensemble.fitting import EnsemblePlan, fit_ensemble, make_splits, with_all_rows
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._ensemble.model import inside
from sklearn_mrmp._ensemble.splits import check_held_out, is_share
from sklearn_mrmp._fitted_voter import FittedVoter, visual_block
from sklearn_mrmp._graph.resolve import GraphLearner, KnownGraph
from sklearn_mrmp._host.report import Report
from sklearn_mrmp._host.torch_state import resolve_device, torch_threads
from sklearn_mrmp._input.kinds import input_kind
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._model_files.part import Part, nothing, require
from sklearn_mrmp._network.architecture import find_architecture
from sklearn_mrmp._network.net_file import plain_history
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._network.training import NetworkRecipe
from sklearn_mrmp._network.voter import NetworkTrainer
from sklearn_mrmp._settings import (
    EnsembleSettings,
    GraphSettings,
    InputSettings,
    OutcomeSettings,
    RunSettings,
    Settings,
)
from sklearn_mrmp._sklearn_compat import _fit_context
from sklearn_mrmp._version import __version__
from sklearn_mrmp._voters.choice import NETWORK, check_voters


@dataclass(frozen=True)
class FitSettings:
    """All parameters of an estimator, by what they are for."""

    network: Settings
    training: TrainingSettings
    input: InputSettings
    graph: GraphSettings
    ensemble: EnsembleSettings
    outcome: OutcomeSettings
    run: RunSettings

    @classmethod
    def of(cls, params, architecture):
        """Sort the parameters of an estimator, which are given by name."""
        groups = (
            architecture.settings,
            TrainingSettings,
            InputSettings,
            GraphSettings,
            EnsembleSettings,
            OutcomeSettings,
            RunSettings,
        )
        return cls(*(group.from_params(params) for group in groups))

    @property
    def learned_with(self):
        """All that the weights depend on."""
        return [self.network, self.training, self.input, self.graph, self.ensemble]


class BaseNeuralClassifier(TunedDecisionsMixin, BaseMultilabelClassifier):
    """A network, and whoever votes beside it, as a multi-label classifier.

    Attributes
    ----------
    _architecture : str
        Name of the network's architecture.
    """

    _architecture: str

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, *, X_val=None, y_val=None):
        """Learn the label graph, the voters with their weights, and the decisions.

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
        self : estimator
            The fitted classifier.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. If the network had been trained for an epoch by then, the classifier is
            fitted with what was learned so far; after a second Ctrl-C, or with folds in processes
            of their own, it is not.
        """
        params, architecture = self.get_params(deep=False), find_architecture(self._architecture)
        settings = FitSettings.of(params, architecture)
        resolve_device(settings.training.device)  # refused here, not after minutes
        report = Report(settings.run.verbose)
        voters = check_voters(settings.ensemble.voters, settings.ensemble.label_shortlist)
        check_held_out(X_val, y_val, settings.ensemble.cv, settings.outcome.refit)
        kind = input_kind(settings.input.input_type, X)
        self.__dict__.pop("_ensemble", None)  # not fitted until it is
        with report.stage("rows and labels: read"):
            X, Y = self._validate_fit(X, y, **kind.checks)
        given = None if X_val is None else self._validate_holdout(X_val, y_val, **kind.checks)
        checkpoints = CheckpointRun(settings.run.checkpoint_dir, __version__)
        random_state = checkpoints.random_state(params.get("random_state"))
        is_vector = self._target_encoding.kind != "multilabel"
        with report.stage("rows: encoded and split"):
            rows = EncodedRows.of(self._make_encoder(kind, settings), X)
            splits = make_splits(rows, Y, given, settings.ensemble.cv, random_state, is_vector)
        learn_graph = GraphLearner(**settings.graph.as_dict(), label_names=self.label_names_)
        with report.stage("label graph: learned"):
            graph = learn_graph(Y if len(splits) > 1 else splits[0].Y)
        checkpoints.claim(settings.learned_with, _named_data(X, Y, given, splits), graph)
        trainer = NetworkTrainer(
            NetworkRecipe(architecture, settings.network, settings.training, settings.run),
            learn_graph if len(splits) > 1 else KnownGraph(graph),
            seed=random_state.randint(np.iinfo(np.int32).max),
            n_members=settings.ensemble.n_members,
            checkpoints=checkpoints,
            report=report,
        )
        plan = _plan(settings, voters, trainer, report)
        with torch_threads(settings.run.n_threads):
            fitted = fit_ensemble(plan, splits)
            tuned = self._tune_decisions(settings, fitted, Y, given, report)
            ensemble, interrupted = fitted.ensemble, fitted.interrupted
            if given is None:
                ensemble, interrupted = self._use_all_rows(settings, plan, fitted, rows, Y)
        self._store(fitted, ensemble, tuned, graph)
        if interrupted:
            raise KeyboardInterrupt("Training was interrupted; what was learned so far is kept.")
        return self

    @staticmethod
    def _make_encoder(kind, settings):
        # The paper's attention knows nothing of how rare a word is.
        weighted = getattr(settings.network, "architecture", "default") == "default"
        return kind(settings.input.max_tokens, weighted=weighted)

    def _tune_decisions(self, settings, fitted, Y, given, report):
        """Tune label sets and rules of all metrics on the votes for held-out rows.

        Returns
        -------
        label_sets : LabelSetVote or None
        points : OperatingPoints or None
            None for the classes of a vector target, which exclude each other: the largest wins.
        """
        if self._target_encoding.kind != "multilabel":
            return None, None
        others = Y
        if given is None:
            others = np.setdiff1d(np.arange(Y.shape[0]), fitted.numbers)
            others = Y[others] if len(others) else None
        Y_held_out, Y_others, P = fitted.Y.toarray() > 0, dense_part(others), fitted.P
        label_sets, collected = None, CollectedLabelSets.of(Y_held_out, Y_others)
        if settings.outcome.label_sets:
            with report.stage("label sets: fitted"):
                label_sets, P = LabelSetVote.fit(
                    Y_held_out, P, Y_others, forget_held_out=given is not None, collected=collected
                )
        with report.stage("decisions: tuned"):
            points = OperatingPoints.tune(
                Y_held_out, P, Y_others, similar=fitted.similar, collected=collected
            )
        return label_sets, points

    def _use_all_rows(self, settings, plan, fitted, rows, Y):
        """Let the held-out rows teach, too; decisions stay those tuned on them."""
        if settings.outcome.refit and not fitted.interrupted and plan.network is not None:
            encoder = self._make_encoder(type(rows.encoder), settings)
            all_rows = EncodedRows(encoder, rows.canonical, rows.X).fit_encoder()
            ensemble = replace(fitted.ensemble, encoder=encoder)
            ensemble = with_all_rows(ensemble, all_rows, Y, plan.report)
            network = plan.network.refit(ensemble, all_rows, Y)
            if not network.interrupted:
                voters = {**ensemble.voters, NETWORK: network}
                return replace(ensemble, voters=voters), False
            fitted = replace(fitted, interrupted=True)  # the networks trained before are used
        return with_all_rows(fitted.ensemble, rows, Y, plan.report), fitted.interrupted

    def _store(self, fitted, ensemble, tuned, graph):
        """Set the fitted attributes, all at once."""
        self.input_type_ = ensemble.encoder.name
        self.label_graph_ = graph
        self._label_sets, self._points = tuned
        for name in ("history_", "n_iter_", "best_epoch_"):
            self.__dict__.pop(name, None)
        if NETWORK in fitted.ensemble.voters:
            first = fitted.ensemble.voters[NETWORK].members[0]
            self.history_ = first.net.history[:]
            self.n_iter_ = len(self.history_)
            self.best_epoch_ = first.best_epoch
        self._ensemble = ensemble

    def __sklearn_is_fitted__(self):
        return "_ensemble" in vars(self)

    def _tunes_on_all_rows(self):
        return not is_share(self.get_params(deep=False).get("cv", EnsembleSettings.cv))

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
    def thresholds_(self):
        """Best global cut per metric on the held-out rows."""
        check_is_fitted(self)
        return {} if self._points is None else self._points.thresholds

    @property
    def decision_rules_(self):
        """For each decision, the fitted rule per metric."""
        check_is_fitted(self)
        return {} if self._points is None else self._points.rules

    @property
    def net_(self):
        """The fitted skorch net; with several members, the first."""
        if not self.__sklearn_is_fitted__() or NETWORK not in self._ensemble.voters:
            raise AttributeError(f"This {type(self).__name__} has no net_: no network was fitted.")
        return self._ensemble.voters[NETWORK].nets[0]

    @property
    def label_embeddings_(self):
        """Vectors of the labels inside the network, (n_labels, d_model)."""
        check_is_fitted(self)
        vectors = self.net_.module_.label_embeddings()
        if vectors is None:
            raise AttributeError(f"The network of {type(self).__name__} embeds no labels.")
        return vectors.detach().cpu().numpy()

    def _sk_visual_block_(self):
        return visual_block(self)

    def _check_rows(self, X):
        return self._validate_input(X, **self._ensemble.encoder.checks)

    def _encoded(self, X):
        return EncodedRows.of(self._ensemble.encoder, X)

    def _label_probabilities(self, rows):
        with torch_threads(self.get_params(deep=False).get("n_threads")):
            P = self._ensemble.probabilities(rows)
            if self._label_sets is not None:
                P = self._label_sets.mix(P)
        return inside(P)

    def _voter_logits(self, name, rows):
        """Log odds of all labels by one of the voters."""
        with torch_threads(self.get_params(deep=False).get("n_threads")):
            return self._ensemble.voters[name].logits(rows)

    def _predict_labels(self, P, rows):
        outcome = OutcomeSettings.from_params(self.get_params(deep=False))
        return self._decided(P, rows, outcome.metric, outcome.decision)

    def _decided(self, P, rows, metric, decision):
        similar = None
        if self._points.needs_rows(metric, decision):
            with torch_threads(self.get_params(deep=False).get("n_threads")):
                similar = self._ensemble.similar_rows(rows)
        return self._points.predict(P, metric, decision, similar)

    def _labels_at(self, P, X, metric, decision):
        return self._decided(P, self._encoded(self._check_rows(X)), metric, decision)


def _plan(settings, voters, trainer, report):
    """Say what is to be fitted; the network takes part if it is among the voters."""
    return EnsemblePlan(
        voters,
        trainer if NETWORK in dict(voters) else None,
        settings.ensemble.label_shortlist,
        n_jobs=settings.run.n_jobs,
        alone=partial(torch_threads, 1),
        report=report,
    )


def _named_data(X, Y, given, splits):
    """Return the data of a fit by the names of its arguments, and which rows are held out."""
    if given is not None:
        return {"X": X, "y": Y, "X_val": given[0], "y_val": given[1], "held-out rows": None}
    folds = [np.append(len(split.numbers), split.numbers) for split in splits]
    held_out = np.concatenate(folds)
    return {"X": X, "y": Y, "X_val": None, "y_val": None, "held-out rows": held_out}


def neural_part():
    """Return what files hold of a classifier with a network."""
    return Part(
        {
            **FITTED,
            "n_features_in_": "int",
            "input_type_": "str",
            "_ensemble": "Ensemble",
            "_label_sets": "LabelSetVote|NoneType",
            "_points": "OperatingPoints|NoneType",
            "label_graph_": "LabelGraph|NoneType",
            "history_": "list?",
            "n_iter_": "int?",
            "best_epoch_": "int?",
        },
        fit_only={
            "callbacks": nothing,
            "relations": lambda classifier: classifier.label_graph_,
            "cv": lambda classifier: EnsembleSettings.cv,
            "random_state": nothing,
        },
        left_out=FROM_TARGET,
        local=("checkpoint_dir",),
        tidy={"history_": plain_history},
        complete=_complete,
    )


def _complete(classifier):
    """Check, in a model file, that rows, voters, graph and labels have the sizes of each other."""
    complete_classifier(classifier)
    n_labels, graph = classifier._target_encoding.n_labels, classifier.label_graph_
    ensemble, sets = classifier._ensemble, classifier._label_sets
    encoder = ensemble.encoder
    require(graph is None or graph.n_labels == n_labels, "label graph and labels")
    require(len(ensemble.frequency) == n_labels, "label frequencies and labels")
    require(classifier.input_type_ == encoder.name, "input type")
    is_features = encoder.name == "features"
    require(not is_features or encoder.n_tokens_ == classifier.n_features_in_, "features")
    for voter in ensemble.voters.values():
        for net in getattr(voter, "nets", ()):
            require(net.module_.n_labels == n_labels, "network and labels")
            require(net.module__embedding == encoder.embedding(), "network and rows")
        shape = getattr(voter, "shape", (encoder.n_tokens_, n_labels))
        require(shape == (encoder.n_tokens_, n_labels), "voters, features and labels")
        require(getattr(voter, "n_labels_", n_labels) == n_labels, "voters and labels")
    require(sets is None or sets.model.sets.shape[1] == n_labels, "label sets and labels")
    is_multilabel = classifier._target_encoding.kind == "multilabel"
    require(is_multilabel == (classifier._points is not None), "decisions")
