"""Batches: rows of similar length together, padded as little as possible.

Rows become torch tensors here and nowhere else. Knows `TokenRows`, numpy and torch.
"""

from functools import cached_property

import numpy as np
import torch
from torch.utils.data import Dataset

from sklearn_mrmp._numerics.rows import row_blocks
from sklearn_mrmp._numerics.told import random_telling

# Rows are sorted by length inside blocks of this many batches: little padding, yet every epoch
# mixes different rows.
_BATCHES_PER_BLOCK = 32
# Floats a prediction batch may have in its widest layer, and padding, in tokens, that costs about
# as much as one more batch: on a CPU, whose caches hold the former (8 MB), and elsewhere (256 MB).
_ON_CPU = (2**21, 2**9)
_ELSEWHERE = (2**26, 2**14)
_MOST_ROWS = 256
# Fewer floats, a dozen rows of a bag, are left to one thread: several take some milliseconds off
# them at best, and wait for each other far longer where other programs want the cores, too.
_FOR_ONE_THREAD = 2**18
# Batches that are predicted at once: at least about so many, unless they get this small.
_FEWEST_BATCHES, _FEWEST_ROWS = 8, 8


class TokenBatches:
    """Iterate over a data set of tokens in length-bucketed batches.

    Each pass draws a new order. The class has the signature skorch expects of an iterator.

    Parameters
    ----------
    dataset : TokenDataset
        Rows and targets.
    batch_size : int
        Rows per batch.
    rng : numpy.random.Generator, default=None
        Source of the order and of feature dropout; None keeps an order sorted by length and
        drops nothing, as validation wants it.
    feature_dropout : float, default=0.0
        Probability of leaving a token out, drawn anew each time a row is seen.
    n_skip : int, default=0
        Leave out this many batches at the start of the first pass; the others are those of a whole
        pass.
    takes_labels : bool, default=False
        Whether the network wants to see the targets as well, as ``targets``.
    share : (int, int), default=(0, 1)
        Which process this is, and how many there are: a batch has `batch_size` rows for each of
        them, in an order that is common to all, and this process gets its share of the rows. What
        is drawn for these rows is drawn by each process on its own.
    known_rate : float, default=None
        Mean share of the labels that are told to the network, as ``told``; drawn anew each time a
        row is seen. None tells nothing.
    """

    def __init__(
        self,
        dataset,
        batch_size,
        rng=None,
        feature_dropout=0.0,
        n_skip=0,
        takes_labels=False,
        share=(0, 1),
        known_rate=None,
    ):
        self.dataset = dataset
        self.batch_size = batch_size
        self.rng = rng
        self.feature_dropout = feature_dropout
        self.n_skip = n_skip
        self.takes_labels = takes_labels
        self.share = share
        self.known_rate = known_rate

    def __len__(self):
        return n_batches(len(self.dataset), self.batch_size, self.share[1])

    def __iter__(self):
        lengths = self.dataset.rows.lengths
        n_skip, self.n_skip = self.n_skip, 0
        batches = bucketed(lengths, self.batch_size * self.share[1], self.rng)
        rng = self._drawing()
        for i, chosen in enumerate(batches):
            chosen = share_of(chosen, *self.share, repeats=self.rng is not None)
            if not len(chosen):  # fewer validation rows than processes
                continue
            rows = self.dataset.rows.take(chosen)
            if self.feature_dropout and self.rng is not None:
                rows = rows.drop(self.feature_dropout, rng)
            labels, targets = self.dataset.targets(chosen, rng)
            if self.known_rate is not None:
                labels["told"] = self.dataset.telling(chosen, self.known_rate, rng)
            if i >= n_skip:  # skipped ones have drawn from `rng`, too
                if self.takes_labels:
                    labels["targets"] = targets[0]
                yield as_tensors(rows.padded()) | labels, targets

    def _drawing(self):
        """Return where the numbers for single rows come from, after the order has been drawn.

        Validation draws the same labels in every epoch, so that its losses can be compared.
        """
        rank, size = self.share
        if size == 1:
            return np.random.default_rng(0) if self.rng is None else self.rng
        seed = 0 if self.rng is None else self.rng.integers(2**32)
        return np.random.default_rng([seed, rank])


