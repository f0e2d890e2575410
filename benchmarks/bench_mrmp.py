"""Training and prediction speed of the network beside a textbook implementation of it.

    python benchmarks/bench_mrmp.py [--data-home DIR] [--full] [--threads N] [--cpu-time]

1. Rows per second in the paper's setting (d = 512, d' = 1024) and in the default one (d = 64), on
   rows of Bibtex's, Delicious' and Reuters' shapes; the ratio to the yardstick (`_yardstick.py`);
   and useful operations per second (`_flops.py`) as a share of the float32 matmul rate.
2. Growth with rows, tokens per row, labels and width, as ratios to the yardstick.
3. Peak memory of a training step, and what the training loop adds to the bare steps.

Both sides get the same rows, dropout as in the setting and no feature dropout, and alternate; a
ratio is the median of the repetitions with the smallest and largest. A step is forward, loss,
backward, clipping and optimiser, on batches made from token rows. --data-home (or
SKLEARN_MRMP_DATA_HOME) uses the real training rows. --cpu-time suits one thread on a busy machine.
"""

import argparse
import os
import time
from contextlib import nullcontext
from dataclasses import replace

import _flops
import numpy as np
import torch
from _contestants import DEFAULT, PAPER, Ours, Yardstick, groups_of_rows
from _measure import peak_memory, peak_memory_of, race
from _shapes import BIBTEX, SHAPES, generate, load

from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp._network.loop.callbacks import training_callbacks
from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp.nn import MrMPLoss

SETTINGS = {f"paper, d = {PAPER['d_model']}": PAPER, f"default, d = {DEFAULT['d_model']}": DEFAULT}
MEDIUM = replace(BIBTEX, n_tokens=1000, n_labels=64, median_length=32, longest=128)
SIZES = {  # name: (make a shape, make settings, values)
    "rows": (lambda n: MEDIUM, lambda n: DEFAULT, (128, 512, 2048)),
    "tokens per row": (MEDIUM.of_length, lambda n: DEFAULT, (4, 16, 64, 256)),
    "labels": (lambda n: replace(MEDIUM, n_labels=n), lambda n: DEFAULT, (4, 16, 64, 256, 1024)),
    "width": (
        lambda n: MEDIUM,
        lambda n: {**DEFAULT, "d_model": n, "d_inner": 2 * n},
        (16, 32, 64, 128, 256),
    ),
}


def contest(problem, settings, n_groups, batch_size, repeats, clock):
    """Races of training and of prediction, and the useful operations of both."""
    groups = groups_of_rows(problem, n_groups, batch_size)
    ours, other = Ours(problem, groups, **settings), Yardstick(problem, groups, **settings)
    races, flops = [], []
    lengths, n_labels = problem.dataset.rows.lengths, problem.shape.n_labels
    widths = n_labels, settings["d_model"], settings["d_inner"]
    surroundings = (ours.in_training, other.in_training), (nullcontext, nullcontext)
    for task, around in zip(("train", "predict"), surroundings, strict=True):
        for contestant in (ours, other):
            getattr(contestant, task)()
        tasks = getattr(ours, task), getattr(other, task)
        races.append(race(*tasks, ours.n_rows, repeats, clock, around))
    flops.append(sum(_flops.training(lengths[g], problem.relations, *widths) for g in groups))
    flops.append(sum(_flops.prediction(lengths[g], *widths) for g in groups))
    return races, flops


def group_sizes(setting, shape, full):
    """How many batches of how many rows are timed; smaller ones where a row is a lot of work.

    Of few batches none has the longest rows, which are what unsorted batches are padded to.
    """
    if full or setting is not PAPER:
        return 8, 32
    return 8, 8 if shape.n_labels > 500 else 16


