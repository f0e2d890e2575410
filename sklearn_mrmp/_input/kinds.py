"""The kinds of rows, by the name that ``input_type`` has for them.

A kind is a class in a file of its own with this face: ``name``; ``checks``, how `validate_data`
looks at the caller's rows, or None for rows that are no matrix, which ``checked(X)`` looks at;
``recognises(X)``; ``canonical(X)``, checked rows in the form that all
other methods take; ``fit(X)``; ``tokens(X)``, the ragged rows that batches are cut from; of
`EncodedRows` ``bag(rows)``, the matrix for linear and neighbour voters, and ``table(rows)``, the
matrix for any scikit-learn estimator; and ``embedding()``, which describes the torch module that
turns a batch into token states.
"""

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.sequence import SequenceInput
from sklearn_mrmp._input.states import StateInput
from sklearn_mrmp._input.token_marks import warn_of_token_ids

# Asked in this order whether they recognise rows.
INPUT_KINDS = {kind.name: kind for kind in (SequenceInput, StateInput, FeatureInput)}


def input_kind(input_type, X):
    """Return the class for the parameter `input_type` and the caller's rows.

    Examples
    --------
    >>> input_kind("auto", [[0.0, 1.0]]).name
    'features'
    """
    if input_type != "auto":
        return INPUT_KINDS[input_type]
    kind = next(kind for kind in INPUT_KINDS.values() if kind.recognises(X))
    if kind is FeatureInput:
        warn_of_token_ids(X)
    return kind
