"""Where and how torch runs: device, threads and random state, all as they were afterwards.

Knows torch and nothing of the model.
"""

import os
import threading
import warnings
from collections import Counter
from contextlib import contextmanager
from functools import cache

import torch

from sklearn_mrmp._host.fork import is_forked
from sklearn_mrmp._host.threads import MOST_WORKERS, run_in_threads, threads


def resolve_device(device):
    """Turn the `device` parameter into a torch device name.

    Parameters
    ----------
    device : str
        ``"auto"`` takes CUDA, then MPS, then the CPU; anything else is torch's name for a device.
        Of several CUDA devices, processes that train together take one each, by ``LOCAL_RANK``.

    Returns
    -------
    device : str

    Raises
    ------
    ValueError
        When there is no such device here; says which there are.

    Examples
    --------
    >>> resolve_device("cpu")
    'cpu'
    """
    if device == "auto":
        if torch.cuda.is_available():
            return _cuda_of_process()
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        name = str(torch.device(device))
    except RuntimeError as error:
        raise ValueError(
            f"device={device!r} is not a device torch knows; use 'auto', 'cpu', 'cuda', 'cuda:0' "
            "or 'mps'."
        ) from error
    if not is_present(name):
        raise ValueError(
            f"device={device!r} is not there: torch {torch.__version__} finds "
            f"{_present_devices()}. Use device='auto', which takes the best of them, or see that "
            "driver and build of torch fit the device."
        )
    return name


def _cuda_of_process():
    """Return the CUDA device of this process: its own, where a launcher has numbered them."""
    number, n_devices = os.environ.get("LOCAL_RANK"), torch.cuda.device_count()
    if number is None or n_devices == 1:
        return "cuda"
    if not number.isdecimal() or int(number) >= n_devices:
        raise ValueError(
            f"LOCAL_RANK={number!r} has no CUDA device: there are {n_devices}. Start one process "
            "for each device of a machine, or set device."
        )
    return f"cuda:{number}"


def is_present(name):
    """Whether this machine has a device, by torch's name for it, and can compute on it.

    Examples
    --------
    >>> is_present("cpu"), is_present("meta"), is_present("gpu")
    (True, False, False)
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        return False
    if device.type == "cpu":
        return True
    if device.type == "cuda":
        return torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    if device.type == "mps":
        return torch.backends.mps.is_available() and not device.index
    try:  # devices of other vendors have no question in common, but they can be tried
        return torch.ones(1, device=device).item() == 1
    except (RuntimeError, NotImplementedError, AssertionError, ImportError):
        return False


def _present_devices():
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = [f"cuda:{i}" for i in range(n_cuda)]
    names += ["mps"] if torch.backends.mps.is_available() else []
    return ", ".join(["cpu", *names]) if names else "no device but the CPU"


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
            before = self._outside_number()
            self.in_use[n_threads] += 1
            self.here.depth = getattr(self.here, "depth", 0) + 1
            torch.set_num_threads(n_threads)
            return before

    def _outside_number(self):
        number = torch.get_num_threads()
        if not self.in_use:
            self.outside = number
        elif number in self.in_use and not getattr(self.here, "depth", 0):
            number = self.outside
        return number

    def number(self):
        """Return the number that this thread should work with, and see to it that it does."""
        with self.guard:
            number = self._outside_number()
            if number != torch.get_num_threads():
                torch.set_num_threads(number)
            return number

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
        with threads(_threads.number()):
            yield
        return
    before = _threads.enter(n_threads)
    try:
        with threads(n_threads):
            yield
    finally:
        _threads.leave(n_threads, before)


def run_torch_in_threads(function, items):
    """Call a function for each item, several at once, and share torch's threads between them.

    Small products gain little by a second thread, and what lies between them nothing: two calls
    at once do more than two threads in each of them.

    Parameters
    ----------
    function : callable
        Takes an item; what it returns is dropped.
    items : list
        What to call it for, longest work first.
    """
    n_threads = torch.get_num_threads()
    share = max(n_threads // MOST_WORKERS, 1)

    def prepare():
        torch.get_num_threads()  # else the first operation takes over the number from outside
        torch.set_num_threads(share)

    before = _threads.enter(n_threads)
    with _threads.guard:
        _threads.in_use[share] += 1  # threads born meanwhile must not take it for the user's
    try:
        run_in_threads(function, items, n_threads, prepare)
    finally:
        with _threads.guard:
            _threads.in_use -= Counter({share: 1})
        _threads.leave(n_threads, before)


@cache
def load_compiler():
    """Let torch import its compiler, which optimisers do when first used, and leave no trace of it.

    The import sets an environment variable and adds warning filters; both are put back.
    """
    before = dict(os.environ)
    with warnings.catch_warnings():
        torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))]).step()
        torch.empty(1, device="meta").normal_()
    for name in os.environ.keys() - before.keys():
        del os.environ[name]


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
    with _turn.lock, float32_default(), fork:
        torch.manual_seed(seed)
        yield


@contextmanager
def float32_default():
    """Run with float32 as torch's default dtype, and put the user's back."""
    before = torch.get_default_dtype()
    if before == torch.float32:
        yield
        return
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
