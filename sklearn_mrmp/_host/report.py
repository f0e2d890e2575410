"""What a fit says while it runs: one line for each stage, with the time it took.

A report is a value that is handed down to whoever does the work, also into other processes; nothing
of it stays behind. Knows the standard library.
"""

import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sklearn_mrmp._host.tasks import FitTask


def print_line(line):
    """Print a line in one piece, so that those of other threads and processes stay whole, too."""
    print(f"{line}\n", end="", flush=True)  # noqa: T201


def duration(seconds):
    """Return a time in words that suit its length.

    Examples
    --------
    >>> duration(0.042), duration(3.71), duration(150), duration(9000)
    ('0.04 s', '3.7 s', '2.5 minutes', '2.5 hours')
    """
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


# Steps that are over sooner need no estimate.
_WORTH_SAYING = 2.0


def time_left(seconds, n_done, n_all):
    """Return how long the rest will take if it goes on like this, as the end of a line.

    Examples
    --------
    >>> time_left(3.0, 2, 10), time_left(3.0, 10, 10), time_left(3.0, 0, 10)
    (', about 12.0 s left', '', '')
    """
    if not 0 < n_done < n_all:
        return ""
    return f", about {duration(seconds / n_done * (n_all - n_done))} left"


@dataclass(frozen=True)
class Report:
    """Says what is done, if it was asked to.

    Attributes
    ----------
    verbose : int, default=0
        0 says nothing.
    places : tuple of str, default=()
        Which part of the fit it is, where there are several alike.
    clock : callable, default=time.perf_counter
        Returns seconds.
    doing : FitTask, default=None
        The task that scikit-learn's callbacks are told of; None where there are none.

    Examples
    --------
    >>> report = Report(verbose=1).one_of("fold", 1, 5)
    >>> report.say("label graph: learned")
    [sklearn_mrmp] fold 2 of 5: label graph: learned
    >>> with report.stage("linear voter: fitted"):
    ...     pass
    [sklearn_mrmp] fold 2 of 5: linear voter: fitted in 0.00 s
    """

    verbose: int = 0
    places: tuple = ()
    clock: Callable = time.perf_counter
    doing: FitTask | None = None

    def at(self, place):
        """Return the report of a part of the fit."""
        return replace(self, places=(*self.places, place))

    def one_of(self, kind, number, n):
        """Return the report of one of several parts, numbered from 0; the only one has no name."""
        return self if n == 1 else self.at(f"{kind} {number + 1} of {n}")

    def alone(self):
        """Return the report of a process of its own, whose tasks nobody is told of."""
        return replace(self, doing=None)

    @property
    def place(self):
        """Which part of the fit it is, or an empty string."""
        return ", ".join(self.places)

    def say(self, text, write=print_line):
        """Write a line that says where it comes from."""
        if self.verbose:
            place = f"{self.place}: " if self.places else ""
            write(f"[sklearn_mrmp] {place}{text}")

    @contextmanager
    def stage(self, outcome):
        """Say what the block has done, and how long it took; what fails speaks for itself."""
        start = self.clock()
        yield
        self.say(f"{outcome} in {duration(self.clock() - start)}")

    def each(self, steps, what):
        """Yield steps, and say after each of them how long the others will take.

        Nothing is said in the first seconds, and of the last step, which leaves nothing to wait
        for.
        """
        steps, start = list(steps), self.clock()
        for n_done, step in enumerate(steps, start=1):
            yield step
            seconds = self.clock() - start
            left = time_left(seconds, n_done, len(steps))
            if left and seconds >= _WORTH_SAYING:
                self.say(f"{what}: {n_done} of {len(steps)} done{left}")

    @contextmanager
    def task(self, name, n_subtasks=0):
        """Tell callbacks of a task; what it consists of is told by the report this returns."""
        if self.doing is None:
            yield self
            return
        with self.doing.subtask(name, n_subtasks) as task:
            yield replace(self, doing=task)


SILENT = Report()
