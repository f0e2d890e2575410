"""What training shows: a table of epochs, a bar, and a warning of long rows that take long."""

import io
import re
import sys
import warnings

import numpy as np
import pytest

from sklearn_mrmp._host.report import Report
from sklearn_mrmp._network.loop import progress
from sklearn_mrmp._network.loop.progress import BatchProgress, EpochTable, SlowEpochWarning
from tests.tiny import PLAIN, tiny

COLOUR = "\033["


class Terminal(io.StringIO):
    """A stream that lines can be overwritten in."""

    def isatty(self):
        return True


class Net:
    """A net whose last epoch was the best so far."""

    verbose = 1

    def __init__(self, **epoch):
        self.history = [{"epoch": 1, "train_loss": 0.5, "train_loss_best": True, **epoch}]


class TestEpochTable:
    def lines(self, n_epochs=2):
        said = []
        table = EpochTable(Report(1).one_of("fold", 0, 2), said.append).initialize()
        for _ in range(n_epochs):
            table.on_epoch_end(Net())
        return said

    def test_every_line_says_whose_epoch_it_is(self, monkeypatch):
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        lines = self.lines()
        assert len(lines) == 4  # names, a rule, and two epochs
        assert {line.partition(": ")[0] for line in lines} == {"[sklearn_mrmp] fold 1 of 2"}
        assert lines[0].split()[-2:] == ["epoch", "train_loss"]
        assert lines[2].split()[-2:] == ["1", "0.5000"]

    def test_an_epoch_says_how_long_the_others_will_take(self, monkeypatch):
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        said, net = [], Net(dur=1.5)
        net.max_epochs = 3
        table = EpochTable(Report(1), said.append).initialize()
        table.on_epoch_end(net)
        net.history *= 3
        table.on_epoch_end(net)
        assert said[2].endswith(", about 3.0 s left")
        assert not said[3].endswith("left")

    @pytest.mark.parametrize(
        ("stream", "coloured"), [(Terminal(), True), (io.StringIO(), False), (None, False)]
    )
    def test_the_best_values_are_coloured_in_terminals_alone(self, monkeypatch, stream, coloured):
        monkeypatch.setattr(sys, "stdout", stream)
        assert (COLOUR in "".join(self.lines())) == coloured


class TestBatchProgress:
    def train(self, place=""):
        bar = BatchProgress(2, place)
        bar.on_train_begin(None)
        bar.on_epoch_begin(Net())
        bar.on_batch_end(None, training=True)
        bar.on_batch_end(None, training=False)
        bar.on_epoch_end(Net(valid_loss=0.25))
        bar.on_train_end(None)

    def test_a_terminal_shows_a_bar_with_the_losses(self, monkeypatch):
        monkeypatch.setattr(sys, "stderr", Terminal())
        self.train("fold 1 of 2")
        last = sys.stderr.getvalue().rpartition("\r")[2]
        assert re.search(r"MrMP fold 1 of 2: .*1/2.*epoch=1, train_loss=0.5000", last)

    def test_a_file_gets_a_line_per_epoch_without_control_characters(self, monkeypatch):
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        self.train()
        line = sys.stderr.getvalue()
        epoch = "MrMP: 1/2 batches, epoch=1, train_loss=0.5000, valid_loss=0.2500"
        assert re.fullmatch(re.escape(epoch) + r", about \d+\.\d+ s left\n", line)


def test_a_training_that_fails_closes_its_bar(related, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ValueError, match="loss became") as error:
        tiny(progress_bar=True, lr=1e30, lr_schedule="constant", **PLAIN).fit(*related)
    assert error.traceback  # as long as it is kept, so is everything that it can reach
    assert sys.stderr.getvalue().endswith("\n")


def screen(text):
    """Return the lines that a terminal shows, each as it was last overwritten."""
    shown = []
    for line in text.split("\n"):
        cells = []
        for part in re.sub(r"\033\[\d*m", "", line).split("\r"):
            cells[: len(part)] = part
        shown.append("".join(cells).rstrip())
    return shown


def test_the_bar_and_the_table_do_not_overwrite_each_other(related, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    tiny(verbose=1, progress_bar=True, **PLAIN).fit(*related)
    shown = screen(terminal.getvalue())
    bars = [line for line in shown if line.startswith("MrMP")]
    lines = [line for line in shown if line.startswith("[sklearn_mrmp] ")]
    assert len(bars) == 1
    assert not [line for line in lines if "MrMP" in line or "batch/s" in line]
    assert len(bars) + len(lines) == len([line for line in shown if line])
    epochs = [line for line in lines if re.search(r"\d\.\d{4}(, about .* left)?$", line)]
    assert [line.split()[1] for line in epochs] == ["1", "2"]


class TestSlowEpochWarning:
    def watch(self, *seconds, n_batches=100):
        """Train batches that take so long; return how many were done before each warning."""
        times = iter(np.cumsum([0.0, *seconds, 0.0]))
        watch = SlowEpochWarning(n_batches, 30, 5000.0, lambda: float(next(times)))
        watch.on_epoch_begin(None)
        warned = []
        for n_done in range(1, len(seconds) + 1):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                watch.on_batch_end(None, training=True)
            warned += [(n_done, str(warning.message)) for warning in caught]
        return warned

    def test_the_first_steps_tell_an_epoch_beyond_a_minute(self):
        ((n_done, text),) = self.watch(*[1.0] * 20)
        assert n_done == 6  # five seconds after the first
        for words in ("1.7 minutes", "50.0 minutes", "30 epochs", "5000 tokens"):
            assert words in text
        for advice in ("SelectKBest", "PCA", "max_tokens", "voters=('linear', 'neighbors')"):
            assert advice in text

    @pytest.mark.parametrize("seconds", [[0.5] * 100, [30.0, *[0.2] * 99], [2.0, 2.0]])
    def test_an_epoch_within_a_minute_is_no_reason(self, seconds):
        assert not self.watch(*seconds, n_batches=len(seconds))

    def test_a_slow_start_is_not_taken_for_a_slow_epoch(self):
        assert not self.watch(40.0, *[0.1] * 99)

    def test_a_single_step_beyond_a_minute_is_enough(self):
        ((n_done, text),) = self.watch(100.0, n_batches=3)
        assert n_done == 1
        assert "5.0 minutes" in text

    def test_validation_does_not_count_and_one_epoch_is_watched(self):
        watch = SlowEpochWarning(3, 30, 5000.0, iter([0.0, 1.0]).__next__)
        watch.on_epoch_begin(None)
        watch.on_batch_end(None, training=False)
        watch.on_epoch_end(None)
        watch.on_batch_end(None, training=True)


class TestWarningOfFits:
    @pytest.fixture(autouse=True)
    def always_slow(self, monkeypatch):
        monkeypatch.setattr(progress, "_SLOW_EPOCH", -1.0)

    @pytest.fixture
    def long_rows(self, monkeypatch):
        monkeypatch.setattr(progress, "_LONG_ROWS", 1)

    @pytest.mark.usefixtures("long_rows")
    @pytest.mark.parametrize("options", [{}, {"cv": 2, "n_members": 2}, {"refit": True}], ids=str)
    def test_a_fit_warns_once(self, related, options):
        with pytest.warns(UserWarning, match="An epoch of the network") as caught:
            tiny(**PLAIN, **options).fit(*related)
        assert len(caught) == 1

    @pytest.mark.usefixtures("long_rows")
    def test_a_fit_without_the_network_does_not_warn(self, related):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tiny(voters=("linear",), label_sets=False).fit(*related)

    def test_short_rows_are_no_reason_however_slow(self, related):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tiny(**PLAIN).fit(*related)
