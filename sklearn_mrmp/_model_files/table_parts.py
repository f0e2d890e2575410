"""scikit-learn's transformers for tables in model files: columns, categories, selections.

They transform by numpy, which looks where it reads. Two kinds do not, and are checked here: those
that make a sparse matrix from stored numbers of columns, since products follow these blindly, and
those that make an array of a stored size without filling all of it. Knows attributes, no classes.
"""

from math import comb

import numpy as np

from sklearn_mrmp._model_files.errors import UnsupportedPartError
from sklearn_mrmp._model_files.part import (
    ROWS,
    WORDS,
    Part,
    is_count,
    is_matrix,
    is_simple_pattern,
    is_vector,
    learned_part,
    require,
)

# Functions of one array, element by element, that are common in front of a classifier.
_ELEMENTWISE = tuple(
    f"numpy.{name}"
    for name in (
        *("log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "cbrt", "square", "absolute"),
        *("sign", "sin", "cos", "tanh", "arcsinh", "reciprocal"),
    )
)
_SCORES = tuple(
    f"sklearn.feature_selection.{name}"
    for name in (
        *("chi2", "f_classif", "mutual_info_classif"),
        *("f_regression", "r_regression", "mutual_info_regression"),
    )
)
# Beyond these nobody expands features, and a made-up file could ask for any number of them.
_MAX_DEGREE = 100
_MAX_POLYNOMIALS = 2**22


def _take_selector(selector):
    """Parameters of a choice of columns; its pattern must not take years over their names."""
    if not is_simple_pattern(selector.pattern):
        raise UnsupportedPartError(f"The pattern {selector.pattern!r:.100} is not simple enough.")
    return dict(vars(selector)), {}


def _check_selector(selector):
    require(is_simple_pattern(selector.pattern), "pattern of a choice of columns")


def _with_chosen_columns(transformer):
    """Return what transforms which columns, with the columns that functions chose in `fit`."""
    return [
        (name, part, chosen if callable(columns) else columns)
        for (name, part, columns), chosen in zip(
            transformer.transformers, transformer._columns, strict=True
        )
    ]


def _default_folds(encoder):
    return 5


def _complete_one_hot(encoder):
    """Check that every category leads to a column of the sparse matrix that is made of them."""
    categories = encoder.categories_
    n_out = _numbers_of_categories(categories, encoder.n_features_in_)
    if encoder._infrequent_enabled:
        rare = encoder._infrequent_indices
        mappings = encoder._default_to_infrequent_mappings
        fits = len(rare) == len(mappings) == len(n_out)
        fits = fits and all(map(_groups_rare_ones, n_out, rare, mappings))
        require(fits, "rare categories")
        n_out = [n if r is None else n - len(r) + 1 for n, r in zip(n_out, rare, strict=True)]
    dropped = encoder._drop_idx_after_grouping
    if dropped is not None:
        require(is_vector(dropped, len(n_out), "O"), "categories that are dropped")
        inside = all(map(_is_none_or_below, dropped, n_out))
        require(inside, "categories that are dropped")
        n_out = [n - (d is not None) for n, d in zip(n_out, dropped, strict=True)]
    require(encoder._n_features_outs == n_out, "categories and columns of an encoder")


def _complete_target_means(encoder):
    """Check that every column is filled: of others, the array that is returned shows old memory."""
    n_each = len(getattr(encoder, "classes_", ())) if encoder.target_type_ == "multiclass" else 1
    n_columns = encoder.n_features_in_ * n_each
    require(len(encoder.encodings_) == n_columns, "means of a target and columns of an encoder")


def _numbers_of_categories(categories, n_features):
    """How many categories each feature has; numbers are searched, and so have to be in order."""
    fits = isinstance(categories, list) and len(categories) == n_features
    require(fits and all(is_vector(c, kinds="biufUO") for c in categories), "categories")
    for numbers in categories:
        if numbers.dtype.kind in "biuf":
            ordered = (numbers[1:] > numbers[:-1]) | np.isnan(numbers[1:])
            require(ordered.all() and len(numbers), "categories that are not in order")
    return [len(c) for c in categories]


def _groups_rare_ones(n_categories, rare, mapping):
    """Whether the mapping of a feature puts rare categories together, behind the others."""
    if rare is None or mapping is None:
        return rare is mapping
    if not is_vector(rare, kinds="i") or not is_vector(mapping, n_categories, "i"):
        return False
    is_rare = np.zeros(n_categories, dtype=bool)
    if not len(rare) or rare.min() < 0 or (rare[1:] <= rare[:-1]).any():
        return False
    is_rare[rare] = True  # one beyond the last category raises IndexError
    expected = np.where(is_rare, n_categories - len(rare), np.cumsum(~is_rare) - 1)
    return bool((mapping == expected).all())


def _is_none_or_below(index, n):
    return index is None or (isinstance(index, (int, np.integer)) and 0 <= index < n)


def _complete_polynomials(expansion):
    """Check the sizes of an expansion: more columns than are filled would show old memory."""
    degree, n = expansion.degree, expansion.n_features_in_
    least, most = degree if isinstance(degree, (tuple, list)) else (0, degree)
    stored = (expansion._min_degree, expansion._max_degree)
    require(stored == (least, most) and 0 <= least <= most <= _MAX_DEGREE, "degree")
    require(is_count(n), "degree and number of features")
    sizes = [_n_polynomials(expansion, n, least, most), _n_polynomials(expansion, n, 0, most)]
    require([expansion.n_output_features_, expansion._n_out_full] == sizes, "degree and columns")
    require(sizes[1] <= _MAX_POLYNOMIALS, f"degree and {_MAX_POLYNOMIALS} columns at most")


def _n_polynomials(expansion, n, least, most):
    """Count the products of at least and at most so many of n features."""
    of_degree = (
        (lambda d: comb(n, d)) if expansion.interaction_only else (lambda d: comb(n + d - 1, d))
    )
    return bool(expansion.include_bias) + sum(map(of_degree, range(max(1, least), most + 1)))


def _check_function(transformer):
    """Refuse arguments of functions: they decide where and what a function of numpy writes."""
    given = transformer.kw_args or transformer.inv_kw_args
    require(not given, "arguments of a function (files hold functions without any)")


def _complete_scores(selection):
    require(is_vector(selection.scores_, selection.n_features_in_), "scores of features")


def _check_selection(selection):
    require(selection.importance_getter == "auto", "importance of features (files know 'auto')")


def _complete_dicts(vectorizer):
    places = sorted(vectorizer.vocabulary_.values())
    require(places == list(range(len(places))), "names and their columns")


def _complete_neighbors(imputer):
    """Check the rows that missing values are taken from."""
    X, mask = imputer._fit_X, imputer._mask_fit_X
    fits = isinstance(X, np.ndarray) and is_matrix(X, None, imputer.n_features_in_)
    fits = fits and mask.dtype == bool and mask.shape == X.shape
    require(fits and is_vector(imputer._valid_mask, X.shape[1], "b"), "rows to impute from")


def _selection_part():
    return learned_part(
        {"n_features_in_": "int"}, functions={"score_func": _SCORES}, complete=_complete_scores
    )


_KEPT_CATEGORIES = {"categories_": WORDS}
_CATEGORIES = {
    "n_features_in_": "int",
    "categories_": "list",
    "_infrequent_enabled": "bool",
    "_infrequent_indices": "list?",
    "_default_to_infrequent_mappings": "list?",
}
_COLUMNS = {
    "transformers_": "list",
    "_columns": "list",
    "_remainder": "tuple",
    "_transformer_to_input_indices": "dict",
    "_transformers_feature_names_out": "ndarray?",
}
_PROJECTION = {"_n_features_out": "any?"}

# By the name that files use: the public module and the class.
TABLE_PARTS = {
    "sklearn.compose.ColumnTransformer": learned_part(
        _COLUMNS, fit_only={"transformers": _with_chosen_columns}
    ),
    "sklearn.compose.make_column_selector": Part(take=_take_selector, check=_check_selector),
    "sklearn.preprocessing.OneHotEncoder": learned_part(
        {
            **_CATEGORIES,
            "_drop_idx_after_grouping": "ndarray|NoneType",
            "_n_features_outs": "list",
        },
        complete=_complete_one_hot,
        keeps=_KEPT_CATEGORIES,
    ),
    "sklearn.preprocessing.OrdinalEncoder": learned_part(
        {**_CATEGORIES, "_missing_indices": "dict"}, keeps=_KEPT_CATEGORIES
    ),
    "sklearn.preprocessing.TargetEncoder": learned_part(
        {**_CATEGORIES, "encodings_": "list", "target_type_": "str"},
        fit_only={"cv": _default_folds},
        complete=_complete_target_means,
        keeps=_KEPT_CATEGORIES,
    ),
    "sklearn.preprocessing.KBinsDiscretizer": learned_part({"_encoder": "OneHotEncoder?"}),
    "sklearn.preprocessing.PowerTransformer": learned_part({"_scaler": "StandardScaler?"}),
    "sklearn.preprocessing.QuantileTransformer": learned_part(),
    "sklearn.preprocessing.Binarizer": learned_part(),
    "sklearn.preprocessing.PolynomialFeatures": learned_part(
        {
            "n_features_in_": "int",
            "_min_degree": "int",
            "_max_degree": "int",
            "n_output_features_": "int",
            "_n_out_full": "int",
        },
        complete=_complete_polynomials,
    ),
    "sklearn.preprocessing.FunctionTransformer": learned_part(
        functions={"func": _ELEMENTWISE, "inverse_func": _ELEMENTWISE},
        check=_check_function,
    ),
    "sklearn.impute.SimpleImputer": learned_part({"_fit_dtype": "any?", "_fill_dtype": "any?"}),
    "sklearn.impute.MissingIndicator": learned_part(
        {"_precomputed": "bool?", "_n_features": "int?"}
    ),
    "sklearn.impute.KNNImputer": learned_part(
        {
            "n_features_in_": "int",
            "_fit_X": "ndarray",
            "_mask_fit_X": "ndarray",
            "_valid_mask": "ndarray",
        },
        complete=_complete_neighbors,
        keeps={"_fit_X": ROWS},
    ),
    **{
        f"sklearn.feature_selection.{name}": _selection_part()
        for name in (
            *("SelectKBest", "SelectPercentile", "GenericUnivariateSelect"),
            *("SelectFpr", "SelectFdr", "SelectFwe"),
        )
    },
    "sklearn.feature_selection.VarianceThreshold": learned_part(),
    "sklearn.feature_selection.SelectFromModel": learned_part(check=_check_selection),
    "sklearn.feature_extraction.DictVectorizer": learned_part(
        {"vocabulary_": "dict"}, complete=_complete_dicts, keeps={"vocabulary_": WORDS}
    ),
    "sklearn.feature_extraction.FeatureHasher": learned_part(),
    "sklearn.decomposition.PCA": learned_part({"_fit_svd_solver": "str?"}),
    "sklearn.random_projection.GaussianRandomProjection": learned_part(_PROJECTION),
    "sklearn.random_projection.SparseRandomProjection": learned_part(_PROJECTION),
    "sklearn.kernel_approximation.RBFSampler": learned_part({**_PROJECTION, "_gamma": "any?"}),
    "sklearn.kernel_approximation.Nystroem": learned_part(_PROJECTION, keeps={"components_": ROWS}),
}
