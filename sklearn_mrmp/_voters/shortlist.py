"""Shortlists: which labels of a row the decoder works on, and how a part stands for all of them.

A cheap scorer names k candidates per row. In training a row's true labels are always among them,
and a random sample of the other labels, weighted up, keeps the loss an unbiased estimate of the
loss over all labels. numpy only; scorers are anything with ``logits(rows)``.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._numerics.rows import row_blocks
from sklearn_mrmp._numerics.topk import smallest_columns

# "auto" decodes every label of problems up to this size: there is little to save.
_AUTO_ALL_UP_TO = 256
# "auto" holds this share of the held-out rows' labels, within these bounds, in steps of 8.
_AUTO_RECALL = 0.9
_AUTO_BOUNDS = (32, 128)
# Labels sampled outside the shortlist, per candidate.
_SAMPLED_PER_CANDIDATE = 0.5


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Candidates of training rows, and the draw of labels to decode.

    Attributes
    ----------
    candidates : ndarray of shape (n_samples, k), int32
        Label numbers of each row, rising.
    n_labels : int
        Number of labels.
    """

    candidates: np.ndarray
    n_labels: int

    @property
    def n_sampled(self):
        """Labels drawn outside the candidates."""
        return max(1, round(_SAMPLED_PER_CANDIDATE * self.candidates.shape[1]))

    def draw(self, chosen, rng):
        """Draw the labels that rows decode this time.

        Parameters
        ----------
        chosen : ndarray of int
            Row numbers.
        rng : numpy.random.Generator
            Source of the sample.

        Returns
        -------
        labels : ndarray of shape (n_chosen, k + n_sampled), int64
            Candidates, then the sample (which may repeat labels).
        weights : ndarray of the same shape, float32
            How many labels each stands for; a row's weights sum to `n_labels`.
        """
        candidates = self.candidates[chosen].astype(np.int64)
        k = candidates.shape[1]
        n_others = self.n_labels - k
        # The q-th label that is no candidate is q plus the number of candidates before it.
        q = rng.integers(n_others, size=(len(chosen), self.n_sampled))
        gaps = candidates - np.arange(k)
        others = q + (gaps[:, :, None] <= q[:, None, :]).sum(axis=1)
        weights = np.ones((len(chosen), k + self.n_sampled), dtype=np.float32)
        weights[:, k:] = n_others / self.n_sampled
        return np.concatenate([candidates, others], axis=1), weights


def needs_shortlist(label_shortlist, n_labels):
    """Whether the `label_shortlist` parameter asks for candidates at all with so many labels."""
    if label_shortlist == "auto":
        return n_labels > _AUTO_ALL_UP_TO
    return label_shortlist is not None and label_shortlist < n_labels - 1


def shortlist_size(label_shortlist, scores, Y):
    """Resolve the `label_shortlist` parameter, where it `needs_shortlist`.

    Parameters
    ----------
    label_shortlist : int or "auto"
        The parameter.
    scores : callable
        Scores of all labels for a slice of held-out rows.
    Y : csr_array
        Labels of the held-out rows.

    Returns
    -------
    k : int or None
        Candidates per row; None decodes every label.
    """
    if label_shortlist == "auto":
        low, high = _AUTO_BOUNDS
        label_shortlist = min(max(low, _size_for_recall(scores, Y)), high)
    return label_shortlist if label_shortlist < Y.shape[1] - 1 else None


def _size_for_recall(scores, Y):
    """Smallest multiple of 8 whose shortlists hold enough of the true labels."""
    ranks = []
    for block in row_blocks(*Y.shape):
        truth = Y[block].toarray() > 0
        order = np.argsort(np.argsort(-scores(block), axis=1, kind="stable"), axis=1)
        ranks.append(order[truth])
    ranks = np.concatenate(ranks)
    if not len(ranks):
        return 0
    return int(-(-(np.quantile(ranks, _AUTO_RECALL) + 1) // 8) * 8)


def top_labels(scores, k):
    """Numbers of the k highest scores of each row, rising, int32; of equals, the first."""
    return np.sort(smallest_columns(-scores, k), axis=1).astype(np.int32)


def training_shortlist(scorer, rows, Y, k):
    """Shortlist of training rows: their own labels first, then what the scorer likes best.

    The linear voter alone names them: a training row would find itself among its neighbours.

    Parameters
    ----------
    scorer : Voter
        Scores labels.
    rows : EncodedRows
        Training rows.
    Y : csr_array
        Their labels.
    k : int
        Candidates per row.

    Returns
    -------
    shortlist : Shortlist
    """
    candidates = np.empty((len(rows), k), dtype=np.int32)
    for block in row_blocks(*Y.shape):
        scores = scorer.logits(rows.take(block))
        scores[Y[block].toarray() > 0] = np.inf
        candidates[block] = top_labels(scores, k)
    return Shortlist(candidates, Y.shape[1])
