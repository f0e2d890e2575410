"""ML-RNN's network: a distribution over label sets, by the chain rule."""

import itertools
import math

import pytest
import torch

from sklearn_mrmp.nn import MLRNNLoss, MLRNNModule, NetworkOutput
from sklearn_mrmp.nn.mlrnn import Steps

N_LABELS = 5
ORDER = [3, 0, 4, 1, 2]
BAG = {"kind": "tokens", "n_tokens": 9}
SEQUENCE = {"kind": "tokens", "n_tokens": 9, "positions": True}
STATES = {"kind": "states", "width": 4}
TOKENS = {"tokens": torch.tensor([[1, 2, 3], [4, 5, 0]])}
MASK = torch.tensor([[True, True, True], [True, True, False]])
Y = torch.tensor([[1.0, 0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 0.0]])
ALL_SETS = torch.tensor(list(itertools.product([0.0, 1.0], repeat=N_LABELS)))

each_reader = pytest.mark.parametrize("embedding", [BAG, SEQUENCE], ids=["bag", "sequence"])


def make(embedding=BAG, **options):
    torch.manual_seed(0)
    sizes = {"d_model": 6, "d_inner": 8, "d_label": 5, "dropout": 0.0, "beam_width": 2**N_LABELS}
    module = MLRNNModule(embedding, N_LABELS, **{"label_order": ORDER, **sizes, **options})
    with torch.no_grad():  # far from uniform, so that orders and labels differ
        module.output.weight.mul_(4.0)
    return module.eval()


def one_row(n_copies):
    return {"tokens": TOKENS["tokens"][:1].expand(n_copies, -1)}


def log_likelihoods(module, inputs, y, **options):
    """Log probability of each row's labels."""
    scores, (truth, _) = module(**inputs, targets=y, **options)
    log_p = torch.log_softmax(scores, dim=2)
    return torch.where(truth > 0, truth * log_p, 0.0).sum(dim=(1, 2))


@each_reader
@torch.no_grad()
def test_the_probabilities_of_all_label_sets_sum_to_one(embedding):
    log_p = log_likelihoods(make(embedding), one_row(2**N_LABELS), ALL_SETS)
    assert float(log_p.exp().sum()) == pytest.approx(1.0, abs=1e-5)
    assert (log_p.exp() > 0).all()


@torch.no_grad()
def test_without_a_mask_other_sequences_take_a_share():
    log_p = log_likelihoods(make(masked=False), one_row(2**N_LABELS), ALL_SETS)
    assert float(log_p.exp().sum()) < 0.99


@each_reader
@torch.no_grad()
def test_the_search_over_all_sets_is_the_enumeration(embedding):
    module = make(embedding)
    p = log_likelihoods(module, one_row(2**N_LABELS), ALL_SETS).exp()
    inputs = one_row(1)
    assert module.predict_sets(**inputs)[0].tolist() == (ALL_SETS[p.argmax()] > 0).tolist()
    marginals = torch.sigmoid(module(**inputs).logits[0])
    torch.testing.assert_close(marginals, p @ ALL_SETS, rtol=1e-4, atol=1e-6)


@each_reader
@torch.no_grad()
def test_the_likelihood_is_the_product_of_steps_in_the_order(embedding):
    module = make(embedding)
    start, memory = module.reader(module.embedding, None, one_row(1))
    states, previous, total = start, torch.tensor([0]), 0.0
    place = {label: 1 + rank for rank, label in enumerate(ORDER)}
    for label in (place[0], place[4], place[2], 0):  # labels 0, 4 and 2 in that order, and the end
        scores, states = module._step(memory, states, previous)
        options = [0, *range(int(previous) + 1, 1 + N_LABELS)]
        total += float(torch.log_softmax(scores[0, options], dim=0)[options.index(label)])
        previous = torch.tensor([label])
    assert float(log_likelihoods(module, one_row(1), Y[:1])) == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("embedding", [BAG, SEQUENCE, STATES], ids=["bag", "sequence", "states"])
