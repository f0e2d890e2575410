"""The table of docs/paper_table.md: from runs of the command line to a CSV file, and to the page.

    python -m sklearn_mrmp compare --dataset NAME --methods paper-table --data-home DIR --out RUNS
    python benchmarks/paper_table.py --runs RUNS

The first command appends its runs to ``RUNS/NAME.jsonl``. The second gathers these files in
``docs/results/paper_table.csv``, a line per run, and writes the tables of the page between its two
marks. Without ``--runs`` the page is written from the CSV file as it is.
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from sklearn_mrmp._compare.methods import GROUPS
from sklearn_mrmp._decisions.sweep import METRICS

DOCS = Path(__file__).parents[1] / "docs"
MARKS = "<!-- tables: begin -->", "<!-- tables: end -->"
DATASETS = {
    "medical": "Medical",
    "bibtex": "Bibtex",
    "delicious": "Delicious",
    "reuters": "Reuters-21578",
    "rcv1": "RCV1",
}
DECISIONS = ("threshold", "optimal")
SHARED = ("dataset", "method", "seed", "fit_time", "predict_time", "n_weights", "error")
# ebF1 as LaMP's authors give it (poster of ECML-PKDD 2019).
PUBLISHED = {
    "reuters": {"ml-rnn": 0.894, "lamp-edgeless": 0.883, "lamp-full": 0.906, "lamp-prior": 0.902},
    "bibtex": {"ml-rnn": 0.393, "lamp-edgeless": 0.435, "lamp-full": 0.445, "lamp-prior": 0.447},
    "delicious": {"ml-rnn": 0.320, "lamp-edgeless": 0.369, "lamp-full": 0.372, "lamp-prior": 0.372},
    "rcv1": {"ml-rnn": 0.890, "lamp-edgeless": 0.887, "lamp-full": 0.889, "lamp-prior": 0.887},
}


def gather(folder):
    """Return the runs of a folder as rows of the CSV file; of repeated runs the last that ended."""
    rows = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            run = json.loads(line)
            row = {"dataset": path.stem} | {name: run[name] for name in SHARED[1:]}
            for decision in DECISIONS:
                for metric in METRICS:
                    value = run["scores"].get(decision, {}).get(metric)
                    row[f"{decision}_{metric}"] = None if value is None else round(value, 4)
            key = row["dataset"], row["method"], row["seed"]
            if run["error"] is None or key not in rows:
                rows[key] = {key: _short(value) for key, value in row.items()}
    return [rows[key] for key in sorted(rows)]


def _short(value):
    return round(value, 4) if isinstance(value, float) else value


def write_csv(rows, path):
    """Write the rows; what is missing is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def tables(rows):
    """Return the tables of all data sets, in Markdown."""
    runs = defaultdict(list)
    for row in rows:
        runs[row["dataset"], row["method"]].append(row)
    lines = []
    for name, title in DATASETS.items():
        methods = [method for method in GROUPS["paper-table"] if (name, method) in runs]
        if methods:
            lines += [f"### {title}", "", *_header(), *_lines(runs, name, methods), ""]
    return "\n".join(lines)


def _header():
    names = "method", "seeds", "one global cut", "each metric's rule", "fit [s]", "weights"
    return [
        "| " + " | ".join((*names, "published ebF1")) + " |",
        "|---|---:|---|---|---:|---:|---:|",
    ]


def _lines(runs, name, methods):
    for method in methods:
        done = [run for run in runs[name, method] if not run["error"]]
        if not done:
            yield f"| {method} | 0 | {runs[name, method][0]['error']} | | | | |"
            continue
        cells = [method, str(len(done))]
        for decision in DECISIONS:
            means = [_mean(done, f"{decision}_{metric}") for metric in METRICS]
            cells.append(" / ".join(f"{mean:.3f}".lstrip("0") for mean in means))
        seconds, weights = _mean(done, "fit_time"), _mean(done, "n_weights")
        published = PUBLISHED.get(name, {}).get(method)
        cells += [f"{seconds:.0f}", "–" if np.isnan(weights) else f"{weights:,.0f}"]
        cells += ["" if published is None else f"{published:.3f}".lstrip("0")]
        yield "| " + " | ".join(cells) + " |"


def _mean(runs, column):
    values = [run[column] for run in runs]
    return np.mean([float(value) if value not in (None, "") else np.nan for value in values])


def write_page(text, path):
    """Put the tables between the marks of the page."""
    before, _, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    path.write_text(f"{before}{MARKS[0]}\n\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def main():
    """Gather the runs, if there are any, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=Path, help="folder with the runs of the command line")
    args = parser.parse_args()
    path = DOCS / "results" / "paper_table.csv"
    if args.runs is not None:
        write_csv(gather(args.runs), path)
    with path.open(newline="", encoding="utf-8") as file:
        write_page(tables(list(csv.DictReader(file))), DOCS / "paper_table.md")


if __name__ == "__main__":
    main()
