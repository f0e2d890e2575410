"""LaMP, MPVAE and ML-RNN against their authors' formulations, in the shape of Bibtex.

Processor seconds of one thread for training steps and predictions of the same rows, in alternation;
ratios are those of the reference, divided by the package's. LaMP has the publication's width of
512 and, with its bias, this package's default of 64, in a graph of all pairs and in one of
co-occurring labels; the reference pads rows in random order, the package rows of similar length.
MPVAE has the publication's settings: 100 draws in training, and 10,000 of the reference in
prediction. ML-RNN reads means of tokens with this package's default sizes and a beam of 16; the
reference goes through the labels of a batch step by step, and searches row by row.
`--memory` says what a training step of LaMP takes in the shape of Delicious.

    python benchmarks/bench_peers.py --method lamp --repeats 3
"""

import argparse
import time

import numpy as np
import torch
from _contestants import groups_of_rows
from _measure import peak_memory, peak_memory_of
from _reference_peers import (
    ReferenceLaMP,
    ReferenceMPVAE,
    beam_of_row,
    copy_lamp,
    stepwise_scores,
)
from _shapes import BIBTEX, DELICIOUS, generate

from sklearn_mrmp._network.batches import as_tensors
from sklearn_mrmp.nn import (
    LaMPLoss,
    LaMPModule,
    MLRNNLoss,
    MLRNNModule,
    MPVAELoss,
    MPVAEModule,
)

BATCH_SIZE = 32
WIDTHS = {
    "512": {"d_model": 512, "n_heads": 4, "d_inner": 512},
    "64": {"d_model": 64, "n_heads": 2, "d_inner": 128},
}
GRAPHS = ("full", "prior")
_PREDICTED = 8  # rows; ten thousand draws of each label take much memory


def linked_labels(problem):
    """Which labels occur together, with themselves, bool (L, L)."""
    Y = problem.dataset.Y
    return torch.from_numpy(((Y.T @ Y).toarray() > 0) | np.eye(Y.shape[1], dtype=bool))


def lamp(problem, graph, sizes):
    """Return the package's module and the reference, with the same weights."""
    shape, linked = problem.shape, linked_labels(problem)
    torch.manual_seed(0)
    module = LaMPModule(
        shape.embedding,
        shape.n_labels,
        {"together": linked.float().to_sparse()} if graph == "prior" else None,
        all_pairs=graph == "full",
        dropout=shape.dropout,
        architecture="paper",
        **sizes,
    )
    linked = torch.ones_like(linked) if graph == "full" else linked
    reference = ReferenceLaMP(
        shape.n_tokens, shape.n_labels, linked, dropout=shape.dropout, **sizes
    )
    copy_lamp(module, reference)
    return module, reference


def step(network, optimizer, loss):
    """Do what training does with the loss of a batch."""
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def batches_of(problem, groups):
    """Token batches and targets of groups of rows."""
    Y = problem.dataset.Y.astype(np.float32)
    return [
        (
            as_tensors(problem.dataset.rows.take(group).padded()),
            torch.from_numpy(Y[group].toarray()),
        )
        for group in groups
    ]


def lamp_tasks(problem, graph, sizes, n_groups):
    """Training and prediction of the same rows: for both tasks a pair of functions."""
    module, reference = lamp(problem, graph, sizes)
    groups = groups_of_rows(problem, n_groups, BATCH_SIZE)
    mixed = np.array_split(np.random.default_rng(1).permutation(np.concatenate(groups)), n_groups)
    ours, theirs = batches_of(problem, groups), batches_of(problem, mixed)
    adam = torch.optim.AdamW(module.parameters(), lr=2e-4, fused=True)
    plain = torch.optim.Adam(reference.parameters(), lr=2e-4, foreach=False)
    cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits

    def train():
        for batch, Y in ours:
            step(module.train(), adam, LaMPLoss()(module(**batch), Y))

    def train_reference():
        for batch, Y in theirs:
            rounds = reference.train()(batch["tokens"])
            step(reference, plain, sum(cross_entropy(z, Y) for z in rounds) / len(rounds))

    @torch.inference_mode()
    def predict():
        return [torch.sigmoid(module.eval()(**batch).logits) for batch, _ in ours]

    @torch.inference_mode()
    def predict_reference():
        return [torch.sigmoid(reference.eval()(batch["tokens"])[-1]) for batch, _ in theirs]

    return {"train": (train, train_reference), "predict": (predict, predict_reference)}


