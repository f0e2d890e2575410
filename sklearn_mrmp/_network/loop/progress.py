"""What training shows while it runs: a table of epochs, a bar, and a warning when it takes long.

Nothing here changes what is learned. Knows skorch's callbacks, tqdm and the report of a fit.
"""

import sys
import time
import warnings
from contextlib import contextmanager

from skorch.callbacks import Callback, PrintLog

from sklearn_mrmp._host.report import duration, print_line, time_left

# An epoch beyond this many seconds is worth a warning, where rows have so many tokens on average
# that fewer of them would help. (Texts have a hundred; a wide dense matrix has thousands.)
_SLOW_EPOCH = 60.0
_LONG_ROWS = 256
# The first step also loads libraries. This many steps after it, or this many seconds, say how long
# the others will take.
_STEPS_MEASURED = 10
_SECONDS_MEASURED = 5.0


class EpochTable(PrintLog):
    """skorch's table with a line per epoch; each says whose epoch it is.

    Parameters
    ----------
    report : Report
        Of this training.
    write : callable, default=print_line
        Takes a line.
    """

    def __init__(self, report, write=print_line):
        super().__init__(sink=self._say)
        self.report = report
        self.write = write
        self._left = ""

    def on_epoch_end(self, net, **kwargs):
        """Print the line of an epoch, with the time that the others will take."""
        times = [epoch["dur"] for epoch in net.history if "dur" in epoch]
        self._left = time_left(sum(times), len(times), getattr(net, "max_epochs", 0))
        super().on_epoch_end(net, **kwargs)

    def _say(self, line):
        is_epoch = line.lstrip()[:1].isdigit()  # and not the names of the columns
        self.report.say(line + self._left if is_epoch else line, self.write)

    def format_row(self, row, key, color):
        """Format a cell; the colour of the best values is for terminals."""
        if not _is_terminal(sys.stdout):
            row = {key: row[key]}
        return super().format_row(row, key, color)


class BatchProgress(Callback):
    """Progress over all batches of training: a bar in a terminal or a notebook, lines in a file.

    Parameters
    ----------
    n_batches : int
        Batches of all epochs.
    place : str, default=""
        Which training of the fit it is.
    title : str, default="MrMP"
        What is trained.
    """

    def __init__(self, n_batches, place="", title="MrMP"):
        self.n_batches = n_batches
        self.place = place
        self.title = title
        self._bar = None

    def on_train_begin(self, net, **kwargs):
        """Open the bar."""
        name = f"{self.title} {self.place}" if self.place else self.title
        if _shows_bars():
            from tqdm.auto import tqdm  # comes with skorch; importing it costs start-up time

            self._bar = tqdm(total=self.n_batches, desc=name, unit="batch", leave=True)
        else:
            self._bar = _ProgressLines(self.n_batches, name)

    def on_epoch_begin(self, net, **kwargs):
        """Stand where the epoch starts; a resumed training starts further on."""
        self._bar.n = sum(epoch["train_batch_count"] for epoch in net.history[:-1])

    def on_batch_end(self, net, batch=None, training=False, **kwargs):
        """Advance by a training batch."""
        if training:
            self._bar.update()

    def on_epoch_end(self, net, **kwargs):
        """Show the epoch and its losses."""
        epoch = net.history[-1]
        shown = {name: epoch[name] for name in ("train_loss", "valid_loss") if name in epoch}
        self._bar.set_postfix(epoch=epoch["epoch"], **{k: f"{v:.4f}" for k, v in shown.items()})

    def on_train_end(self, net, **kwargs):
        """Close the bar."""
        self.close()

    def close(self):
        """Close the bar, if it is open."""
        if self._bar is not None:
            self._bar.close()


class _ProgressLines:
    """A bar for files, which cannot be overwritten: a line on stderr for each epoch."""

    def __init__(self, total, name, clock=time.perf_counter):
        self.total = total
        self.name = name
        self.clock = clock
        self.n = self.n_measured = 0
        self.start = clock()

    def update(self):
        """Advance by a batch."""
        self.n += 1
        self.n_measured += 1

    def set_postfix(self, **shown):
        """Write a line with the values to be shown."""
        values = ", ".join(f"{name}={value}" for name, value in shown.items())
        # A resumed training has not measured the batches before it.
        n_all = self.n_measured + self.total - self.n
        left = time_left(self.clock() - self.start, self.n_measured, n_all)
        sys.stderr.write(f"{self.name}: {self.n}/{self.total} batches, {values}{left}\n")
        sys.stderr.flush()

    def close(self):
        """Do nothing: every line is done."""


