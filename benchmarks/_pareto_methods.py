"""The methods of the chart: how they are called, drawn and made.

Helper of `pareto.py`. A method of ours is `MrMPClassifier` with options; one of scikit-learn, or a
baseline of this package, is an estimator made here; an external one is a name that
`_pareto_worker.py` knows.
"""

from dataclasses import dataclass, field

import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from sklearn_mrmp._compare.methods import make_method

_COMPONENTS = 100  # of the decomposition that boosted trees read in place of sparse columns


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    label : str
        Its name in the picture.
    kind : {"ours", "local", "external"}
        Where it is made.
    options : dict
        Of `MrMPClassifier`.
    worker : str
        What the worker calls it.
    make : callable
        Makes the estimator of a local method, of the data set's name and the rows.
    refit : bool
        Whether it is fitted on all rows after its decisions were tuned.
    """

    label: str
    kind: str
    options: dict = field(default_factory=dict)
    worker: str = ""
    make: object = None
    refit: bool = False


def _known(name):
    """Make a method of ``python -m sklearn_mrmp compare`` without its scaler.

    Rows have one scale here before any method sees them.
    """

    def make(dataset, X):
        # RCV1 has tf-idf rows as Reuters, and the search for a penalty starts from the same value.
        estimator = make_method(name, "reuters" if dataset == "rcv1" else dataset)
        return estimator[-1] if isinstance(estimator, Pipeline) else estimator

    return make


def _liblinear(dataset, X):
    return OneVsRestClassifier(LogisticRegression(solver="liblinear"))


def _boosting(dataset, X):
    trees = OneVsRestClassifier(HistGradientBoostingClassifier())
    return make_pipeline(TruncatedSVD(_COMPONENTS), trees) if sp.issparse(X) else trees


def _forest(dataset, X):
    return RandomForestClassifier(n_jobs=1)


def _ours(label, **options):
    return Method(label, "ours", options=options)


def _local(label, make, refit=False):
    return Method(label, "local", make=make, refit=refit)


def _external(label, worker, refit=False):
    return Method(label, "external", worker=worker, refit=refit)


METHODS = {
    "default": _ours("MrMP, default"),
    "linear": _ours("linear voter", voters=("linear",)),
    "neighbors": _ours("neighbour voter", voters=("neighbors",)),
    "linear+neighbors": _ours("linear + neighbour", voters=("linear", "neighbors")),
    "network": _ours("network voter", voters=("network",)),
    "cv5": _ours("MrMP, cv=5", cv=5),
    "liblinear": _local("LIBLINEAR one-vs-rest", _liblinear),
    "liblinear-refit": _local("LIBLINEAR, refitted", _liblinear, refit=True),
    "tuned-lr": _local("tuned regression", _known("tuned-lr")),
    "tuned-lr-refit": _local("tuned regression, refitted", _known("tuned-lr"), refit=True),
    "mlknn": _local("ML-KNN", _known("mlknn")),
    "mlaram": _local("ML-ARAM", _known("mlaram")),
    "lml-1vsrest": _external("LibMultiLabel 1vsrest", "1vsrest"),
    "lml-1vsrest-refit": _external("LibMultiLabel 1vsrest, refitted", "1vsrest", refit=True),
    "lml-1vsrest-logistic": _external("LibMultiLabel 1vsrest, logistic", "1vsrest-logistic"),
    "lml-tree": _external("LibMultiLabel tree", "tree"),
    "lml-thresholding": _external("LibMultiLabel thresholding", "thresholding"),
    "lml-cost-sensitive": _external("LibMultiLabel cost-sensitive", "cost-sensitive"),
    "forest": _local("random forest", _forest),
    "chain": _local("classifier chain", _known("cc")),
    "boosting": _local("HistGradientBoosting", _boosting),
    "lightgbm": _external("LightGBM one-vs-rest", "lightgbm"),
}
GROWTH = ("default", "linear+neighbors", "liblinear")
