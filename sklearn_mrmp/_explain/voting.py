"""The parts of the log odds of single labels: votes, told labels, label sets, other classes.

What prediction adds up for all labels at once is taken apart here. Knows ensembles, what told
labels add, and label sets.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._ensemble.parts import plain_votes, told_terms, told_votes
from sklearn_mrmp._ensemble.told import ToldVote
from sklearn_mrmp._explain.label_sets import LabelSetEffect

# Names of parts besides those of voters.
TOLD, LABEL_SETS, OTHER_CLASSES = "told_labels", "label_sets", "other_classes"


@dataclass(frozen=True, eq=False)
class VotingModel:
    """What predicts.

    Attributes
    ----------
    ensemble : Ensemble
        Who votes.
    label_sets : LabelSetVote or None
        The label sets that are mixed in.
    told : ToldVote or None
        What told labels add to the vote.
    is_multiclass : bool
        Whether labels are classes that exclude each other, whose probabilities sum to 1.
    """

    ensemble: Ensemble
    label_sets: LabelSetVote | None
    told: ToldVote | None
    is_multiclass: bool = False


class RowParts:
    """Parts of the log odds of the labels of some rows.

    Parameters
    ----------
    model : VotingModel
        What predicts.
    rows : EncodedRows
        Rows.
    P : ndarray of shape (n_samples, n_labels)
        Their probabilities, before those of classes are normalised.
    told : csr_array of shape (n_samples, n_labels), default=None
        1 and -1 where a label is told to be there or not to be.
    """

    def __init__(self, model, rows, P, told=None):
        self.model, self.rows, self.P, self.told = model, rows, P, told
        self.votes = model.ensemble.votes(rows)
        self.P_alone = model.ensemble.combined(self.votes)
        self._effects, self._places = {}, {}
        if told is not None:
            self._tell(np.flatnonzero(np.diff(told.indptr)))

    def _tell(self, chosen):
        """Vote anew where something is told."""
        self._places = {int(row): place for place, row in enumerate(chosen)}
        self._some = sp.csr_array(self.told[chosen])
        if self.model.told is not None and len(chosen):
            arguments = (self.rows, self._some, chosen)
            votes = self.votes.take(chosen)
            self._doubted = self.model.told.doubted(self.model.ensemble, votes, *arguments)
            self._added = self.model.told.added(self.model.ensemble, self._doubted, *arguments)

    def told_row(self, row):
        """Return what is told of a row, a csr_array of shape (1, n_labels); None is nothing."""
        return self._some[[self._places[row]]] if row in self._places else None

    def is_told(self, row, label):
        """Whether it is told of a row that it has a label, or that it has not."""
        told = self.told_row(row)
        return told is not None and label in told.indices

    def votes_about(self, row, label):
        """Who votes about a label of a row, a dict of `PlainVote` by name."""
        ensemble, told = self.model.ensemble, self.model.told
        if told is None or row not in self._places:
            return plain_votes(ensemble, self.votes, row, label)
        votes = plain_votes(ensemble, self._doubted, self._places[row], label)
        return told_votes(told, votes)

    def told_terms(self, row, label):
        """Return what told labels add to the vote, a list of pairs; see `told_terms`."""
        if self.model.told is None or row not in self._places:
            return []
        place = self._places[row]
        return told_terms(self.model.told, self._added, self._some, place, label)

    def effect(self, row):
        """Return what label sets do to the labels of a row; None if there are none."""
        if self.model.label_sets is None:
            return None
        if row not in self._effects:
            told = self.told_row(row)
            told = None if told is None else told.toarray()[0]
            self._effects[row] = LabelSetEffect(self.model.label_sets, self.P_alone[row], told)
        return self._effects[row]

    def parts(self, row, label):
        """Return what adds up to the log odds of a label of a row, a dict of floats."""
        if self.is_told(row, label):
            return {TOLD: float(logit(np.float64(self.P[row, label])))}
        parts = {name: vote.value for name, vote in self.votes_about(row, label).items()}
        if terms := self.told_terms(row, label):
            parts[TOLD] = sum(value for _, value in terms)
        effect = self.effect(row)
        if effect is not None:
            parts[LABEL_SETS] = effect.change(label, sum(parts.values()))
        if self.model.is_multiclass:
            P = self.P[row].astype(np.float64)
            parts[OTHER_CLASSES] = float(logit(P[label] / P.sum())) - sum(parts.values())
        return parts
