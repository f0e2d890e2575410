"""What a fit of 100 million rows would take on 16 GPUs, from rates that are measured here.

``measure`` trains the network on generated rows of RCV1's shape (`growth.py`) with one thread and
says what a row and a step cost: the batch that is put together on the CPU, the arithmetic of the
step in operations (`_flops.py`, which leaves out what is done element by element), the weights, and
what the other voters take per row. ``table`` multiplies
these with the size of a cluster. What a GPU does per second, how fast machines talk and what an
hour costs are not measured: they are arguments.

    python benchmarks/cluster_arithmetic.py measure --out rates.json
    python benchmarks/cluster_arithmetic.py table rates.json
"""

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np
from _flops import decoder_layer
from _generated import generate
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._voters.centroids import CentroidVoter
from sklearn_mrmp._voters.neighbors import NeighborVoter

SHARE_HELD_OUT = 0.1
BYTES_OF_A_WEIGHT = 4
# Held-out rows vote, and tune decisions, up to this many entries.
MOST_ENTRIES = 2**25
GROWTH = Path(__file__).parents[1] / "docs" / "results" / "growth.csv"


class Clock(Callback):
    """Processor seconds between batches (putting them together) and within (the step)."""

    def __init__(self):
        self.between = self.within = 0.0
        self.last = None

    def on_epoch_begin(self, net, **kwargs):
        """Start."""
        self.last = time.process_time()

    def on_batch_begin(self, net, batch=None, training=False, **kwargs):
        """Note that a batch is there."""
        now = time.process_time()
        self.between += training * (now - self.last)
        self.last = now

    def on_batch_end(self, net, batch=None, training=False, **kwargs):
        """Note that its step is done."""
        now = time.process_time()
        self.within += training * (now - self.last)
        self.last = now


def network_rates(X, Y, batch_size):
    """Seconds, operations and weights of an epoch of the short training that bags of words get."""
    d_model, d_inner = 64, 32
    clock = Clock()
    clf = MrMPClassifier(
        voters=("network",),
        label_sets=False,
        d_model=d_model,
        d_inner=d_inner,
        n_encoder_layers=0,
        n_decoder_layers=1,
        max_epochs=1,
        batch_size=batch_size,
        n_threads=1,
        callbacks=[clock],
        random_state=0,
    ).fit(X, Y)
    n_rows = round((1 - SHARE_HELD_OUT) * X.shape[0])
    lengths = np.diff(X.indptr).astype(float)
    forward = decoder_layer(lengths, Y.shape[1], d_model, d_inner, shared_queries=True)
    return {
        "batch_seconds": clock.between / n_rows,
        "step_seconds": clock.within / n_rows,
        "operations": 3 * forward / X.shape[0],  # forward, and twice that backward
        "n_weights": sum(weight.numel() for weight in clf.net_.module_.parameters()),
    }


def voter_rates(X, Y):
    """Processor seconds per row of the voters that very many rows get."""
    rows = EncodedRows.of(FeatureInput(), X).fit_encoder()
    held_out, rates = rows.take(slice(2_000)), {}
    for name, voter in {"centroids": CentroidVoter(), "neighbours": NeighborVoter()}.items():
        start = time.process_time()
        voter.fit(rows, Y, held_out, Y[:2_000])
        rates[f"{name}_seconds"] = (time.process_time() - start) / X.shape[0]
    start = time.process_time()
    voter.logits(rows.take(slice(2_000, 6_000)))
    return rates | {"neighbours_predict_seconds": (time.process_time() - start) / 4_000}


def measure(args):
    """Measure everything, and write it."""
    X, Y = generate(args.rows)
    rates = network_rates(X, Y, args.batch_size) | voter_rates(X, Y)
    rates |= {"words": X.nnz / X.shape[0], "n_labels": Y.shape[1], "n_rows": args.rows}
    args.out.write_text(json.dumps(rates, indent=1) + "\n")
    print(args.out.read_text())


