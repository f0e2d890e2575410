"""How much a label's probability falls when words are deleted that `explain` names.

Of a data set's training texts some are drawn at random to fit on, and others to explain. Texts are
tf-idf weights, and the classifier is `MrMPClassifier()` as it is. For every predicted label of the
texts left out, words are deleted from the text and the text is predicted anew: those that add most
to the label by the explanation, by the linear voter's or by the network's terms alone, those with
the largest tf-idf weights, and random ones. The table has the mean fall of the probability, and of
the log odds, over texts and labels. Nothing is chosen on these rows. ``--voters network`` is for
the network alone, whose weight in the default vote may be small.

    python benchmarks/explain_deletion.py --data-home DIR [--datasets reuters,ohsumed]
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.special import logit
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import load_ohsumed, load_reuters21578

WAYS = ("explanation", "linear", "network", "largest tf-idf", "random")


def load(name, home):
    """Return training texts and labels."""
    if name == "reuters":
        data = load_reuters21578(home / "reuters21578", subset="train")
    else:
        data = load_ohsumed(home / "text" / "ohsumed", subset="train")
    target = data.target
    return data.data, target.toarray() if hasattr(target, "toarray") else np.asarray(target)


def chosen_words(way, item, weights, n_words, rng):
    """Return the columns of the words to delete, by their names ``x0``, ``x1``, …."""
    if way == "random":
        return rng.permutation(weights.indices)[:n_words]
    if way == "largest tf-idf":
        return weights.indices[np.argsort(-weights.data)][:n_words]
    if way == "explanation":
        values = item.features()
    else:
        values = item.inside[way].by_name() if way in item.inside else {}
    present = {int(name[1:]): value for name, value in values.items() if name[1:].isdigit()}
    return np.array(sorted(present, key=lambda column: -present[column])[:n_words], dtype=int)


def falls(clf, counts, tfidf, explanation, n_words, seed):
    """Mean fall of probability and log odds for each way of deleting words."""
    X, found = tfidf.transform(counts).tocsr(), {}
    for way in WAYS:
        rng, rows = np.random.default_rng(seed), counts[[item.row for item in explanation]].tolil()
        for place, item in enumerate(explanation):
            rows[place, chosen_words(way, item, X[[item.row]], n_words, rng)] = 0
        P = clf.predict_proba(tfidf.transform(rows.tocsr()))
        before = np.array([item.probability for item in explanation])
        after = P[np.arange(len(P)), [int(item.label) for item in explanation]].astype(float)
        found[way] = (before - after).mean(), (logit(before) - logit(after)).mean()
    return found


def measure(name, args, seed):
    """Print the falls of one data set and seed."""
    texts, Y = load(name, args.data_home)
    order = np.random.default_rng(seed).permutation(len(texts))[: args.n_train + args.n_rows]
    texts, Y = [texts[i] for i in order], Y[order]
    counter = CountVectorizer(min_df=3, stop_words="english", dtype=np.float64)
    counts = counter.fit(texts[: args.n_train]).transform(texts)
    tfidf = TfidfTransformer(sublinear_tf=True).fit(counts[: args.n_train])
    Y = Y[:, Y[: args.n_train].any(axis=0)]
    options = {} if args.voters is None else {"voters": tuple(args.voters), "label_sets": False}
    clf = MrMPClassifier(**options, random_state=seed, n_threads=1)
    start = time.process_time()
    clf.fit(tfidf.transform(counts[: args.n_train]), Y[: args.n_train])
    fitted = time.process_time() - start
    held_out = counts[args.n_train :]
    start = time.process_time()
    explanation = clf.explain(tfidf.transform(held_out))
    seconds = time.process_time() - start
    weights = {part: round(weight, 2) for part, weight in clf.vote_weights_.items()}
    residual = max(
        (abs(item.inside["network"].residual) for item in explanation if "network" in item.inside),
        default=0.0,
    )
    print(
        f"{name}, seed {seed}: {args.n_train} rows, {Y.shape[1]} labels, {counts.shape[1]} words; "
        f"{len(explanation)} labels explained in {seconds:.1f} s (fit {fitted:.0f} s); weights "
        f"{weights}; largest residual of the network {residual:.3f}"
    )
    for n_words in args.n_words:
        for way, (probability, odds) in falls(
            clf, held_out, tfidf, explanation, n_words, seed
        ).items():
            print(
                f"  {n_words} words, {way:15} probability {-probability:+.3f}, "
                f"log odds {-odds:+.2f}"
            )


def main():
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default="reuters,ohsumed")
    parser.add_argument("--n-train", type=int, default=2_000)
    parser.add_argument("--n-rows", type=int, default=100)
    parser.add_argument("--n-words", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--voters", nargs="+", default=None, help="voters instead of the default")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    args = parser.parse_args()
    for name in args.datasets.split(","):
        for seed in args.seeds:
            measure(name, args, seed)


if __name__ == "__main__":
    main()
