"""Pipelines for tables in model files: they come back bit for bit, and hostile ones are refused."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    mutual_info_classif,
)
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

import sklearn_mrmp
from sklearn_mrmp import MLKNNClassifier, ModelFileError
from sklearn_mrmp._model_files.container import read_container, write_container
from tests.tiny import tiny

N = 40
NUMBERS, WORDS = ["age", "fare"], ["city", "port"]


@pytest.fixture(scope="module")
def table():
    """Return a frame with numbers, words, text and missing values, and three labels."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(1, 80, N).astype(float),
            "fare": rng.lognormal(size=N),
            "city": pd.Series(rng.choice(["Rome", "Oslo", "Lima", "Riga"], N), dtype=object),
            "port": pd.Series(rng.choice(["a", "b"], N), dtype=object),
            "note": rng.choice(["red fish", "blue bird", "red bird"], N),
        }
    )
    frame.loc[[3, 7], "age"] = np.nan
    frame.loc[[2, 9], "city"] = None
    frame.loc[[4], "port"] = np.nan
    Y = np.column_stack([frame.fare > 1, frame.port == "a", rng.random(N) < 0.5]).astype(int)
    return frame, Y


@pytest.fixture
def again(tmp_path):
    def save_and_load(estimator):
        sklearn_mrmp.save(estimator, tmp_path / "model")
        return sklearn_mrmp.load(tmp_path / "model")

    return save_and_load


def assert_same_values(ours, theirs):
    """Check that two trees of attributes are the same, parts of models included."""
    assert type(ours) is type(theirs)
    if sp.issparse(ours):
        ours, theirs = ours.toarray(), theirs.toarray()
    if hasattr(ours, "get_params"):
        caches = {"_stop_words_id"}
        ours, theirs = (
            {k: v for k, v in vars(e).items() if k not in caches} for e in (ours, theirs)
        )
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for name in ours:
            assert_same_values(ours[name], theirs[name])
    elif isinstance(ours, (list, tuple)) or (
        isinstance(ours, np.ndarray) and ours.dtype == object and ours.ndim
    ):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same_values(a, b)
    elif isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    elif isinstance(ours, make_column_selector):
        assert vars(ours) == vars(theirs)
    else:
        assert ours is theirs or ours == theirs or (ours != ours and theirs != theirs)


def assert_same_transform(ours, theirs, X):
    a, b = ours.transform(X), theirs.transform(X)
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b)
        return
    assert a.dtype == b.dtype
    a, b = (m.toarray() if sp.issparse(m) else np.asarray(m) for m in (a, b))
    np.testing.assert_array_equal(a, b)


def columns(*parts, **options):
    return ColumnTransformer([(str(i), *part) for i, part in enumerate(parts)], **options)


IMPUTED = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
ONE_HOT = OneHotEncoder(handle_unknown="ignore")
RARE = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=12, drop="if_binary")
TABLES = {
    "names": columns((IMPUTED, NUMBERS), (ONE_HOT, WORDS)),
    "selectors": make_column_transformer(
        (IMPUTED, make_column_selector(dtype_include=np.number)),
        (RARE, make_column_selector(pattern="city|port", dtype_exclude=[np.number, "bool"])),
    ),
    "positions": columns((IMPUTED, [0, 1]), (ONE_HOT, slice(2, 4)), ("drop", [4])),
    "slices of names": columns((KNNImputer(), slice("age", "fare")), (RARE, slice("city", "port"))),
    "masks": columns(
        (IMPUTED, [True, True, False, False, False]), (ONE_HOT, np.array([0, 0, 1, 1, 0], bool))
    ),
    "passthrough": columns((IMPUTED, ["age"]), ("passthrough", ["fare"]), ("drop", WORDS)),
    "remainder passed": columns(
        (ONE_HOT, WORDS), ("drop", ["note", "age"]), remainder="passthrough"
    ),
    "remainder encoded": columns(
        (IMPUTED, NUMBERS), remainder=OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    ),
    "text": columns((TfidfVectorizer(), "note"), (IMPUTED, NUMBERS), sparse_threshold=1.0),
    "weights": columns((IMPUTED, NUMBERS), (ONE_HOT, WORDS), transformer_weights={"0": 2.0}),
    "frames": columns(
        (IMPUTED, NUMBERS),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), WORDS),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas"),
    "nested": columns(
        (columns((IMPUTED, NUMBERS), (ONE_HOT, ["city"])), [*NUMBERS, "city"]), (RARE, ["port"])
    ),
}


