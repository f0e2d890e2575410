"""Files made to do harm: each is refused with a ModelFileError, quickly and without memory."""

import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch

import sklearn_mrmp
from sklearn_mrmp import MLKNNClassifier, ModelFileError, MrMPClassifier
from sklearn_mrmp._model_files import bounded_json
from sklearn_mrmp._model_files.container import _CODES, _digest_of_header
from sklearn_mrmp._model_files.torch_weights import at_most
from sklearn_mrmp.datasets import make_related_labels

FUZZ = Path(__file__).parents[1] / "fuzz" / "fuzz_model_files.py"


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    X, Y, _ = make_related_labels(30, 4, n_features=10, random_state=0)
    path = tmp_path_factory.mktemp("models") / "model"
    MLKNNClassifier(3).fit(X, Y).save(path)
    knn = path.read_bytes()
    MrMPClassifier(d_model=4, n_heads=2, max_epochs=1, random_state=0).fit(X, Y).save(path)
    return {"knn": knn, "net": path.read_bytes()}


class Editor:
    """A file taken apart, to be changed and packed with a right checksum."""

    def __init__(self, raw):
        n = int.from_bytes(raw[:8], "little")
        self.table = json.loads(raw[8 : 8 + n])
        self.metadata = self.table.pop("__metadata__")
        self.state = json.loads(self.metadata["state"])
        self.data = raw[8 + n :]

    @property
    def root(self):
        return self.state["object"]

    def add_array(self, name, array):
        end = len(self.data)
        self.table[name] = {
            "dtype": _CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        self.data += array.tobytes()

    def pack(self, header=None):
        self.metadata["state"] = json.dumps(self.state)
        if header is None:
            digest = _digest_of_header(self.metadata, self.table)
            digest.update(self.data)
            self.metadata["sha256"] = digest.hexdigest()
            header = json.dumps({"__metadata__": self.metadata, **self.table}).encode()
        return len(header).to_bytes(8, "little") + header + self.data


@pytest.fixture
def editor(model_bytes):
    return Editor(model_bytes["knn"])


def objects_of(editor, name):
    """Return the objects of a class in a file, wherever the model keeps them."""
    todo, found = [editor.state], []
    while todo:
        node = todo.pop(0)
        if isinstance(node, dict) and node.get("class") == name:
            found.append(node)
        if isinstance(node, (dict, list)):
            todo += node.values() if isinstance(node, dict) else node
    return found


def net_of(editor):
    """Return the first network of an MrMPClassifier in a file."""
    return objects_of(editor, "MultilabelNet")[0]


@pytest.fixture
def net_editor(model_bytes):
    return Editor(model_bytes["net"])


@pytest.fixture
def refused(tmp_path):
    """Check that bytes are refused, with a message, within a second and without memory."""

    def check(raw, match=None):
        path = tmp_path / "attack"
        path.write_bytes(raw)
        tracemalloc.start()
        start = time.process_time()
        with pytest.raises(ModelFileError, match=match):
            sklearn_mrmp.load(path)
        seconds = time.process_time() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert seconds < 5
        assert peak < 20 * len(raw) + 20_000_000

    return check


def test_an_editor_that_changes_nothing_makes_a_good_file(editor, tmp_path):
    (tmp_path / "model").write_bytes(editor.pack())
    assert isinstance(sklearn_mrmp.load(tmp_path / "model"), MLKNNClassifier)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 10**9, 200_000_000])
def test_a_huge_header_is_refused(refused, model_bytes, length):
    refused(length.to_bytes(8, "little") + model_bytes["knn"][8:], "header is said to take")


def test_truncation_at_every_border_is_refused(refused, editor, model_bytes):
    raw = model_bytes["knn"]
    start = 8 + int.from_bytes(raw[:8], "little")
    ends = {start + end for entry in editor.table.values() for end in entry["data_offsets"]}
    borders = {0, 1, 7, 8, 9, start - 1, start, start + 1, len(raw) - 1} | ends
    borders |= {border - 1 for border in ends}
    for border in sorted(borders - {len(raw)}):
        refused(raw[:border])


def test_every_kind_of_single_bit_flip_is_refused(refused, model_bytes):
    raw = model_bytes["knn"]
    rng = np.random.default_rng(0)
    for place in rng.choice(len(raw), 150, replace=False):
        flipped = bytearray(raw)
        flipped[place] ^= 1 << rng.integers(8)
        refused(bytes(flipped))