class EpochTasks(Callback):
    """Tell scikit-learn's callbacks of the training and of its epochs.

    Parameters
    ----------
    parent : FitTask
        What the training is a part of.
    n_epochs : int
        Most epochs.
    """

    def __init__(self, parent, n_epochs):
        self.parent = parent
        self.n_epochs = n_epochs
        self._training = self._epoch = None

    def on_train_begin(self, net, **kwargs):
        """Begin the training."""
        self._training = self.parent.begin("train-network", self.n_epochs)

    def on_epoch_begin(self, net, **kwargs):
        """Begin an epoch."""
        self._epoch = self._training.begin("epoch")

    def on_epoch_end(self, net, **kwargs):
        """End an epoch, and the training if a callback asks for it."""
        epoch, self._epoch = self._epoch, None
        if epoch.end():
            raise KeyboardInterrupt  # so does skorch's early stopping

    def on_train_end(self, net, **kwargs):
        """End the training, and an epoch that somebody else stopped."""
        if self._epoch is not None:
            self._epoch.end()
        self._training.end()


class SlowEpochWarning(Callback):
    """Measure the first steps, and warn if an epoch will take long because rows are long.

    Parameters
    ----------
    n_batches, n_epochs : int
        Batches of an epoch, and epochs.
    row_length : float
        Tokens of a row on average.
    clock : callable
        Returns seconds.
    """

    def __init__(self, n_batches, n_epochs, row_length, clock):
        self.n_batches = n_batches
        self.n_epochs = n_epochs
        self.row_length = row_length
        self.clock = clock
        self._is_done = False

    def on_epoch_begin(self, net, **kwargs):
        """Start the clock."""
        self._times = [self.clock()]

    def on_batch_end(self, net, training=False, **kwargs):
        """Look at the clock, until there is an answer."""
        if self._is_done or not training:
            return
        self._times.append(self.clock())
        seconds = self._epoch_seconds()
        self._is_done = seconds is not None
        if self._is_done and seconds > _SLOW_EPOCH:
            warnings.warn(self._advice(seconds), UserWarning, stacklevel=2)

    def on_epoch_end(self, net, **kwargs):
        """Stop: an epoch that is over before there was an answer is short."""
        self._is_done = True

    def _epoch_seconds(self):
        """Estimate the time of an epoch, or None if it is too early to say."""
        start, first, *later = self._times
        if not later:  # a first step is not like the others, but beyond the limit it is enough
            return None if first - start <= _SLOW_EPOCH else (first - start) * self.n_batches
        measured = later[-1] - first
        if len(later) < _STEPS_MEASURED and measured < _SECONDS_MEASURED:
            return None
        return first - start + measured / len(later) * (self.n_batches - 1)

    def _advice(self, seconds):
        n_steps = len(self._times) - 1
        return (
            f"An epoch of the network will take about {duration(seconds)}, and all "
            f"{self.n_epochs} epochs about {duration(seconds * self.n_epochs)} (judged by "
            f"{n_steps} of {self.n_batches} batches): rows have {self.row_length:.0f} tokens on "
            "average, which are features that are not zero, or words. Use fewer features "
            "(SelectKBest, or PCA to about a hundred components, before the classifier), set "
            "max_tokens (the largest values of a row, or its first words), or leave the network "
            "out: voters=('linear', 'neighbors')."
        )


def progress_callbacks(run, report, training, rows, *, n_batches, warns_if_slow, title):
    """Make the callbacks that show how training goes.

    Parameters
    ----------
    run : RunSettings
        What the user wants to see.
    report : Report
        Of this training.
    training : TrainingSettings
        Resolved.
    rows : TokenRows
        Training rows.
    n_batches : int
        Batches of an epoch.
    warns_if_slow : bool
        Whether to look at the clock.
    title : str
        What is trained.

    Returns
    -------
    callbacks : list of (str, Callback)
    """
    n_epochs, callbacks, row_length = training.max_epochs, [], float(rows.lengths.mean())
    if warns_if_slow and row_length >= _LONG_ROWS:
        watch = SlowEpochWarning(n_batches, n_epochs, row_length, report.clock)
        callbacks.append(("slow_epoch", watch))
    if report.doing is not None:
        callbacks.append(("fit_tasks", EpochTasks(report.doing, n_epochs)))
    if run.progress_bar:
        bar = BatchProgress(n_epochs * n_batches, report.place, title)
        callbacks.append(("progress", bar))
    if run.verbose:
        write = _print_above_bars if run.progress_bar else print_line
        callbacks.append(("epoch_table", EpochTable(report, write)))
    return callbacks


@contextmanager
def closing_bars(callbacks):
    """Close the bars of a training that fails, too; those of later ones would be drawn below."""
    try:
        yield
    finally:
        for _, callback in callbacks:
            if isinstance(callback, BatchProgress):
                callback.close()


def _print_above_bars(line):
    """Print a line where no bar is, and draw the bars again below it."""
    from tqdm.auto import tqdm

    with tqdm.external_write_mode():
        print_line(line)


def _is_terminal(stream):
    return stream is not None and stream.isatty()


def _shows_bars():
    """Whether a line can be overwritten: on a terminal, or by the widgets of a notebook."""
    from tqdm.auto import tqdm
    from tqdm.notebook import tqdm as notebook_tqdm

    return issubclass(tqdm, notebook_tqdm) or _is_terminal(sys.stderr)
