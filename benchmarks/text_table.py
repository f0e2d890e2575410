"""The table of docs/text.md: what a pretrained encoder is worth on raw texts, on real data.

Fits on the training part, scores the test part, once for each seed. One Markdown row for each
method and seed: average precision over all entries (micro) and over labels (macro), the four
metrics, each by the decisions made for it, and seconds of fitting. Then the means over seeds.

    python benchmarks/text_table.py --data-home DIR --encoder FOLDER [--dataset NAME] [--seeds 3]
        [--cache-dir DIR]

`NAME` is goemotions, ohsumed, cooking or reuters. `DIR` holds ``text/<name>/`` and
``reuters21578/``; `FOLDER` is what `transformers` can read. Texts are encoded before the clock
starts, and the seconds of that are printed. The network alone is that of the whole classifier, of
which only average precisions can be told: decisions are tuned for the vote.
"""

import argparse
import tempfile
import time

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline

from sklearn_mrmp import (
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TextEncoder,
    TunedDecisionClassifier,
)
from sklearn_mrmp._compare.text_parts import TEXT_SETS, load_text_parts
from sklearn_mrmp._decisions.sweep import METRICS

HEAD = "| method | seed | AP micro | AP macro | ACC | ebF1 | miF1 | maF1 | fit [s] |"


def regressions(source, run):
    """Return the linear models: of tf-idf words, of mean states, and both voting."""
    linear = {"voters": ("linear",), "label_sets": False, **run}
    words = make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), MrMPClassifier(**linear))
    pooled = make_pipeline(TextEncoder(pooling="mean", **source), MrMPClassifier(**linear))
    both = SoftVotingMultilabelClassifier([("words", words), ("states", pooled)])
    return {
        "regression of words": words,
        "regression of mean states": pooled,
        "both regressions voting": TunedDecisionClassifier(both, cv=0.1, random_state=0),
    }


def scored(model, texts, Y):
    """Both average precisions and the four metrics."""
    P = model.predict_proba(texts)
    found = precisions(P, Y)
    last = model[-1] if hasattr(model, "steps") else model
    for metric in METRICS:
        last.set_params(metric=metric)
        found.append(model.score(texts, Y))
    return found


def precisions(P, Y):
    """Average precision over all entries, and over labels."""
    occurs = Y.any(axis=0)
    return [
        average_precision_score(Y.ravel(), P.ravel()),
        average_precision_score(Y[:, occurs], P[:, occurs], average="macro"),
    ]


def row(name, seed, found, seconds):
    """Print one row of the table."""
    cells = [f"{score:.3f}" for score in found] + [""] * (6 - len(found))
    print(f"| {name} | {seed} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)


def run_seed(seed, source, train, test, Y_train, Y_test, linear):
    """Fit and score all methods; return what was found by name."""
    run, results = {"random_state": seed, "n_threads": 1}, {}
    models = regressions(source, run) if linear else {}
    models["MrMP"] = MrMPClassifier(encoder=TextEncoder(**source), **run)
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(train, Y_train)
        seconds = time.perf_counter() - start
        if name == "MrMP":
            alone = precisions(model.voters_.network.predict_proba(test), Y_test)
            results["MrMP, its network alone"] = alone
            row("MrMP, its network alone", seed, alone, seconds)
        results[name] = scored(model, test, Y_test)
        row(name, seed, results[name], seconds)
    return results


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--dataset", choices=list(TEXT_SETS), default="goemotions")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cache-dir", help="where states are kept (a temporary folder)")
    arguments = parser.parse_args()
    train, test = load_text_parts(arguments.dataset, arguments.data_home)
    Y_train, Y_test = (
        np.asarray(part.target.toarray() if sp.issparse(part.target) else part.target)
        for part in (train, test)
    )
    with tempfile.TemporaryDirectory() as folder:
        source = {"encoder": arguments.encoder, "cache_dir": arguments.cache_dir or folder}
        start = time.perf_counter()
        TextEncoder(**source).fit_transform([*train.data, *test.data])
        print(f"{arguments.dataset}: encoded in {time.perf_counter() - start:.0f} s")
        print(f"{HEAD}\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        # Regressions have no seed but the held-out rows: once is enough.
        found = [
            run_seed(seed, source, train.data, test.data, Y_train, Y_test, linear=seed == 0)
            for seed in range(arguments.seeds)
        ]
    for name in ("MrMP, its network alone", "MrMP"):
        row(name, "mean", np.mean([results[name] for results in found], axis=0), 0)


if __name__ == "__main__":
    main()