def with_strangers(frame):
    """Return rows with values that training did not see, and columns in another order."""
    frame = frame.copy()
    frame.loc[:3, "city"] = "Atlantis"
    frame.loc[5, "port"] = None
    frame.loc[6, ["age", "fare"]] = np.nan, 3.0
    return frame[[*frame.columns[::-1]]]


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("kind", TABLES)
def test_a_pipeline_for_tables_comes_back_bit_for_bit(again, table, kind):
    frame, Y = table
    model = make_pipeline(TABLES[kind], MLKNNClassifier(3)).fit(frame, Y)
    loaded = again(model)
    strangers = with_strangers(frame)
    if kind in ("masks", "positions"):
        strangers = strangers[frame.columns]
    for X in (frame, frame[:1], strangers):
        np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))
        assert_same_transform(model[0], loaded[0], X)
    assert_same_values(model[0], loaded[0])
    with pytest.raises(ValueError, match=r"missing|not in"):
        loaded.predict(frame.drop(columns="fare"))


@pytest.mark.parametrize("kind", ["positions", "masks"])
def test_a_pipeline_for_tables_that_was_fitted_on_an_array_comes_back(again, table, kind):
    frame, Y = table
    X = frame.to_numpy(dtype=object)
    model = make_pipeline(TABLES[kind], MLKNNClassifier(3)).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), again(model).predict_proba(X))


def test_a_network_behind_a_table_comes_back_and_can_be_fitted_again(again, table):
    frame, Y = table
    model = make_pipeline(TABLES["selectors"], tiny(max_epochs=1)).fit(frame, Y)
    loaded = again(model)
    expected = model.predict_proba(frame)
    np.testing.assert_array_equal(expected, loaded.predict_proba(frame))
    np.testing.assert_array_equal(expected, loaded.fit(frame, Y).predict_proba(frame))


def test_columns_that_a_function_chose_are_stored_by_name_with_a_warning(tmp_path, table):
    frame, Y = table
    for chooser in (lambda X: NUMBERS, make_column_selector("a.*g.*e.*|fare")):
        model = make_pipeline(columns((IMPUTED, chooser)), MLKNNClassifier(3)).fit(frame, Y)
        with pytest.warns(UserWarning, match="Not saved.*transformers"):
            sklearn_mrmp.save(model, tmp_path / "model")
        loaded = sklearn_mrmp.load(tmp_path / "model")
        assert loaded[0].transformers[0][2] == NUMBERS
        np.testing.assert_array_equal(model.predict_proba(frame), loaded.predict_proba(frame))


ENCODERS = [
    OneHotEncoder(),
    OneHotEncoder(drop="first", dtype=np.float32),
    OneHotEncoder(drop=["Lima", "a"], sparse_output=False),
    OneHotEncoder(categories=[["Rome", "Riga", "Oslo", "Lima", None], ["b", "a", np.nan]]),
    OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist", drop="first"),
    OneHotEncoder(min_frequency=0.2, handle_unknown="warn"),
    OrdinalEncoder(),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
    OrdinalEncoder(max_categories=2),
    SimpleImputer(strategy="most_frequent", add_indicator=True),
    SimpleImputer(strategy="constant", fill_value="?"),
    SimpleImputer(strategy="constant", missing_values=None, fill_value="none"),
    MissingIndicator(features="all"),
]


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda e: repr(e)[:60])
@pytest.mark.parametrize("container", ["frame", "object", "str"])
def test_encoders_of_words_come_back(again, table, encoder, container):
    X = table[0][WORDS]
    if getattr(encoder, "missing_values", 0) is None:
        X = X.replace(np.nan, None)
    if container == "str":
        if encoder.get_params().get("categories") != "auto":
            pytest.skip("arrays of strings have no missing values")
        X = X.fillna("a").to_numpy().astype("U5")
    elif container == "object":
        X = X.to_numpy(dtype=object)
    encoder.fit(X)
    loaded = again(encoder)
    assert_same_values(encoder, loaded)
    assert_same_transform(encoder, loaded, X)
    if getattr(encoder, "handle_unknown", "error") != "error":
        strange = X.copy()
        strange[:2] = "Nowhere"
        assert_same_transform(encoder, loaded, strange)


@pytest.mark.parametrize("dtype", [int, float, np.float32, bool])
def test_categories_that_are_numbers_come_back(again, dtype):
    X = np.array([[0, 3], [1, 2], [0, 5], [1, 2]]).astype(dtype)
    for encoder in (OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder()):
        encoder.fit(X)
        assert_same_transform(encoder, again(encoder), X)
    floats = np.array([[0.5], [np.nan], [2.0]])
    encoder = OneHotEncoder().fit(floats)
    assert_same_transform(encoder, again(encoder), floats)


