"""The fit that a fit with ``warm_start=True`` goes on from, and what it asks of rows and labels.

Its network has weights for its columns and its labels: columns have to be the same, labels may be
added. Knows target encodings, fitted ensembles and how labels are matched.
"""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_mrmp._ensemble.row_marks import RowMarks
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._network.start import Start, made_with, weights_digest
from sklearn_mrmp._network.voter import NetworkVoter
from sklearn_mrmp._numerics.label_frames import are_numbers, one_is_anonymous
from sklearn_mrmp._numerics.label_lists import label_table, listed_labels
from sklearn_mrmp._settings import EnsembleSettings
from sklearn_mrmp._targets import TargetEncoding
from sklearn_mrmp._voters.choice import NETWORK

_COLUMNS = ("n_features_in_", "feature_names_in_")
_START_ANEW = "Set warm_start=False to start anew."


@dataclass(frozen=True, eq=False)
class EarlierFit:
    """What is left of it; made by `of`.

    Attributes
    ----------
    encoder : input kind
        Fitted.
    target : TargetEncoding
        Its labels.
    network : NetworkVoter
        The trained networks.
    columns : dict of str to object
        Fitted attributes about the columns of its rows.
    marks : RowMarks or None
        Which of its rows the networks were trained on, if that is known.
    labels : int64 ndarray of shape (n_labels,), or None
        For each label of the present fit its number in the earlier one, -1 for a new label.
    """

    encoder: object
    target: TargetEncoding
    network: NetworkVoter
    columns: dict
    marks: RowMarks | None = None
    labels: np.ndarray | None = None

    @classmethod
    def of(cls, classifier):
        """Return the fit that a classifier is to go on from, or None if it starts anew."""
        params = classifier.get_params(deep=False)
        if not params.get("warm_start", TrainingSettings.warm_start):
            return None
        if not classifier.__sklearn_is_fitted__():
            return None
        ensemble = classifier._ensemble
        voters = params.get("voters", EnsembleSettings.voters)
        if NETWORK not in ensemble.voters or NETWORK not in voters:
            return None
        found = vars(classifier)
        return cls(
            ensemble.encoder,
            classifier._target_encoding,
            ensemble.voters[NETWORK],
            {name: found[name] for name in _COLUMNS if name in found},
            found.get("_row_marks"),
        )

    @property
    def made_with(self):
        """Arguments that its network was made with."""
        return made_with(self.network.nets[0])

    @property
    def weights_digest(self):
        """Tells its weights from others."""
        return weights_digest(self.network.nets)

    def kind(self, input_type):
        """Name of the input kind, which has to be the one that it was."""
        name = self.encoder.name
        if input_type not in ("auto", name):
            raise ValueError(
                f"warm_start=True goes on from a network that reads input_type={name!r}, but "
                f"input_type is now {input_type!r}. {_START_ANEW}"
            )
        return name

    def check_encoder(self, encoder):
        """Refuse an unfitted encoder of another class, which the network could not read."""
        if type(encoder) is not type(self.encoder):
            raise ValueError(
                "warm_start=True goes on with a text encoder as it was, fine-tuned or not: keep "
                f"encoder_lr above 0, or at 0. {_START_ANEW}"
            )

    def with_all_labels(self, y):
        """Return lists of label names as a table that has all labels of the earlier fit, too."""
        rows = listed_labels(y) if self.target.is_matrix else None
        if rows is None:
            return y
        known = set(self.target.label_names)
        return label_table(rows, sorted(known.union(*rows)))

    def matched(self, target):
        """Find the labels of a new target among those of the earlier fit.

        Parameters
        ----------
        target : TargetEncoding
            Of the present fit.

        Returns
        -------
        earlier : EarlierFit
            With `labels`.
        target : TargetEncoding
            With the names that labels have had, where it has none.
        """
        if target.kind != self.target.kind:
            raise ValueError(
                f"warm_start=True goes on from a fit with a {self.target.kind} target, but y is "
                f"now a {target.kind} target. {_START_ANEW}"
            )
        old, new = _names(self.target), _names(target)
        if target.is_matrix and old != new and one_is_anonymous(new, old):
            if len(new) < len(old):
                _refuse(old[len(new) :])
            labels = np.where(np.arange(len(new)) < len(old), np.arange(len(new)), -1)
            if are_numbers(new):
                names = np.array([*old, *new[len(old) :]], dtype=object)
                target = replace(target, label_names=names)
            return replace(self, labels=labels), target
        labels = _numbers(old, new)[: target.n_labels]  # of two classes the second is the label
        return replace(self, labels=labels), target

    def starts(self, n_networks):
        """Return where each of so many trainings starts."""
        nets = self.network.nets
        if len(nets) != n_networks:
            raise ValueError(
                f"warm_start=True starts each network from one of the earlier fit, but there the "
                f"number of networks was {len(nets)}, and cv and n_members now ask for "
                f"{n_networks}. {_START_ANEW}"
            )
        return [Start(net, self.labels) for net in nets]


def _names(target):
    """Names of labels, or the classes of a vector."""
    return (target.label_names if target.is_matrix else target.classes).tolist()


def _numbers(old, new):
    """Return the number of each of the new labels among the old ones, -1 if it was not there."""
    if old == new:
        return np.arange(len(old))
    for names in (old, new):
        if len(set(names)) < len(names):
            raise ValueError(
                "warm_start=True matches labels by name, but several labels have the same one. "
                "Give each label its own name."
            )
    missing = [name for name in old if name not in set(new)]
    if missing:
        _refuse(missing)
    where = {name: number for number, name in enumerate(old)}
    return np.array([where.get(name, -1) for name in new], dtype=np.int64)


def _refuse(missing):
    shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
    raise ValueError(
        f"warm_start=True goes on with the labels of the earlier fit, and y lacks {len(missing)} "
        f"of them: {shown}. Add a column of zeros for each, or set warm_start=False."
    )
