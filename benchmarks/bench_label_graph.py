"""Label graphs: speed and memory of the sparse algorithm, and how true the graphs are.

python benchmarks/bench_label_graph.py [--data-home DIR]

1. L = 983: the sparse algorithm against the dense formula (all pairs, vectorised) and against a
   loop over ``scipy.stats.chi2_contingency`` (timed on some pairs). On Delicious with --data-home
   (or SKLEARN_MRMP_DATA_HOME), else on synthetic labels of the same size.
   Times are CPU times, which other work on the machine disturbs less.
2. L = 20,000 with 100,000 rows and five labels a row, power-law frequencies: time and peak memory
   of a process that does nothing else, for independent labels and for labels in topics.
3. Recovery of planted relations, and the false-positive rate of independent labels.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2, chi2_contingency

from sklearn_mrmp._graph.learning import label_graph
from sklearn_mrmp.datasets import load_mulan, make_related_labels


def power_law_labels(n_samples, n_labels, labels_per_row, n_topics=1, seed=0):
    """Sparse labels with frequencies ∝ 1 / rank; the labels of a row come from one topic."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_topics, size=n_samples)
    per_topic = n_labels // n_topics
    p = 1 / np.arange(1, per_topic + 1)
    drawn = rng.choice(per_topic, size=(n_samples, labels_per_row), p=p / p.sum())
    columns = (drawn * n_topics + topic[:, None]).ravel()
    rows = np.repeat(np.arange(n_samples), labels_per_row)
    Y = sp.csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=(n_samples, n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def dense_formula(Y, alpha=0.05):
    """Return pulling and pushing of all pairs, from dense (L, L) arrays."""
    Y = Y.toarray().astype(np.float32)
    n = len(Y)
    together, c = (Y.T @ Y).astype(np.float64), Y.sum(axis=0, dtype=np.float64)
    excess = n * together - np.outer(c, c)
    spread = c * (n - c)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = n * excess**2 / np.outer(spread, spread)
    dependent = chi2.sf(statistic, 1) <= alpha
    np.fill_diagonal(dependent, False)
    return dependent & (excess > 0), dependent & (excess < 0)


def contingency_seconds_per_pair(Y, n_pairs=300):
    """Time of one `chi2_contingency` call, including the table."""
    columns = sp.csc_array(Y)
    rng = np.random.default_rng(0)
    start = time.process_time()
    for i, j in rng.choice(Y.shape[1], size=(n_pairs, 2)):
        a, b = columns[:, [i]].toarray()[:, 0], columns[:, [j]].toarray()[:, 0]
        n11, c_i, c_j = a @ b, a.sum(), b.sum()
        if i != j and 0 < c_i < len(a) and 0 < c_j < len(a):
            table = [[n11, c_i - n11], [c_j - n11, len(a) - c_i - c_j + n11]]
            chi2_contingency(table, correction=False)
    return (time.process_time() - start) / n_pairs


def best_time(function, *arguments, repeat=3):
    """Shortest CPU time of several runs, and the result."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        result = function(*arguments)
        times.append(time.process_time() - start)
    return min(times), result


def bench_983(data_home):
    """Time the sparse algorithm, the dense formula and the loop on 983 labels."""
    if data_home is None:
        name, Y = "synthetic", power_law_labels(12_920, 983, 30)
    else:
        data = load_mulan(data_home / "mulan" / "delicious", subset="train")
        name, Y = "Delicious", sp.csr_array(data.target)
    sparse_time, graph = best_time(label_graph, Y)
    dense_time, (pulling, pushing) = best_time(dense_formula, Y)
    n_pairs = 983 * 982 // 2
    loop_time = contingency_seconds_per_pair(Y) * n_pairs
    same = (graph.relations["pulling"].toarray() > 0) == pulling
    same &= (graph.relations["pushing"].toarray() > 0) == pushing
    print(f"L = 983 ({name}, {Y.shape[0]} rows): {graph}")
    print(f"  same edges as the dense formula: {bool(same.all())}")
    print(
        f"  sparse {sparse_time:.3f} s, dense {dense_time:.3f} s: {dense_time / sparse_time:.1f} x"
    )
    print(f"  loop over chi2_contingency {loop_time:.0f} s: {loop_time / sparse_time:.0f} x")


def run_20000(n_topics, correction):
    """Time one large run and print it with the peak memory of this process."""
    Y = power_law_labels(100_000, 20_000, 5, n_topics)
    start, cpu_start = time.perf_counter(), time.process_time()
    graph = label_graph(Y, correction=correction)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    never = int((graph.co_occurrence["pushing"].data == 0).sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"L = 20,000, {n_topics} topic(s), correction {correction}: ", end="")
    print(f"{seconds:.2f} s ({cpu:.2f} s CPU), peak {peak:.2f} GB")
    print(f"  {graph}; {never} pushing edges never co-occur")


def bench_truth():
    """Print recovery of planted relations and the rate of false edges."""
    for correction in (None, "fdr_bh", "bonferroni"):
        found = []
        for seed in range(20):
            _, Y, planted = make_related_labels(random_state=seed)
            recovery = planted.recovery(label_graph(Y, correction=correction))
            found.append((recovery.precision, recovery.recall))
        precision, recall = np.mean(found, axis=0)
        print(f"planted relations, {correction}: precision {precision:.3f}, recall {recall:.3f}")
    rng = np.random.default_rng(0)
    for alpha in (0.01, 0.05, 0.1):
        n_edges = n_pairs = 0
        for _ in range(20):
            Y = rng.random((2000, 100)) < rng.uniform(0.05, 0.5, size=100)
            graph = label_graph(Y, alpha=alpha)
            n_edges += sum(A.nnz for A in graph.relations.values()) // 2
            n_pairs += 100 * 99 // 2
        print(f"independent labels, alpha {alpha}: {n_edges / n_pairs:.4f} of the pairs are edges")


def main():
    """Run all parts, each large run in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, default=os.environ.get("SKLEARN_MRMP_DATA_HOME"))
    parser.add_argument("--large", nargs=2, metavar=("TOPICS", "CORRECTION"))
    arguments = parser.parse_args()
    if arguments.large:
        topics, correction = arguments.large
        run_20000(int(topics), None if correction == "None" else correction)
        return
    bench_983(None if arguments.data_home is None else Path(arguments.data_home))
    for topics, correction in (("1", "None"), ("1", "fdr_bh"), ("100", "None"), ("100", "fdr_bh")):
        command = [sys.executable, __file__, "--large", topics, correction]
        subprocess.run(command, check=True)
    bench_truth()


if __name__ == "__main__":
    main()
