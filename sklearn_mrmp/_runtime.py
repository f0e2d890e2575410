"""Where and how torch runs: device, threads and random state, all as they were afterwards.

Knows torch and nothing of the model.
"""

import os
import threading
from collections import Counter
from contextlib import contextmanager

import torch
from sklearn.utils import gen_batches

from sklearn_mrmp._fork import is_forked


def resolve_device(device):
    """Turn the `device` parameter into a torch device name.

    Parameters
    ----------
    device : str
        ``"auto"`` takes CUDA, then MPS, then the CPU; anything else is torch's name for a device.

    Returns
    -------
    device : str

    Examples
    --------
    >>> resolve_device("cpu")
    'cpu'
    """
    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return str(torch.device(device))
    except RuntimeError as error:
        raise ValueError(
            f"device={device!r} is not a device torch knows; use 'auto', 'cpu', 'cuda', 'cuda:0' "
            "or 'mps'."
        ) from error


# Calls of ours at once: Python's lock is shared by all of them.
_MOST_WORKERS = 4


class _ThreadCount:
    """Torch's number of threads while our calls run, whichever Python threads they run in.

    Torch keeps the number twice: for each Python thread that has asked, and once for those yet to
    come. A thread that is born while another one predicts therefore starts with the latter's
    setting; what it should go back to is the number from outside.
    """

    def __init__(self):
        self.guard = threading.Lock()
        self.here = threading.local()
        self.in_use = Counter()
        self.outside = None

    def enter(self, n_threads):
        """Set the number; return what to set it back to."""
        with self.guard:
            before = torch.get_num_threads()
            if not self.in_use:
                self.outside = before
            elif before in self.in_use and not getattr(self.here, "depth", 0):
                before = self.outside
            self.in_use[n_threads] += 1
            self.here.depth = getattr(self.here, "depth", 0) + 1
            torch.set_num_threads(n_threads)
            return before

    def leave(self, n_threads, before):
        """Set the number back."""
        with self.guard:
            self.in_use -= Counter({n_threads: 1})
            self.here.depth -= 1
            torch.set_num_threads(before)


class _Turn:
    """Trainings of a process take turns, since torch has one generator for all threads."""

    def __init__(self):
        self.lock = threading.RLock()


_threads, _turn = _ThreadCount(), _Turn()
if hasattr(os, "register_at_fork"):
    # In a forked process the threads that held a lock are gone, and nobody would release it.
    os.register_at_fork(after_in_child=_threads.__init__)
    os.register_at_fork(after_in_child=_turn.__init__)


@contextmanager
def torch_threads(n_threads):
    """Run with `n_threads` threads (None: as it is) and restore the setting.

    In a forked process it is always one thread: those of the parent are gone, and OpenMP would
    wait for them for ever.
    """
    n_threads = 1 if is_forked() else n_threads
    if n_threads is None:
        with _threads.guard:
            torch.get_num_threads()  # a new thread takes the number over while nobody changes it
        yield
        return
    before = _threads.enter(n_threads)
    try:
        yield
    finally:
        _threads.leave(n_threads, before)


class _SharedWork:
    """Calls that several threads take one after the other."""

    def __init__(self, function, items):
        self.function, self.items = function, iter(items)
        self.lock, self.ready = threading.Lock(), threading.Semaphore(0)
        self.threads, self.is_over, self.error = [], False, None

    def start(self, n_threads):
        """Start threads, as far as the system lets us, and share torch's between them."""
        n_workers = min(n_threads, _MOST_WORKERS)
        arguments = (n_threads // n_workers,)
        with _threads.guard:
            self.before = torch.get_num_threads()
            try:
                for _ in range(n_workers):
                    worker = threading.Thread(target=self._work, args=arguments, daemon=True)
                    worker.start()
                    self.threads.append(worker)
            except RuntimeError:
                pass  # no more to be had, as at the interpreter's end: fewer do the work, or none
            for _ in self.threads:
                self.ready.acquire()
            # They keep theirs; this is for the caller and for threads yet to come.
            torch.set_num_threads(self.before)

    def _work(self, n_threads):
        """Take calls until there are none, or until one has failed."""
        torch.get_num_threads()  # else the first operation takes over the number from outside
        torch.set_num_threads(n_threads)
        self.ready.release()
        while not self.is_over:
            with self.lock:
                item = next(self.items, self)
            if item is self:
                return
            try:
                self.function(item)
            except BaseException as error:  # raised anew where somebody can see it
                self.is_over, self.error = True, error

    def end(self):
        """Take no more calls, and wait for those that run."""
        self.is_over = True
        for worker in self.threads:
            worker.join()
        if self.threads:  # again, since Ctrl-C may have come while they started
            torch.set_num_threads(self.before)


def run_in_threads(function, items, n_threads):
    """Call a function for each item, several at once, and share torch's threads between them.

    Small products gain little by a second thread, and what lies between them nothing: two calls
    at once do more than two threads in each of them.

    Parameters
    ----------
    function : callable
        Takes an item; what it returns is dropped.
    items : list
        What to call it for, longest work first.
    n_threads : int or None
        Torch's threads, None being those it has; with 1 the calls are made here, one after the
        other.
    """
    n_threads = torch.get_num_threads() if n_threads is None else n_threads
    shared = _SharedWork(function, items)
    try:
        if n_threads > 1:
            shared.start(n_threads)
        if not shared.threads:
            for item in shared.items:
                function(item)
        for worker in shared.threads:
            worker.join()
    finally:
        shared.end()
    if shared.error is not None:
        raise shared.error


# Numbers of a block of rows (1 MB of float32, which caches bear), and rows that are worth a block
# unless it gets this large.
_BLOCK_NUMBERS = 2**18
_FEWEST_ROWS, _MOST_NUMBERS = 32, 2**22


def run_on_rows(function, n_samples, width):
    """Call a function for slices of rows, several at once in torch's number of threads.

    Parameters
    ----------
    function : callable
        Takes a slice.
    n_samples : int
        Number of rows.
    width : int
        Numbers that a row takes in work.
    """
    width = max(width, 1)
    size = max(_BLOCK_NUMBERS // width, min(_FEWEST_ROWS, _MOST_NUMBERS // width), 1)
    slices = list(gen_batches(n_samples, size)) if n_samples else []
    run_in_threads(function, slices, None if len(slices) > 1 else 1)


@contextmanager
def seeded_torch(seed, device):
    """Run with torch's generators seeded and float32 as default; give both back untouched.

    One thread at a time: the others wait, or they would draw each other's numbers.
    """
    kind = torch.device(device).type
    if kind == "cpu":
        fork = torch.random.fork_rng(devices=[])
    else:
        fork = torch.random.fork_rng(device_type=kind)
    with _turn.lock, _float32_default(), fork:
        torch.manual_seed(seed)
        yield


@contextmanager
def _float32_default():
    before = torch.get_default_dtype()
    if before == torch.float32:
        yield
        return
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