def test_bytes_after_the_end_are_refused(refused, model_bytes):
    refused(model_bytes["knn"] + b"\0", "bytes follow|cut off or added")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"shape": [2**40, 2**40]}, "takes"),
        ({"shape": [2**62] * 4}, "has shape"),
        ({"shape": [-1]}, "has shape"),
        ({"shape": [1.0]}, "has shape"),
        ({"shape": [True]}, "has shape"),
        ({"shape": [1] * 40}, "has shape"),
        ({"shape": "4"}, "has shape"),
        ({"dtype": "O"}, "has dtype"),
        ({"dtype": "BF16"}, "has dtype"),
        ({"dtype": ["F32"]}, "has dtype"),
        ({"data_offsets": [0, 2**64]}, "takes"),
        ({"data_offsets": [8, 0]}, "takes"),
        ({"data_offsets": [-8, 0]}, "data_offsets"),
        ({"data_offsets": [0]}, "data_offsets"),
        ({"extra": 1}, "not described by"),
    ],
    ids=str,
)
def test_descriptions_of_arrays_that_lie_are_refused(refused, editor, change, match):
    next(iter(editor.table.values())).update(change)
    refused(editor.pack(), match)


def test_overlapping_arrays_are_refused(refused, editor):
    first, second = list(editor.table.values())[:2]
    second.update(first)
    refused(editor.pack(), "starts at")


def test_gaps_between_arrays_are_refused(refused, editor):
    last = max(editor.table.values(), key=lambda entry: entry["data_offsets"])
    last["data_offsets"] = [end + 8 for end in last["data_offsets"]]
    editor.data += b"\0" * 8
    refused(editor.pack(), "starts at")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 5000])
def test_strange_names_are_refused(refused, editor, name):
    editor.add_array(name, np.zeros(1))
    refused(editor.pack(), "has a name")


def test_arrays_nothing_refers_to_are_refused(refused, editor):
    editor.add_array("payload", np.zeros(1))
    refused(editor.pack(), "Nothing refers to array 'payload'")


def test_bools_are_0_or_1(refused, editor):
    editor.add_array("flags", np.array([7], dtype=np.uint8))
    editor.table["flags"]["dtype"] = "BOOL"
    editor.root["fitted"]["prior_"] = {"array": "flags"}
    refused(editor.pack(), "other than 0 and 1")


@pytest.mark.parametrize(
    ("header", "match"),
    [
        (b"", "no header"),
        (b"[1]", "no header"),
        (b'{"a":1,"a":2}', "same key twice"),
        (b'{"a":' + b"[" * 100_000, "nested"),
        (b"{" + b'"a":{' * 50_000, "nested"),
        (b'{"a":NaN}', "not JSON"),
        (b'{"a":' + b"9" * 10_000 + b"}", "not JSON"),
        (b'{"\xff":1}', "not JSON"),
        (b'{"a":"' + b'\\"' * 100_000, "not JSON"),
        (b"{}", "not a file of the kind"),
        (b'{"__metadata__":{"format":1}}', "not a file of the kind"),
        (b'{"__metadata__":[]}', "not a file of the kind"),
        (b'{"__metadata__":{"format":"sklearn-mrmp model"}}', "format version"),
        (b'{"__metadata__":{"format":"sklearn-mrmp model","format_version":"2"}}', "no checksum"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_headers_that_are_not_what_they_should_be_are_refused(refused, editor, header, match):
    editor.table, editor.data = {}, b""
    refused(editor.pack(header), match)


def test_too_many_values_are_refused_before_they_are_parsed(monkeypatch):
    monkeypatch.setattr(bounded_json, "MAX_VALUES", 1000)
    with pytest.raises(ModelFileError, match="1001 values"):
        bounded_json.parse(b"[" + b"1," * 999 + b"1]")
    with pytest.raises(ModelFileError, match="too many strings"):
        bounded_json.parse(b'["' + b'","' * 5000 + b'"]')
    monkeypatch.setattr(bounded_json, "MAX_BYTES", 10)
    with pytest.raises(ModelFileError, match="takes 12 bytes"):
        bounded_json.parse(b'"0123456789"')


@pytest.mark.parametrize("version", ["3", "999"])
def test_newer_formats_say_to_upgrade(refused, editor, version):
    editor.metadata["format_version"] = version
    refused(editor.pack(), "Upgrade with: pip install -U sklearn-mrmp")


@pytest.mark.parametrize("version", ["0", "1"])
def test_older_formats_are_refused_with_a_way_out(refused, editor, version):
    editor.metadata.update(format_version=version, package_version="0.0.9")
    refused(editor.pack(), rf"version {version}, made by .*0\.0\.9.* reads version 2\. Fit .* anew")


def test_a_checkpoint_is_no_model(refused, editor):
    editor.metadata["format"] = "sklearn-mrmp checkpoint"
    refused(editor.pack(), "not a file of the kind 'sklearn-mrmp model'")


def test_too_many_arrays_are_refused(refused, editor, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._model_files.container._MAX_TENSORS", 3)
    refused(editor.pack(), "3 are allowed")


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "sklearn.svm._base.BaseLibSVM", "Part", "", "MultilabelNet "],
)
def test_unknown_classes_are_refused(refused, editor, name):
    editor.root["class"] = name
    refused(editor.pack(), "not a class of model files")


@pytest.mark.parametrize("where", ["fitted", "params"])
@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "predict", "_label_probabilities", "classes_", "score"]
)
def test_methods_and_hidden_attributes_cannot_be_set(refused, editor, where, name):
    editor.root[where][name] = 1
    refused(editor.pack(), "has no attribute")


