"""What a model file may hold of a class: every class that may be in a file says so itself.

A class has an attribute ``_model_part``, a `Part`, and its path is in the closed list of
`admitted`. Behind a `Part` stand the checks that parts of a model fit each other: code reads memory
by these sizes. Leaf module: numpy and scipy.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._model_files.errors import ModelFileError

# Types of a number in a mapping of fitted attributes.
NUMBER = "float|int|float32|float64|int32|int64"
# Without groups no repetition can be repeated, and two of them are at worst quadratic: a pattern
# of a stranger must not take years over a text.
_MAX_REPETITIONS = 2

# What a part of a model may keep of the training data itself: `Part.keeps`.
ROWS = "training rows"
PROTOTYPES = "prototypes, of which many are single training rows"
MEANS = "means of the rows of a label, which of a label with a single row are that row"
LABEL_SETS = "label sets of training rows"
HELD_OUT = "labels and probabilities of held-out rows"
WORDS = "words, tokens or categories"


@dataclass(frozen=True)
class Request:
    """What the user of `save` asked for, and what is in the file already.

    Attributes
    ----------
    encoder_weights : bool
        Whether pretrained encoders come with their weights and their tokenizers.
    known : dict of str to object
        Arrays, or dicts of them, by what tells them from others: equal ones are stored once.
    """

    encoder_weights: bool = False
    known: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """What a file may hold of a class.

    Attributes
    ----------
    fitted : mapping of str to str
        Attributes besides the constructor's parameters, and their types.
    fit_only : mapping of str to callable
        Parameters that matter for ``fit`` alone. When one of them is not plain data, what the
        function makes of the object is stored in its place, and `save` says so.
    left_out : tuple of str
        Attributes that are not stored: caches, and what `complete` makes anew.
    local : tuple of str
        Parameters of one machine, such as folders: stored as None, refused otherwise.
    functions : mapping of str to tuple of str
        Parameters that are functions, each with the names of those it may be. A file has the name;
        other functions are refused.
    tidy : mapping of str to callable
        For some attributes, what is stored of them.
    keeps : mapping of str to str
        Attributes that keep some of the training data itself, and what they keep, in the words
        below. Model cards tell it, with the length of the attribute.
    conventional : bool
        Whether any attribute that is named by scikit-learn's convention may be set too.
    take : callable or None
        Returns the parameters and the attributes to store of an object, two dicts.
    take_for : callable or None
        The same for a class of which files hold more if asked: called with the object and a
        `Request`.
    make : callable or None
        Makes the object of what `take` returned.
    check : callable or None
        Called with the rebuilt object, fitted or not: checks its parameters.
    complete : callable or None
        Called with the rebuilt object if it is fitted: makes what was left out, checks what belongs
        together.
    """

    fitted: Mapping[str, str] = field(default_factory=dict)
    fit_only: Mapping[str, Callable] = field(default_factory=dict)
    left_out: tuple = ()
    local: tuple = ()
    functions: Mapping[str, tuple] = field(default_factory=dict)
    tidy: Mapping[str, Callable] = field(default_factory=dict)
    keeps: Mapping[str, str] = field(default_factory=dict)
    conventional: bool = False
    take: Callable | None = None
    take_for: Callable | None = None
    make: Callable | None = None
    check: Callable | None = None
    complete: Callable | None = None


def nothing(value):
    """Return None, in the place of a parameter that is code or a generator."""
    return None


# What `set_output` leaves on an estimator, fitted or not.
OUTPUT = {"_sklearn_output_config": "dict?"}
# Kept by fit and transform for their own use.
_CACHES = ("_stop_words_id", "_loss_function_", "_metadata_request")


def learned_part(fitted=None, *, fit_only=None, **options):
    """Part of an estimator whose learned attributes are named by scikit-learn's convention."""
    return Part(
        {**OUTPUT, **(fitted or {})},
        fit_only={"random_state": nothing, **(fit_only or {})},
        left_out=_CACHES,
        conventional=True,
        **options,
    )


def require(condition, what):
    """Raise ModelFileError unless the condition holds."""
    if not condition:
        raise ModelFileError(f"Parts of the model do not fit each other: {what}.")


def is_matrix(value, n_rows=None, n_columns=None):
    """Whether `value` is a dense or CSR matrix of numbers of this shape."""
    if not isinstance(value, (np.ndarray, sp.csr_array)) or value.ndim != 2:
        return False
    if value.dtype.kind not in "biuf":
        return False
    return n_rows in (None, value.shape[0]) and n_columns in (None, value.shape[1])


def is_vector(value, length=None, kinds="biuf"):
    """Whether `value` is a vector of this length and these kinds of dtype."""
    is_one = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds
    return is_one and length in (None, len(value))


def is_count(value):
    """Whether `value` is a whole number above 0."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > 0


def check_token_pattern(pattern):
    """Refuse regular expressions that could run for years on an innocent text."""
    if not is_simple_pattern(pattern):
        raise ModelFileError(
            f"The token pattern {pattern!r:.100} is not simple enough for a model file: a pattern "
            f"there has no groups and at most {_MAX_REPETITIONS} repetitions, so that nobody's "
            "file can hang on a text. Split texts before the vectorizer instead."
        )


def is_simple_pattern(pattern):
    """Whether a regular expression has no groups and few repetitions, or is None."""
    if pattern is None:
        return True
    plain = re.sub(r"\\.", "", pattern.removeprefix("(?u)"))
    return "(" not in plain and len(re.findall(r"[*+?{]", plain)) <= _MAX_REPETITIONS
