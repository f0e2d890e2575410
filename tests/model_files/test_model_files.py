"""Models saved and loaded: everything a user sees is the same, and what cannot be saved says so."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from skorch.callbacks import Callback

import sklearn_mrmp
from sklearn_mrmp import (
    AtLeastOne,
    LabelChainClassifier,
    LabelGraph,
    LabelPowersetClassifier,
    MLARAMClassifier,
    MLKNNClassifier,
    ModelFileError,
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TokenSequenceVectorizer,
    TopK,
    TunedBinaryRelevanceClassifier,
    TunedDecisionClassifier,
    label_graph,
)
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny as tiny_classifier

METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")
TEXTS = ["red fish", "blue fish swims", "one fish", "two birds fly", "red bird", "blue sky"] * 4


def tiny(**params):
    return tiny_classifier(**{"max_epochs": 1, **params})


@pytest.fixture(scope="module")
def related():
    X, Y, _ = make_related_labels(60, 6, n_features=30, random_state=0)
    return X, Y


@pytest.fixture
def again(tmp_path):
    """Save a model and load it."""

    def save_and_load(estimator):
        path = tmp_path / "model.safetensors"
        sklearn_mrmp.save(estimator, path)
        return sklearn_mrmp.load(path)

    return save_and_load


def same(a, b):
    """Whether two results are the same in type, dtype and every bit."""
    assert type(a) is type(b)
    if sp.issparse(a):
        return a.dtype == b.dtype and a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a.dtype == b.dtype and np.array_equal(a, b)


def assert_same_model(model, loaded, X):
    assert type(model) is type(loaded)
    # Out-of-fold probabilities are as large as the training labels, and stay behind.
    assert set(vars(model)) - {"_oof"} == set(vars(loaded))
    assert same(model.predict(X), loaded.predict(X))
    for name in ("predict_proba", "decision_function", "label_embeddings_", "label_names_"):
        if hasattr(model, name):
            ours, theirs = getattr(model, name), getattr(loaded, name)
            assert same(ours(X), theirs(X)) if callable(ours) else same(ours, theirs)
    for name in ("classes_", "feature_names_in_"):
        if hasattr(model, name):
            assert same(getattr(model, name), getattr(loaded, name))
    for name in ("n_features_in_", "thresholds_", "history_", "n_iter_", "best_epoch_"):
        if hasattr(model, name):
            assert getattr(model, name) == getattr(loaded, name), name
    if hasattr(model, "label_graph_"):
        assert model.label_graph_ == loaded.label_graph_


def targets(Y):
    classes = Y.sum(axis=1).clip(max=2)
    return {
        "dense": Y,
        "float": Y.astype(np.float32),
        "csr_array": sp.csr_array(Y),
        "csr_matrix": sp.csr_matrix(Y),
        "frame": pd.DataFrame(Y, columns=[f"label {i} é" for i in range(Y.shape[1])]),
        "binary": Y[:, 0],
        "binary strings": np.array(["no", "yes"])[Y[:, 0]],
        "multiclass": classes,
        "multiclass objects": np.array(["none", "one", "many"], dtype=object)[classes],
    }


@pytest.mark.parametrize("kind", targets(np.ones((1, 6), dtype=int)))
@pytest.mark.parametrize(
    "make", [tiny, MLKNNClassifier, MLARAMClassifier], ids=["mrmp", "mlknn", "mlaram"]
)
def test_every_kind_of_target_comes_back(again, related, make, kind):
    X, Y = related
    model = make().fit(X, targets(Y)[kind])
    assert_same_model(model, again(model), X)


@pytest.mark.parametrize(
    "params",
    [
        {"relations": None},
        {"relations": partial(label_graph, edge_weight="conditional")},
        {"architecture": "paper"},
        {"architecture": "paper-repaired"},
        {"refit": True, "n_encoder_layers": 0, "n_decoder_layers": 3, "n_relation_layers": 1},
        {"relations": {"near": np.triu(np.ones((6, 6)), 1), "pulling": sp.eye_array(6).tocsr()}},
        {"relations": LabelGraph({"parent": np.diag(np.ones(5), 1)}, list("abcdef"))},
        {"max_tokens": 5, "decision": 0.3, "n_threads": 1, "alpha": np.float64(0.1)},
        {"voters": ("network", "linear"), "label_shortlist": 2, "n_members": 2},
        {"voters": ("network",), "label_sets": False},
        {"voters": ("network", ("lr", OneVsRestClassifier(LogisticRegression())))},
        {"cv": 2, "early_stopping": 1},
    ],
    ids=lambda params: "-".join(params),
)
def test_networks_of_every_make_come_back_with_all_decisions(again, related, params):
    X, Y = related
    model = tiny(**params).fit(X, Y)
    if callable(params.get("relations")):
        model.set_params(relations=model.label_graph_)  # a function is code
    loaded = again(model)
    assert_same_model(model, loaded, X)
    assert repr(model) == repr(loaded)
    assert loaded.vote_weights_ == model.vote_weights_
    for name, voter in model.voters_.items():
        assert same(voter.predict_proba(X), loaded.voters_[name].predict_proba(X))
    for decision in ("optimal", "threshold", 0.25):
        for metric in METRICS:
            model.set_params(metric=metric, decision=decision)
            loaded.set_params(metric=metric, decision=decision)
            assert same(model.predict(X), loaded.predict(X))


def test_voters_without_the_network_come_back(again, related):
    X, Y = related
    lr = ("lr", OneVsRestClassifier(LogisticRegression()))
    for voters in (("linear",), ("linear", "neighbors"), ("neighbors", lr), [lr]):
        model = tiny(voters=voters).fit(X, Y)
        loaded = again(model)
        assert_same_model(model, loaded, X)
        assert list(loaded.voters_) == list(model.voters_)
        assert not hasattr(loaded, "net_")


def test_the_estimator_of_a_user_comes_back_fitted_and_can_be_fitted_again(again, related):
    X, Y = related
    lr = OneVsRestClassifier(LogisticRegression(C=0.5))
    model = tiny(voters=("network", "linear", "neighbors", ("lr", lr))).fit(X, Y)
    loaded = again(model)
    assert_same_model(model, loaded, X)
    assert loaded.voters[3][1].get_params()["estimator__C"] == 0.5
    assert same(loaded.voters_.lr.predict_proba(X), model.voters_.lr.predict_proba(X))
    assert same(loaded.fit(X, Y).predict_proba(X), model.predict_proba(X))


def test_a_voter_that_files_do_not_know_is_refused_by_name(related, tmp_path):
    X, Y = related
    tree = ("tree", DecisionTreeClassifier(max_depth=1, random_state=0))
    model = tiny(voters=("linear", tree)).fit(X, Y)
    with pytest.raises(ModelFileError, match="DecisionTreeClassifier"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_large_sparse_graph_comes_back(again):
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 300)) < 0.1).astype(int)  # more labels than a dense product is used for
    X = rng.random((40, 5))
    near = sp.diags_array(np.ones(299), offsets=1, shape=(300, 300)).tocsr()
    model = tiny(relations={"near": near}, max_epochs=1).fit(X, Y)
    assert_same_model(model, again(model), X)


def test_sequences_come_back(again):
    vectorizer = TokenSequenceVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    Y = np.array([["fish" in text, "red" in text] for text in TEXTS]).astype(int)
    model = tiny().fit(X, Y)
    assert_same_model(model, again(model), X)
    assert same(vectorizer.transform(["red sky"]), again(vectorizer).transform(["red sky"]))


def test_data_frame_columns_come_back_and_are_checked(again, related):
    X, Y = related
    X = pd.DataFrame(X.toarray()).rename(columns=lambda i: f"feature {i}")
    loaded = again(tiny().fit(X, Y))
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns=str.upper))


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "ball_tree", "brute"])
@pytest.mark.parametrize("sparse", [True, False])
def test_neighbour_searches_come_back(again, related, algorithm, sparse):
    X, Y = related
    X = sp.csr_array(X) if sparse else X.toarray()
    if sparse and algorithm.endswith("tree"):
        pytest.skip("scikit-learn's trees are for dense rows")
    model = MLKNNClassifier(algorithm=algorithm).fit(X, Y)
    assert_same_model(model, again(model), X)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("cluster_vigilance", [None, 0.5])
@pytest.mark.parametrize("vigilance", [0.5, 1.0])
def test_prototypes_and_their_clusters_come_back(
    again, related, sparse, cluster_vigilance, vigilance
):
    X, Y = related
    X = sp.csr_array(X) if sparse else X.toarray()
    model = MLARAMClassifier(vigilance=vigilance, cluster_vigilance=cluster_vigilance).fit(X, Y)
    loaded = again(model)
    assert_same_model(model, loaded, X)
    assert model._prototypes.are_points == loaded._prototypes.are_points


@pytest.mark.parametrize(
    "decision",
    ["optimal", "label_sets", "top_k", "at_least_one", TopK(2), AtLeastOne(0.4)],
    ids=str,
)
def test_tuned_decisions_come_back(again, related, decision):
    X, Y = related
    linear = make_pipeline(MaxAbsScaler(), OneVsRestClassifier(LogisticRegression()))
    model = TunedDecisionClassifier(linear, decision=decision, cv=2, random_state=0).fit(X, Y)
    loaded = again(model)
    for metric in METRICS:
        model.set_params(metric=metric)
        loaded.set_params(metric=metric)
        assert_same_model(model, loaded, X)


def test_a_prefit_model_is_stored_once_and_stays_shared(again, related, tmp_path):
    X, Y = related
    net = tiny().fit(X, Y)
    net.save(tmp_path / "alone")
    model = TunedDecisionClassifier(net, cv="prefit").fit(X, Y)
    loaded = again(model)
    assert loaded.estimator_ is loaded.estimator
    assert_same_model(model, loaded, X)
    sizes = [(tmp_path / name).stat().st_size for name in ("alone", "model.safetensors")]
    assert sizes[1] < 1.5 * sizes[0]


@pytest.mark.parametrize("weights", [None, [1, 2, 1], "auto"])
def test_votes_come_back(again, related, weights):
    X, Y = related
    members = [
        ("net", tiny()),
        ("knn", MLKNNClassifier()),
        ("linear", OneVsRestClassifier(LogisticRegression())),
    ]
    model = SoftVotingMultilabelClassifier(members, weights=weights, cv=2, random_state=0)
    model.fit(X, Y)
    loaded = again(model)
    assert_same_model(model, loaded, X)
    assert loaded.named_estimators_["knn"] is loaded.estimators_[1]


@pytest.mark.parametrize(
    "classifier",
    [
        OneVsRestClassifier(LogisticRegression(class_weight="balanced")),
        OneVsRestClassifier(LogisticRegression(class_weight={0: 1.0, 1: 2.0})),
        OneVsRestClassifier(SGDClassifier(random_state=0, average=True)),
        OneVsRestClassifier(LinearSVC(random_state=0)),
        OneVsRestClassifier(MultinomialNB()),
        OneVsRestClassifier(ComplementNB()),
        OneVsRestClassifier(BernoulliNB()),
        OneVsRestClassifier(GaussianNB()),
        MultiOutputClassifier(LogisticRegression()),
        ClassifierChain(LogisticRegression(), order="random", random_state=0),
        LabelChainClassifier(order="random", random_state=0),
        TunedBinaryRelevanceClassifier((0.1, 1.0), random_state=0),
        RidgeClassifier(),
        LabelPowersetClassifier(LogisticRegression()),
    ],
    ids=lambda c: repr(c)[:40],
)
@pytest.mark.filterwarnings("ignore:Label .* is present in all")
def test_scikit_learn_classifiers_come_back(again, related, classifier):
    X, Y = related
    X = abs(X.toarray())
    Y = Y.copy()
    if isinstance(classifier, OneVsRestClassifier):
        Y[:, 1] = 1  # a label that is always there has a constant predictor
    model = classifier.fit(X, Y)
    assert_same_model(model, again(model), X)


@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler(), RobustScaler(), Normalizer(), TruncatedSVD(3)]
)
def test_scalers_come_back(again, related, scaler):
    X = related[0].toarray()
    assert same(scaler.fit(X).transform(X), again(scaler).transform(X))


@pytest.mark.parametrize(
    "vectorizer",
    [
        TfidfVectorizer(ngram_range=(1, 2), dtype=np.float32),
        TfidfVectorizer(token_pattern=r"\S+", stop_words=["one"]),
        TfidfVectorizer(stop_words="english"),
        make_pipeline(CountVectorizer(), TfidfTransformer()),
        FeatureUnion([("counts", CountVectorizer()), ("hashes", HashingVectorizer(n_features=16))]),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_a_pipeline_from_text_comes_back(again, vectorizer):
    Y = np.array([["fish" in text, "red" in text, "b" in text] for text in TEXTS]).astype(int)
    model = Pipeline([("text", vectorizer), ("net", tiny())]).fit(TEXTS, Y)
    assert same(model.predict_proba(TEXTS), again(model).predict_proba(TEXTS))


def test_loaded_models_can_be_fitted_again(again, related):
    X, Y = related
    model = tiny().fit(X, Y)
    loaded = again(model)
    assert same(loaded.fit(X, Y).predict_proba(X), model.predict_proba(X))


def test_loaded_models_can_be_saved_and_pickled(again, related):
    X, Y = related
    model = tiny().fit(X, Y)
    twice = pickle.loads(pickle.dumps(again(again(model))))
    assert_same_model(model, twice, X)


def test_loading_leaves_the_random_state_of_torch_alone(again, related):
    torch = pytest.importorskip("torch")
    model = tiny().fit(*related)
    before = torch.get_rng_state()
    again(model)
    assert torch.equal(before, torch.get_rng_state())


def test_a_model_of_another_device_runs_on_the_cpu(again, related):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("for machines without CUDA")
    X, Y = related
    model = tiny().fit(X, Y)
    P = model.predict_proba(X)
    model.device = "cuda"
    model.net_.device = "cuda:1"
    loaded = again(model)
    assert loaded.device == "cuda"
    assert loaded.net_.device == "cpu"
    assert same(loaded.predict_proba(X), P)


def test_the_official_reader_opens_a_model_file(related, tmp_path):
    model = tiny().fit(*related)
    model.save(tmp_path / "model.safetensors")
    with safe_open(tmp_path / "model.safetensors", framework="numpy") as file:
        assert file.metadata()["format"] == "sklearn-mrmp model"
        weights = file.get_tensor(
            next(name for name in file.keys() if name.endswith("weights/output"))  # noqa: SIM118
        )
        assert len(list(file.keys())) > 50
    np.testing.assert_array_equal(weights, model.net_.module_.output.detach().numpy())


def test_a_plain_safetensors_file_is_no_model(tmp_path):
    save_file({"w": np.ones(3)}, tmp_path / "weights.safetensors")
    with pytest.raises(ModelFileError, match="not a file of the kind 'sklearn-mrmp model'"):
        sklearn_mrmp.load(tmp_path / "weights.safetensors")


class Noting(Callback):
    def on_epoch_end(self, net, **kwargs):
        net.history.record("note", object())


def relations_of(Y):
    return {"near": np.ones((6, 6))}


@pytest.mark.parametrize(
    ("params", "left"),
    [
        ({"callbacks": [Noting()]}, {"callbacks": None}),
        ({"random_state": np.random.RandomState(0)}, {"random_state": None}),
        ({"relations": relations_of}, {}),
    ],
)
def test_code_that_only_fit_needs_is_left_out_with_a_warning(related, tmp_path, params, left):
    X, Y = related
    model = tiny(**params).fit(X, Y)
    with pytest.warns(UserWarning, match=f"Not saved.*{next(iter(params))}"):
        model.save(tmp_path / "model")
    loaded = MrMPClassifier.load(tmp_path / "model")
    assert same(model.predict_proba(X), loaded.predict_proba(X))
    assert {name: getattr(loaded, name) for name in left} == left
    if "relations" in params:
        assert loaded.relations == model.label_graph_


def test_a_splitter_of_the_network_is_stored_as_the_default_share(related, tmp_path):
    X, Y = related
    model = tiny(cv=KFold(2)).fit(X, Y)
    with pytest.warns(UserWarning, match="Not saved.*cv .KFold"):
        model.save(tmp_path / "model")
    loaded = MrMPClassifier.load(tmp_path / "model")
    assert loaded.cv == 0.1
    assert len(model.voters_.network.model.members) == 2
    assert len(loaded.voters_.network.model.members) == 2
    assert same(model.predict_proba(X), loaded.predict_proba(X))


def test_a_splitter_is_left_out_with_a_warning(related, tmp_path):
    X, Y = related
    model = TunedDecisionClassifier(MLKNNClassifier(), cv=KFold(2)).fit(X, Y)
    with pytest.warns(UserWarning, match="cv .KFold"):
        model.save(tmp_path / "model")
    assert sklearn_mrmp.load(tmp_path / "model").cv is None


def cityblock(a, b):
    return abs(a - b).sum()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OneVsRestClassifier(DecisionTreeClassifier(max_depth=1)), "DecisionTreeClassifie"),
        (lambda: GridSearchCV(MLKNNClassifier(), {"n_neighbors": [3]}, cv=2), "best_estimator_"),
        (lambda: MLKNNClassifier(metric=cityblock, algorithm="brute"), "metric is a function"),
    ],
)
def test_other_parts_are_refused_by_name(related, tmp_path, make, message):
    X = related[0].toarray()
    Y = related[1]
    with pytest.raises(ModelFileError, match=message):
        sklearn_mrmp.save(make().fit(X, Y), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_functions_of_vectorizers_are_refused(tmp_path):
    vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None).fit(TEXTS)
    with pytest.raises(ModelFileError, match="tokenizer is a function"):
        sklearn_mrmp.save(vectorizer, tmp_path / "model")


@pytest.mark.parametrize("pattern", [r"(\w+)+x", r"\w*\w*\w*x"])
def test_patterns_that_could_hang_are_refused(tmp_path, pattern):
    vectorizer = TokenSequenceVectorizer(token_pattern=pattern)
    vectorizer.vocabulary_, vectorizer.max_len_ = {"a": 2}, 3
    with pytest.raises(ModelFileError, match="token pattern"):
        sklearn_mrmp.save(vectorizer, tmp_path / "model")


def test_patterns_of_vectorizers_that_learn_nothing_are_refused_too(tmp_path):
    model = make_pipeline(
        HashingVectorizer(n_features=8, token_pattern=r"(\w+)+x"), MLKNNClassifier(3)
    )
    model.fit(TEXTS, np.tile([[1, 0], [0, 1]], (12, 1)))
    with pytest.raises(ModelFileError, match="token pattern"):
        sklearn_mrmp.save(model, tmp_path / "model")


def test_attributes_nobody_knows_are_refused(related, tmp_path):
    model = MLKNNClassifier().fit(*related)
    model.extra_ = 1
    with pytest.raises(ModelFileError, match="extra_ is not an attribute"):
        model.save(tmp_path / "model")


class MyClassifier(MLKNNClassifier):
    pass


def test_subclasses_are_refused(related, tmp_path):
    with pytest.raises(ModelFileError, match="MyClassifier"):
        MyClassifier().fit(*related).save(tmp_path / "model")


@pytest.mark.parametrize(
    "make", [tiny, MLKNNClassifier, lambda: TunedDecisionClassifier(MLKNNClassifier())]
)
def test_unfitted_models_are_refused(tmp_path, make):
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "model")


def test_a_class_loads_its_own_models_only(related, tmp_path):
    MLKNNClassifier().fit(*related).save(tmp_path / "model")
    assert isinstance(MLKNNClassifier.load(tmp_path / "model"), MLKNNClassifier)
    with pytest.raises(ModelFileError, match="holds a MLKNNClassifier, not a MrMPClassifier"):
        MrMPClassifier.load(tmp_path / "model")


def test_a_file_that_exists_is_replaced_whole_or_stays(related, tmp_path, monkeypatch):
    path = tmp_path / "model"
    model = MLKNNClassifier().fit(*related)
    model.save(path)
    before = path.read_bytes()

    def full_disk(descriptor):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        model.set_params(smoothing=2.0).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_workers_are_no_more_than_the_machine_has(again, related):
    loaded = again(MLKNNClassifier(n_jobs=1).fit(*related).set_params(n_jobs=10_000))
    assert loaded.n_jobs < 10_000


def test_folders_of_this_machine_are_not_passed_on(again):
    model = Pipeline([("scale", StandardScaler())], memory="/a/folder").fit([[0.0], [1.0]])
    assert again(model).memory is None


def test_another_version_of_scikit_learn_is_announced(related, tmp_path, monkeypatch):
    model = MLKNNClassifier().fit(*related)
    monkeypatch.setattr("sklearn.__version__", "1.2.3")
    model.save(tmp_path / "model")
    monkeypatch.undo()
    with pytest.warns(InconsistentVersionWarning, match=r"1\.2\.3"):
        sklearn_mrmp.load(tmp_path / "model")


def test_missing_files_are_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        sklearn_mrmp.load(tmp_path / "none")
