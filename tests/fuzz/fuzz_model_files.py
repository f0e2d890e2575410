"""Mutate model files at random and load them: an error or a model, nothing else.

Half of the mutations damage the bytes; the checksum must find each of them. The other half play an
attacker who knows the format: header, state or arrays are changed and the checksum is made anew, so
that the deeper layers are reached. A file that loads may hold nonsense, so it is asked to predict,
which may raise but must not crash, hang or take memory without bound.

Run as a script: ``python tests/fuzz/fuzz_model_files.py --count 10000``. It exits with 1 and keeps
the files when something was found.
"""

import argparse
import collections
import copy
import faulthandler
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)

import sklearn_mrmp
from sklearn_mrmp import (
    LabelChainClassifier,
    LabelPowersetClassifier,
    MLARAMClassifier,
    MLKNNClassifier,
    ModelFileError,
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TextEncoder,
    TunedBinaryRelevanceClassifier,
    TunedDecisionClassifier,
)
from sklearn_mrmp._cli.columns import ColumnReader
from sklearn_mrmp._model_files import admitted, container
from sklearn_mrmp._model_files.sklearn_parts import SKLEARN_PARTS
from sklearn_mrmp.datasets import make_related_labels

SECONDS_PER_FILE = 20
MEMORY = 2**30  # bytes a load and a prediction may take on top of what the process has
TEXTS = ["red fish", "blue fish swims", "one bird", "two birds fly", "red sky", "a blue sky"] * 4

HOSTILE_VALUES = [
    *(None, True, -1, 0, 1, 2, 3, 2**31, 2**63, 10**18, 10**30, -(10**9), 0.5, 1e308, -1e308),
    *("", "x", "__class__", "os.system", "cuda", "meta", "(a+)+b", "\x00", "é" * 50, "U99999"),
    *([], {}, [[]], {"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"dict": {}}, {"same": 0}),
    *({"same": -1}, {"pairs": [[[], 1]]}, {"type": "object"}, {"dtype": "<U65000"}, {"eval": "1"}),
    {"scalar": {"dtype": "int8", "value": 10**6}},
    {"strings": {"dtype": "U60000", "shape": [2], "items": ["a", "b"]}},
]
HOSTILE_NAMES = ["__class__", "__dict__", "predict", "fit", "_validate_params", "a", "", "x" * 2000]
# These have objects of torch and transformers, which are made here of checked values.
MADE_HERE = ("MultilabelNet", "PretrainedEncoder", "TunableEncoder")
DTYPES = list(container._DTYPES)
CLASSES = list(admitted._modules)


def base_models():
    """Small fitted models of every kind, each with rows to predict."""
    X, Y, _ = make_related_labels(40, 4, n_features=12, random_state=0)
    D = X.toarray()
    net = MrMPClassifier(d_model=4, n_heads=2, n_encoder_layers=1, max_epochs=1, random_state=0)
    linear = OneVsRestClassifier(LogisticRegression())
    yield net.fit(X, Y), X
    ids = np.minimum(D, 5).astype(int)
    other = {"relations": {"near": np.triu(np.ones((4, 4)), 1)}, "input_type": "sequence"}
    yield copy.deepcopy(net).set_params(**other).fit(ids, Y), ids
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(row % 4, 3)) for row in range(len(Y))]
    yield copy.deepcopy(net).fit(states, Y), states
    crowd = {"voters": ("network", "linear", ("lr", linear)), "label_shortlist": 2, "cv": 2}
    yield copy.deepcopy(net).set_params(**crowd).fit(X, Y), X
    yield copy.deepcopy(net).set_params(voters=("linear", "neighbors")).fit(X, Y), X
    yield MLKNNClassifier(3).fit(X, Y), X
    yield MLKNNClassifier(3, algorithm="kd_tree").fit(D, Y), D
    yield MLARAMClassifier(cluster_vigilance=0.5).fit(X, Y), X
    yield MLARAMClassifier(vigilance=0.5).fit(D, np.array(["a", "b"])[Y[:, 0]]), D
    yield LabelChainClassifier(order="random", random_state=0).fit(X, Y), X
    yield LabelPowersetClassifier().fit(D, Y), D
    yield TunedBinaryRelevanceClassifier((1.0,), random_state=0).fit(X, Y), X
    scaled = make_pipeline(StandardScaler(), linear)
    yield TunedDecisionClassifier(scaled, decision="label_sets", cv=2).fit(D, Y), D
    members = [("knn", MLKNNClassifier(3)), ("linear", linear)]
    yield SoftVotingMultilabelClassifier(members).fit(X, Y), X
    labels = np.array([["fish" in text, "blue" in text] for text in TEXTS]).astype(int)
    yield make_pipeline(TfidfVectorizer(), linear).fit(TEXTS, labels), TEXTS
    rows = [{"body": text, "size": len(text)} for text in TEXTS]
    words = make_pipeline(ColumnReader(["body"]), TfidfVectorizer(), linear)
    yield words.fit(rows, labels), rows
    yield make_pipeline(ColumnReader(None, ["size"]), linear).fit(rows, labels), rows
    yield from table_models(Y)
    yield from text_models(labels)