def print_speed(args, clock):
    """Print the first table."""
    print("| data | setting | task | rows/s | yardstick | ratio | GFLOP/s | share of matmul |")
    print("|---|---|---|---|---|---|---|---|")
    rates = []
    for shape in SHAPES:
        problem = (args.data_home and load(shape, args.data_home)) or generate(shape)
        name = shape.name + (" (real)" if problem.is_real else "")
        for setting, settings in SETTINGS.items():
            if args.setting not in setting:
                continue
            sizes = group_sizes(settings, shape, args.full)
            races, flops = contest(problem, settings, *sizes, args.repeats, clock)
            for task, result, work in zip(("train", "predict"), races, flops, strict=True):
                mine, its = result.rows_per_second()
                speed, share = result.operations_per_second(work), result.share_of_matmul(work)
                rates += list(result.rates)
                print(
                    f"| {name} | {setting} | {task} | {mine:.1f} | {its:.1f} "
                    f"| {result.ratio_text()} | {speed / 1e9:.1f} | {share:.0%} |",
                    flush=True,
                )
    low, middle, high = np.quantile(rates, [0, 0.5, 1]) / 1e9
    print(f"\nfloat32 matmul: {middle:.0f} ({low:.0f}–{high:.0f}) GFLOP/s, ", end="")
    print(f"{torch.get_num_threads()} threads\n")


def print_growth(args, clock):
    """Print the second table."""
    print("| grows | to | train rows/s | ratio | predict rows/s | ratio |")
    print("|---|---|---|---|---|---|")
    for name, (make_shape, make_settings, values) in SIZES.items():
        for value in values if args.full else values[:: 2 if len(values) > 3 else 1]:
            problem = generate(make_shape(value), value if name == "rows" else 1024)
            n_groups = value // 32 if name == "rows" else 4
            races, _ = contest(problem, make_settings(value), n_groups, 32, args.repeats, clock)
            cells = [f"{r.rows_per_second()[0]:.0f} | {r.ratio_text()}" for r in races]
            print(f"| {name} | {value} | {' | '.join(cells)} |", flush=True)


def print_memory():
    """Print peak memory of one training step in the paper's setting, and without any."""
    print("\n| training step, d = 512, batch 32 | peak memory, GB |\n|---|---|")
    for shape in SHAPES:
        print(f"| {shape.name} | {peak_memory_of(['--memory', shape.name]):.2f} |", flush=True)


def training_step_memory(name):
    """Two training steps on a batch of median length; print the peak of this process."""
    problem = generate(next(shape for shape in SHAPES if shape.name == name))
    ours = Ours(problem, groups_of_rows(problem, 1), **PAPER)
    with ours.in_training():
        ours.train()
    print(peak_memory())


def print_loop_overhead(clock):
    """Compare an epoch of the training loop with its bare steps, at the default width."""
    problem = generate(MEDIUM, 512)
    ours = Ours(problem, groups_of_rows(problem, 16), **DEFAULT)
    training = TrainingSettings(lr=2e-4, max_epochs=9)
    callbacks = training_callbacks(training, n_batches=16, has_valid=False)
    net = MultilabelNet(
        ours.network,
        criterion=MrMPLoss,
        criterion__relations=problem.relations,
        optimizer=torch.optim.AdamW,
        optimizer__fused=True,
        lr=2e-4,
        iterator_train=TokenBatches,
        iterator_train__rng=np.random.default_rng(0),
        batch_size=32,
        train_split=None,
        callbacks=callbacks,
        verbose=0,
        device="cpu",
    ).initialize()

    def epoch():
        net.partial_fit(problem.dataset, y=None, epochs=1)

    ours.train()
    epoch()
    result = race(ours.train, epoch, 512, 5, clock)
    print(f"\nTraining loop: {result.ratio_text()} times the seconds of its bare steps")


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", default=os.environ.get("SKLEARN_MRMP_DATA_HOME"))
    parser.add_argument("--full", action="store_true", help="larger batches, more sizes")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--setting", default="", help="only settings with this in their name")
    parser.add_argument("--speed-only", action="store_true", help="only the first table")
    parser.add_argument("--skip-speed", action="store_true", help="only growth, memory and loop")
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory:
        training_step_memory(args.memory)
        return
    if args.threads:
        torch.set_num_threads(args.threads)
    clock = time.process_time if args.cpu_time else time.perf_counter
    if not args.skip_speed:
        print_speed(args, clock)
    if args.speed_only:
        return
    print_growth(args, clock)
    print_memory()
    print_loop_overhead(clock)


if __name__ == "__main__":
    main()