@torch.no_grad()
def test_what_is_said_of_a_row_does_not_depend_on_its_batch(embedding):
    module, n_tokens = make(embedding, beam_width=3), torch.tensor([3, 0, 5, 1, 2])
    mask = torch.arange(5) < n_tokens[:, None]
    if embedding is STATES:
        inputs = {"states": torch.randn(5, 5, 4)}
    else:
        inputs = {"tokens": torch.randint(1, 10, (5, 5)) * mask}
    logits, sets = module(**inputs, mask=mask).logits, module.predict_sets(**inputs, mask=mask)
    for row, n in enumerate(n_tokens.clamp(min=1)):
        alone = {name: part[row : row + 1, :n] for name, part in inputs.items()}
        alone["mask"] = mask[row : row + 1, :n]
        torch.testing.assert_close(module(**alone).logits[0], logits[row], rtol=1e-4, atol=1e-4)
        assert module.predict_sets(**alone)[0].tolist() == sets[row].tolist()


@each_reader
@torch.no_grad()
def test_the_order_of_the_label_columns_does_not_matter(embedding):
    module, columns = make(embedding), [2, 4, 0, 1, 3]
    other = make(embedding, label_order=[columns.index(label) for label in ORDER])
    logits = module(**TOKENS, mask=MASK).logits
    torch.testing.assert_close(other(**TOKENS, mask=MASK).logits, logits[:, columns])
    sets = module.predict_sets(**TOKENS, mask=MASK)
    assert other.predict_sets(**TOKENS, mask=MASK).tolist() == sets[:, columns].tolist()
    vectors = module.label_embeddings()
    torch.testing.assert_close(other.label_embeddings(), vectors[columns])


def test_a_row_without_labels_is_the_end_alone():
    output = make()(**TOKENS, mask=MASK, targets=torch.zeros_like(Y))
    assert output.extras.truth.tolist() == [[[1.0, *[0.0] * N_LABELS]]] * 2


def test_the_loss_is_summed_over_steps_and_averaged_over_rows():
    torch.manual_seed(0)
    module = make()
    output = module(**TOKENS, mask=MASK, targets=Y)
    expected = -log_likelihoods(module, TOKENS, Y, mask=MASK).mean()
    torch.testing.assert_close(MLRNNLoss()(output, Y), expected)


def test_the_loss_of_forbidden_steps_has_finite_gradients():
    scores = torch.tensor([[[0.0, 1.0, -math.inf]]], requires_grad=True)
    steps = Steps(torch.tensor([[[0.5, 0.5, 0.0]]]), lambda entries: entries)
    MLRNNLoss()(NetworkOutput(scores, steps), None).backward()
    assert torch.isfinite(scores.grad).all()


def test_rows_count_by_their_weights():
    module, losses = make(), -log_likelihoods(make(), TOKENS, Y, mask=MASK)
    output = module(**TOKENS, mask=MASK, targets=Y)
    weights = torch.tensor([[2.0], [6.0]]).expand_as(Y)
    mean = (2 * losses[0] + 6 * losses[1]) / 8
    torch.testing.assert_close(MLRNNLoss()(output, Y, weights), mean)
    # Batches with a heavier mean count for more.
    total = 2 * float(weights.sum())
    torch.testing.assert_close(MLRNNLoss()(output, Y, weights, total), mean / 2)


@torch.no_grad()
def test_unknown_labels_are_left_out_as_if_they_were_no_candidates():
    module, known = make(), torch.tensor([[0, 1, 2, 4], [0, 2, 3, 4]])
    weights = torch.zeros_like(Y).scatter(1, known, 1.0)
    output = module(**TOKENS, mask=MASK, targets=Y)
    few = module(**TOKENS, mask=MASK, candidates=known, targets=Y.gather(1, known))
    torch.testing.assert_close(MLRNNLoss()(output, Y, weights), MLRNNLoss()(few, None))


def test_a_row_of_which_nothing_is_known_teaches_nothing():
    output = make()(**TOKENS, mask=MASK, targets=Y * 0)
    loss = MLRNNLoss()(output, Y * 0, torch.zeros_like(Y))
    assert loss.item() == 0.0


@pytest.mark.parametrize("masked", [True, False])
@each_reader
def test_all_weights_learn_in_every_order(embedding, masked):
    for order in (ORDER, None):
        module = make(embedding, label_order=order, masked=masked).train()
        output = module(**TOKENS, mask=MASK, targets=Y)
        MLRNNLoss()(output, Y).backward()
        for name, weight in module.named_parameters():
            assert torch.isfinite(weight.grad).all(), name
            assert (weight.grad != 0).any(), name


