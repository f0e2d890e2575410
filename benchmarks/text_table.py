"""The table of docs/text.md: what a pretrained encoder is worth on raw texts, on real data.

Fits on the training part, scores the test part, once for each seed. One Markdown row for each
method and seed: average precision over all entries (micro) and over labels (macro), the four
metrics, each by the decisions made for it, and seconds.

    python benchmarks/text_table.py --data-home DIR --encoder FOLDER [--dataset NAME] [--seeds 1]

`NAME` is goemotions, ohsumed, cooking or reuters. `DIR` holds ``text/<name>/`` and
``reuters21578/``; `FOLDER` is what `transformers` can read.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._compare.text_parts import TEXT_SETS, load_text_parts
from sklearn_mrmp._decisions.sweep import METRICS


def words(*voters, **options):
    """Return a classifier of tf-idf words."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return make_pipeline(vectorizer, MrMPClassifier(voters=voters, **options))


def methods(encoder, seed):
    """Return the classifiers of the table, by name."""
    run = {"random_state": seed, "n_threads": 1}
    return {
        "words, linear": words("linear", **run),
        "words, linear and neighbors": words("linear", "neighbors", **run),
        "encoder, network alone": MrMPClassifier(voters=("network",), encoder=encoder, **run),
        "encoder, all voters": MrMPClassifier(encoder=encoder, **run),
    }


def scores(model, texts, Y):
    """Both average precisions and the four metrics."""
    P, occurs = model.predict_proba(texts), Y.any(axis=0)
    found = [average_precision_score(Y.ravel(), P.ravel())]
    found.append(average_precision_score(Y[:, occurs], P[:, occurs], average="macro"))
    classifier = model if isinstance(model, MrMPClassifier) else model[-1]
    for metric in METRICS:
        classifier.set_params(metric=metric)
        found.append(model.score(texts, Y))
    return found


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--dataset", choices=list(TEXT_SETS), default="goemotions")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    train, test = load_text_parts(arguments.dataset, arguments.data_home)
    Y_train, Y_test = (
        np.asarray(part.target.toarray() if sp.issparse(part.target) else part.target)
        for part in (train, test)
    )
    print("| method | seed | AP micro | AP macro | ACC | ebF1 | miF1 | maF1 | fit [s] |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for seed in range(arguments.seeds):
        for name, model in methods(arguments.encoder, seed).items():
            start = time.perf_counter()
            model.fit(train.data, Y_train)
            seconds = time.perf_counter() - start
            cells = " | ".join(f"{score:.3f}" for score in scores(model, test.data, Y_test))
            print(f"| {name} | {seed} | {cells} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