def mpvae_tasks(problem, n_draws=100):
    """Training and prediction of the same rows: for both tasks a pair of functions."""
    shape = problem.shape
    group = groups_of_rows(problem, 1, BATCH_SIZE)
    [(batch, Y)] = batches_of(problem, group)
    X = torch.zeros(len(Y), shape.n_tokens + 1).scatter_(1, batch["tokens"], 1.0)[:, 1:]
    module = MPVAEModule(
        shape.embedding, shape.n_labels, n_samples=n_draws, architecture="paper", dropout=0.5
    )
    reference = ReferenceMPVAE(shape.n_tokens, shape.n_labels)
    adam = torch.optim.AdamW(module.parameters(), lr=2e-4, fused=True)
    plain = torch.optim.Adam(reference.parameters(), lr=2e-4, foreach=False)

    def train():
        step(module.train(), adam, MPVAELoss()(module(**batch, targets=Y), Y))

    def train_reference():
        step(reference.train(), plain, reference.loss(X, Y, n_draws))

    few = {name: tensor[:_PREDICTED] for name, tensor in batch.items()}

    @torch.inference_mode()
    def predict():
        return torch.sigmoid(module.eval()(**few).logits)

    @torch.inference_mode()
    def predict_reference():
        return reference.eval().predict(X[:_PREDICTED])

    return {"train": (train, train_reference), "predict": (predict, predict_reference)}


class StepwiseMLRNN(MLRNNModule):
    """The same network, which takes a step for each label in training."""

    def _all_steps(self, memory, start, previous):
        return stepwise_scores(self, start, memory, previous)


def mlrnn_tasks(problem, n_groups):
    """Training and prediction of the same rows: for both tasks a pair of functions."""
    shape = problem.shape
    order = np.argsort(-np.asarray(problem.dataset.Y.sum(axis=0)).ravel())
    modules = [
        kind(shape.embedding, shape.n_labels, label_order=order.tolist())
        for kind in (MLRNNModule, StepwiseMLRNN)
    ]
    optimizers = [
        torch.optim.AdamW(modules[0].parameters(), lr=2e-4, fused=True),
        torch.optim.Adam(modules[1].parameters(), lr=2e-4, foreach=False),
    ]
    batches = batches_of(problem, groups_of_rows(problem, n_groups, BATCH_SIZE))

    def trainer(module, optimizer):
        def train():
            for batch, Y in batches:
                step(module.train(), optimizer, MLRNNLoss()(module(**batch, targets=Y), Y))

        return train

    module = modules[0]

    @torch.inference_mode()
    def predict():
        return [module.eval()(**batch).logits for batch, _ in batches]

    @torch.inference_mode()
    def predict_reference():
        module.eval()
        for batch, _ in batches:
            for tokens in batch["tokens"]:
                beam_of_row(module, {"tokens": tokens[tokens > 0][None]}, module.beam_width)

    trainers = tuple(trainer(*pair) for pair in zip(modules, optimizers, strict=True))
    return {"train": trainers, "predict": (predict, predict_reference)}


def seconds(function):
    """Processor seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def print_ratios(name, tasks, repeats):
    """Print a line for each task: seconds of both, and the median and range of their ratio."""
    for task, pair in tasks.items():
        for function in pair:
            function()  # what is done once and for all
        times = np.array([[seconds(function) for function in pair] for _ in range(repeats)])
        ratios, (ours, theirs) = times[:, 1] / times[:, 0], np.median(times, axis=0)
        spread = f"{np.median(ratios):.1f} ({ratios.min():.1f}–{ratios.max():.1f})"
        print(f"| {name} | {task} | {ours:.3f} | {theirs:.3f} | {spread} |", flush=True)


def print_speed(args):
    """Print the table."""
    problem = generate(BIBTEX, 1024)
    print("| method | task | ours, s | reference, s | ratio |\n|---|---|---|---|---|")
    if args.method in ("lamp", "all"):
        for width in args.widths:
            for graph in args.graphs:
                tasks = lamp_tasks(problem, graph, WIDTHS[width], args.groups)
                print_ratios(f"LaMP {graph}, width {width}", tasks, args.repeats)
    if args.method in ("mpvae", "all"):
        print_ratios("MPVAE", mpvae_tasks(problem), args.repeats)
    if args.method in ("mlrnn", "all"):
        print_ratios("ML-RNN", mlrnn_tasks(problem, args.groups), args.repeats)


def training_step_memory():
    """Two training steps in the shape of Delicious; print the peak of this process."""
    problem = generate(DELICIOUS)
    module, _ = lamp(problem, "prior", WIDTHS["512"])
    optimizer = torch.optim.AdamW(module.parameters(), fused=True)
    [(batch, Y)] = batches_of(problem, groups_of_rows(problem, 1, BATCH_SIZE))
    for _ in range(2):
        step(module.train(), optimizer, LaMPLoss()(module(**batch), Y))
    print(peak_memory())


def main():
    """Read the options and print what they ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--method", choices=["lamp", "mpvae", "mlrnn", "all"], default="all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--groups", type=int, default=4, help="batches of LaMP and ML-RNN")
    parser.add_argument("--widths", nargs="+", choices=WIDTHS, default=list(WIDTHS))
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--memory", action="store_true", help="peak of a step in Delicious' shape")
    parser.add_argument("--step", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.step:
        training_step_memory()
    elif args.memory:
        print(f"LaMP, Delicious' shape, d = 512, batch 32: {peak_memory_of(['--step']):.2f} GB")
    else:
        print_speed(args)


if __name__ == "__main__":
    main()
