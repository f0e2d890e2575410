"""The yardstick computes what the package computes; useful operations are counted as stated."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._network.architecture import find_architecture
from sklearn_mrmp._network.batches import as_tensors
from sklearn_mrmp.nn import (
    LaMPModule,
    MLRNNModule,
    MrMPLoss,
    MrMPModule,
    NetworkOutput,
    sinusoidal_positions,
)
from sklearn_mrmp.nn.mpvae import probit_losses

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import _contestants
import _flops
import _reference_peers
import _shapes
import _yardstick

BENCHMARKS = Path(_shapes.__file__).parent


def small(shape, n_rows=12):
    shrunk = _shapes.replace(shape, n_tokens=40, n_labels=9, median_length=5, longest=12)
    return _shapes.generate(shrunk, n_rows)


@pytest.mark.parametrize("architecture", ["paper", "default"])
@pytest.mark.parametrize("shape", [_shapes.BIBTEX, _shapes.REUTERS])
def test_yardstick_is_the_same_function_with_the_same_gradient(architecture, shape):
    problem = small(shape)
    common = {"d_model": 16, "n_heads": 4, "d_inner": 24, "dropout": 0.0}
    common["architecture"] = architecture
    torch.manual_seed(0)
    ours = MrMPModule(problem.shape.embedding, 9, problem.relations, **common)
    textbook = _yardstick.TextbookMrMP(40, 9, problem.relations, positions=shape.sequence, **common)
    _yardstick.copy_weights(ours, textbook)
    batch = as_tensors(problem.dataset.rows.padded())
    Y = torch.from_numpy(problem.dataset.Y.toarray().astype(np.float32))
    codes = 0.03 * sinusoidal_positions(batch["tokens"].shape[1], 16)
    criterion = MrMPLoss(problem.relations)
    results = [ours(**batch), NetworkOutput(*textbook(batch["tokens"], codes))]
    for output in results:
        criterion(output, Y).backward()
    torch.testing.assert_close(tuple(results[1]), tuple(results[0]))
    for mine, its in [
        (ours.embedding.presence.weight, textbook.tokens.weight),
        (ours.label_relations.label_embedding, textbook.relations.labels.weight),
        (ours.encoder.layers[0].attention.qkv.weight, textbook.encoder[0].attention.in_proj_weight),
    ]:
        torch.testing.assert_close(its.grad, mine.grad, rtol=1e-4, atol=1e-6)


def test_the_reference_of_ml_rnn_finds_the_same_sets_with_the_same_scores():
    problem = small(_shapes.BIBTEX)
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_inner": 24, "d_label": 8, "beam_width": 4}
    module = MLRNNModule(problem.shape.embedding, 9, label_order=range(9), **sizes).eval()
    batch = as_tensors(problem.dataset.rows.padded())
    found = module._found(batch.get("mask"), None, {"tokens": batch["tokens"]})
    for row, tokens in enumerate(batch["tokens"]):
        beam = _reference_peers.beam_of_row(module, {"tokens": tokens[tokens > 0][None]}, 4)
        expected = torch.tensor([log_p for log_p, _ in beam])
        torch.testing.assert_close(found.log_p[row], expected, rtol=1e-4, atol=1e-4)
        chosen = torch.zeros(4, 10, dtype=torch.bool)
        for place, (_, labels) in enumerate(beam):
            chosen[place, list(labels)] = True
        assert torch.equal(found.sets[row], chosen[:, 1:])
    start, memory = module.reader(module.embedding, batch.get("mask"), {"tokens": batch["tokens"]})
    previous = torch.randint(0, 10, (len(start), 3))
    torch.testing.assert_close(
        _reference_peers.stepwise_scores(module, start, memory, previous),
        module._all_steps(memory, start, previous),
    )


def test_the_reference_of_lamp_is_the_same_function_with_the_same_gradient():
    problem = small(_shapes.BIBTEX)
    torch.manual_seed(0)
    linked = (torch.rand(9, 9) < 0.3).fill_diagonal_(True)
    linked = linked | linked.T
    sizes = {"d_model": 16, "n_heads": 4, "d_inner": 24, "dropout": 0.0}
    relations = {"together": linked.float().to_sparse()}
    ours = LaMPModule(problem.shape.embedding, 9, relations, architecture="paper", **sizes)
    reference = _reference_peers.ReferenceLaMP(40, 9, linked, **sizes)
    _reference_peers.copy_lamp(ours, reference)
    batch = as_tensors(problem.dataset.rows.padded())
    output, rounds = ours(**batch), reference(batch["tokens"])
    torch.testing.assert_close([*output.extras, output.logits], rounds)
    (output.logits.sum() + output.extras[0].sum()).backward()
    sum(logits.sum() for logits in rounds).backward()
    gradients = reference.labels.weight.grad, ours.labels.grad
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-6)


def test_the_losses_of_the_reference_of_mpvae_are_the_same():
    torch.manual_seed(0)
    m, shifts = torch.randn(3, 9, dtype=torch.float64), torch.randn(5, 1, 9, dtype=torch.float64)
    Y = (torch.rand(3, 9) < 0.4).double()
    expected = _reference_peers.pairwise_losses(m, shifts, Y)
    torch.testing.assert_close(probit_losses(m, shifts, Y), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("d_model", "giga"), [(512, 5.2), (128, 0.37)])
def test_useful_operations_of_a_bibtex_row(d_model, giga):
    graph = {name: torch.ones(159, 159).to_sparse() for name in ("pulling", "pushing")}
    flops = _flops.training(np.full(32, 69), graph, 159, d_model, 2 * d_model) / 32
    assert flops / 1e9 == pytest.approx(giga, rel=0.03)


def test_padding_is_not_useful_and_rows_add_up():
    mixed = _flops.prediction([3, 50], 7, 16, 32)
    apart = _flops.prediction([3], 7, 16, 32) + _flops.prediction([50], 7, 16, 32)
    assert apart - mixed == 2 * 7 * 16 * 16  # the queries of the first layer, projected once
    assert mixed < _flops.prediction([50, 50], 7, 16, 32)


@pytest.mark.parametrize("shape", _shapes.SHAPES, ids=lambda shape: shape.name)
def test_generated_rows_have_the_shape_asked_for(shape):
    problem = _shapes.generate(shape, 300)
    lengths = problem.dataset.rows.lengths
    assert np.median(lengths) == pytest.approx(shape.median_length, rel=0.25)
    assert lengths.max() <= shape.longest
    assert problem.dataset.Y.shape == (300, shape.n_labels)
    assert set(problem.relations) == {"pulling", "pushing"}
    assert problem.dataset.rows.tokens.max() <= shape.n_tokens


def test_settings_of_the_benchmarks_are_those_of_the_classifier():
    default, paper = MrMPClassifier(), MrMPClassifier.paper()
    for settings, clf in ((_contestants.DEFAULT, default), (_contestants.PAPER, paper)):
        own = clf.get_params()
        automatic = find_architecture("mrmp").automatic(own, "features")
        own |= {name: value for name, value in automatic.items() if own[name] == "auto"}
        assert {"d_model", "n_heads", "architecture"} <= settings.keys()
        for name in settings:
            assert settings[name] == own[name], name


@pytest.mark.parametrize("name", ["DEFAULT", "PAPER"])
def test_both_contestants_train_and_predict(name):
    settings = {**getattr(_contestants, name), "d_model": 8, "d_inner": 16}
    problem = small(_shapes.BIBTEX)
    groups = [np.arange(6), np.arange(6, 12)]
    for make in (_contestants.Ours, _contestants.Yardstick):
        contestant = make(problem, groups, **settings)
        before = [weight.clone() for weight in contestant.network.parameters()]
        with contestant.in_training():
            contestant.train()
        contestant.predict()
        changed = zip(contestant.network.parameters(), before, strict=True)
        assert any(not torch.equal(weight, old) for weight, old in changed)


SCRIPTS = sorted(path.name for path in BENCHMARKS.glob("[a-z]*.py"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_benchmark_says_how_it_is_used(script):
    """Each is imported with all that it needs of the package."""
    if script == "bench_decisions.py":  # has no command line
        command = [sys.executable, "-c", "import bench_decisions"]
    else:
        command = [sys.executable, script, "--help"]
    done = subprocess.run(
        command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def names_set(tree):
    """Names of the arguments of calls, and of the entries of dicts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))


@pytest.mark.parametrize("script", SCRIPTS)
def test_benchmarks_set_parameters_that_the_classifier_has(script):
    tree = ast.parse((BENCHMARKS / script).read_text(encoding="utf-8"))
    own = {
        "MrMPClassifier": set(),
        "MrMPClassifier.paper": inspect.signature(MrMPClassifier.paper).parameters.keys(),
    }
    gone = {"linear_path", "neighbor_path", "patience", "validation_fraction"}
    assert not gone & set(names_set(tree))
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func)
        if name in own:
            given = {keyword.arg for keyword in call.keywords} - {None}
            assert given <= MrMPClassifier().get_params().keys() | own[name]
