"""One fit: from checked rows and labels to the voters, their weights and the decisions.

The steps that every classifier with a network shares: split the rows, learn the label graph, fit
the voters and weigh them, tune the decisions, fit on all rows. The estimator checks what it was
given before, and stores what comes of it afterwards. Knows the rooms below; no estimator.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sklearn_mrmp._checkpoints.run import CheckpointRun
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._ensemble.fitting import EnsemblePlan, fit_ensemble
from sklearn_mrmp._ensemble.gain import VoteGain
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._ensemble.refitting import with_all_rows
from sklearn_mrmp._ensemble.row_marks import TRAINED, RowMarks, row_checksums
from sklearn_mrmp._ensemble.splits import is_share, make_splits
from sklearn_mrmp._ensemble.told import ToldVote
from sklearn_mrmp._ensemble.told_tuning import ToldPlan
from sklearn_mrmp._graph.lifts import label_lifts, linked
from sklearn_mrmp._graph.resolve import GraphLearner, KnownGraph
from sklearn_mrmp._graph.value import LabelGraph
from sklearn_mrmp._host.interrupts import InsistedInterrupt, finished
from sklearn_mrmp._host.report import Report
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._host.world import ALONE, World
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._network.architecture import Architecture
from sklearn_mrmp._network.training import NetworkRecipe, TrainedNetwork
from sklearn_mrmp._network.voter import NetworkTrainer
from sklearn_mrmp._neural.fit_settings import FitSettings
from sklearn_mrmp._neural.more_rows.earlier import EarlierFit
from sklearn_mrmp._neural.out_of_fold import in_row_order
from sklearn_mrmp._neural.tuning import tune_decisions
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._targets import TargetEncoding
from sklearn_mrmp._version import __version__
from sklearn_mrmp._voters.choice import NETWORK, check_voters


@dataclass(frozen=True, eq=False)
class Learned:
    """What comes of a fit.

    Attributes
    ----------
    ensemble : Ensemble
        Who votes in the end.
    graph : LabelGraph or None
        The label graph; with several folds that of all rows.
    label_sets : LabelSetVote or None
        The distribution over label sets that is mixed in.
    points : OperatingPoints or None
        The decisions; None for several classes, which exclude each other: the largest wins.
    network : TrainedNetwork or None
        The first network that was trained on rows without the held-out ones.
    gain : VoteGain or None
        What the network adds to the vote of the others.
    interrupted : bool
        Whether the user stopped it after something had been learned.
    told : ToldVote or None
        What told labels say of the others; None for a vector of classes and for a single label.
    marks : RowMarks or None
        Which rows the networks were trained on, for a fit that goes on from this one.
    oof : ndarray of shape (n_samples, n_labels), float32, or None
        With folds, the probabilities of each row by voters that were not fitted on it.
    """

    ensemble: Ensemble
    graph: LabelGraph | None
    label_sets: LabelSetVote | None
    points: OperatingPoints | None
    network: TrainedNetwork | None
    gain: VoteGain | None
    interrupted: bool
    told: ToldVote | None = None
    oof: np.ndarray | None = None
    marks: RowMarks | None = None


@dataclass(frozen=True, eq=False)
class Lesson:
    """Checked rows and labels, and how to learn from them; `learn` does.

    Attributes
    ----------
    settings : FitSettings
        The parameters.
    architecture : Architecture
        The network.
    encoder : input kind
        Not fitted.
    target : TargetEncoding
        What the labels are.
    X, Y : {ndarray, csr_array}
        Rows and 0/1 labels.
    weights : EntryWeights or None
        What the entries of `Y` count.
    given : (X, Y, EntryWeights or None), or None
        Held-out rows that the caller gave.
    random_state : int, RandomState instance or None
        As the caller gave it.
    report : Report
        Says what is being done.
    known_rate : float or None
        Mean share of labels that are told where the vote learns to read told labels.
    world : World
        The processes that learn together.
    earlier : EarlierFit or None
        The fit that this one goes on from, with its labels matched.
    """

    settings: FitSettings
    architecture: Architecture
    encoder: object
    target: TargetEncoding
    X: object
    Y: object
    weights: EntryWeights | None
    given: tuple | None
    random_state: object
    report: Report
    known_rate: float | None = None
    world: World = ALONE
    earlier: EarlierFit | None = None

    def learn(self):
        """Do all steps.

        Returns
        -------
        learned : Learned
        """
        folder = self.settings.run.checkpoint_dir
        checkpoints = CheckpointRun(folder, __version__, self.world)
        random_state = checkpoints.random_state(self.random_state)
        with self.report.stage("rows: encoded and split"):
            splits = self._splits(random_state)
        with self.report.stage("label graph: learned"):
            labels = (self.Y, self.weights)
            if len(splits) == 1:
                labels = splits[0].Y, splits[0].weights
            graph = self._learn_graph(*labels)
        checkpoints.claim(self.settings.learned_with, self._named_data(splits), graph)
        learn_graph = self._learn_graph if len(splits) > 1 else KnownGraph(graph)
        plan = self._plan(learn_graph, graph, random_state, checkpoints, len(splits))
        marks = self._marks(splits)
        with torch_threads(self.settings.run.n_threads):
            with self.report.task("fit-ensemble", plan.n_trainings(len(splits))) as report:
                fitted = fit_ensemble(plan.reporting(report), splits)
            del splits  # the copies of their rows
            keep = plan.network is not None and not fitted.interrupted
            with self.report.task("tune-decisions"):
                tuned, stopped = self._finished(partial(self._tune_decisions, fitted), keep)
            *tuned, P_held_out = tuned
            ensemble, interrupted = fitted.ensemble, fitted.interrupted or stopped
            with self.report.task("fit-on-all-rows", plan.n_trainings(1)) as report:
                if self.given is None:
                    ensemble, interrupted = self._use_all_rows(fitted, interrupted, report)
                keep = plan.network is not None and not interrupted
                told, stopped = self._finished(partial(self._told, plan, fitted, ensemble), keep)
        network = fitted.ensemble.voters.get(NETWORK)
        first = None if network is None else network.members[0]
        oof = self._out_of_fold(fitted.numbers, P_held_out)
        ended = interrupted or stopped
        return Learned(ensemble, graph, *tuned, first, fitted.gain, ended, told, oof, marks)

    def _finished(self, step, keep):
        """Run a step to its end; all processes have the first one's answer whether to stop."""
        result, stopped = finished(step, keep=keep)
        return result, self.world.agree(stopped)

    @cached_property
    def _rows(self):
        """All rows, with an encoder that the splits fit."""
        weights = None if self.weights is None else self.weights.rows
        return EncodedRows.of(self.encoder, self.X, weights)

    @cached_property
    def _learn_graph(self):
        names = self.target.label_names
        return GraphLearner(**self.settings.graph.as_dict(), label_names=names)

    def _splits(self, random_state):
        cv, is_vector = self.settings.ensemble.cv, not self.target.is_matrix
        known_parts, seen = None, None if self.earlier is None else self.earlier.marks
        if seen is not None:
            known_parts = seen.parts_of(self._checksums)
        data = self._rows, self.Y, self.given
        how = cv, random_state, is_vector, self.weights, self._earlier_encoder, known_parts
        return make_splits(*data, *how)

    @property
    def _earlier_encoder(self):
        return None if self.earlier is None else self.earlier.encoder

    @cached_property
    def _checksums(self):
        return row_checksums(self._rows.canonical)

    def _marks(self, splits):
        """Say which rows the networks are trained on, if another fit is to go on from this one."""
        has_network = NETWORK in dict(check_voters(self.settings.ensemble.voters, None))
        if not self.settings.training.warm_start or not has_network:
            return None
        parts = np.full(self.Y.shape[0], TRAINED, dtype=np.int32)
        if self.given is None and not self.settings.outcome.refit:
            for number, split in enumerate(splits):
                parts[split.numbers] = number
        return RowMarks.of(self._checksums, parts, self.earlier and self.earlier.marks)

    def _named_data(self, splits):
        """Return the data by the names of its arguments, and which rows are held out."""
        weights = self.weights or EntryWeights()
        data = {"X": self.X, "y": self.Y, "X_val": None, "y_val": None, "held-out rows": None}
        data |= {"sample_weight": weights.rows, "label_weight": weights.labels}
        data |= {"unknown labels": weights.known, "unknown labels of y_val": None}
        if self.earlier is not None:
            data |= {"weights of the earlier fit": self.earlier.weights_digest}
        if self.given is not None:
            X_val, y_val, weights = self.given
            known = None if weights is None else weights.known
            return data | {"X_val": X_val, "y_val": y_val, "unknown labels of y_val": known}
        folds = [np.append(len(split.numbers), split.numbers) for split in splits]
        return data | {"held-out rows": np.concatenate(folds)}

    def _plan(self, learn_graph, graph, random_state, checkpoints, n_splits):
        """Say what is to be fitted; the network takes part if it is among the voters."""
        settings = self.settings
        ensemble, run = settings.ensemble, settings.run
        voters = check_voters(ensemble.voters, ensemble.label_shortlist)
        recipe = NetworkRecipe(self.architecture, settings.network, settings.training, run)
        first = None
        if settings.first_try is not None:
            network, training = settings.first_try
            first = replace(recipe, network=network, training=training)
        seed = random_state.randint(np.iinfo(np.int32).max)
        trainer = NetworkTrainer(
            recipe,
            learn_graph,
            seed=seed,
            n_members=ensemble.n_members,
            checkpoints=checkpoints,
            report=self.report,
            first_try=first,
            world=self.world,
            starts=self._starts(n_splits * ensemble.n_members),
        )
        return EnsemblePlan(
            voters,
            trainer if NETWORK in dict(voters) else None,
            ensemble.label_shortlist,
            n_jobs=run.n_jobs,
            alone=partial(torch_threads, run.n_threads or 1),
            report=self.report,
            told=self._told_plan(graph, seed),
            world=self.world,
        )

    def _starts(self, n_networks):
        return [] if self.earlier is None else self.earlier.starts(n_networks)

    def _told_plan(self, graph, seed):
        """Say what is to be learned of told labels, if there is anything."""
        if not self.target.is_matrix or self.target.n_labels == 1:
            return None
        learn_lifts = None if graph is None else partial(label_lifts, linked(graph))
        return ToldPlan(learn_lifts, self.known_rate, seed)

    def _told(self, plan, fitted, ensemble):
        """Learn what told labels say from the rows that the voters of the ensemble have seen."""
        if fitted.told is None or ensemble is fitted.ensemble:
            return fitted.told
        rows = self._rows
        if ensemble.encoder is not rows.encoder:
            rows = EncodedRows(ensemble.encoder, rows.canonical, rows.X)
        with self.report.at("refit").stage(f"told labels: learned from {len(rows)} rows"):
            return plan.told.on_all_rows(fitted.told, ensemble, rows, self.Y, self.weights)

    def _tune_decisions(self, fitted):
        """Tune label sets and rules of all metrics on the votes for held-out rows.

        Returns
        -------
        label_sets : LabelSetVote or None
        points : OperatingPoints or None
        P : ndarray
            Probabilities of the held-out rows.
        """
        if self.target.kind == "multiclass":
            return None, None, fitted.P
        wants_sets = self.settings.outcome.label_sets and self.Y.shape[1] > 1
        forget = self.given is not None
        return tune_decisions(fitted, self._others(fitted), wants_sets, forget, self.report)

    def _out_of_fold(self, numbers, P):
        """Probabilities of held-out rows in the order of all rows; None without folds."""
        if self.given is not None or is_share(self.settings.ensemble.cv):
            return None
        return in_row_order(P, numbers, self.Y.shape[0])

    def _others(self, fitted):
        """Labels of training rows that no vote was kept for, and what these count; or None."""
        if self.given is not None:
            return self.Y, self.weights
        others = np.setdiff1d(np.arange(self.Y.shape[0]), fitted.numbers)
        if not len(others):
            return None
        return self.Y[others], None if self.weights is None else self.weights.take(others)

    def _use_all_rows(self, fitted, interrupted, report):
        """Let the held-out rows teach, too; decisions stay those tuned on them.

        Returns
        -------
        ensemble : Ensemble
            After Ctrl-C that of fewer rows, as it is.
        interrupted : bool
        """
        ensemble, trainer = fitted.ensemble, fitted.trainer
        try:
            if self.settings.outcome.refit and trainer and not interrupted:
                return self._refit(trainer.reporting(report), ensemble)
            return self._with_all_rows(ensemble, self._rows), interrupted
        except InsistedInterrupt:
            raise
        except KeyboardInterrupt:
            if trainer is None or interrupted or not self.world.is_alone:
                raise
            return ensemble, True

    def _with_all_rows(self, ensemble, rows):
        return with_all_rows(ensemble, rows, self.Y, self.report, self.weights, self.world)

    def _refit(self, trainer, fitted):
        """Train the network, too, anew on all rows; after Ctrl-C the one from before is used."""
        encoder = self.encoder.fresh()
        before = self._rows
        rows = EncodedRows(encoder, before.canonical, before.X, before.weights)
        rows.fit_encoder(self._earlier_encoder)
        ensemble = self._with_all_rows(replace(fitted, encoder=encoder), rows)
        network = trainer.refit(ensemble, rows, self.Y, self.weights)
        if network.interrupted:
            return self._with_all_rows(fitted, self._rows), True
        if fitted.voters[NETWORK].reads_told:
            trainer = trainer.for_split(0, 1, ensemble)
            trainer.learn_told(network, self.known_rate, rows, self.Y, self.weights)
        return replace(ensemble, voters={**ensemble.voters, NETWORK: network}), False
