"""Bounded memory: prediction grows with its output alone; training says beforehand what it needs.

Peaks are read by processes of their own, from the system's high-water mark.
"""

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sklearn_mrmp._network import memory as _memory
from sklearn_mrmp._network import training as _training
from sklearn_mrmp._network.architecture import StepSizes
from sklearn_mrmp._network.batches import TokenDataset
from sklearn_mrmp._network.memory import (
    TrainingNeeds,
    available_bytes,
    enough_memory,
    step_sizes,
)
from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._voters.shortlist import Shortlist
from tests.tiny import feature_rows, sequence_input, tiny, tokens

NEEDS = TrainingNeeds(
    parameter_bytes=2**20,
    activation_bytes=2**21,
    label_bytes=2**10,
    n_samples=500,
    n_labels=20,
    n_tokens=1000,
    sizes=StepSizes(batch_size=32, row_length=50, n_decoded=20),
    d_model=64,
)

needs_status = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="peaks are read from /proc/self/status"
)

PEAK = """
import json, re
import numpy as np
import scipy.sparse as sp

def status(name):
    text = open("/proc/self/status").read()
    return int(re.search(name + r":\\s+(\\d+) kB", text)[1]) * 1024

def reset_peak():
    open("/proc/self/clear_refs", "w").write("5")
    return status("VmRSS")
"""


def run(code, *arguments):
    """Run code in a process of its own; return the JSON it prints."""
    script = PEAK + textwrap.dedent(code)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PREDICTION = """
    from sklearn_mrmp import MLARAMClassifier, MLKNNClassifier, MrMPClassifier
    from sklearn_mrmp._host import chunks as _chunks

    _chunks.CHUNK_CELLS = 2**17
    n_rows, n_labels = 50_000, 200
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((60, n_labels)) < 0.02).astype(np.int8))
    X = sp.random_array((n_rows, 30), density=0.1, random_state=1, format="csr")
    shallow = {"n_encoder_layers": 0, "n_relation_layers": 1, "n_decoder_layers": 1}
    growth = {}
    for estimator in (
        MrMPClassifier(d_model=4, n_heads=1, max_epochs=1, random_state=0, **shallow),
        MLKNNClassifier(3),
        MLARAMClassifier(vigilance=0.0),
    ):
        estimator.fit(X[:60], Y)
        estimator.predict(X[:2000])
        before = reset_peak()
        predicted = estimator.predict(X)
        growth[type(estimator).__name__] = (status("VmHWM") - before) / (n_rows * n_labels * 4)
        assert predicted.format == "csr" and predicted.shape == (n_rows, n_labels)
    print(json.dumps(growth))
"""


@needs_status
def test_prediction_of_sparse_labels_never_holds_all_probabilities():
    growth = run(PREDICTION)  # as a share of what the probabilities of all rows would take
    assert len(growth) == 3
    assert max(growth.values()) < 0.7


ESTIMATE = """
    import threading
    import sklearn_mrmp._network.training as training
    from sklearn_mrmp import MrMPClassifier
    from sklearn_mrmp._network.memory import enough_memory

    def spy(needs, device):
        seen.append(needs.total_bytes)
        return enough_memory(needs, device)

    seen, training.enough_memory = [], spy
    rng = np.random.default_rng(0)
    X, Y = rng.random((64, N_FEATURES)) + 0.5, (rng.random((64, N_LABELS)) < 0.1).astype(int)
    small = MrMPClassifier(d_model=8, n_heads=2, max_epochs=1, random_state=0)
    small.fit(X[:8, :4], Y[:8, :5])
    # Pages of files, which the system may take back at any time, are no part of what is estimated.
    before, anonymous, done = status("RssAnon"), [], threading.Event()

    def watch():
        while not done.wait(0.001):
            anonymous.append(status("RssAnon"))

    watcher = threading.Thread(target=watch, daemon=True)
    large = {"d_model": 128, "batch_size": 32, "cv": 0.5, "relations": None}
    small.set_params(**large, label_shortlist=None)
    watcher.start()
    small.fit(X, Y)
    done.set()
    watcher.join()
    print(json.dumps([seen[-1], max(anonymous) - before]))
"""


@needs_status
@pytest.mark.parametrize(("n_features", "n_labels"), [(80, 250), (20, 600)])
def test_the_estimate_is_near_the_measured_peak(n_features, n_labels):
    sizes = {"N_FEATURES": n_features, "N_LABELS": n_labels}
    script = "".join(f"    {name} = {value}\n" for name, value in sizes.items()) + ESTIMATE
    # Dropout's table, 16 MB of the estimate, exists before; the sizes are large beside it.
    # Peaks differ from run to run, as memory is given back sooner or later; the highest counts.
    estimates, peaks = zip(*(run(script) for _ in range(3)), strict=True)
    assert 0.75 < max(peaks) / estimates[0] < 1.1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            {"activation_bytes": 2**33},
            ["batch_size (now 32 rows)", "d_model (now 64)", "d_inner", "max_tokens", "50 tokens"],
        ),
        (
            {"parameter_bytes": 2**33, "n_tokens": 10**10},
            ["10000000000 distinct tokens", "lower d_model", "fewer features"],
        ),
        ({"parameter_bytes": 2**33, "n_labels": 10**9}, ["1000000000 labels", "d_model=64"]),
        (
            {"parameter_bytes": 2**33, "encoder_bytes": 2**33 - 2**20},
            ["parameters of the encoder", "a smaller encoder, or leave encoder_lr at 0"],
        ),
    ],
)
def test_what_cannot_fit_is_refused_with_what_to_lower(monkeypatch, change, named):
    monkeypatch.setattr(_memory, "available_bytes", lambda device: 2**30)
    guard = enough_memory(replace(NEEDS, **change), "cpu")
    with pytest.raises(MemoryError, match=r"needs about .* GiB of memory, but cpu has 1 GiB") as e:
        guard.__enter__()
    assert all(word in str(e.value) for word in named)


