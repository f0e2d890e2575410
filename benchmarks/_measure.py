"""Timing: interleaved repetitions, ratios with their spread, the machine's matmul rate, memory.

Helper of the benchmarks.
"""

import resource
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch


@dataclass(frozen=True)
class Race:
    """Seconds of two contestants in alternation, for the same rows, and matmul rates between."""

    ours: np.ndarray
    other: np.ndarray
    rates: np.ndarray
    n_rows: int

    @property
    def ratios(self):
        """How many times as fast ours is, per repetition."""
        return self.other / self.ours

    def rows_per_second(self):
        """Median rate of both."""
        return self.n_rows / np.median(self.ours), self.n_rows / np.median(self.other)

    def operations_per_second(self, n_operations):
        """Median rate of ours."""
        return n_operations / np.median(self.ours)

    def share_of_matmul(self, n_operations):
        """Ours as a share of the matmul rate of the same moment, median."""
        return np.median(n_operations / self.ours / self.rates)

    def ratio_text(self):
        """Median, and smallest to largest."""
        ratios = self.ratios
        return f"{np.median(ratios):.2f} ({ratios.min():.2f}–{ratios.max():.2f})"


def race(ours, other, n_rows, repeats, clock=time.perf_counter, around=(nullcontext, nullcontext)):
    """Time two functions in alternation; both have run once before.

    `around` makes contexts of the two, entered each time before the clock starts. The matmul rate
    is the better one of those right before and after ours: shared machines change within seconds.
    """
    columns = []
    for _ in range(repeats):
        with around[0]():
            rate = matmul_rate(clock)
            mine = _seconds(ours, clock)
            rate = max(rate, matmul_rate(clock))
        with around[1]():
            columns.append([mine, _seconds(other, clock), rate])
    return Race(*np.array(columns).T, n_rows)


def _seconds(function, clock):
    start = clock()
    function()
    return clock() - start


def matmul_rate(clock=time.perf_counter, size=2048, repeats=3):
    """Floating-point operations per second of a large float32 product; the best of a few."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    a @ b
    return 2 * size**3 / min(_seconds(lambda: a @ b, clock) for _ in range(repeats))


def peak_memory_of(arguments):
    """Run this script anew with `arguments`; it prints its peak memory in GB as its last line."""
    command = [sys.executable, sys.argv[0], *arguments]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(lines.split()[-1])


def peak_memory():
    """Peak resident memory of this process, in GB."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM"):  # what `getrusage` says there began as the parent's peak
            return int(line.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