NUMERIC = [
    SelectKBest(chi2, k=2),
    SelectKBest(f_classif, k="all"),
    SelectKBest(mutual_info_classif, k=1),
    SelectPercentile(chi2, percentile=50),
    SelectFpr(chi2, alpha=0.9),
    SelectFdr(chi2, alpha=0.9),
    SelectFwe(chi2, alpha=0.9),
    GenericUnivariateSelect(chi2, mode="k_best", param=2),
    SelectFromModel(RidgeClassifier(), threshold="median"),
    VarianceThreshold(0.01),
    KBinsDiscretizer(3, strategy="uniform"),
    KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
    KBinsDiscretizer([2, 3, 2, 4], encode="onehot-dense", strategy="uniform"),
    PowerTransformer(),
    PowerTransformer(standardize=False),
    QuantileTransformer(n_quantiles=10, output_distribution="normal", random_state=0),
    PolynomialFeatures(2),
    PolynomialFeatures((2, 3), interaction_only=True, include_bias=False, order="F"),
    FunctionTransformer(),
    FunctionTransformer(np.log1p, inverse_func=np.expm1, validate=True),
    FunctionTransformer(np.sqrt, feature_names_out="one-to-one"),
    MaxAbsScaler(),
    MinMaxScaler(),
    Binarizer(threshold=0.5),
    PCA(2, whiten=True),
    TruncatedSVD(2, random_state=0),
    GaussianRandomProjection(2, random_state=0),
    SparseRandomProjection(2, random_state=0),
    RBFSampler(n_components=5, random_state=0),
    Nystroem(n_components=5, random_state=0),
    SimpleImputer(strategy="mean", keep_empty_features=True),
    KNNImputer(n_neighbors=2, add_indicator=True),
    make_union(PCA(1), SelectKBest(chi2, k=1), "passthrough", "drop"),
]


@pytest.mark.parametrize("transformer", NUMERIC, ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("as_frame", [False, True], ids=["array", "frame"])
def test_transformers_of_numbers_come_back_before_a_classifier(again, transformer, as_frame):
    rng = np.random.default_rng(0)
    X = rng.random((N, 4)) * [1, 2, 3, 4]
    Y = (X[:, :3] > [0.5, 1, 1.5]).astype(int)
    # A score for classes wants one vector.
    y = (
        Y[:, 0]
        if getattr(transformer, "score_func", None) in (f_classif, mutual_info_classif)
        else Y
    )
    if "Imputer" in type(transformer).__name__:
        X[rng.random(X.shape) < 0.1] = np.nan
    if as_frame:
        X = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(transformer, MLKNNClassifier(3)).fit(X, y)
    loaded = again(model)
    assert_same_values(model[0], loaded[0])
    assert_same_transform(model[0], loaded[0], X)
    np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))


def test_means_of_a_target_come_back(again, table):
    frame, Y = table
    model = make_pipeline(TargetEncoder(), MLKNNClassifier(3)).fit(frame[WORDS], Y[:, 0])
    loaded = again(model)
    assert_same_values(model[0], loaded[0])
    np.testing.assert_array_equal(model.predict(frame[WORDS]), loaded.predict(frame[WORDS]))


def test_rows_that_are_dicts_come_back(again):
    rows = [{"colour": "red", "n": 1.0}, {"colour": "blue"}, {"n": 3.0}] * 4
    Y = np.array([[1, 0], [0, 1], [1, 1]] * 4)
    for transformer in (DictVectorizer(), DictVectorizer(sparse=False), FeatureHasher(8)):
        model = make_pipeline(transformer, MLKNNClassifier(3)).fit(rows, Y)
        np.testing.assert_array_equal(model.predict_proba(rows), again(model).predict_proba(rows))


def my_scores(X, y):
    return chi2(X, y)


def my_importance(estimator):
    return estimator.coef_[0]


