"""The vote as nodes: voters, their weights, shortlists, and label sets.

What is written is what `sklearn_mrmp._ensemble` computes. Knows voters and ensembles by their
attributes, and numpy.
"""

import numpy as np

from sklearn_mrmp._onnx.matrix import linear_logits
from sklearn_mrmp._onnx.networks import write_network
from sklearn_mrmp._voters.choice import FREQUENCY, NETWORK
from sklearn_mrmp._voters.linear import LinearVoter

# As in `_ensemble.model` and `_decisions.label_set_model`: what probabilities and their log odds
# are kept inside of.
_MARGIN, _LOGIT_MARGIN = np.float32(1e-7), np.float32(1e-6)
_ONE = np.float32(1)  # in NumPy 1 a Python number turns a float32 into a float64
# Label sets are a dense matrix with a byte for each entry.
_MOST_SET_ENTRIES = 2**28


def check_voters(ensemble):
    """Raise ValueError for voters that no graph can hold."""
    for name, voter in ensemble.voters.items():
        if name != NETWORK and not isinstance(voter, LinearVoter):
            fitted = [n for n in ensemble.voters if n in (NETWORK, "linear") and n != name]
            raise ValueError(
                f"to_onnx writes the voters 'network' and 'linear' (a logistic regression), but "
                f"the classifier has {name!r} ({type(voter).__name__}). Fit with "
                f"voters={tuple(fitted or [NETWORK])!r}, or keep it in a model file "
                "(sklearn_mrmp.save)."
            )


def probabilities(op, ensemble, label_sets, rows):
    """Write the probability of each label, (B, L).

    Parameters
    ----------
    op : GraphWriter
        Where to.
    ensemble : Ensemble
        Voters and weights.
    label_sets : LabelSetVote or None
        What is mixed in.
    rows : object
        As `rows_of` makes it.
    """
    P = op("Sigmoid", _log_odds(op, ensemble, rows))
    if label_sets is not None:
        with op.scope("label_sets"):
            P = _mixed(op, label_sets, P)
    return op("Clip", P, _MARGIN, _ONE - _MARGIN)


def _log_odds(op, ensemble, rows):
    voters, weights, k = ensemble.voters, ensemble.weights, ensemble.n_candidates
    scored = {name: _linear(op, v, rows) for name, v in voters.items() if name != NETWORK}
    if NETWORK not in voters:
        return _weighted(op, ensemble, scored, weights)
    if k is None:
        parts = {NETWORK: _network(op, voters[NETWORK], rows), **scored}
        return _weighted(op, ensemble, parts, weights)
    scores = _weighted(op, ensemble, scored, ensemble.candidate_weights, shifted=False)
    _, candidates = op("TopK", scores, [k], n_outputs=2, axis=1)
    parts = {NETWORK: _network(op, voters[NETWORK], rows, candidates)}
    parts |= {name: op("GatherElements", Z, candidates, axis=1) for name, Z in scored.items()}
    decoded = _weighted(op, ensemble, parts, weights, candidates)
    return op("ScatterElements", scores, candidates, decoded, axis=1)


def _linear(op, voter, rows):
    with op.scope("linear"):
        Z = linear_logits(op, rows.matrix, voter.features_, voter.coef_)
        return op("Add", Z, voter.intercept_)


def _network(op, voter, rows, candidates=None):
    """Mean logits of the members."""
    logits = []
    for i, net in enumerate(voter.nets):
        with op.scope(f"network_{i}"):
            module = net.module_
            logits.append(write_network(op, net.architecture, module, rows.tokens, candidates))
    return op("Mean", *logits)


def _weighted(op, ensemble, logits, weights, candidates=None, shifted=True):
    """Weighted sum of the voters, of the frequency, and of shifts."""
    if weights is None:
        (Z,) = logits.values()
        return Z
    constant = np.float32(weights[FREQUENCY]) * ensemble.frequency
    if shifted and ensemble.shifts is not None:
        constant = constant + ensemble.shifts
    total = constant if candidates is None else op("Gather", constant, candidates)
    for name, Z in logits.items():
        total = op("Add", op("Mul", Z, np.float32(weights[name])), total)
    return total


def _mixed(op, vote, P):
    """Mix in the probabilities of labels under the distribution over label sets."""
    model, share = vote.model, np.float32(vote.share)
    if model.sets.shape[0] * model.sets.shape[1] > _MOST_SET_ENTRIES:
        raise ValueError(
            f"The classifier mixes in {model.sets.shape[0]} label sets of {model.sets.shape[1]} "
            "labels, which are too many for a graph. Fit with label_sets=False."
        )
    a, constants = model.coefficients[0], model.coefficients[1:] @ model.features
    inside = op("Clip", P, _LOGIT_MARGIN, _ONE - _LOGIT_MARGIN)
    odds = op("Div", inside, op("Sub", _ONE, inside))
    logits = op("Mul", op("Log", odds), np.float32(a))
    sets = op.cast(model.sets.toarray().astype(np.uint8), np.float32)
    scores = op("MatMul", logits, op("Transpose", sets, perm=(1, 0)))
    scores = op("Add", scores, constants.astype(np.float32))
    marginals = op("MatMul", op("Softmax", scores, axis=-1), sets)
    return op("Add", op("Mul", P, 1 - share), op("Mul", marginals, share))
