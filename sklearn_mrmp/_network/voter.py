"""The network as a voter: trained members, and how they are trained for a split.

Knows training, shortlists and the face of voters; nothing of targets or decisions.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._checkpoints.run import CheckpointRun
from sklearn_mrmp._host.report import SILENT, Report
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._host.world import ALONE, World
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._network.attribution import NetworkAttributor, can_attribute
from sklearn_mrmp._network.batches import TokenDataset
from sklearn_mrmp._network.told_training import can_learn_told, forget_told, learn_told
from sklearn_mrmp._network.training import NetworkRecipe, TrainedNetwork, train_network
from sklearn_mrmp._voters.choice import NETWORK
from sklearn_mrmp._voters.shortlist import training_shortlist


@dataclass(frozen=True, eq=False)
class NetworkVoter:
    """Trained networks, whose logits are averaged.

    Attributes
    ----------
    members : list of TrainedNetwork
        At least one that was trained for a whole epoch, if `has_learned`.
    interrupted : bool
        Whether the user stopped a training.
    """

    decodes_candidates = True

    members: list
    interrupted: bool = False

    @property
    def nets(self):
        """The skorch nets."""
        return [member.net for member in self.members]

    @property
    def has_learned(self):
        """Whether it was trained for a whole epoch."""
        return bool(self.members) and self.members[-1].net.n_epochs_done > 0

    def finished(self):
        """Return the same without the memory of how the run ended."""
        return NetworkVoter([replace(member, interrupted=False) for member in self.members])

    @staticmethod
    def joined(voters):
        """Return one voter with the members of several."""
        return NetworkVoter([member for voter in voters for member in voter.members])

    def logits(self, rows, candidates=None, told=None):
        """Mean logits of the members for all labels, or for each row's candidates.

        Members that read told labels take what is told of the rows, a csr_array of 1 and -1.
        """
        first, *others = self.nets
        given = (candidates,) if told is None else (candidates, told)
        total = first.label_logits(rows.tokens, *given)
        for net in others:
            total += net.label_logits(rows.tokens, *given)
        return total / np.float32(len(self.members))

    @property
    def reads_told(self):
        """Whether all members read told labels."""
        return all(net.module_.reads_told for net in self.nets)

    def forget_told(self):
        """Take from the members what reads told labels, in place; nothing else changes."""
        for net in self.nets:
            if net.module_.reads_told:
                forget_told(net)

    @property
    def finds_sets(self):
        """Whether there is one network, and it finds label sets."""
        return len(self.members) == 1 and self.nets[0].module_.finds_sets

    def most_probable_sets(self, rows):
        """Most probable label sets where they are found, bool (n_samples, n_labels)."""
        return self.nets[0].most_probable_sets(rows.tokens)

    def attributor(self):
        """Return what attributes logits to tokens; None if these networks have no gradients."""
        if not all(can_attribute(net.module_) for net in self.nets):
            return None
        return NetworkAttributor(self.nets)


@dataclass(frozen=True, eq=False)
class NetworkTrainer:
    """Trains the networks of a split.

    Attributes
    ----------
    recipe : NetworkRecipe
        What to train, and how.
    learn_graph : callable
        Label graph, or None, of the labels of training rows and what these count.
    seed : int
        Seed of the first member; the others count on from it.
    n_members : int
        Networks, trained from different seeds.
    checkpoints : CheckpointRun
        Gives each training a checkpoint of its own.
    report : Report
        Says how it goes.
    stage : str
        Names the checkpoints.
    scorer : Voter or None
        Names candidates of training rows.
    n_candidates : int or None
        How many; None decodes every label.
    first_try : NetworkRecipe or None
        A short training that is tried first.
    prefix : str
        Begins the names of checkpoints, so that those of a short training are its own.
    world : World
        The processes that train each network together.
    starts : list of Start
        For each member the trained network that it goes on from; none draws weights.
    """

    recipe: NetworkRecipe
    learn_graph: Callable
    seed: int
    n_members: int
    checkpoints: CheckpointRun
    report: Report = SILENT
    stage: str = "train"
    scorer: object = None
    n_candidates: int | None = None
    first_try: NetworkRecipe | None = None
    prefix: str = ""
    world: World = ALONE
    starts: list = field(default_factory=list)

    def short(self):
        """Return the trainer of the short training, or None."""
        if self.first_try is None:
            return None
        return replace(self, recipe=self.first_try, first_try=None, prefix="short-")

    def for_split(self, number, n_splits, ensemble):
        """Return the trainer of a split, with the ensemble that names its candidates."""
        stage = "train" if n_splits == 1 else f"fold-{number}"
        return replace(
            self,
            starts=self.starts[number * self.n_members :][: self.n_members],
            stage=self.prefix + stage,
            report=self.report.one_of("fold", number, n_splits),
            seed=self.seed + number * self.n_members,
            scorer=ensemble.voters.get("linear"),
            n_candidates=ensemble.n_candidates,
        )

    def alone(self):
        """Return a trainer for a process of its own: no bar that others would write into."""
        run = replace(self.recipe.run, progress_bar=False)
        return replace(self, recipe=replace(self.recipe, run=run), report=self.report.alone())

    def reporting(self, report):
        """Return the same trainer with another report."""
        return replace(self, report=report)

    def fit(self, rows, Y, rows_valid, Y_valid, weights=None, weights_valid=None):
        """Train the members; what an interrupted one had learned is kept."""
        train = self._dataset(rows, Y, weights)
        valid = self._dataset(rows_valid, Y_valid, weights_valid)
        members = []
        for trained in self._trained(rows.encoder, train, valid, self.learn_graph(Y, weights)):
            if trained.interrupted and members and not trained.net.n_epochs_done:
                return NetworkVoter(members, interrupted=True)  # the members before it will do
            members.append(trained)
            if trained.interrupted:
                break
        return NetworkVoter(members, interrupted=members[-1].interrupted)

    def _trained(self, *data):
        """Members in their order: one after the other, or several in processes of their own."""
        n_jobs = self.recipe.run.n_jobs
        if self.n_members == 1 or effective_n_jobs(n_jobs) == 1:
            return (self._train(*data, member) for member in range(self.n_members))
        train = delayed(self.alone()._train_alone)
        return Parallel(n_jobs=n_jobs)(train(*data, member) for member in range(self.n_members))

    def _train_alone(self, *data_and_member):
        with torch_threads(self.recipe.run.n_threads or 1):
            return self._train(*data_and_member)

    def refit(self, ensemble, rows, Y, weights=None):
        """Train every member anew on all rows, for the number of epochs that was best for it.

        Parameters
        ----------
        ensemble : Ensemble
            With the members trained before; its other voters are fitted on all rows.
        rows : EncodedRows
            All rows.
        Y : csr_array
            Their labels.
        weights : EntryWeights, default=None
            What the entries of `Y` count.

        Returns
        -------
        voter : NetworkVoter
            A new one.
        """
        report = self.report.at("refit")
        trainer = replace(self.for_split(0, 1, ensemble), stage="refit", report=report)
        dataset, members = trainer._dataset(rows, Y, weights), []
        graph = self.learn_graph(Y, weights)
        for member, before in enumerate(ensemble.voters[NETWORK].members):
            # A schedule that was trained to its end is the whole schedule of more rows, too.
            n_stop = before.best_epoch if before.returned_to_best else None
            members.append(trainer._train(rows.encoder, dataset, None, graph, member, n_stop))
            if members[-1].interrupted:
                break
        return NetworkVoter(members, interrupted=members[-1].interrupted)

    def learn_told(self, voter, rate, rows, Y, weights=None):
        """Teach trained members to read told labels, in place, where they can learn it.

        Parameters
        ----------
        voter : NetworkVoter
            With the members.
        rate : float
            Mean share of a row's labels that are told.
        rows, Y, weights
            What they were trained on.
        """
        if not all(can_learn_told(net) for net in voter.nets):
            return
        dataset = self._dataset(rows, Y, weights)
        training = self.recipe.training.resolved(dataset.rows)
        with self.report.stage("network: learned to read told labels"):
            for member, net in enumerate(voter.nets):
                seed = (self.seed + member) % np.iinfo(np.int32).max
                learn_told(net, dataset, rate, training, seed)

    def _dataset(self, rows, Y, weights):
        shortlist = None
        if self.n_candidates is not None:
            shortlist = training_shortlist(self.scorer, rows, Y, self.n_candidates)
        return TokenDataset(rows.tokens, Y, shortlist, weights)

    def _train(self, encoder, train, valid, graph, member, n_stop=None):
        name = self.stage if member == 0 else f"{self.stage}-{member}"
        return train_network(
            self.recipe,
            encoder,
            train,
            valid,
            graph,
            n_stop=n_stop,
            seed=(self.seed + member) % np.iinfo(np.int32).max,
            checkpoint=self.checkpoints.stage(name),
            report=self.report.one_of("member", member, self.n_members),
            warns_if_slow=name.removeprefix(self.prefix) in ("train", "fold-0"),
            world=self.world,
            start=self.starts[member] if self.starts else None,
        )


def _complete(voter):
    """Check, in a model file, that there are networks."""
    members = voter.members
    require(isinstance(members, list) and len(members) > 0, "networks")
    require(all(isinstance(member, TrainedNetwork) for member in members), "networks")


NetworkVoter._model_part = Part(complete=_complete)