def test_methods_of_scikit_learn_classes_cannot_be_set(refused, editor):
    scaler = {"class": "sklearn.preprocessing.StandardScaler", "params": {}, "fitted": {}}
    for name in ("transform", "_more_", "__x_", "get_params", "a b_", "mean_\n"):
        scaler["fitted"] = {name: 1}
        editor.root["fitted"]["prior_"] = {"object": scaler}
        refused(editor.pack(), "has no attribute")


@pytest.mark.parametrize(
    ("node", "match"),
    [
        ({"eval": "1"}, "unknown kind"),
        ({}, "instead of one"),
        ({"array": "x", "array_f": "y"}, "instead of one"),
        ({"array": "nowhere"}, "no array"),
        ({"array": 1}, "given as int"),
        ({"float": "1"}, "given as '1'"),
        ({"same": 10**9}, "no object number"),
        ({"same": True}, "given as bool"),
        ({"same": -1}, "no object number"),
        (2**64, "more than 64 bits"),
        ({"pairs": [[[], 1]]}, "no plain value"),
        ({"pairs": [[1, 1], [1, 1]]}, "twice"),
        ({"pairs": [1]}, "pairs"),
        ({"scalar": {"dtype": "int8", "value": 1000}}, "OverflowError"),
        ({"scalar": {"dtype": "int8", "value": "1"}}, "given as str"),
        ({"scalar": {"dtype": "object_", "value": 1}}, "dtype 'object_'"),
        ({"scalar": {"dtype": "int8"}}, "given by"),
        ({"dtype": "V100000000"}, "dtype is given"),
        ({"dtype": "<U65537"}, "65537 signs"),
        ({"type": "subprocess"}, "type is given"),
        ({"strings": {"dtype": "U60000", "shape": [5000], "items": ["a"] * 5000}}, "5000 items"),
        ({"strings": {"dtype": "f8", "shape": [1], "items": ["a"]}}, "has dtype"),
        ({"strings": {"dtype": "U1", "shape": [1], "items": ["ab"]}}, "longer than"),
        ({"strings": {"dtype": "O", "shape": [2], "items": ["ab"]}}, "has shape"),
        ({"strings": {"dtype": "O", "shape": [1], "items": [1]}}, "other than strings"),
        ({"object": {"class": 1, "params": {}, "fitted": {}}}, "not given by"),
        ("text", "expected ndarray"),
        (None, "expected ndarray"),
    ],
    ids=str,
)
def test_values_that_are_not_what_they_say_are_refused(refused, editor, node, match):
    editor.root["fitted"]["prior_"] = node
    refused(editor.pack(), match)


def test_missing_attributes_are_refused(refused, editor):
    del editor.root["fitted"]["posterior_"]
    refused(editor.pack(), "comes without posterior_")


def test_parameters_out_of_range_are_refused(refused, editor):
    editor.root["params"]["n_neighbors"] = -5
    refused(editor.pack(), "n_neighbors")


def test_an_array_in_a_million_places_is_refused(refused, editor):
    editor.root["fitted"]["prior_"] = [{"array": next(iter(editor.table))}] * 1000
    refused(editor.pack(), "more than 8 places")


