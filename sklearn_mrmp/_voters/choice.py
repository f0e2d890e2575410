"""Which voters there are by name, and what a user may write as ``voters=``.

Knows the voters beside the network; the network's name is known here, but not the network.
"""

from numbers import Integral

from sklearn_mrmp._voters.centroids import CentroidVoter
from sklearn_mrmp._voters.estimator import EstimatorVoter
from sklearn_mrmp._voters.linear import LinearVoter
from sklearn_mrmp._voters.neighbors import NeighborVoter

NETWORK = "network"
# The share of rows with a label counts beside the voters, under this name.
FREQUENCY = "frequency"

# A regression per label takes about a hundred sparse products of this many multiplications (ten
# minutes of a processor), and several arrays of this many weights (64 MB each).
_REGRESSION_PRODUCTS = 10_000_000_000
_REGRESSION_WEIGHTS = 2**24


def linear_voter(rows, n_labels):
    """Return a regression per label, or centroids where there are too many labels for that."""
    bag = rows.bag
    is_small = bag.nnz * n_labels <= _REGRESSION_PRODUCTS
    fits = bag.shape[1] * n_labels <= _REGRESSION_WEIGHTS
    return LinearVoter() if is_small and fits else CentroidVoter()


def neighbor_voter(rows, n_labels):
    """Return a voter of the most similar training rows."""
    return NeighborVoter()


# Makes an unfitted voter of the training rows and the number of labels.
VOTERS = {"linear": linear_voter, "neighbors": neighbor_voter}


def check_voters(voters, label_shortlist=None):
    """Return the items of ``voters=`` as pairs of a name and None, or an estimator.

    A number of candidates needs the linear voter, which names them.

    Examples
    --------
    >>> check_voters(["network", "linear"])
    [('network', None), ('linear', None)]
    """
    known = (NETWORK, *VOTERS)
    pairs = []
    for item in voters:
        if isinstance(item, str) and item in known:
            pairs.append((item, None))
        elif _is_named_estimator(item):
            pairs.append(tuple(item))
        else:
            raise ValueError(
                f"voters must be names ({', '.join(known)}) or pairs (name, estimator), found "
                f"{item!r:.100}."
            )
    names = [name for name, _ in pairs]
    _check_names(names, {name for name, estimator in pairs if estimator is not None} & set(known))
    if isinstance(label_shortlist, Integral) and not {NETWORK, "linear"} <= set(names):
        raise ValueError(
            f"label_shortlist={label_shortlist} needs 'network' and 'linear' among the voters: the "
            "one decodes the candidates that the other names. Use label_shortlist=None."
        )
    return pairs


def _is_named_estimator(item):
    is_pair = isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)
    return is_pair and hasattr(item[1], "fit")


def _check_names(names, taken):
    if not names:
        raise ValueError("voters is empty; name at least one voter, such as 'network'.")
    twice = {name for name in names if names.count(name) > 1}
    if twice or taken or FREQUENCY in names:
        wrong = sorted(twice | taken | ({FREQUENCY} & set(names)))
        raise ValueError(
            f"The name {wrong[0]!r} of a voter is taken; give each estimator a name of its own."
        )


def make_voters(pairs, rows, n_labels):
    """Return unfitted voters by name, without the network."""
    return {
        name: VOTERS[name](rows, n_labels) if estimator is None else EstimatorVoter(estimator)
        for name, estimator in pairs
        if name != NETWORK
    }
