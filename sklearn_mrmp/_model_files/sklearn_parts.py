"""scikit-learn's classes in model files: plain ones that are common parts of a model.

What turns tables into numbers is in `table_parts`.

All of them predict by numpy and sparse products of the stored arrays, whose sizes are checked where
they meet. Classes whose compiled code follows stored indices (trees, forests, kernel machines) have
no place here: a made-up index would read foreign memory.
"""

from sklearn_mrmp._model_files.part import (
    ROWS,
    WORDS,
    Part,
    check_token_pattern,
    is_matrix,
    learned_part,
    require,
)
from sklearn_mrmp._model_files.table_parts import TABLE_PARTS


def _check_pattern(vectorizer):
    """Check the pattern, also of a vectorizer that learns nothing and so is always fitted."""
    check_token_pattern(vectorizer.token_pattern)


def _complete_vectorizer(vectorizer):
    """Check that words are numbered from 0: numbers become columns unseen."""
    words = vectorizer.vocabulary_
    require(sorted(words.values()) == list(range(len(words))), "words and their columns")


def _take_neighbors(search):
    """Parameters and rows; trees over the rows are code's own structures and are built anew."""
    return search.get_params(deep=False), {"_fit_X": search._fit_X}


def _make_neighbors(params, fitted):
    """Neighbour search over rows of a file."""
    require(fitted.keys() == {"_fit_X"} and is_matrix(fitted["_fit_X"]), "rows to search")
    require(isinstance(params.get("metric"), str), "metric of a neighbour search")
    from sklearn.neighbors import NearestNeighbors  # takes long to import

    return NearestNeighbors(**params).fit(fitted["_fit_X"])


_SGD = dict.fromkeys(
    (
        "_standard_coef",
        "_standard_intercept",
        "_average_coef",
        "_average_intercept",
        "_expanded_class_weight",
    ),
    "ndarray|NoneType?",
)

# By the name that files use: the public module and the class.
SKLEARN_PARTS = {
    "sklearn.pipeline.Pipeline": learned_part(local=("memory",)),
    "sklearn.pipeline.FeatureUnion": learned_part(),
    "sklearn.multiclass.OneVsRestClassifier": learned_part(),
    "sklearn.multiclass._ConstantPredictor": learned_part(),
    "sklearn.multioutput.MultiOutputClassifier": learned_part(),
    "sklearn.multioutput.ClassifierChain": learned_part(local=("cv",)),
    "sklearn.linear_model.LogisticRegression": learned_part(),
    "sklearn.linear_model.SGDClassifier": learned_part(_SGD),
    "sklearn.linear_model.RidgeClassifier": learned_part({"_label_binarizer": "LabelBinarizer?"}),
    "sklearn.svm.LinearSVC": learned_part(),
    "sklearn.naive_bayes.MultinomialNB": learned_part(),
    "sklearn.naive_bayes.ComplementNB": learned_part(),
    "sklearn.naive_bayes.BernoulliNB": learned_part(),
    "sklearn.naive_bayes.GaussianNB": learned_part(),
    "sklearn.preprocessing.LabelBinarizer": learned_part(),
    "sklearn.preprocessing.StandardScaler": learned_part(),
    "sklearn.preprocessing.MaxAbsScaler": learned_part(),
    "sklearn.preprocessing.MinMaxScaler": learned_part(),
    "sklearn.preprocessing.RobustScaler": learned_part(),
    "sklearn.preprocessing.Normalizer": learned_part(),
    "sklearn.decomposition.TruncatedSVD": learned_part(),
    "sklearn.feature_extraction.text.TfidfTransformer": learned_part(),
    "sklearn.feature_extraction.text.TfidfVectorizer": learned_part(
        {"_tfidf": "TfidfTransformer?"},
        check=_check_pattern,
        complete=_complete_vectorizer,
        keeps={"vocabulary_": WORDS},
    ),
    "sklearn.feature_extraction.text.CountVectorizer": learned_part(
        check=_check_pattern, complete=_complete_vectorizer, keeps={"vocabulary_": WORDS}
    ),
    "sklearn.feature_extraction.text.HashingVectorizer": learned_part(check=_check_pattern),
    "sklearn.neighbors.NearestNeighbors": Part(
        take=_take_neighbors, make=_make_neighbors, keeps={"_fit_X": ROWS}
    ),
    **TABLE_PARTS,
}