def text_models(labels):
    """Small fitted models that hold their encoders, a fine-tuned one and frozen ones."""
    if find_spec("transformers") is None:
        return
    sys.path.append(str(Path(__file__).parents[2]))  # a script is in no package
    from tests.tiny_encoder import tiny_encoder

    encoder = tiny_encoder(TEXTS)
    options = {"d_model": 4, "n_heads": 2, "max_epochs": 1, "random_state": 0}
    for rate in (0.0, 1e-3):
        clf = MrMPClassifier(encoder=encoder, encoder_lr=rate, voters=("network",), **options)
        yield clf.fit(TEXTS, labels), TEXTS
    linear = OneVsRestClassifier(LogisticRegression())
    yield make_pipeline(TextEncoder(encoder, pooling="mean"), linear).fit(TEXTS, labels), TEXTS


def table_models(Y):
    """Small fitted pipelines for tables, with what encodes, imputes, expands and selects."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((len(Y), 3)), columns=["a", "b", "c"])
    table["town"] = pd.Series(rng.choice(["Rome", "Oslo", "Lima", None], len(Y)), dtype=object)
    table["kind"] = rng.choice(["x", "y"], len(Y))
    table["floor"] = rng.integers(0, 5, len(Y))
    table.loc[::7, ["a", "b"]] = np.nan
    rare = OneHotEncoder(min_frequency=11, handle_unknown="infrequent_if_exist", drop="first")
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), PolynomialFeatures(2)), ["a", "b"]),
        (make_pipeline(FunctionTransformer(np.log1p), KBinsDiscretizer(3)), slice("c", "c")),
        (rare, make_column_selector(dtype_exclude=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), ["floor"]),
    )
    yield make_pipeline(columns, SelectKBest(chi2, k=9), MLKNNClassifier(3)).fit(table, Y), table
    columns = make_column_transformer(
        (KNNImputer(n_neighbors=2), ["a", "b"]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["town", "kind"]),
        remainder=QuantileTransformer(n_quantiles=5),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    linear = make_pipeline(SimpleImputer(), OneVsRestClassifier(LogisticRegression()))
    yield make_pipeline(columns, linear).fit(table, Y), table


class ModelFile:
    """A file taken apart: metadata, state, table and the bytes of each array."""

    def __init__(self, raw):
        n = int.from_bytes(raw[:8], "little")
        self.table = json.loads(raw[8 : 8 + n])
        self.metadata = self.table.pop("__metadata__")
        self.state = json.loads(self.metadata.pop("state"))
        self.data = {
            name: raw[8 + n :][slice(*entry["data_offsets"])] for name, entry in self.table.items()
        }

    def pack(self, tables_too=True):
        """Bytes with a fresh checksum, and with places that fit the data unless told otherwise."""
        if tables_too:
            end = 0
            for name, data in self.data.items():
                self.table[name]["data_offsets"] = [end, end + len(data)]
                end += len(data)
        metadata = {**self.metadata, "state": json.dumps(self.state)}
        data = b"".join(self.data.values())
        digest = container._digest_of_header(metadata, self.table)
        digest.update(data)
        metadata["sha256"] = digest.hexdigest()
        header = json.dumps({"__metadata__": metadata, **self.table}).encode()
        return len(header).to_bytes(8, "little") + header + data


def damage(raw, rng, others):
    """Bytes changed as accidents change them."""
    raw = bytearray(raw)
    n_header = 8 + int.from_bytes(raw[:8], "little")
    # Headers are where it hurts, and arrays are where most bytes are: as often one as the other.
    at = rng.randrange(n_header) if rng.random() < 0.5 else rng.randrange(len(raw))
    kind = rng.randrange(8)
    if kind == 0:
        raw[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        raw[at] = rng.randrange(256)
    elif kind == 2:
        del raw[at:]
    elif kind == 3:
        del raw[at : at + rng.randint(1, 64)]
    elif kind == 4:
        raw[at:at] = rng.randbytes(rng.randint(1, 64))
    elif kind == 5:
        raw[:8] = rng.choice([rng.randbytes(8), rng.randrange(2 * len(raw)).to_bytes(8, "little")])
    elif kind == 6:
        raw[at:] = rng.choice(others)[at:]
    else:
        end = at + rng.randint(1, 200)
        raw[at:end], raw[end : 2 * end - at] = raw[end : 2 * end - at], raw[at:end]
    return bytes(raw)


def change_table(file, rng):
    """Change how an array is described."""
    name = rng.choice(list(file.table))
    entry = file.table[name]
    kind = rng.randrange(6)
    size = rng.choice([-1, 0, 1, 2, 2**31, 2**40, 2**62, 2**64, 10**30, 1.5, "1", None, True])
    if kind == 0:
        entry["dtype"] = rng.choice([*DTYPES, "BF16", "O", "F999", "", None, 3])
    elif kind == 1:
        entry["shape"] = [*entry["shape"], size]
    elif kind == 2:
        entry["shape"] = [size for _ in entry["shape"]] or size
    elif kind == 3:
        entry["data_offsets"] = [rng.choice([0, size]), size]
    elif kind == 4:
        entry[rng.choice(HOSTILE_NAMES)] = entry.pop(rng.choice(list(entry)))
    else:
        file.table[rng.choice(HOSTILE_NAMES)] = copy.deepcopy(entry)
    return file.pack(tables_too=False)


def change_metadata(file, rng):
    """Change a text of the header."""
    name = rng.choice([*file.metadata, "state", "format_version"])
    value = rng.choice(["", "2", "1.0", "-1", "9" * 500, "x", None, 1, {}])
    if name == "state":
        file.state = rng.choice([value, [], {"object": {}}, {"dict": {}}])
    elif rng.random() < 0.3:
        file.metadata.pop(name)
    else:
        file.metadata[name] = value
    return file.pack()


def change_array(file, rng):
    """Change the content or the size of an array, consistently."""
    name = rng.choice(list(file.table))
    entry = file.table[name]
    array = np.frombuffer(file.data[name], container._DTYPES[entry["dtype"]])
    array = array.reshape(entry["shape"]).copy()
    kind = rng.randrange(5)
    if kind == 0 and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice([0, 1, -1, 127]) % 256
    elif kind == 1 and array.size:
        place = rng.randrange(array.size)
        raw = array.reshape(-1).view(np.uint8).reshape(array.size, -1)
        raw[place] = list(rng.randbytes(raw.shape[1]))
    elif kind == 2:
        array = array.astype(container._DTYPES[rng.choice(DTYPES)])
    elif kind == 3 and array.ndim:
        array = np.concatenate([array, array]) if rng.random() < 0.5 else array[:-1]
    elif array.dtype.kind == "f":
        array[...] = rng.choice([np.nan, np.inf, 0, -1e30])
    entry["dtype"] = container._CODES[array.dtype]
    entry["shape"] = list(array.shape)
    file.data[name] = array.tobytes()
    return file.pack()


def nodes_of(tree):
    """All (container, key) pairs of a tree."""
    todo = [tree]
    while todo:
        node = todo.pop()
        keys = range(len(node)) if isinstance(node, list) else list(node)
        for key in keys:
            yield node, key
            if isinstance(node[key], (list, dict)):
                todo.append(node[key])


def change_state(file, rng):
    """Change one to three nodes of the model's state."""
    for _ in range(rng.randint(1, 3)):
        places = list(nodes_of(file.state))
        if not places:
            break
        _change_node(*rng.choice(places), places, file, rng)
    return file.pack()


