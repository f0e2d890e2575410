"""What ``fit`` is told of rows, entries and labels besides `X` and `y`, and what comes of it.

Knows weights of entries, and how those of rows are checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils import check_array

from sklearn_mrmp._numerics.entry_weights import EntryWeights, checked_weights, label_totals
from sklearn_mrmp._voters.choice import NETWORK


@dataclass(frozen=True, eq=False)
class EntryOptions:
    """Arguments of ``fit``, as the caller gave them."""

    sample_weight: object = None
    Y_observed: object = None
    label_weight: object = None
    known_rate: object = None
    classes: object = None

    def check_known_rate(self, encoding, voters, network_reads):
        """Return the share of labels that are told in training, or None, if nothing contradicts it.

        Parameters
        ----------
        encoding : TargetEncoding
            Of the target.
        voters : list of (str, estimator or None)
            Who votes.
        network_reads : bool
            Whether a network among them can learn to read told labels.
        """
        rate = self.known_rate
        if rate is None:
            return None
        if not isinstance(rate, Real) or not 0 < rate < 1:
            raise ValueError(
                f"known_rate is the mean share of a row's labels that are told in training, above "
                f"0 and below 1, or None; got {rate!r}."
            )
        if not encoding.is_matrix:
            raise ValueError(
                f"known_rate={rate} needs a label matrix, but y is a {encoding.kind} target."
            )
        names = dict(voters)
        if "linear" not in names and not (network_reads and NETWORK in names):
            raise ValueError(
                f"known_rate={rate} trains the linear voter and a network with a label graph to "
                "read told labels, but 'linear' is not among the voters, and neither is such a "
                "network. Add 'linear', or leave known_rate at None."
            )
        return float(rate)

    def weights(self, X, Y, known, label_names):
        """Check them, and say what the entries of the rows count.

        Parameters
        ----------
        X, Y : {ndarray, csr_array}
            Checked rows and their 0/1 labels.
        known : bool ndarray of shape (n_samples, n_labels), or None
            Which entries are known.
        label_names : ndarray of str
            Names of the labels.

        Returns
        -------
        keep : ndarray of int, or None
            Rows whose weight is not 0; None is all.
        weights : EntryWeights or None
            Of these rows.
        """
        rows, keep = checked_weights(self.sample_weight, X), None
        if rows is not None and not rows.all():
            keep = np.flatnonzero(rows)
            rows, Y, known = rows[keep], Y[keep], None if known is None else known[keep]
        weights = EntryWeights.of(known, rows)
        labels = _label_weights(self.label_weight, Y, weights, label_names)
        if labels is not None:
            weights = EntryWeights.of(known, rows, labels)
        return keep, weights


def _label_weights(label_weight, Y, weights, names):
    """Weights of labels as a vector, or None."""
    if label_weight is None:
        return None
    if isinstance(label_weight, str):
        if label_weight != "balanced":
            raise ValueError(
                f"label_weight must be 'balanced' if it is text, got {label_weight!r}."
            )
        return _balanced(label_totals(Y, weights)[0])
    if isinstance(label_weight, Mapping):
        unknown = [name for name in label_weight if str(name) not in set(names)]
        if unknown:
            raise ValueError(f"label_weight names {unknown[0]!r}, which is no label of y.")
        by_name = {str(name): weight for name, weight in label_weight.items()}
        label_weight = [by_name.get(name, 1.0) for name in names]
    found = check_array(label_weight, dtype=np.float64, ensure_2d=False, input_name="label_weight")
    if found.shape != (len(names),) or not (found > 0).all():
        raise ValueError(
            f"label_weight must be {len(names)} numbers above 0, one for each label, got shape "
            f"{found.shape} and a smallest value of {found.min():g}."
        )
    return found


def _balanced(counts):
    """Weights inverse to counts, of mean 1 over the true entries; 1 for labels that never occur."""
    occurs = counts > 0
    weights = np.ones(len(counts))
    weights[occurs] = counts.sum() / (np.count_nonzero(occurs) * counts[occurs])
    return weights
