"""How many planted label errors are found at the top, beside cleanlab.

Of a data set's training rows, 5 % of the labels are taken away and as many are added where they do
not belong: labels by how often they are used, or uniformly with ``--added uniform``. A classifier
is cross-fitted on the labels with errors, `MrMPClassifier` with the linear and the neighbour voter
and five folds, and all contestants get the same out-of-fold probabilities:

- ``label_errors`` with the label graph of the labels with errors, and without a graph;
- cleanlab's quality scores of each label (``get_label_quality_scores_per_class``), and what its
  ``find_multilabel_issues_per_class`` flags, ordered by self-confidence;
- the plainest way: the difference between label and probability.

Printed are the share of planted errors among the first 50, 100, and as many as were planted, the
average precision over all entries, and how many entries are flagged with which precision. The last
columns are for rows: the share of rows with a planted error among the first 100, by the most
suspicious entry of a row, and by cleanlab's ``get_label_quality_scores``. cleanlab is no dependency
of the package: pip install cleanlab.

    python benchmarks/label_errors.py --data-home DIR
    python benchmarks/label_errors.py --data-home DIR --added uniform --seeds 1
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _data import parts
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier, label_errors, label_graph

DATASETS = ("yeast", "medical", "bibtex")
HEADER = ("p@50", "p@100", "p@planted", "AP", "flagged", "right", "rows@100")


def planted(Y, share, added, rng):
    """Return labels with errors."""
    given, n_errors = Y.copy(), round(share * Y.sum())
    forgotten = rng.permutation(np.flatnonzero(Y))[:n_errors]
    weights = np.broadcast_to(Y.mean(axis=0) if added == "use" else 1.0, Y.shape) * ~Y
    chances = weights.ravel() / weights.sum()
    wrong = rng.choice(Y.size, size=n_errors, replace=False, p=chances)
    given.ravel()[forgotten], given.ravel()[wrong] = False, True
    return given


def scores_of(errors, shape):
    """Return the scores of all entries, those that were not returned being 0."""
    scores = np.zeros(shape)
    scores[errors.rows, errors.labels] = errors.scores
    return scores


def ours(given, P, graph):
    """Return scores of entries and rows, and which entries are flagged."""
    scores = scores_of(label_errors(given, P, graph, min_score=0.0), given.shape)
    return scores, scores.max(axis=1), scores >= 0.5


def by_cleanlab(given, P):
    """Return the same by cleanlab."""
    from cleanlab.multilabel_classification import get_label_quality_scores
    from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    labels = [np.flatnonzero(row).tolist() for row in given]
    P = P.astype(np.float64)
    quality = get_label_quality_scores_per_class(labels, P)
    issues = find_multilabel_issues_per_class(labels, P)
    return 1 - quality, 1 - get_label_quality_scores(labels, P), np.asarray(issues)


def contestants(given, P):
    """Yield names, scores of entries, scores of rows, and which entries are flagged."""
    yield "label_errors, graph", *ours(given, P, label_graph(given.astype(int)))
    yield "label_errors, no graph", *ours(given, P, None)
    try:
        scores, rows, flagged = by_cleanlab(given, P)
        yield "cleanlab, ranked", scores, rows, flagged
        yield "cleanlab, flagged first", scores + flagged, rows, flagged
    except ImportError:
        print("cleanlab is not installed")
    plain = np.abs(given - P)
    yield "difference", plain, plain.max(axis=1), plain > 0.5


def measured(is_error, scores, rows, flagged):
    """Return the numbers of a line."""
    order = np.argsort(-scores, axis=None, kind="stable")
    hits, n_errors = is_error.ravel()[order], is_error.sum()
    first = np.argsort(-rows, kind="stable")[:100]
    return [
        *(hits[:k].mean() for k in (50, 100, n_errors)),
        average_precision_score(is_error.ravel(), scores.ravel()),
        flagged.sum(),
        is_error[flagged].mean() if flagged.any() else np.nan,
        is_error[first].any(axis=1).mean(),
    ]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, default=Path("data"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rows", type=int, default=2000, help="at most so many training rows")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--added", choices=["use", "uniform"], default="use")
    options = parser.parse_args()
    for name in options.datasets:
        X, Y, _, _ = parts(name, options.data_home)
        Y = (Y.toarray() if sp.issparse(Y) else np.asarray(Y)) > 0
        lines = {}
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            rows = rng.permutation(len(Y))[: options.rows]
            truth = Y[rows]
            given = planted(truth, options.share, options.added, rng)
            clf = MrMPClassifier(voters=("linear", "neighbors"), cv=5, random_state=seed)
            P = clf.fit(X[rows], given.astype(int)).oof_proba_
            for contestant, *found in contestants(given, P):
                lines.setdefault(contestant, []).append(measured(truth != given, *found))
        print(f"\n{name}: {truth.shape[0]} rows, {truth.shape[1]} labels, ", end="")
        print(f"{(truth != given).sum()} errors of {options.added}, {options.seeds} seeds")
        print(f"{'':24s}" + "".join(f"{title:>10s}" for title in HEADER), flush=True)
        for contestant, values in lines.items():
            means = np.mean(values, axis=0)
            print(f"{contestant:24s}" + "".join(f"{value:10.3g}" for value in means), flush=True)


if __name__ == "__main__":
    main()
