"""What a comparison was made of, as its page tells it. Knows numpy and scipy."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class ComparisonSetting:
    """Data, classifiers and seeds of a comparison.

    Attributes
    ----------
    Y_train : csr_array of shape (n_train, n_labels)
        Training labels.
    support : ndarray of shape (n_labels,)
        Test rows that carry each label, or their weight.
    n_test : int
        Number of test rows.
    label_names : list of str, or None
        Names of the labels, where they had any.
    classifiers : dict of str to str
        What each classifier prints.
    seeds : tuple of int
        The seeds.
    validation_fraction : float
        Share of the training rows that was set aside.
    """

    Y_train: object
    support: np.ndarray
    n_test: int
    label_names: list | None
    classifiers: dict
    seeds: tuple
    validation_fraction: float

    @classmethod
    def of(cls, protocol, estimators, seeds, label_names):
        """Take what is to be told from the protocol of a comparison."""
        weights = protocol.sample_weight_test
        weights = np.ones(len(protocol.Y_test), dtype=int) if weights is None else weights
        return cls(
            Y_train=sp.csr_array(protocol.Y_train),
            support=protocol.Y_test.T @ weights,
            n_test=len(protocol.Y_test),
            label_names=label_names,
            classifiers={name: repr(estimator) for name, estimator in estimators.items()},
            seeds=tuple(seeds),
            validation_fraction=protocol.validation_fraction,
        )

    def described(self, metrics, decisions):
        """Return the settings as texts, by name."""
        n_train, n_labels = self.Y_train.shape
        return {
            "training rows": f"{n_train:,}",
            "test rows": f"{self.n_test:,}",
            "labels": f"{n_labels:,}",
            "seeds": ", ".join(map(str, self.seeds)),
            "share of training rows set aside": f"{self.validation_fraction:g}",
            "metrics": ", ".join(metrics),
            "decisions": ", ".join(decisions),
            **{f"classifier {name}": text for name, text in self.classifiers.items()},
        }