@pytest.mark.parametrize(
    ("part", "array", "match"),
    [
        ("indices", np.array([10**6], dtype=np.int32), "outside its shape"),
        ("indices", np.array([-1], dtype=np.int32), "outside its shape"),
        ("indptr", np.array([0, 1, 2], dtype=np.int32), "wrong dtype or length"),
        ("indices", np.array([0.5]), "wrong dtype or length"),
        ("data", np.ones((1, 1)), "three vectors"),
    ],
)
def test_sparse_matrices_that_point_outside_are_refused(refused, editor, part, array, match):
    editor.add_array("wrong", array)
    editor.root["fitted"]["_Y"]["sparse"][part] = {"array": "wrong"}
    refused(editor.pack(), match)


@pytest.mark.parametrize("shape", [[10**15, 4], [30], [-30, 4], [30, 2**50], None])
def test_sparse_matrices_of_impossible_shapes_are_refused(refused, editor, shape):
    editor.root["fitted"]["_Y"]["sparse"]["shape"] = shape
    refused(editor.pack(), "sparse matrix")


def test_rows_and_labels_of_different_number_are_refused(refused, editor):
    """Otherwise a product would read behind the end of the labels."""
    Y = editor.root["fitted"]["_Y"]["sparse"]
    editor.add_array("ends", np.zeros(11, dtype=np.int32))
    editor.add_array("empty", np.zeros(0, dtype=np.int32))
    Y.update(shape=[10, 4], indptr={"array": "ends"})
    Y.update(data={"array": "empty"}, indices={"array": "empty"})
    refused(editor.pack(), "rows and their labels|Nothing refers")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("n_labels", 10**12), ("d_model", 10**9), ("d_inner", 10**12)),
        *(("n_encoder_layers", 10**12), ("n_relation_layers", 10**12), ("n_decoder_layers", 50)),
        *(("n_heads", 0), ("n_heads", 3), ("n_labels", -1), ("d_model", True), ("d_model", "4")),
        *(("composition", "eval"), ("architecture", None), ("__init__", 1), ("relations", 1)),
        *(("prior", None), ("trained_tokens", None), ("dropout", "x"), ("embedding", None)),
    ],
)
def test_networks_of_other_sizes_than_their_weights_are_refused(refused, net_editor, name, value):
    net = net_of(net_editor)
    net["params"]["module"]["dict"][name] = value
    refused(net_editor.pack())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("n_tokens", 10**12), ("n_tokens", -1), ("n_tokens", "10"), ("n_tokens", None)),
        *(("kind", "os.system"), ("kind", None), ("kind", []), ("values", False)),
        *(("positions", True), ("trained", None), ("d_model", 4), ("__class__", 1)),
    ],
)
def test_descriptions_of_embeddings_that_are_wrong_are_refused(refused, net_editor, name, value):
    net_of(net_editor)["params"]["module"]["dict"]["embedding"]["dict"][name] = value
    refused(net_editor.pack())


@pytest.mark.parametrize("name", ["", "unheard-of", "os.system", None, 1, [], {"dict": {}}])
def test_unknown_architectures_are_refused(refused, net_editor, name):
    net_of(net_editor)["params"]["architecture"] = name
    refused(net_editor.pack(), "which is not known")


def test_no_module_has_more_weights_than_it_may():
    with pytest.raises(ModelFileError, match="number of layers and weights"), at_most(3):
        torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    with at_most(4):
        torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    torch.nn.Sequential(*(torch.nn.Linear(1, 1) for _ in range(10)))  # nothing is left behind


def test_a_network_is_never_made_with_more_weights_than_the_file_has(
    refused, net_editor, monkeypatch
):
    """A million layers would take hours to make, with or without memory."""
    made = []
    plain = torch.nn.Module.register_parameter

    def register(module, name, parameter):
        made.append(name)
        return plain(module, name, parameter)

    monkeypatch.setattr(torch.nn.Module, "register_parameter", register)
    net = net_of(net_editor)
    net["params"]["module"]["dict"]["n_encoder_layers"] = 10**6
    refused(net_editor.pack(), "number of layers and weights")
    assert len(made) < 2 * len(net["fitted"]["weights"]["dict"]) + 10


def test_weights_that_are_missing_or_strange_are_refused(refused, net_editor):
    weights = net_of(net_editor)["fitted"]["weights"]["dict"]
    name = next(name for name in weights if "layers.0" in name)
    layer = weights.pop(name)
    refused(net_editor.pack(), "number of layers and weights")
    weights[name.replace("layers.0", "layers.7")] = layer
    refused(net_editor.pack(), "weights and the network's own.*layers.0.*layers.7")
    weights[name] = layer
    refused(net_editor.pack(), "weights and the network's own.*layers.7")
    del weights[name.replace("layers.0", "layers.7")]
    net_editor.add_array("wide", np.zeros((3, 5), dtype=np.float32))
    weights[name] = {"array": "wide"}
    refused(net_editor.pack(), rf"{name} is float32 \(3, 5\), not")


