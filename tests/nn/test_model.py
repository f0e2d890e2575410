"""The whole network: votes, padding, permutation, gradients, degenerate rows and labels."""

import pytest
import torch

from sklearn_mrmp.nn import LabelPart, MrMPLoss, MrMPModule, model

PULLING = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
PUSHING = torch.tensor([[0.0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
RELATIONS = {"pulling": PULLING, "pushing": PUSHING}
ARCHITECTURES = pytest.mark.parametrize("architecture", ["default", "paper", "paper-repaired"])


def make_module(
    architecture="default", relations=RELATIONS, values=False, positions=False, **options
):
    torch.manual_seed(0)
    options = {"d_model": 8, "n_heads": 2, "d_inner": 16, **options}
    embedding = {"kind": "tokens", "n_tokens": 6, "values": values, "positions": positions}
    return MrMPModule(embedding, 4, relations, architecture=architecture, **options)


def make_batch():
    tokens = torch.tensor([[1, 2, 3], [4, 6, 0], [0, 0, 0]])
    return {"tokens": tokens, "values": torch.randn(3, 3), "mask": tokens > 0}


@ARCHITECTURES
def test_the_vote_is_the_sum_over_layers(architecture):
    module = make_module(architecture, n_encoder_layers=3, n_decoder_layers=3).eval()
    batch = make_batch()
    logits, v = module(**batch)
    states = module.encoder(module.embedding(batch["tokens"]), batch["mask"])
    decoded = module.decoder(v, states, batch["mask"])
    weight = module.output if architecture == "default" else v
    bias = module.bias if architecture == "default" else 0
    expected = sum(torch.einsum("bld,ld->bl", u, weight) for u in decoded) + bias
    assert len(decoded) == 3
    torch.testing.assert_close(logits, expected)


def test_the_repaired_network_is_the_papers_with_the_labels_own_vectors_added():
    repaired, paper = (make_module(name).eval() for name in ("paper-repaired", "paper"))
    paper.load_state_dict(repaired.state_dict())
    own = repaired.label_relations.label_embedding
    torch.testing.assert_close(repaired.label_embeddings(), paper.label_embeddings() + own)
    batch = {name: part[:2] for name, part in make_batch().items()}
    same = paper(**batch, label_embeddings=repaired.label_embeddings()).logits
    torch.testing.assert_close(repaired(**batch).logits, same)


@ARCHITECTURES
@pytest.mark.parametrize("positions", [False, True])
def test_padding_does_not_change_logits(architecture, positions):
    module = make_module(architecture, positions=positions).eval()
    tokens = torch.tensor([[1, 2, 3], [4, 6, 5]])
    longer = torch.cat([tokens, torch.zeros(2, 4, dtype=torch.int64)], dim=1)
    torch.testing.assert_close(module(tokens=tokens)[0], module(tokens=longer, mask=longer > 0)[0])


def test_order_of_tokens_matters_only_for_sequences():
    tokens = torch.tensor([[1, 2, 3]])
    bag = make_module().eval()
    torch.testing.assert_close(bag(tokens=tokens)[0], bag(tokens=tokens.flip(1))[0])
    sequence = make_module(positions=True).eval()
    there, back = sequence(tokens=tokens)[0], sequence(tokens=tokens.flip(1))[0]
    assert not torch.allclose(there, back)


@ARCHITECTURES
def test_permuting_labels_permutes_outputs(architecture):
    order = torch.tensor([2, 0, 3, 1])
    module = make_module(architecture).eval()
    permuted = make_module(
        architecture, {name: a[order][:, order] for name, a in RELATIONS.items()}
    ).eval()
    per_label = ("label_relations.label_embedding", "output", "bias")
    for name, parameter in permuted.named_parameters():
        source = dict(module.named_parameters())[name]
        with torch.no_grad():
            parameter.copy_(source[order] if name in per_label else source)
    batch = make_batch()
    torch.testing.assert_close(permuted(**batch)[0], module(**batch)[0][:, order])


@ARCHITECTURES
@pytest.mark.parametrize("relations", [RELATIONS, None])
@pytest.mark.parametrize("values", [False, True])
def test_gradient_reaches_every_parameter_and_every_label(architecture, relations, values):
    module = make_module(architecture, relations, values=values)
    loss = MrMPLoss(relations, weight=0.1)
    loss(module(**make_batch()), torch.eye(4)[:3]).backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name
        assert torch.isfinite(parameter.grad).all(), name
    labels = module.label_relations.label_embedding.grad
    assert labels.abs().sum(dim=1).gt(0).all()  # also the first label


@ARCHITECTURES
def test_rows_without_tokens_give_finite_logits_and_gradients(architecture):
    module = make_module(architecture)
    tokens = torch.zeros(2, 1, dtype=torch.int64)
    output = module(tokens=tokens, mask=tokens > 0)
    MrMPLoss(RELATIONS)(output, torch.zeros(2, 4)).backward()
    assert torch.isfinite(output.logits).all()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters() if p.grad is not None)


def test_bias_starts_at_the_label_frequency_also_where_it_is_0_or_1():
    module = make_module(prior=torch.tensor([0.25, 0.0, 1.0, 0.5]))
    assert torch.isfinite(module.bias).all()
    torch.testing.assert_close(torch.sigmoid(module.bias)[[0, 3]], torch.tensor([0.25, 0.5]))


def test_known_label_embeddings_give_the_same_logits():
    module = make_module().eval()
    batch = make_batch()
    logits, v = module(**batch)
    torch.testing.assert_close(module(**batch, label_embeddings=v)[0], logits)
    torch.testing.assert_close(module.predict_logits(**batch, **module.prepared()), logits)


def test_forward_works_without_memory_on_the_meta_device():
    module = make_module().to("meta")
    tokens = torch.ones(2, 3, dtype=torch.int64, device="meta")
    logits, _ = module(tokens=tokens)
    assert logits.shape == (2, 4)
    assert logits.device.type == "meta"


def test_all_state_moves_with_the_module():
    module = make_module().to("meta")
    tensors = [*module.parameters(), *module.buffers()]
    assert {tensor.device.type for tensor in tensors} == {"meta"}


@ARCHITECTURES
def test_of_very_many_labels_only_the_candidates_are_embedded(architecture, monkeypatch):
    module, batch = make_module(architecture).eval(), make_batch()
    candidates = torch.tensor([[0, 3], [3, 0], [1, 3]])
    expected, v = module(**batch, candidates=candidates)
    monkeypatch.setattr(model, "_PARTS_FROM", 4)
    output = module(**batch, candidates=candidates)
    logits, part = output
    torch.testing.assert_close(logits, expected)
    assert isinstance(part, LabelPart)
    assert part.labels.tolist() == [0, 1, 3]
    torch.testing.assert_close(part.vectors, v[part.labels])
    MrMPLoss(RELATIONS)(output, torch.zeros(3, 2)).backward()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters() if p.grad is not None)