class TokenDataset(Dataset):
    """Token rows and their 0/1 targets, both ragged, as one data set.

    Parameters
    ----------
    rows : TokenRows
        Input.
    Y : csr_array of shape (n_samples, n_labels)
        Targets.
    shortlist : Shortlist, default=None
        Which labels each row decodes; None is all.
    weights : EntryWeights, default=None
        What the entries of `Y` count in the loss.
    """

    def __init__(self, rows, Y, shortlist=None, weights=None):
        self.rows = rows
        self.Y = Y
        self.shortlist = shortlist
        self.weights = weights

    @cached_property
    def _mean_total(self):
        """Mean of what the entries of a row count together, by which losses are divided."""
        n_samples, n_labels = self.Y.shape
        total = 0.0
        for block in row_blocks(n_samples, n_labels):
            counts = self.weights.take(block).in_loss()
            n_rows = block.stop - block.start
            total += np.broadcast_to(counts, (n_rows, n_labels)).sum(dtype=np.float64)
        return total / n_samples

    def __len__(self):
        return len(self.rows)

    def targets(self, chosen, rng):
        """Labels to decode for the chosen rows, and what they should be.

        Returns
        -------
        labels : dict
            ``candidates`` (B, k) where a shortlist names them.
        targets : tuple of (Tensor, Tensor or None), or with a float
            0/1 targets, float32, how many labels each stands for, and where entries differ in
            what they count the mean total of that.
        """
        Y = self.Y[chosen]
        if self.shortlist is None:
            targets, weights, labels = Y.toarray().astype(np.float32), None, None
        else:
            labels, weights = self.shortlist.draw(chosen, rng)
            targets = entries(Y, labels)
        places = {} if labels is None else {"candidates": torch.from_numpy(labels)}
        if self.weights is None:
            weights = None if weights is None else torch.from_numpy(weights)
            return places, (torch.from_numpy(targets), weights)
        counts = np.broadcast_to(self.weights.take(chosen).in_loss(), Y.shape)
        counts = (
            counts.copy() if labels is None else np.take_along_axis(counts, labels, 1) * weights
        )
        total = len(chosen) * self._mean_total
        return places, (torch.from_numpy(targets), torch.from_numpy(counts), total)

    def telling(self, chosen, rate, rng):
        """Tell random labels of the chosen rows: 1, -1 and 0, a float32 Tensor (B, L)."""
        known = None if self.weights is None else self.weights.take(chosen).known
        return told_tensor(random_telling(self.Y[chosen], rate, rng, known))


def told_tensor(told):
    """Turn what is told of rows, a csr_array of 1 and -1, into a float32 Tensor (B, L)."""
    return torch.from_numpy(told.toarray().astype(np.float32, copy=False))


