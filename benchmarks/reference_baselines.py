"""Time scikit-multilearn-ng's ML-KNN or ML-ARAM on stored arrays; prints one line of JSON.

Knows only numpy, scipy and that package, so it runs in an interpreter of its own, without
sklearn-mrmp; `bench_baselines.py --reference-python` starts it.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def load(folder, name):
    """One stored matrix, as the csr_matrix the package knows."""
    return sp.csr_matrix(sp.load_npz(Path(folder) / f"{name}.npz"))


def make_classifier(method):
    """Return the package's classifier, with the repairs it needs to run at all."""
    from skmultilearn.adapt import MLARAM, MLkNN, mlaram

    if method == "mlknn":
        return MLkNN(k=10, ignore_first_neighbours=1)
    # It decodes label positions as UTF-8, which fails from the 129th label on.
    mlaram._get_label_combination_representation = lambda labels: labels.nonzero()[0].tobytes()
    return MLARAM()


def main():
    """Fit on the training arrays, predict the test arrays, print the CPU time of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=["mlknn", "mlaram"])
    parser.add_argument("folder", help="holds X_train, Y_train, X_test as .npz")
    parser.add_argument("--dense", action="store_true", help="dense input for ML-ARAM")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    X, Y, X_test = (load(args.folder, name) for name in ("X_train", "Y_train", "X_test"))
    if args.dense:
        X, Y, X_test = X.toarray(), Y.toarray(), X_test.toarray()
    classifier = make_classifier(args.method)
    start = time.process_time()
    classifier.fit(X, Y)
    fitted = time.process_time()
    if args.method == "mlknn":
        classifier.ignore_first_neighbours = 0  # else it drops each new row's nearest neighbour
    predicted = sp.csr_matrix(classifier.predict(X_test))
    end = time.process_time()
    sp.save_npz(Path(args.folder) / f"predicted-{args.method}.npz", predicted.astype(np.int32))
    print(json.dumps({"fit": fitted - start, "predict": end - fitted}))


if __name__ == "__main__":
    main()
