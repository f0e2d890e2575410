"""Make ``baselines.json``: what scikit-multilearn-ng computes on tiny data.

Run it in an environment that has scikit-multilearn-ng (made with 0.0.8), from any folder::

    python tests/reference/make_baselines.py

The data have no equal distances, and the features of the training rows reach from 0 to 1, so that
the package's own rescaling does nothing.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from skmultilearn.adapt import MLARAM, MLkNN


def make_data(seed, n_train, n_test, n_features, n_labels):
    """Rows around a few centres; labels depend on the centre, with some noise."""
    rng = np.random.default_rng(seed)
    centres = rng.random((4, n_features))
    label_sets = rng.random((4, n_labels)) < 0.5
    groups = rng.integers(4, size=n_train + n_test)
    X = centres[groups] + 0.25 * rng.standard_normal((n_train + n_test, n_features))
    low, high = X[:n_train].min(axis=0), X[:n_train].max(axis=0)
    X = np.clip((X - low) / (high - low), 0, 1).round(4)
    Y = (label_sets[groups] ^ (rng.random((n_train + n_test, n_labels)) < 0.08)).astype(int)
    return X[:n_train], Y[:n_train], X[n_train:]


def run_mlknn(X, Y, X_test, k, s):
    """Tables and predictions of ML-KNN; a training row is left out of its own neighbours."""
    classifier = MLkNN(k=k, s=s, ignore_first_neighbours=1).fit(X, sp.csr_matrix(Y))
    classifier.ignore_first_neighbours = 0
    return {
        "k": k,
        "s": s,
        "prior": np.ravel(classifier._prior_prob_true).tolist(),
        "conditional_true": classifier._cond_prob_true.toarray().tolist(),
        "conditional_false": classifier._cond_prob_false.toarray().tolist(),
        "probability": classifier.predict_proba(X_test).toarray().tolist(),
        "predicted": classifier.predict(X_test).toarray().tolist(),
    }


def run_mlaram(X, Y, X_test, vigilance, threshold):
    """Neurons and predictions of ML-ARAM; it writes into the labels, hence the copy."""
    classifier = MLARAM(vigilance=vigilance, threshold=threshold)
    classifier.fit(X, Y.copy())
    return {
        "vigilance": vigilance,
        "threshold": threshold,
        "neurons": [neuron.vc.tolist() for neuron in classifier.neurons],
        "label_counts": [neuron.label.tolist() for neuron in classifier.neurons],
        "ranks": classifier.predict_proba(X_test).tolist(),
        "predicted": classifier.predict(X_test).astype(int).tolist(),
    }


def main():
    """Write the file beside this script."""
    warnings.simplefilter("ignore")
    cases = []
    for seed, shape in enumerate([(30, 12, 3, 4), (45, 15, 6, 5)]):
        X, Y, X_test = make_data(seed, *shape)
        cases.append(
            {
                "X": X.tolist(),
                "Y": Y.tolist(),
                "X_test": X_test.tolist(),
                "mlknn": [run_mlknn(X, Y, X_test, k, s) for k, s in [(3, 1.0), (7, 0.5)]],
                "mlaram": [
                    run_mlaram(X, Y, X_test, vigilance, threshold)
                    for vigilance, threshold in [(0.9, 0.02), (0.7, 0.02), (0.7, 0.3), (0.0, 0.1)]
                ],
            }
        )
    Path(__file__).with_name("baselines.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
