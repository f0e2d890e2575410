"""The value of each multi-label metric at every distinct cut of the scores.

Predicting the entries whose score reaches a cut, and lowering the cut, flips entries one after the
other; each flip changes the counts of one row and of one label. Sorted scores and cumulative sums
of these changes give a metric at *every* cut in O(nL log nL). The entries are sorted in chunks of
neighbouring scores, so the memory beside the input does not grow with it. A metric is one of the
names of `METRICS`, or an object with an ``average`` and a function ``of_counts``, such as `FBeta`.
Knows only numpy.
"""

import numpy as np

METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")

# Cuts whose scores differ by less are one plateau: cumulative sums of floats drift by less than
# this, and a single row or label that changes moves a mean by more.
TOLERANCE = 1e-10

# Entries sorted at a time; they need about 250 bytes each.
CHUNK_ENTRIES = 500_000


def metric_value(Y, Y_hat, metric):
    """Value of a metric, as scikit-learn computes it with ``zero_division=0``.

    Parameters
    ----------
    Y, Y_hat : bool ndarray of shape (n_samples, n_labels)
        True and predicted labels.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"} or object
        The metric.

    Returns
    -------
    value : float
        The metric's value, 1.0 at best.
    """
    average, of_counts = parts_of(metric)
    if average == "exact":
        return float((Y_hat == Y).all(axis=1).mean())
    axis = {"samples": 1, "micro": None, "macro": 0}[average]
    hits, predicted = (np.count_nonzero(M, axis=axis) for M in (Y & Y_hat, Y_hat))
    return float(np.mean(of_counts(hits, predicted, np.count_nonzero(Y, axis=axis))))


def f1(hits, predicted, positives):
    """F1 from counts; 0 where nothing is true and nothing is predicted."""
    return 2 * hits / np.maximum(predicted + positives, 1)


def parts_of(metric):
    """Return how a metric averages, and its function of hits, predicted and positive entries."""
    if metric == "accuracy":
        return "exact", None
    if isinstance(metric, str):
        return metric.removeprefix("f1_"), f1
    return metric.average, metric.of_counts


def sweep_cuts(Y, S, metrics):
    """Yield the metrics at all distinct cuts, from "predict nothing" to "predict everything".

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        True labels.
    S : float ndarray of shape (n_samples, n_labels)
        Scores.
    metrics : sequence of str or object
        The metrics.

    Yields
    ------
    values : ndarray of shape (n_cuts,)
        Distinct scores, falling; the cut predicts all entries of at least this score. The first
        is infinite.
    curves : dict of metric to ndarray of shape (n_cuts,)
        Each metric's value at these cuts.
    """
    sweep = _Sweep(Y, metrics)
    yield np.array([np.inf]), sweep.at_start()
    scores = S.ravel()
    for entries in chunks_of_falling_scores(scores):
        values = scores[entries]
        last = last_of_equals(values)
        curves = sweep.flip(entries)
        yield values[last], {name: curve[last] for name, curve in curves.items()}


def last_of_equals(values):
    """Last position of each distinct value, where equal ones lie together."""
    return np.append(np.flatnonzero(np.diff(values)), len(values) - 1)