def _change_node(node, key, places, file, rng):
    kind = rng.randrange(7)
    if kind == 0:
        node[key] = copy.deepcopy(rng.choice(HOSTILE_VALUES))
    elif kind == 1:
        del node[key]
    elif kind == 2 and isinstance(node, dict):
        node[rng.choice(HOSTILE_NAMES)] = node.pop(key)
    elif kind == 3:
        other, other_key = rng.choice(places)
        node[key] = copy.deepcopy(other[other_key])
    elif kind == 4:
        node[key] = {rng.choice(["array", "array_f"]): rng.choice([*file.table, "none"])}
    elif kind == 5:
        numbers = [place for place in places if type(place[0][place[1]]) is int]
        node, key = rng.choice(numbers or [(node, key)])
        number = node[key] if numbers else 1
        node[key] = rng.choice([2 * (number or 1), 7, 10**6, 10**9, 10**12, -1, 2**31])
    else:
        classes = [place for place in places if place[1] == "class"] or [(node, key)]
        owner, name = rng.choice(classes)
        owner[name] = rng.choice([*CLASSES, "builtins.eval", "os.system", "subprocess.Popen"])


def change_tokenizer(file, rng):
    """Change one to three nodes of a tokenizer, or of the state where there is none."""
    names = [name for name in file.table if name.endswith("tokenizer/json")]
    if not names:
        return change_state(file, rng)
    name, content = names[0], json.loads(file.data[names[0]])
    for _ in range(rng.randint(1, 3)):
        places = list(nodes_of(content))
        _change_node(*rng.choice(places), places, file, rng)
    file.data[name] = json.dumps(content).encode()
    file.table[name]["shape"] = [len(file.data[name])]
    return file.pack()