def table(args):
    """Print what each part of the fit would take."""
    rates, n = json.loads(args.rates.read_text()), args.rows
    n_trained, workers = (1 - SHARE_HELD_OUT) * n * args.epochs, args.gpus
    n_steps = n_trained / (workers * args.batch_size)
    sent = 2 * (workers - 1) / workers * rates["n_weights"] * BYTES_OF_A_WEIGHT
    sending = n_steps * sent / (args.gbit * 1e9 / 8)
    compute = n_trained * rates["operations"] / (workers * args.tflops * 1e12)
    # Each GPU has a process of its own, which also puts its batches together.
    batches = n_trained * rates["batch_seconds"] / workers
    centroids = n * rates["centroids_seconds"]
    neighbours = n * rates["neighbours_predict_seconds"]
    row_bytes = rates["words"] * 8  # a column's number and a value of 32 bits each
    reading, tuning = serial_seconds(args.growth, n, rates["n_labels"])
    seconds = reading + max(compute, batches) + sending + centroids + tuning
    lines = {
        "rows as mapped CSR arrays, on each machine": f"{n * row_bytes / 1e9:,.0f} GB of disk",
        "rows encoded and split, each process": _time(reading),
        f"network, {args.epochs} epochs": f"{n_steps:,.0f} steps of {workers} × {args.batch_size}",
        "… arithmetic, each GPU": _time(compute),
        "… batches put together, each process": _time(batches),
        f"… gradients, {sent / 1e6:,.0f} MB a step from each process": _time(sending),
        "centroids, the first process alone": _time(centroids),
        "neighbours, 50,000 rows remembered": f"{5e4 * row_bytes / 1e6:,.0f} MB",
        "held-out rows voted on, decisions tuned": _time(tuning),
        "**whole fit**": f"{_time(seconds)}, {seconds / 3600 * workers * args.price:,.0f} $",
        "predict all rows, network": f"{_time(compute / args.epochs / 3)} of each GPU",
        "predict all rows, neighbours": f"{_time(neighbours)} of one core",
    }
    print("| part | takes |\n|---|---:|")
    for part, takes in lines.items():
        print(f"| {part} | {takes} |")


def serial_seconds(growth, n, n_labels):
    """Seconds of reading rows, and of voting and tuning, by those of the largest fit measured."""
    with growth.open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["rows"].startswith("rcv1-")]
    n_measured = max(int(line["rows"].removeprefix("rcv1-")) for line in lines)
    stages = [line for line in lines if line["rows"] == f"rcv1-{n_measured}"]

    def total(*words):
        return sum(float(x["seconds"]) for x in stages if any(w in x["stage"] for w in words))

    n_voting = min(SHARE_HELD_OUT * n, MOST_ENTRIES // n_labels)
    growth = n_voting / (SHARE_HELD_OUT * n_measured)
    tuning = growth * total("held-out rows: counted", "told labels", "weights: tuned", "decisions")
    tuning += growth * total("neighbors voter: fitted")  # the time of looking held-out rows up
    return total("encoded and split") * n / n_measured, tuning


def _time(seconds):
    return f"{seconds / 60:,.1f} minutes" if seconds < 5_400 else f"{seconds / 3600:,.1f} hours"


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = parser.add_subparsers(required=True)
    first = parts.add_parser("measure")
    first.add_argument("--rows", type=int, default=20_000)
    first.add_argument("--batch-size", type=int, default=256)
    first.add_argument("--out", type=Path, required=True)
    first.set_defaults(run=measure)
    second = parts.add_parser("table")
    second.add_argument("rates", type=Path)
    second.add_argument("--rows", type=float, default=1e8)
    second.add_argument("--gpus", type=int, default=16)
    second.add_argument("--batch-size", type=int, default=4_096, help="rows for each GPU")
    second.add_argument("--epochs", type=int, default=2)
    second.add_argument(
        "--tflops", type=float, default=10.0, help="that a GPU does here, not its peak"
    )
    second.add_argument("--gbit", type=float, default=100.0, help="per second and process")
    second.add_argument("--price", type=float, default=2.0, help="of an hour of a GPU, in dollars")
    second.add_argument("--growth", type=Path, default=GROWTH, help="what growth.py has measured")
    second.set_defaults(run=table)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
