"""Weights of one network for another: labels in other places, tokens and relations that are new."""

import pytest
import torch

from sklearn_mrmp.nn import LaMPModule, MLRNNModule, MPVAEModule, MrMPModule
from sklearn_mrmp.nn.carrying import carry_over
from tests.seams.mean_linear_module import MeanLinearModule

N_TOKENS = 9
TOKENS = torch.tensor([[1, 2, 3], [4, 5, 9]])
PULLS = torch.tensor([[0.0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]])
# The four labels of the earlier network are the labels 2, 4, 0 and 1 of the new one, and 3 is new.
LABELS = torch.tensor([2, 3, 0, -1, 1])
PLACES = torch.tensor([2, 4, 0, 1])


def linked(adjacency, n_labels=5):
    """The same edges between the labels where they are now."""
    edges = torch.zeros(n_labels, n_labels)
    edges[PLACES[:, None], PLACES] = adjacency
    return edges


def module(kind, n_labels, relations=None, **options):
    torch.manual_seed(n_labels)
    rows = {"kind": "tokens", "n_tokens": N_TOKENS}
    return kind(rows, n_labels, relations, d_model=4, **options).eval()


def mrmp(n_labels, pulls, **options):
    return module(MrMPModule, n_labels, {"pulling": pulls}, **options)


def paper(n_labels, pulls):
    return mrmp(n_labels, pulls, architecture="paper")


def lamp(n_labels, pulls):
    return module(LaMPModule, n_labels, {"pulling": pulls})


def mpvae(n_labels, pulls):
    """One whose covariance is as wide as there are labels."""
    torch.manual_seed(n_labels)
    rows = {"kind": "tokens", "n_tokens": N_TOKENS}
    return MPVAEModule(rows, n_labels, d_model=4, d_inner=6, d_latent=3).eval()


@pytest.mark.parametrize("make", [mrmp, paper, lamp, mpvae])
def test_labels_have_the_logits_that_they_had_wherever_they_are_now(make):
    # A label without edges changes nothing for the others.
    earlier, network = make(4, PULLS), make(5, linked(PULLS))
    drawn = network(tokens=TOKENS).logits
    carry_over(network, earlier, LABELS)
    logits, before = network(tokens=TOKENS).logits, earlier(tokens=TOKENS).logits
    torch.testing.assert_close(logits[:, PLACES], before)
    assert not torch.allclose(drawn[:, PLACES], before)
    embeddings = network.label_embeddings()[PLACES]
    torch.testing.assert_close(embeddings, earlier.label_embeddings())


def test_a_recurrent_network_keeps_its_order_and_the_end_of_sequences():
    rows = {"kind": "tokens", "n_tokens": N_TOKENS}
    sizes = {"d_model": 4, "d_inner": 6, "d_label": 3}
    earlier = MLRNNModule(rows, 4, label_order=[3, 0, 2, 1], **sizes).eval()
    order = [*PLACES[earlier.order].tolist(), 3]
    network = MLRNNModule(rows, 5, label_order=order, **sizes).eval()
    carry_over(network, earlier, LABELS)
    torch.testing.assert_close(network.label_embeddings()[PLACES], earlier.label_embeddings())
    # In the network's order the end comes first, and the new label last.
    torch.testing.assert_close(network.output.weight[:5], earlier.output.weight)
    torch.testing.assert_close(network.output.bias[:5], earlier.output.bias)
    assert not network.labels.weight[0].any()


def test_entries_of_a_new_label_stay_as_they_were_drawn():
    earlier, network = mrmp(4, PULLS), mrmp(5, linked(PULLS))
    bias, output = network.bias[3].item(), network.output[3].clone()
    carry_over(network, earlier, LABELS)
    assert network.bias[3].item() == bias
    torch.testing.assert_close(network.output[3], output)


def test_a_token_that_the_earlier_network_never_saw_keeps_the_vector_that_was_drawn():
    def network(seen, seed):
        torch.manual_seed(seed)
        trained = torch.zeros(N_TOKENS, dtype=torch.bool)
        trained[list(seen)] = True
        rows = {"kind": "tokens", "n_tokens": N_TOKENS, "values": True}
        return MrMPModule(rows, 3, d_model=4, trained_tokens=trained)

    earlier, later = network({0, 1}, 0), network({1, 2}, 1)
    for table in ("presence", "value"):
        before = getattr(earlier.embedding, table).weight.detach().clone()
        drawn = getattr(later.embedding, table).weight.detach().clone()
        carry_over(later, earlier, torch.arange(3))
        found = getattr(later.embedding, table).weight
        torch.testing.assert_close(found[[1, 2]], before[[1, 2]])
        torch.testing.assert_close(found[3], drawn[3])
        assert found[3].any()
        assert not found[[0, *range(4, N_TOKENS + 1)]].any()  # padding, and what nobody has seen


@pytest.mark.parametrize(
    "relations", [{"rivals": PULLS}, {"pulling": PULLS.triu()}, {}], ids=["other", "directed", "no"]
)
def test_weights_of_other_relations_are_not_taken_over(relations):
    earlier, network = mrmp(4, PULLS), module(MrMPModule, 4, relations or None)
    drawn = {n: w.detach().clone() for n, w in network.label_relations.named_parameters()}
    carry_over(network, earlier, torch.arange(4))
    for name, weight in network.label_relations.named_parameters():
        expected = drawn[name]
        if name == "label_embedding":
            expected = earlier.label_relations.label_embedding
        torch.testing.assert_close(weight, expected)
    torch.testing.assert_close(network.output, earlier.output)


def test_attention_between_labels_starts_anew_where_there_were_no_edges():
    earlier, network = module(LaMPModule, 4), lamp(4, PULLS)
    drawn = network.from_labels[0].attention.output.weight.detach().clone()
    carry_over(network, earlier, torch.arange(4))
    torch.testing.assert_close(network.from_labels[0].attention.output.weight, drawn)
    torch.testing.assert_close(network.output, earlier.output)


def test_networks_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match=r"'encoder\.layers\.1\..* no weights|no weights"):
        carry_over(
            module(MrMPModule, 4), module(MrMPModule, 4, n_encoder_layers=1), torch.arange(4)
        )
    narrow = MrMPModule({"kind": "tokens", "n_tokens": 7}, 4, d_model=4)
    with pytest.raises(ValueError, match=r"embedding\.presence\.weight.*\(10, 4\).*\(8, 4\)"):
        carry_over(module(MrMPModule, 4), narrow, torch.arange(4))


def test_a_network_that_does_not_know_its_entries_goes_on_with_the_same_labels_alone():
    rows = {"kind": "tokens", "n_tokens": N_TOKENS}
    earlier, network = MeanLinearModule(rows, 3, d_model=4), MeanLinearModule(rows, 3, d_model=4)
    carry_over(network, earlier, torch.arange(3))
    torch.testing.assert_close(network.linear.weight, earlier.linear.weight)
    with pytest.raises(ValueError, match="MeanLinearModule cannot go on with other labels"):
        carry_over(network, earlier, torch.tensor([1, 0, 2]))