def test_labels_that_take_most_of_the_memory_are_named(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda device: 2**20)
    needs = replace(NEEDS, n_samples=10**6, label_bytes=2**25)
    with pytest.raises(MemoryError, match=r"1000000 rows of 20 labels.*use fewer rows or labels"):
        enough_memory(needs, "cpu").__enter__()


class Started(Exception):
    """Training has started."""


def test_fit_refuses_before_it_starts(related, monkeypatch):
    def start(*_, **__):
        raise Started

    monkeypatch.setattr(MultilabelNet, "partial_fit", start)
    with monkeypatch.context() as small:
        small.setattr(_memory, "available_bytes", lambda device: 1000)
        with pytest.raises(MemoryError, match=r"lower batch_size .*d_model"):
            tiny(max_epochs=1).fit(*related)
    with pytest.raises(Started):
        tiny(max_epochs=1).fit(*related)


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 10 bytes."),
    ],
    ids=["cuda", "cpu"],
)
def test_running_out_of_memory_names_the_parameters_to_lower(related, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(MultilabelNet, "train_step", fail)
    with pytest.raises(MemoryError, match=r"ran out of memory in training.*lower.*d_model") as e:
        tiny(max_epochs=1).fit(*related)
    assert e.value.__cause__ is error


def test_other_errors_pass_as_they_are(related, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("something else")

    monkeypatch.setattr(MultilabelNet, "train_step", fail)
    with pytest.raises(RuntimeError, match="something else"):
        tiny(max_epochs=1).fit(*related)


class TestAvailableBytes:
    @pytest.fixture
    def system(self, tmp_path, monkeypatch):
        """A machine with 8 GiB left, and no limit on the process."""
        monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "meminfo")
        monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
        (tmp_path / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {8 * 2**20} kB\n")
        return tmp_path

    def limit(self, folder, value):
        (folder / "memory.max").write_text(f"{value}\n")
        (folder / "memory.current").write_text(f"{2**30}\n")
        (folder / "memory.stat").write_text(f"anon 1\ninactive_file {2**20}\n")

    def test_is_what_the_system_has_left(self, system):
        assert available_bytes() == 8 * 2**30

    def test_is_what_a_container_has_left(self, system):
        self.limit(system, 2**31)
        assert available_bytes() == 2**30 + 2**20
        self.limit(system, 2**29)
        assert available_bytes() == 0

    def test_ignores_a_container_without_limit(self, system):
        self.limit(system, "max")
        assert available_bytes() == 8 * 2**30

    def test_is_all_memory_where_the_rest_is_not_known(self, system, monkeypatch):
        (system / "meminfo").unlink()
        monkeypatch.setattr(_memory.os, "sysconf", lambda name: 7, raising=False)
        assert available_bytes() == 49
        monkeypatch.delattr(_memory.os, "sysconf")
        assert available_bytes() is None

    def test_counts_what_torch_holds_in_reserve_on_cuda(self, monkeypatch):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (100, 1000))
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 30)
        monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 10)
        assert available_bytes("cuda:0") == 120

    def test_is_unknown_elsewhere(self):
        assert available_bytes("mps") is None


@pytest.mark.parametrize("options", [{}, {"architecture": "paper"}, {"relations": None}])
def test_needs_follow_from_parameters_and_rows(related, monkeypatch, options):
    seen = []
    monkeypatch.setattr(
        _training,
        "enough_memory",
        lambda needs, device: seen.append(needs) or enough_memory(needs, device),
    )
    X, Y = related
    clf = tiny(max_epochs=1, feature_dropout=0.5, cv=0.25, **options).fit(X, Y)
    (needs,) = seen
    assert (needs.n_samples, needs.n_labels, needs.n_tokens) == (120, 6, 40)
    assert needs.d_model == 8
    assert needs.label_bytes == 2 * 120 * 6
    weights = sum(p.numel() for p in clf.net_.module_.parameters())
    assert needs.parameter_bytes == 20 * weights
    assert needs.activation_bytes > 0
    parts = (needs.parameter_bytes, needs.activation_bytes, needs.label_bytes)
    assert needs.total_bytes == sum(parts)


def test_sizes_of_a_step_follow_from_rows_and_shortlist(related):
    X, Y = related
    training = TrainingSettings(max_epochs=1, feature_dropout=0.5, batch_size=32)
    rows = feature_rows(X).tokens
    sizes = step_sizes(training, TokenDataset(rows, sp.csr_array(Y)))
    assert sizes == StepSizes(32, int(np.ceil(rows.lengths.max() / 2)), 6)
    shortlist = Shortlist(np.zeros((160, 2), dtype=np.int32), 6)
    some = step_sizes(training, TokenDataset(rows, sp.csr_array(Y), shortlist))
    assert some.n_decoded == 3  # two candidates and a sample
    few = TokenDataset(rows.take(np.arange(5)), sp.csr_array(Y[:5]))
    assert step_sizes(training, few).batch_size == 5


def test_words_that_are_left_out_of_a_sequence_keep_their_place():
    ids = np.tile(np.arange(1, 9), (4, 1))
    dataset = TokenDataset(tokens(sequence_input(ids), ids), sp.csr_array((4, 2)))
    training = TrainingSettings(max_epochs=1, feature_dropout=0.5, batch_size=32)
    sizes = step_sizes(training, dataset)
    assert sizes.row_length == 8
