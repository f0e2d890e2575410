"""The methods of the table of results: what they are called, and how one is fitted and decides.

Classifiers are imported when they are asked for: the command line itself loads no torch. Seconds
are those of the processor, for fitting and tuning; packages are loaded and texts are encoded before
the clock starts.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from sklearn_mrmp._compare.methods import make_method
from sklearn_mrmp._compare.run import fit_with_holdout, label_probabilities
from sklearn_mrmp._decisions.choice import fit_decision_rules
from sklearn_mrmp._decisions.responses import last_step, rows_of_last_step
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._sklearn_compat import _safe_indexing
from sklearn_mrmp.datasets import make_related_labels

_HELD_OUT = 0.1  # of the training rows, for whatever does not hold rows out itself


@dataclass(frozen=True, eq=False)
class Task:
    """Training rows and labels, test rows, a seed, and what reads texts.

    Attributes
    ----------
    family : str
        What regressions know the data set by.
    texts : bool
        Whether rows are raw texts.
    source : dict or None
        Parameters of the `TextEncoder`: ``encoder`` and ``cache_dir``.
    """

    family: str
    texts: bool
    X: object
    Y: np.ndarray
    X_test: object
    seed: int
    source: dict | None = None

    @property
    def run(self):
        """Parameters of a classifier for this run."""
        return {"random_state": self.seed, "n_threads": 1}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a fitted method says of the test rows.

    Attributes
    ----------
    seconds : float
        Seconds of the processor to fit and tune.
    P : ndarray of shape (n_test, n_labels)
        Probabilities.
    decided : dict of str to ndarray of shape (n_test, n_labels)
        Predicted labels, by the metric that they are decided for.
    P_network : ndarray of shape (n_test, n_labels) or None
        Probabilities of the network alone, where one is among the voters.
    """

    seconds: float
    P: np.ndarray
    decided: dict
    P_network: np.ndarray | None = None


def _regression(task):
    """Fit it on nine tenths of the rows; the others choose the penalty and tune the decisions."""
    rows = np.arange(len(task.Y))
    train, valid = train_test_split(rows, test_size=_HELD_OUT, random_state=task.seed)
    X_train, X_valid = (_safe_indexing(task.X, part) for part in (train, valid))
    Y_train, Y_valid = task.Y[train], task.Y[valid]
    n_labels = task.Y.shape[1]
    start = time.process_time()
    model = make_method("tuned-lr", task.family, text=task.texts)
    model = fit_with_holdout(model, X_train, Y_train, X_valid, Y_valid)
    P_valid = label_probabilities(model, X_valid, n_labels)
    rules = fit_decision_rules(Y_valid, P_valid, Y_train=Y_train)
    seconds = time.process_time() - start
    P = label_probabilities(model, task.X_test, n_labels)
    return Outcome(seconds, P, {metric: rules[metric].decide(P) for metric in METRICS})


def _default(task):
    from sklearn_mrmp import MrMPClassifier

    return _fitted(task, MrMPClassifier(**task.run, **_encoder(task)))


def _encoder(task):
    """Return the classifier's parameter for texts; encode them all, lest the clock counts it."""
    if not task.texts:
        return {}
    from sklearn_mrmp import TextEncoder

    encoder = TextEncoder(**task.source)
    encoder.fit_transform([*task.X, *task.X_test])
    return {"encoder": encoder}


def _two_voters(task):
    from sklearn_mrmp import MrMPClassifier

    model = MrMPClassifier(voters=("linear", "neighbors"), **task.run)
    return _fitted(task, _of_words(model) if task.texts else model)


def _linear(task):
    from sklearn_mrmp import MrMPClassifier

    return MrMPClassifier(voters=("linear",), label_sets=False, **task.run)


def _of_words(model):
    return make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), model)


def _of_states(task, model):
    from sklearn_mrmp import TextEncoder

    return make_pipeline(TextEncoder(pooling="mean", **task.source), model)


def _linear_of_words(task):
    return _fitted(task, _of_words(_linear(task)))


def _linear_of_states(task):
    _encoder(task)
    return _fitted(task, _of_states(task, _linear(task)))


def _linear_of_both(task):
    from sklearn_mrmp import SoftVotingMultilabelClassifier, TunedDecisionClassifier

    _encoder(task)
    both = [("words", _of_words(_linear(task))), ("states", _of_states(task, _linear(task)))]
    model = SoftVotingMultilabelClassifier(both)
    return _fitted(task, TunedDecisionClassifier(model, cv=_HELD_OUT, random_state=task.seed))


def _fitted(task, model):
    """Fit a classifier that tunes its own decisions, alone or at the end of a pipeline."""
    _load_packages()
    start = time.process_time()
    model.fit(task.X, task.Y)
    seconds = time.process_time() - start
    X_test, classifier = rows_of_last_step(model, task.X_test), last_step(model)
    P = classifier.predict_proba(X_test)
    decided = {m: classifier._labels_at(P, X_test, m, "optimal") for m in METRICS}
    voters = getattr(classifier, "voters_", {})
    network = voters["network"].predict_proba(X_test) if "network" in voters else None
    return Outcome(seconds, P, decided, network)


def _load_packages():
    """Fit a few rows, so that the clock does not count what a first fit loads."""
    from sklearn_mrmp import MrMPClassifier

    X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    MrMPClassifier(max_epochs=1, random_state=0, n_threads=1).fit(X, Y)


@dataclass(frozen=True)
class Entrant:
    """A method.

    Attributes
    ----------
    fit : callable
        Takes a `Task`, returns an `Outcome`.
    of_features, of_texts : str or None
        What tables call it for rows of features, and for raw texts; None where it is not used.
    encodes : bool
        Whether it reads texts with the pretrained encoder.
    """

    fit: Callable
    of_features: str | None
    of_texts: str | None
    encodes: bool = False

    def title(self, texts):
        """Return what tables call it."""
        return self.of_texts if texts else self.of_features


METHODS = {
    "regression": Entrant(
        _regression,
        "one-vs-rest logistic regression, tuned",
        "one-vs-rest logistic regression of tf-idf words, tuned",
    ),
    "words": Entrant(_linear_of_words, None, '`voters=("linear",)` on tf-idf words'),
    "voters": Entrant(
        _two_voters,
        '`voters=("linear", "neighbors")`',
        '`voters=("linear", "neighbors")` on tf-idf words',
    ),
    "states": Entrant(
        _linear_of_states, None, '`voters=("linear",)` on mean states of the encoder', encodes=True
    ),
    "both": Entrant(
        _linear_of_both,
        None,
        '`voters=("linear",)` on words and on mean states, averaged',
        encodes=True,
    ),
    "default": Entrant(
        _default, "`MrMPClassifier()`", "`MrMPClassifier(encoder=...)`", encodes=True
    ),
}
