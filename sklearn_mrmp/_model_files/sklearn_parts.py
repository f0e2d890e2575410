"""scikit-learn's classes in model files: plain ones that are common parts of a model.

All of them predict by numpy and sparse products of the stored arrays, whose sizes are checked where
they meet. Classes whose compiled code follows stored indices (trees, forests, kernel machines) have
no place here: a made-up index would read foreign memory.
"""

from sklearn_mrmp._model_files.own_hooks import check_token_pattern, require
from sklearn_mrmp._model_files.parts import Part


def _nothing(estimator):
    return None


def _complete_vectorizer(vectorizer):
    """Check the pattern, and that words are numbered from 0: numbers become columns unseen."""
    check_token_pattern(vectorizer.token_pattern)
    words = getattr(vectorizer, "vocabulary_", {})
    require(sorted(words.values()) == list(range(len(words))), "words and their columns")


_OUTPUT = {"_sklearn_output_config": "dict?"}
# Kept by fit and transform for their own use.
_CACHES = ("_stop_words_id", "_loss_function_", "_metadata_request")


def _part(path, fitted=None, **options):
    return Part(
        path,
        {**_OUTPUT, **(fitted or {})},
        fit_only={"random_state": _nothing},
        left_out=_CACHES,
        conventional=True,
        **options,
    )


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

SKLEARN_PARTS = (
    _part("sklearn.pipeline:Pipeline", local=("memory",)),
    _part("sklearn.pipeline:FeatureUnion"),
    _part("sklearn.multiclass:OneVsRestClassifier"),
    _part("sklearn.multiclass:_ConstantPredictor"),
    _part("sklearn.multioutput:MultiOutputClassifier"),
    _part("sklearn.multioutput:ClassifierChain", local=("cv",)),
    _part("sklearn.linear_model:LogisticRegression"),
    _part("sklearn_mrmp._baselines.problem_transformation:ConstantTolerantLogisticRegression"),
    _part("sklearn.linear_model:SGDClassifier", _SGD),
    _part("sklearn.linear_model:RidgeClassifier", {"_label_binarizer": "LabelBinarizer?"}),
    _part("sklearn.svm:LinearSVC"),
    _part("sklearn.naive_bayes:MultinomialNB"),
    _part("sklearn.naive_bayes:ComplementNB"),
    _part("sklearn.naive_bayes:BernoulliNB"),
    _part("sklearn.naive_bayes:GaussianNB"),
    _part("sklearn.preprocessing:LabelBinarizer"),
    _part("sklearn.preprocessing:StandardScaler"),
    _part("sklearn.preprocessing:MaxAbsScaler"),
    _part("sklearn.preprocessing:MinMaxScaler"),
    _part("sklearn.preprocessing:RobustScaler"),
    _part("sklearn.preprocessing:Normalizer"),
    _part("sklearn.decomposition:TruncatedSVD"),
    _part("sklearn.feature_extraction.text:TfidfTransformer"),
    _part(
        "sklearn.feature_extraction.text:TfidfVectorizer",
        {"_tfidf": "TfidfTransformer?"},
        complete=_complete_vectorizer,
    ),
    _part("sklearn.feature_extraction.text:CountVectorizer", complete=_complete_vectorizer),
    _part("sklearn.feature_extraction.text:HashingVectorizer", complete=_complete_vectorizer),
)