@pytest.mark.parametrize("part", ["settings", "loss"])
@pytest.mark.parametrize("name", ["callbacks", "module", "__class__", "train_split"])
def test_nets_take_no_other_arguments(refused, net_editor, part, name):
    net_of(net_editor)["params"][part]["dict"][name] = 1
    refused(net_editor.pack(), "settings")


def without_network(weights):
    del weights["network"]


def with_a_stranger(weights):
    weights["stranger"] = 1.0


def with_a_text(weights):
    weights["linear"] = "1.0"


@pytest.mark.parametrize(
    "change", [dict.clear, without_network, with_a_stranger, with_a_text], ids=lambda c: c.__name__
)
def test_weights_that_do_not_fit_the_voters_are_refused(refused, net_editor, change):
    (ensemble,) = objects_of(net_editor, "Ensemble")
    change(ensemble["params"]["weights"]["dict"])
    refused(net_editor.pack(), "weights")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", None),
        ("weights", [1.0]),
        ("candidate_weights", {"dict": {"linear": 1.0}}),
        ("n_candidates", 2),
        ("n_candidates", 10**9),
        ("n_candidates", -1),
        ("n_candidates", True),
        ("shifts", 1.0),
        ("frequency", 1.0),
        ("encoder", None),
        ("voters", None),
        ("voters", {"dict": {}}),
        ("voters", {"dict": {"network": 1}}),
    ],
)
def test_ensembles_of_parts_that_do_not_fit_are_refused(refused, net_editor, name, value):
    (ensemble,) = objects_of(net_editor, "Ensemble")
    assert ensemble["params"][name] != value
    ensemble["params"][name] = value
    refused(net_editor.pack())


@pytest.mark.parametrize("name", ["frequency", "shifts"])
def test_ensembles_of_another_number_of_labels_are_refused(refused, net_editor, name):
    (ensemble,) = objects_of(net_editor, "Ensemble")
    net_editor.add_array("wrong", np.zeros(5, dtype=np.float32))
    ensemble["params"][name] = {"array": "wrong"}
    refused(net_editor.pack(), "label")


def test_voters_of_another_class_are_refused(refused, net_editor):
    (ensemble,) = objects_of(net_editor, "Ensemble")
    voters = ensemble["params"]["voters"]["dict"]
    voters["linear"] = {"object": {"class": "LabelGraph", "params": {}, "fitted": {}}}
    refused(net_editor.pack())


def test_a_network_voter_without_networks_is_refused(refused, net_editor):
    (voter,) = objects_of(net_editor, "NetworkVoter")
    voter["params"]["members"] = []
    refused(net_editor.pack(), "networks|Nothing refers")


def test_folders_cannot_be_chosen_by_a_file(refused, editor, net_editor):
    net_editor.root["params"]["checkpoint_dir"] = "/tmp"
    refused(net_editor.pack(), "comes with checkpoint_dir")
    pipeline = {"class": "sklearn.pipeline.Pipeline", "fitted": {}}
    editor.state = {"object": {**pipeline, "params": {"steps": [], "memory": "/tmp"}}}
    refused(editor.pack(), "comes with memory")


def test_a_network_for_other_rows_is_refused(refused, net_editor):
    net_editor.root["fitted"]["n_features_in_"] = 11
    refused(net_editor.pack(), "features|linear")


@pytest.mark.parametrize("device", ["meta", "cuda:x", "", None, "fpga"])
def test_strange_devices_are_refused(refused, net_editor, device):
    net_of(net_editor)["params"]["device"] = device
    refused(net_editor.pack(), "device")


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        sklearn_mrmp.load(tmp_path / "pipe")


def test_a_pickle_is_refused_unread(refused):
    refused(b"\x80\x04\x95\x00\x00\x00\x00\x00cos\nsystem\n(S'echo harm'\ntR.", "model file")


def test_files_mutated_at_random_are_refused_or_harmless():
    """A few hundred of what ``make fuzz`` does by the ten thousand, in a process of its own."""
    command = [sys.executable, str(FUZZ), "--count", "300", "--seed", "7"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "300 mutated files, 0 findings" in ran.stdout