def test_the_first_target_of_a_free_order_is_uniform_over_the_labels():
    truth = make(label_order=None)(**TOKENS, mask=MASK, targets=Y).extras.truth
    third = 1 / 3
    torch.testing.assert_close(
        truth[:, 0],
        torch.tensor([[0.0, third, 0.0, third, 0.0, third], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]]),
    )


@torch.no_grad()
def test_in_a_free_order_what_is_given_is_no_target_and_the_end_is_the_last_one():
    module = make(label_order=None)
    module.output.weight.zero_()
    module.output.bias.copy_(torch.tensor([-9.0, 5.0, -9.0, 4.0, -9.0, 3.0]))
    truth = module(**one_row(1), targets=Y[:1]).extras.truth[0]
    assert (truth > 0).int().tolist() == [
        [0, 1, 0, 1, 0, 1],
        [0, 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 0],
    ]
    torch.testing.assert_close(truth.sum(dim=1), torch.ones(4))


@torch.no_grad()
def test_in_a_free_order_nothing_is_learned_after_an_end_that_came_too_early():
    module = make(label_order=None)
    module.output.weight.zero_()
    module.output.bias.copy_(torch.tensor([9.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    truth = module(**one_row(1), targets=Y[:1]).extras.truth[0]
    assert truth.sum(dim=1).tolist() == pytest.approx([1.0, 0.0, 0.0, 0.0])


@torch.no_grad()
def test_a_free_order_repeats_no_label_where_that_is_forbidden():
    module = make(label_order=None)
    module.output.bias[1] = 50.0
    start, memory = module.reader(module.embedding, None, one_row(1))
    given = torch.zeros(1, 1 + N_LABELS, dtype=torch.bool)
    given[:, 1] = True
    scores, _ = module._step(memory, start, torch.tensor([1]))
    scores = module._permitted(scores, torch.tensor([1]), given, None)
    assert torch.isinf(scores[0]).tolist() == [False, True, False, False, False, False]


@torch.no_grad()
def test_the_probabilities_of_all_sequences_of_a_free_order_sum_to_one():
    module = make(label_order=None, beam_width=400)
    found = module._found(None, None, one_row(1))
    torch.testing.assert_close(found.coverage(), torch.ones(1))
    n_sequences = sum(math.perm(N_LABELS, size) for size in range(1 + N_LABELS))
    assert int(torch.isfinite(found.log_p).sum()) == n_sequences


@each_reader
@torch.no_grad()
def test_only_candidates_are_named_and_others_have_no_share(embedding):
    module, candidates = make(embedding), torch.tensor([[0, 2], [3, 4]])
    logits = module(**TOKENS, mask=MASK, candidates=candidates).logits
    assert logits.shape == (2, 2)
    sets = module.predict_sets(**TOKENS, mask=MASK, candidates=candidates)
    assert not sets[0, [1, 3, 4]].any()
    assert not sets[1, [0, 1, 2]].any()
    few = torch.tensor(list(itertools.product([0.0, 1.0], repeat=2)))
    inputs, same = one_row(4), torch.tensor([[0, 2]]).expand(4, -1)
    log_p = log_likelihoods(module, inputs, few, candidates=same)
    assert float(log_p.exp().sum()) == pytest.approx(1.0, abs=1e-5)


def test_labels_that_no_set_has_get_the_floor():
    logits = make(beam_width=1)(**TOKENS, mask=MASK).logits
    floor = math.log(1e-7 / (1 - 1e-7))
    values = torch.tensor([floor, -floor])
    assert (torch.abs(logits[:, :, None] - values).amin(dim=2) < 0.2).all()


def test_labels_start_at_their_frequencies_unless_it_is_the_papers():
    prior = torch.tensor([0.5, 0.1, 0.0, 0.2, 1.0])
    bias = make(prior=prior).output.bias
    expected = torch.log(torch.tensor([1.0, 0.2, 0.5, 1.0, 0.1, 1e-4]))
    torch.testing.assert_close(bias.detach(), expected)
    assert not make(prior=prior, architecture="paper").output.bias.any()
