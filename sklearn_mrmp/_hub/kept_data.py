"""What a model file would keep of the training data itself, as the classes in it say.

The model is walked through as `save` does, and so a model that cannot be saved is refused here.
Knows model files.
"""

from dataclasses import dataclass

from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._model_files.encoding import Encoder
from sklearn_mrmp._model_files.objects import encode_object, part_of
from sklearn_mrmp._model_files.part import MEANS, PROTOTYPES, ROWS, Request

_SHOW_ROWS = (ROWS, PROTOTYPES, MEANS)


@dataclass(frozen=True)
class KeptData:
    """Something that a part of a model keeps of the training data.

    Attributes
    ----------
    what : str
        What it is, such as ``"training rows"``.
    count : int
        How many; of several parts of the same class, the most.
    where : str
        Class of the part.
    """

    what: str
    count: int
    where: str

    @property
    def shows_rows(self):
        """Whether somebody who has the file can read training rows in it."""
        return self.what in _SHOW_ROWS


def kept_data(model):
    """Return what a model file would keep of the training data.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    kept : list of KeptData

    Raises
    ------
    ModelFileError
        When a part of the model is not plain data.
    sklearn.exceptions.NotFittedError
        When the model is not fitted.

    Examples
    --------
    >>> from sklearn_mrmp import MLKNNClassifier
    >>> from sklearn_mrmp._hub.kept_data import kept_data
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    >>> kept_data(MLKNNClassifier().fit(X, Y))
    [KeptData(what='training rows', count=60, where='SparseNeighbors')]
    """
    check_is_fitted(model)
    most = {}

    def look(encoder, value, path):
        for attribute, what in part_of(value).keeps.items():
            kept = getattr(value, attribute, None)
            if kept is not None:
                key = what, type(value).__name__
                most[key] = max(most.get(key, 0), _length(kept))
        return encode_object(encoder, value, path)

    Encoder(look, Request()).encode(model)
    return [KeptData(what, count, where) for (what, where), count in most.items() if count]


def _length(kept):
    """Return the number of rows or entries; categories are one array for each column."""
    if isinstance(kept, list):
        return sum(map(len, kept))
    return kept.shape[0] if hasattr(kept, "shape") else len(kept)
