"""The yardstick computes what the package computes; useful operations are counted as stated."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sklearn_mrmp._network.batches import padded
from sklearn_mrmp.nn import MrMPLoss, MrMPModule, sinusoidal_positions

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import _flops
import _shapes
import _yardstick


def small(shape, n_rows=12):
    shrunk = _shapes.replace(shape, n_tokens=40, n_labels=9, median_length=5, longest=12)
    return _shapes.generate(shrunk, n_rows)


@pytest.mark.parametrize("architecture", ["paper", "default"])
@pytest.mark.parametrize("shape", [_shapes.BIBTEX, _shapes.REUTERS])
def test_yardstick_is_the_same_function_with_the_same_gradient(architecture, shape):
    problem = small(shape)
    common = {"d_model": 16, "d_inner": 24, "dropout": 0.0, "architecture": architecture}
    common["positions"] = shape.sequence
    sizes = (40, 9, problem.relations)
    torch.manual_seed(0)
    ours, textbook = MrMPModule(*sizes, **common), _yardstick.TextbookMrMP(*sizes, **common)
    _yardstick.copy_weights(ours, textbook)
    batch = padded(problem.dataset.rows)
    Y = torch.from_numpy(problem.dataset.Y.toarray().astype(np.float32))
    codes = 0.03 * sinusoidal_positions(batch["tokens"].shape[1], 16)
    criterion = MrMPLoss(problem.relations)
    results = [ours(**batch), textbook(batch["tokens"], codes)]
    for logits, v in results:
        criterion(logits, Y, v).backward()
    torch.testing.assert_close(results[1], results[0])
    for mine, its in [
        (ours.embedding.presence.weight, textbook.tokens.weight),
        (ours.label_relations.label_embedding, textbook.relations.labels.weight),
        (ours.encoder.layers[0].attention.qkv.weight, textbook.encoder[0].attention.in_proj_weight),
    ]:
        torch.testing.assert_close(its.grad, mine.grad, rtol=1e-4, atol=1e-6)


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
