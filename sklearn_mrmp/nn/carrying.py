"""Weights of one network for another: training goes on where an earlier one has ended.

Labels may have been added and may be in another order, tokens may occur that did not occur before,
and the label graph may have changed. Knows the base class of networks, embeddings and torch.
"""

import torch

from sklearn_mrmp.nn.embedding import TokenEmbedding


@torch.no_grad()
def carry_over(network, earlier, labels):
    """Start a network from the weights of an earlier one of the same class and sizes, in place.

    What stays as it was drawn: entries of labels that are new, vectors of tokens that the earlier
    network has not been trained on, and weights that mean something else there.

    Parameters
    ----------
    network, earlier : LabelModule
        The network to start, and the one that was trained.
    labels : int64 Tensor of shape (L,)
        Number of each label in the earlier network; -1 for a new one.

    Raises
    ------
    ValueError
        When the networks do not fit each other; says in which weights.

    Examples
    --------
    >>> from sklearn_mrmp.nn import MrMPModule
    >>> rows = {"kind": "tokens", "n_tokens": 9}
    >>> earlier, network = MrMPModule(rows, 2, d_model=4), MrMPModule(rows, 3, d_model=4)
    >>> carry_over(network, earlier, torch.tensor([-1, 0, 1]))    # a new label comes first
    >>> torch.equal(network.bias[1:], earlier.bias)
    True
    """
    weights, tables = dict(earlier.named_parameters()), _token_tables(network)
    entries, entries_before = _entries(network, earlier, labels)
    strange = network.strangers(earlier)
    for name, weight in network.named_parameters():
        if name.startswith(strange):
            continue
        before = weights.get(name)
        if before is None:
            raise ValueError(f"the earlier network has no weights {name!r}")
        before = before.to(weight.device)
        if name in entries:
            before = _of_labels(weight, before, entries[name], entries_before[name], labels)
        if before.shape != weight.shape:
            raise ValueError(
                f"weights {name!r} are of shape {tuple(weight.shape)}, and were of shape "
                f"{tuple(before.shape)}"
            )
        if name in tables:  # a token that was not there in training has a vector of zeros
            before = torch.where(before.any(dim=1, keepdim=True), before, weight)
        weight.copy_(before)


def _entries(network, earlier, labels):
    """Entries of the labels in both networks; none are needed where labels are what they were."""
    n_before = earlier.n_labels
    is_same = len(labels) == n_before and bool((labels.cpu() == torch.arange(n_before)).all())
    found = network.label_entries(), earlier.label_entries()
    if None not in found:
        return found
    if not is_same:
        raise ValueError(f"{type(network).__name__} cannot go on with other labels")
    return {}, {}


def _token_tables(network):
    """Names of the weights that have a vector for each token."""
    return {
        f"{name}.{table}.weight"
        for name, part in network.named_modules()
        if isinstance(part, TokenEmbedding)
        for table in ("presence", "value")
    }


def _of_labels(weight, before, entries, entries_before, labels):
    """Put the entries of labels where these are now; those of new labels are as drawn."""
    (axis, places), (_, places_before) = entries, entries_before
    weight, before = weight.movedim(axis, 0), before.movedim(axis, 0)
    places, places_before, labels = (
        part.to(weight.device) for part in (places, places_before, labels)
    )
    if any(n > m for n, m in zip(before.shape[1:], weight.shape[1:], strict=True)):
        return before.movedim(0, axis)  # which is refused
    is_known, found = labels >= 0, weight.clone()
    # Where labels themselves are the width of their entries, what they did not have is nothing.
    wide = before.new_zeros(len(before), *weight.shape[1:])
    wide[(slice(None), *(slice(size) for size in before.shape[1:]))] = before
    found[places[is_known]] = wide[places_before[labels[is_known]]]
    # An entry of no label, such as the end of a sequence, is where it was.
    found[_others(places, len(weight))] = wide[_others(places_before, len(before))]
    return found.movedim(0, axis)


def _others(places, n_entries):
    is_label = torch.zeros(n_entries, dtype=torch.bool, device=places.device)
    is_label[places] = True
    return (~is_label).nonzero()[:, 0]
