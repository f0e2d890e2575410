"""From fitted voters to an `Explanation`: the parts of each label, and what is inside of them.

Knows voters by their methods ``terms``, ``nearest_rows`` and ``attributor``; one that has none of
them is known by its vote alone.
"""

from itertools import groupby

import numpy as np

from sklearn_mrmp._explain.terms import LinkedLabels, Terms
from sklearn_mrmp._explain.value import Explanation, LabelExplanation
from sklearn_mrmp._explain.voting import LABEL_SETS, TOLD

_NO_GRADIENT = (
    "{}: this network searches for label sets, which has no gradient, so that only its vote as a "
    "whole is known."
)
_NO_WEIGHT = "{}: its weight in the vote is 0."
_ESTIMATOR = "{}: of this voter only its vote as a whole is known."


class Gatherer:
    """Puts an explanation together.

    Parameters
    ----------
    parts : RowParts
        What the log odds are the sum of.
    names : ColumnNames or TextNames
        What columns and tokens are called.
    label_names : sequence of str
        Names of the labels.
    graph : LabelGraph or None
        The label graph.
    P : ndarray of shape (n_samples, n_labels)
        What ``predict_proba`` says.
    inside : bool, default=True
        Whether to look into the parts.
    """

    def __init__(self, parts, names, label_names, graph, P, inside=True):
        self.parts, self.names, self.label_names = parts, names, label_names
        self.linked, self.P = LinkedLabels(graph), P
        self.voters = dict(parts.model.ensemble.voters) if inside else {}
        self.attributors = {
            name: voter.attributor()
            for name, voter in self.voters.items()
            if hasattr(voter, "attributor")
        }

    def explanation(self, pairs):
        """Explain pairs of a row and a label, both numbers, in the order of the rows."""
        items = []
        for row, of_row in groupby(pairs, key=lambda pair: pair[0]):
            items += self._row(row, [label for _, label in of_row])
        return Explanation(items)

    def _row(self, row, labels):
        parts = {label: self.parts.parts(row, label) for label in labels}
        attributed = self._attributed(row, parts)
        for label in labels:
            inside, notes = {}, []
            told = self.parts.is_told(row, label)
            for name in () if told else parts[label]:
                found = attributed.get((name, label))
                if found is None:
                    found = self._inside(name, row, label, parts[label], notes)
                if found is not None:
                    inside[name] = found
            if told:
                notes.append("This label was told.")
            yield LabelExplanation(
                row,
                str(self.label_names[label]),
                float(self.P[row, label]),
                parts[label],
                inside,
                self.linked.of(label, self.P[row]),
                tuple(notes),
                self.names.text(row),
            )

    def _inside(self, name, row, label, parts, notes):
        """Return what is inside of a part, or None."""
        voter = self.voters.get(name)
        if hasattr(voter, "terms"):
            return self._linear(voter, row, label, self._vote(name, row, label), parts[name])
        if hasattr(voter, "nearest_rows"):
            told, factor = self.parts.told_row(row), getattr(self.parts.model.told, "factor", 1.0)
            return voter.nearest_rows(self.parts.rows, row, label, told, factor)
        if voter is not None:
            notes.append(self._reason(name).format(name))
        if not self.voters:
            return None
        if name == TOLD:
            return self._told(row, label, parts[name])
        return self._label_sets(row, label, parts) if name == LABEL_SETS else None

    def _reason(self, name):
        """Say why nothing is known of the inside of a voter."""
        if name not in self.attributors:
            return _ESTIMATOR
        return _NO_GRADIENT if self.attributors[name] is None else _NO_WEIGHT

    def _vote(self, name, row, label):
        return self.parts.votes_about(row, label)[name]

    def _linear(self, voter, row, label, vote, value):
        columns, values, constant = voter.terms(self.parts.rows, row, label)
        names, spans = self.names.of_columns(row, columns)
        kind = "columns" if self.names.kind == "tokens" else self.names.kind
        return _terms(kind, names, vote.weight * values, vote.weight * constant, value, spans)

    def _attributed(self, row, parts):
        """Return the terms of networks in the labels of a row, by name of the voter and label."""
        found = {}
        for name, attributor in self.attributors.items():
            # Gradients take long, and nothing comes of them where a vote does not count.
            voted = [label for label in parts if self._counts(name, row, label)]
            if attributor is None or not voted:
                continue
            tokens = self.parts.rows.tokens.take(np.array([row]))
            places, candidates = self._places(row, voted)
            attribution = attributor.attribute(tokens, places, candidates)
            names, spans, groups = self.names.of_tokens(row)
            for label, shares, baseline in zip(
                voted, attribution.values, attribution.baseline, strict=True
            ):
                weight = self._vote(name, row, label).weight
                values = weight * np.bincount(groups, shares, minlength=len(names))
                value = parts[label][name]
                found[name, label] = _terms(
                    self.names.kind, names, values, weight * float(baseline), value, spans
                )
        return found

    def _counts(self, name, row, label):
        """Whether a voter votes about a label with a weight above 0."""
        if self.parts.is_told(row, label):
            return False
        vote = self.parts.votes_about(row, label).get(name)
        return vote is not None and vote.weight > 0

    def _places(self, row, labels):
        """Where labels stand among those that the network decodes of a row, and these."""
        candidates = self.parts.votes.candidates
        if candidates is None:
            return labels, None
        own = candidates[[row]]
        return [int(np.flatnonzero(own[0] == label)[0]) for label in labels], own

    def _told(self, row, label, value):
        terms = self.parts.told_terms(row, label)
        names = [what if isinstance(what, str) else self.label_names[what] for what, _ in terms]
        values = np.array([value for _, value in terms])
        return _terms("labels", np.array(names, dtype=object), values, 0.0, value)

    def _label_sets(self, row, label, parts):
        before = sum(value for name, value in parts.items() if name != LABEL_SETS)
        labels, values = self.parts.effect(row).terms(label, before)
        names = np.asarray(self.label_names, dtype=object)[labels]
        return _terms("labels", names, values, 0.0, parts[LABEL_SETS])


def _terms(kind, names, values, baseline, value, spans=None):
    """Return terms that add up to a value, whatever is missing being the rest."""
    residual = float(value - values.sum() - baseline)
    return Terms(kind, names, values, baseline, residual, spans)