def entries(Y, labels):
    """Entries of a 0/1 csr_array at labels (n_samples, k) of each row, float32.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> entries(csr_array([[0, 1, 0], [1, 0, 1]]), np.array([[1, 2], [1, 2]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    n_samples, n_labels = Y.shape
    firsts = n_labels * np.arange(n_samples, dtype=np.int64)[:, None]
    present = np.repeat(firsts[:, 0], np.diff(Y.indptr)) + Y.indices
    return np.isin(labels + firsts, present[Y.data != 0]).astype(np.float32)


def bucketed(lengths, batch_size, rng=None):
    """Cut rows into batches of similar length.

    Parameters
    ----------
    lengths : ndarray of shape (n_samples,)
        Tokens per row.
    batch_size : int
        Rows per batch; one batch may be smaller.
    rng : numpy.random.Generator, default=None
        Shuffles rows, then batches. None sorts all rows by length, longest first, so that a batch
        too large for memory fails at once.

    Returns
    -------
    batches : list of ndarray of int
        Row numbers; each row exactly once.
    """
    if rng is None:
        return _cut(np.argsort(-lengths, kind="stable"), batch_size)
    order = rng.permutation(len(lengths))
    batches = []
    for block in _cut(order, batch_size * _BATCHES_PER_BLOCK):
        batches += _cut(block[np.argsort(lengths[block], kind="stable")], batch_size)
    return [batches[i] for i in rng.permutation(len(batches))]


def n_batches(n_samples, batch_size, n_processes=1):
    """Count the batches of an epoch."""
    return -(-n_samples // (batch_size * n_processes))


def share_of(batch, rank, n_processes, repeats=True):
    """Rows of a batch that one of several processes looks at.

    Parameters
    ----------
    batch : ndarray of int
        Row numbers, at least one.
    rank, n_processes : int
        Which process, and of how many.
    repeats : bool, default=True
        Whether rows are repeated where there are fewer than processes, so that each has one; else
        some processes have none.

    Returns
    -------
    rows : ndarray of int

    Examples
    --------
    >>> share_of(np.array([7, 5, 3]), 0, 2).tolist(), share_of(np.array([7, 5, 3]), 1, 2).tolist()
    ([7, 3], [5])
    >>> share_of(np.array([7]), 1, 2).tolist()
    [7]
    """
    if repeats and len(batch) < n_processes:
        batch = np.resize(batch, n_processes)
    return batch[rank::n_processes]


def prediction_batches(rows, n_decoded, d_inner, device):
    """Cut rows into batches that fit the device, and that waste less than another would cost.

    Rows are taken in the order of their length, and a batch ends before its padding takes as long
    as one more batch: a few long rows would otherwise pad hundreds of short ones.

    Parameters
    ----------
    rows : TokenRows
        Encoded input.
    n_decoded, d_inner : int
        Labels that a row decodes, and inner width of the network.
    device : str
        Where they will be predicted.

    Returns
    -------
    batches : list of ndarray of int
        Row numbers, longest rows first; each row exactly once.
    """
    most_floats, most_padding = _ON_CPU if torch.device(device).type == "cpu" else _ELSEWHERE
    lengths, most_rows = rows.lengths, _MOST_ROWS
    if should_thread(rows, n_decoded, d_inner, device):
        most_rows = min(most_rows, max(_FEWEST_ROWS, -(-len(rows) // _FEWEST_BATCHES)))
    order, batches = np.lexsort((rows.fingerprints(), -lengths)), []
    while len(order):
        widest_layer = max(n_decoded, lengths[order[0]]) * d_inner
        size = min(max(most_floats // widest_layer, 1), most_rows)
        longest_first = lengths[order[:size]]
        padding = np.cumsum(longest_first[0] - longest_first)
        n_rows = np.searchsorted(padding, most_padding, side="right")
        batches.append(order[:n_rows])
        order = order[n_rows:]
    return batches


def should_thread(rows, n_decoded, d_inner, device):
    """Whether to predict several batches at once: on a CPU, when one would not hold all rows.

    However many threads there are: batches and bits do not depend on them.
    """
    return _floats_on_cpu(rows, n_decoded, d_inner, device) > _ON_CPU[0]


def suits_one_thread(rows, n_decoded, d_inner, device):
    """Whether the rows are so few that one thread of a CPU predicts them best."""
    return 0 < _floats_on_cpu(rows, n_decoded, d_inner, device) <= _FOR_ONE_THREAD


def _floats_on_cpu(rows, n_decoded, d_inner, device):
    """Floats of the widest layer for all rows; 0 on other devices."""
    if torch.device(device).type != "cpu":
        return 0
    return len(rows) * max(n_decoded, int(rows.lengths.max(initial=0))) * d_inner


def _cut(order, size):
    return [order[start : start + size] for start in range(0, len(order), size)]


def as_tensors(batch, device=None):
    """Arrays of a padded batch as tensors, by the same names."""
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    return tensors if device is None else {name: t.to(device) for name, t in tensors.items()}
