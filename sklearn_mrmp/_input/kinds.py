"""The kinds of rows, by the name that ``input_type`` has for them.

A kind is a class in a file of its own with this face: ``name``; ``checks``, how `validate_data`
looks at the caller's rows, or None for rows that are no matrix, which ``checked(X)`` looks at;
``recognises(X)``; ``fresh()``, the same unfitted; ``canonical(X)``, checked rows in the form that
all other methods take; ``fit(X)``; ``go_on(earlier, X)``, which learns
what an earlier encoder of the kind has not seen, for a network that was trained with that one;
``tokens(X)``, the ragged rows that batches are cut from; of
`EncodedRows` ``bag(rows)``, the matrix for linear and neighbour voters, and ``table(rows)``, the
matrix for any scikit-learn estimator; ``embedding()``, which describes the torch module that turns
a batch into token states. Some have more: ``representation(bag)``, where `LinearFeatures` is not
enough for linear models; ``wholes(rows)``, a vector for each row, of ``whole_width``, by which the
neighbour voter compares rows.
"""

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.presentation import MEASUREMENTS_FROM
from sklearn_mrmp._input.sequence import SequenceInput
from sklearn_mrmp._input.states import StateInput
from sklearn_mrmp._input.text import TextInput
from sklearn_mrmp._input.token_marks import warn_of_token_ids
from sklearn_mrmp._input.vectors import VectorInput, column_shares

# Asked in this order whether they recognise rows.
_KINDS = (SequenceInput, StateInput, TextInput, VectorInput, FeatureInput)
INPUT_KINDS = {kind.name: kind for kind in _KINDS}

_TEXT_WITHOUT_ENCODER = (
    "X holds texts, which have to become numbers first. Either name a pretrained text encoder, as "
    "encoder='sentence-transformers/all-MiniLM-L6-v2', or put a vectorizer before the classifier: "
    "make_pipeline(TfidfVectorizer(), MrMPClassifier())."
)
_ENCODER_WITHOUT_TEXT = (
    "encoder= is for texts, but X does not hold any: pass a list, a vector or a single column of "
    "str, or leave encoder out."
)


def input_kind(input_type, X, has_encoder=False, literal=False):
    """Return the class for the parameter `input_type` and the caller's rows.

    Parameters
    ----------
    input_type : str
        A name, or ``"auto"``.
    X : object
        The rows as they came.
    has_encoder : bool, default=False
        Whether the caller has named an encoder of texts.
    literal : bool, default=False
        Whether ``"auto"`` keeps to the paper, which has a token for each column.

    Returns
    -------
    kind : type

    Examples
    --------
    >>> input_kind("auto", [[0.0, 1.0]]).name
    'features'
    """
    if input_type != "auto":
        kind = INPUT_KINDS[input_type]
    else:
        kinds = (kind for kind in _KINDS if not (literal and kind is VectorInput))
        kind = next(kind for kind in kinds if kind.recognises(X))
    if (kind is TextInput) != has_encoder:
        raise ValueError(_TEXT_WITHOUT_ENCODER if kind is TextInput else _ENCODER_WITHOUT_TEXT)
    if kind in (FeatureInput, VectorInput) and input_type == "auto":
        warn_of_token_ids(X)
    return kind


def kind_of_rows(kind, X):
    """Return the name by which sizes of a network are chosen for rows.

    That of their kind; but features most of which every row has are ``"measurements"``.

    Examples
    --------
    >>> kind_of_rows(FeatureInput, [[0.5, 1.0]]), kind_of_rows(FeatureInput, [[0, 0, 0, 0, 1]])
    ('measurements', 'features')
    """
    shares = column_shares(X) if kind is FeatureInput else None
    is_dense = shares is not None and len(shares) and shares.mean() > MEASUREMENTS_FROM
    return "measurements" if is_dense else kind.name