CHANGES = (
    *(change_table, change_metadata, change_array, change_tokenizer),
    *(change_state, change_state, change_state),
)


def mutated(raw, rng, others):
    """One mutated file, and whether its checksum was made anew."""
    if rng.random() < 0.4:
        return damage(raw, rng, others), False
    return rng.choice(CHANGES)(ModelFile(raw), rng), True


def says_the_same(changed, raw):
    """Whether two files have the same content, whatever the spelling of their headers."""
    n, m = (int.from_bytes(some[:8], "little") for some in (changed, raw))
    return changed[8 + n :] == raw[8 + m :] and (
        json.loads(changed[8 : 8 + n]) == json.loads(raw[8 : 8 + m])
    )


def functions_of(cls):
    """Return the functions that parameters of an admitted class may be."""
    part = SKLEARN_PARTS.get(admitted.name_of(cls))
    names = part.functions if part is not None else {}
    return {name: [admitted.function_of(path) for path in paths] for name, paths in names.items()}


def check_attributes(value, seen=None):
    """Raise unless a loaded object and its parts hold data of known classes only."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        inside = list(value)
    elif isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, np.ndarray) and value.dtype == object:
        inside = value.ravel().tolist()
    elif admitted.name_of(type(value)) is not None:
        inside = []
        functions = functions_of(type(value))
        for name, item in getattr(value, "__dict__", {}).items():
            if any(item is function for function in functions.get(name, ())):
                continue
            if callable(getattr(type(value), name, None)):
                raise AssertionError(f"{name} of {type(value).__name__} was replaced")
            if type(value).__name__ not in MADE_HERE:
                inside.append(item)
    else:
        inside = []
        if callable(value) and not isinstance(value, type):
            raise AssertionError(f"{value!r} is not data")
    for item in inside:
        check_attributes(item, seen)


def _too_slow(signum, frame):
    raise TimeoutError(f"more than {SECONDS_PER_FILE} seconds")


def try_file(path, changed, X, made_anew, undamaged):
    """Load and use a file; return what happened, or raise what must not happen."""
    try:
        model = sklearn_mrmp.load(path)
    except ModelFileError as error:
        cause = error.__cause__
        if isinstance(cause, RuntimeError) and "memory" in str(cause):  # torch's way to say it
            raise MemoryError(str(cause)) from error
        return "refused" if cause is None else f"refused ({type(cause).__name__} inside)"
    # A file spliced with another one from its first byte on is that other one, whole.
    if not made_anew and not any(says_the_same(changed, raw) for raw in undamaged):
        raise AssertionError("damage went unnoticed")
    check_attributes(model)
    try:
        model.predict(X)
    except (MemoryError, TimeoutError):
        raise
    except Exception as error:
        return f"loaded, predict raised {type(error).__name__}"
    return "loaded and predicted"


def fuzz(count, seed=0, folder=None):
    """Try `count` mutated files.

    Returns
    -------
    outcomes : Counter of str
    found : list of str
        What must not happen, with the file that made it happen.
    """
    folder = Path(folder or tempfile.mkdtemp(prefix="fuzz_model_files_"))
    bases = []
    for i, (model, X) in enumerate(base_models()):
        sklearn_mrmp.save(model, folder / f"base{i}", encoder_weights=True)
        bases.append(((folder / f"base{i}").read_bytes(), X[:5]))
    undamaged = [raw for raw, _ in bases]
    outcomes, found, slowest = collections.Counter(), [], 0.0
    signal.signal(signal.SIGALRM, _too_slow)
    limit_memory()
    for i in range(count):
        rng = random.Random(f"{seed} {i}")
        raw, X = rng.choice(bases)
        changed, made_anew = mutated(raw, rng, undamaged)
        path = folder / "current"
        path.write_bytes(changed)
        start = time.perf_counter()
        signal.alarm(SECONDS_PER_FILE)
        try:
            outcomes[try_file(path, changed, X, made_anew, undamaged)] += 1
        except Exception as error:
            outcomes["FOUND"] += 1
            kept = path.rename(folder / f"found-{seed}-{i}")
            found.append(f"{type(error).__name__}: {error!s:.200} ({kept})")
        finally:
            signal.alarm(0)
        slowest = max(slowest, time.perf_counter() - start)
    if not found:
        shutil.rmtree(folder)
    return outcomes, found, slowest


def limit_memory():
    """Turn an allocation far above what the process has into a MemoryError."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        size = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, resource.RLIM_INFINITY))


def main():
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="number of mutated files")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes, found, slowest = fuzz(args.count, args.seed)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024
    print(f"model files: {args.count} mutated files, {len(found)} findings")
    for outcome, n in outcomes.most_common():
        print(f"{n:8d}  {outcome}")
    print(f"slowest file {slowest:.2f} s; memory of the process grew by {grown:.0f} MB")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