@pytest.mark.parametrize(
    ("transformer", "match"),
    [
        (SelectKBest(my_scores, k=1), "score_func is a function"),
        (FunctionTransformer(np.negative), "func is a function"),
        (FunctionTransformer(my_scores), "func is a function"),
        (SelectFromModel(RidgeClassifier(), importance_getter=my_importance), "importance_getter"),
        (SplineTransformer(), "SplineTransformer"),
        (FunctionTransformer(np.log1p, kw_args={"where": True}), "arguments of a function"),
        (PolynomialFeatures(101, interaction_only=True), "degree"),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_other_functions_and_compiled_parts_are_refused(tmp_path, transformer, match):
    X = np.random.default_rng(0).random((10, 2))
    transformer.fit(X, [0, 1] * 5)
    with pytest.raises(ModelFileError, match=match):
        sklearn_mrmp.save(transformer, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def change(path, edit, arrays_too=False):
    """Write a model file anew, with another state and a right checksum."""
    metadata, arrays = read_container(path)
    state = json.loads(metadata["state"])
    edit(state["object"], arrays) if arrays_too else edit(state["object"])
    metadata = {k: v for k, v in metadata.items() if not k.startswith(("format", "sha"))}
    write_container(path, {**metadata, "state": json.dumps(state)}, arrays)


def unfitted_with_arguments(root):
    root["fitted"] = {}
    root["params"]["kw_args"] = {"dict": {"out": None}}


def put(where, name, value):
    return lambda root: root[where].update({name: value})


@pytest.mark.parametrize(
    ("estimator", "edit", "match"),
    [
        ("one_hot", put("fitted", "_n_features_outs", [1, 1]), "columns of an encoder"),
        ("one_hot", put("fitted", "_n_features_outs", [4, 0]), "columns of an encoder"),
        ("one_hot", put("fitted", "_drop_idx_after_grouping", None), "columns of an encoder"),
        ("one_hot", put("fitted", "_default_to_infrequent_mappings", [None, None]), "rare"),
        ("one_hot", put("fitted", "_infrequent_indices", [None, None]), "rare"),
        ("one_hot", put("fitted", "_infrequent_enabled", False), "rare|columns of an encoder"),
        ("one_hot", put("fitted", "n_features_in_", 3), "categories"),
        ("one_hot", lambda root: root["fitted"].pop("n_features_in_"), "without n_features_in_"),
        ("one_hot", lambda root: root["fitted"]["categories_"].reverse(), "rare|columns"),
        ("polynomial", put("fitted", "_n_out_full", 10**9), "degree"),
        ("polynomial", put("fitted", "_max_degree", 3), "degree"),
        ("polynomial", put("params", "degree", 10**6), "degree"),
        ("select", put("params", "score_func", "os.system"), "score_func"),
        ("select", put("params", "score_func", "numpy.log1p"), "score_func"),
        ("select", put("params", "score_func", {"type": "float"}), "score_func"),
        ("log", put("params", "func", "builtins.eval"), "func"),
        ("log", put("params", "kw_args", {"dict": {"out": None}}), "arguments of a function"),
        ("log", unfitted_with_arguments, "arguments of a function"),
        ("dicts", put("fitted", "vocabulary_", {"dict": {"a": 7}}), "columns"),
        ("from_model", put("params", "importance_getter", "__class__"), "importance"),
        ("knn", put("fitted", "n_features_in_", 1), "rows to impute"),
        ("means", lambda root: root["fitted"]["encodings_"].pop(), "means of a target"),
        ("means", put("fitted", "target_type_", "multiclass"), "means of a target"),
        ("class_means", put("fitted", "target_type_", "binary"), "means of a target"),
    ],
)
def test_attributes_that_would_lead_outside_are_refused(tmp_path, table, estimator, edit, match):
    X = np.random.default_rng(0).random((N, 2))
    fitted = {
        "one_hot": lambda: OneHotEncoder(min_frequency=11, drop="first").fit(table[0][WORDS]),
        "polynomial": lambda: PolynomialFeatures(2).fit(X),
        "select": lambda: SelectKBest(chi2, k=1).fit(X, table[1]),
        "log": lambda: FunctionTransformer(np.log1p).fit(X),
        "dicts": lambda: DictVectorizer().fit([{"a": 1}]),
        "from_model": lambda: SelectFromModel(RidgeClassifier()).fit(X, table[1]),
        "knn": lambda: KNNImputer().fit(X),
        "means": lambda: TargetEncoder().fit(table[0][WORDS], table[1][:, 0]),
        "class_means": lambda: TargetEncoder().fit(table[0][WORDS], np.arange(N) % 3),
    }[estimator]()
    sklearn_mrmp.save(fitted, tmp_path / "model")
    change(tmp_path / "model", edit)
    with pytest.raises(ModelFileError, match=match):
        sklearn_mrmp.load(tmp_path / "model")


def test_categories_out_of_order_are_refused(tmp_path):
    sklearn_mrmp.save(OneHotEncoder().fit([[1.0], [2.0], [3.0]]), tmp_path / "model")

    def turn_round(root, arrays):
        (name,) = arrays
        arrays[name] = arrays[name][::-1].copy()

    change(tmp_path / "model", turn_round, arrays_too=True)
    with pytest.raises(ModelFileError, match="categories"):
        sklearn_mrmp.load(tmp_path / "model")
