"""What is chosen on the held-out rows of the first split: the voters' penalties, the candidates.

Knows voters by their methods; nothing of the network.
"""

from dataclasses import replace
from functools import partial

from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._ensemble.weights import vote_weights
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._voters.choice import make_voters
from sklearn_mrmp._voters.logistic import frequency_intercepts
from sklearn_mrmp._voters.shortlist import needs_shortlist, shortlist_size

# Candidates are weighed by what this many entries of held-out rows say.
_CANDIDATE_ENTRIES = 2**22


def choose_voters(plan, split):
    """Fit the voters beside the network, with all that is chosen on held-out rows.

    Parameters
    ----------
    plan : EnsemblePlan
        What to fit.
    split : Split
        Rows to fit on, and held-out rows.

    Returns
    -------
    ensemble : Ensemble
        Without the network.
    """
    voters = plan.world.once(partial(_fit_voters, plan, split))
    frequency = frequency_intercepts(split.Y, split.weights)
    ensemble = Ensemble(split.rows.encoder, voters, frequency)
    wanted = needs_shortlist(plan.label_shortlist, split.Y.shape[1])
    if plan.network is None or "linear" not in voters or not wanted:
        return ensemble
    with plan.report.stage("candidate labels: chosen"):
        find = partial(_candidates, ensemble, split, plan.label_shortlist)
        weights, size = plan.world.once(find)
    if size is None:
        return ensemble
    return replace(ensemble, candidate_weights=weights, n_candidates=size)


def _fit_voters(plan, split):
    voters = make_voters(plan.voters, split.rows, split.Y.shape[1])
    for name, voter in plan.report.each(voters.items(), "voters"):
        with plan.report.stage(f"{name} voter: fitted"):
            voters[name] = voter.fit(*split.train)
    return voters


def _candidates(ensemble, split, label_shortlist):
    """Weights of those who name candidates, and how many these are; None is all labels."""
    weights = _candidate_weights(ensemble, split)
    scorer = replace(ensemble, candidate_weights=weights)

    def scores(block):
        return scorer.scores(split.rows_valid.take(block))

    return weights, shortlist_size(label_shortlist, scores, split.Y_valid)


def _candidate_weights(ensemble, split):
    Y = split.Y_valid
    chosen = evenly_spaced(Y.shape[0], max(1, _CANDIDATE_ENTRIES // Y.shape[1]))
    rows = split.rows_valid if len(chosen) == Y.shape[0] else split.rows_valid.take(chosen)
    weights = None if split.weights_valid is None else split.weights_valid.take(chosen)
    # A single voter that names candidates is weighed against the frequency.
    return vote_weights(
        [
            (replace(votes, frequency=ensemble.frequency), truth)
            for votes, truth in ensemble.evidence(rows, Y[chosen], weights)
        ]
    )
