"""What it costs to tune label sets and decisions on a sample of the held-out rows.

Rows of RCV1's shape are generated (103 labels). A linear voter is fitted on some, and votes on
others that are held out. Label sets and the decisions of all metrics are tuned on all held-out rows
and on samples of them; each tuning then decides about the same test rows. The differences between
the metrics of the samples and of all rows are printed as a Markdown table: mean, standard deviation
and the largest over draws. `--plain` leaves out label sets, also those of the decisions.

    python benchmarks/tuning_sample.py [--plain]
"""

import argparse
import time

import numpy as np
from _generated import generate

from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._ensemble.model import inside
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._numerics.log_odds import to_probabilities
from sklearn_mrmp._voters.linear import LinearVoter

DECISIONS = ("optimal", "threshold")


def problem(n_train, n_held_out, n_test):
    """Labels of the training rows, and labels and probabilities of the others."""
    X, Y = generate(n_train + n_held_out + n_test)
    ends = np.cumsum([n_train, n_held_out])
    rows = EncodedRows.of(FeatureInput(), X)
    train, held_out, test = (rows.take(part) for part in np.split(np.arange(len(rows)), ends))
    voter = LinearVoter().fit(
        train.fit_encoder(), Y[:n_train], held_out.take(slice(2_000)), Y[n_train:][:2_000]
    )
    Y_train, *others = (part > 0 for part in np.split(Y.toarray(), ends))
    P = [inside(to_probabilities(voter.logits(part))) for part in (held_out, test)]
    return Y_train, list(zip(others, P, strict=True))


def scores(decisions, Y_train, held_out, test):
    """Metrics of the test rows by decision and metric, and the seconds of the tuning."""
    start = time.process_time()
    label_sets, P = None, held_out[1]
    if "optimal" in decisions:
        label_sets, P = LabelSetVote.fit(*held_out, Y_train)
    points = OperatingPoints.tune(held_out[0], P, Y_train, decisions=decisions)
    seconds = time.process_time() - start
    Y, P = test
    P = P if label_sets is None else label_sets.mix(P)
    found = {
        (decision, metric): metric_value(Y, points.predict(P, metric, decision), metric)
        for decision in decisions
        for metric in METRICS
    }
    return found, seconds


def main():
    """Tune on all rows and on samples, and print the differences."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train", type=int, default=20_000)
    parser.add_argument("--held-out", type=int, default=80_000)
    parser.add_argument("--test", type=int, default=10_000)
    parser.add_argument("--samples", type=int, nargs="+", default=[2_500, 10_000, 40_000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--plain", action="store_true")
    args = parser.parse_args()
    Y_train, (held_out, test) = problem(args.train, args.held_out, args.test)
    decisions = DECISIONS[1:] if args.plain else DECISIONS
    whole, seconds = scores(decisions, Y_train, held_out, test)
    print(f"all {args.held_out} held-out rows: tuned in {seconds:.1f} s")
    print("| held-out rows | decision |", " | ".join(METRICS), "|")
    print("|---:|---|" + "---|" * len(METRICS))
    for decision in decisions:
        values = (f"{whole[decision, metric]:.4f}" for metric in METRICS)
        print(f"| all {args.held_out} | {decision} |", " | ".join(values), "|", flush=True)
    for size in args.samples:
        compare(size, args.draws, whole, decisions, Y_train, held_out, test)


def compare(size, n_draws, whole, decisions, Y_train, held_out, test):
    """Print the differences between samples of a size and all rows."""
    rng, found, seconds = np.random.default_rng(0), [], []
    for _ in range(n_draws):
        chosen = np.sort(rng.permutation(len(held_out[0]))[:size])
        values, spent = scores(decisions, Y_train, [part[chosen] for part in held_out], test)
        found.append(values)
        seconds.append(spent)
    for decision in decisions:
        cells = []
        for metric in METRICS:
            key = decision, metric
            change = np.array([values[key] - whole[key] for values in found])
            largest = np.abs(change).max()
            cells.append(f"{change.mean():+.4f} ± {change.std(ddof=1):.4f} ({largest:.4f})")
        print(f"| {size} | {decision} |", " | ".join(cells), "|", flush=True)
    print(f"samples of {size}: tuned in {np.mean(seconds):.1f} s each")


if __name__ == "__main__":
    main()