def chunks_of_falling_scores(scores):
    """Yield flat positions sorted by falling score; equal scores are always in one chunk."""
    n_chunks = -(-scores.size // CHUNK_ENTRIES)
    sample = scores[:: max(1, scores.size // (1000 * n_chunks))]
    edges = np.unique(np.quantile(sample, np.arange(1, n_chunks) / n_chunks, method="lower"))
    upper = np.inf
    for lower in [*edges[::-1], -np.inf]:
        chunk = np.flatnonzero((scores >= lower) & (scores < upper))
        upper = lower
        if chunk.size:
            yield chunk[np.argsort(-scores[chunk])]


class _Sweep:
    """Counts of rows, labels and all entries while entries are flipped to "predicted"."""

    def __init__(self, Y, metrics):
        self.metrics = metrics
        self.truth = Y.ravel()
        self.shape = Y.shape
        self.rows = _Counts(np.count_nonzero(Y, axis=1))
        self.labels = _Counts(np.count_nonzero(Y, axis=0))
        self.all = _Counts(np.array([self.rows.positives.sum()]))
        start = {"accuracy": np.count_nonzero(self.rows.positives == 0)}
        self.sums = {name: start.get(name, 0) for name in metrics}

    def at_start(self):
        """Metrics when nothing is predicted."""
        return {name: np.array([self.sums[name] / self.shape[0]]) for name in self.metrics}

    def flip(self, entries):
        """Predict `entries` one by one; return the metrics after each."""
        hits = self.truth[entries]
        rows, labels = np.divmod(entries, self.shape[1])
        n_samples, n_labels = self.shape
        averages = {parts_of(metric)[0] for metric in self.metrics}
        by_row = self.rows.add(rows, hits) if averages & {"exact", "samples"} else None
        by_label = self.labels.add(labels, hits) if "macro" in averages else None
        counts = self._all_counts(hits) if "micro" in averages else None
        curves = {}
        for metric in self.metrics:
            average, of_counts = parts_of(metric)
            if average == "exact":
                curves[metric] = self._mean(metric, by_row.exact(), n_samples)
            elif average == "samples":
                curves[metric] = self._mean(metric, by_row.of(of_counts), n_samples)
            elif average == "macro":
                curves[metric] = self._mean(metric, by_label.of(of_counts), n_labels)
            else:
                curves[metric] = of_counts(*counts, self.all.positives[0])
        return curves

    def _mean(self, metric, changes, size):
        sums = self.sums[metric] + np.cumsum(changes)
        self.sums[metric] = sums[-1]
        return sums / size

    def _all_counts(self, hits):
        """Count entries of all rows and labels together, one by one: hits and predictions."""
        hit_counts = self.all.hits[0] + np.cumsum(hits)
        predicted = self.all.predicted[0] + np.arange(1, len(hits) + 1)
        self.all.hits[0], self.all.predicted[0] = hit_counts[-1], predicted[-1]
        return hit_counts, predicted


class _Counts:
    """Hits and predictions of each group (row or label) so far."""

    def __init__(self, positives):
        self.positives = positives
        self.hits = np.zeros_like(positives)
        self.predicted = np.zeros_like(positives)

    def add(self, groups, hits):
        """Count entries of these groups one by one; return the changes in between."""
        if len(self.positives) <= np.iinfo(np.uint16).max:
            groups = groups.astype(np.uint16)  # numpy sorts 16 bits by radix, much faster
        order = np.argsort(groups, kind="stable")
        groups, hits = groups[order], hits[order].astype(np.int64)
        first = np.flatnonzero(np.diff(groups, prepend=groups[0] + 1))
        sizes = np.diff(first, append=len(groups))
        present = groups[first]
        hit_counts = np.cumsum(hits)
        before_group = hit_counts[first] - hits[first] - self.hits[present]
        hit_counts -= np.repeat(before_group, sizes)
        predicted = np.arange(1, len(groups) + 1)
        predicted -= np.repeat(first - self.predicted[present], sizes)
        self.hits[present] = hit_counts[first + sizes - 1]
        self.predicted[present] += sizes
        return _Changes(order, hits, hit_counts, predicted, self.positives[groups])


class _Changes:
    """What each of a sequence of flips changes in its group; in the sequence's order."""

    def __init__(self, order, hits, hit_counts, predicted, positives):
        self.order = order
        self.hits = hits
        self.hit_counts = hit_counts
        self.predicted = predicted
        self.positives = positives

    def of(self, of_counts):
        """Change of a function of the group's counts."""
        after = of_counts(self.hit_counts, self.predicted, self.positives)
        before = of_counts(self.hit_counts - self.hits, self.predicted - 1, self.positives)
        return self._in_sequence(after - before)

    def exact(self):
        """Change of "exactly the true entries of the group are predicted", -1, 0 or 1."""
        after = (self.predicted == self.positives) & (self.hit_counts == self.positives)
        before = (self.predicted - 1 == self.positives) & (
            self.hit_counts - self.hits == self.positives
        )
        return self._in_sequence(after.astype(np.int64) - before)

    def _in_sequence(self, changes):
        result = np.empty_like(changes)
        result[self.order] = changes
        return result


class PlateauTracker:
    """Finds the widest interval of best cuts while the cuts pass by in falling order."""

    def __init__(self):
        self.best = -np.inf
        self.runs = []  # [value of the first cut, value of the first cut below], falling
        self.highest = self.lowest = None

    def update(self, values, scores):
        """See further cuts: their values, falling, and the metric there."""
        if np.isfinite(values[-1]):
            self.lowest = values[-1]
            if self.highest is None:
                self.highest = values[np.isfinite(values)][0]
        if scores.max() > self.best + TOLERANCE:
            self.best = scores.max()
            self.runs = []
        on = scores >= self.best - TOLERANCE
        is_open = bool(self.runs) and self.runs[-1][1] is None
        changes = np.flatnonzero(np.diff(on, prepend=is_open))
        for position in changes:
            if on[position]:
                self.runs.append([values[position], None])
            else:
                self.runs[-1][1] = values[position]

    @property
    def is_closed(self):
        """Whether the last of the best cuts has passed by."""
        return bool(self.runs) and self.runs[-1][1] is not None

    def widest(self):
        """Return the ends of the widest plateau, lower (outside) and upper; infinite when open."""
        runs = [(lower if lower is not None else -np.inf, upper) for upper, lower in self.runs]
        return max(runs, key=lambda run: min(run[1], self.highest) - max(run[0], self.lowest))

    def middle(self, dtype):
        """Middle of the widest plateau, representable in `dtype`, and the plateau."""
        lower, upper = self.widest()
        low, high = max(lower, self.lowest), min(upper, self.highest)
        if low >= high:  # one score bounds it: predict everything, or nothing
            cut = low if lower == -np.inf else np.nextafter(dtype(low), dtype(np.inf))
        else:
            cut = dtype(0.5 * float(low) + 0.5 * float(high))
            cut = cut if cut > low else dtype(high)  # neighbouring floats have no middle
        return float(cut), (float(lower), float(upper))
