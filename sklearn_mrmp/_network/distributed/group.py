"""Several processes that fit one classifier together, by `torch.distributed`.

A fit looks whether its process is one of a group that somebody has started: with an initialised
process group, or with the environment variables of ``torchrun``. It then talks to the others by a
group of its own, which is closed at the end of the fit. Closing it is also how an error gets
around: whoever still waits for a process that has left is told that the connection is lost. Knows
`torch.distributed` and signals; nothing of skorch or of the model.
"""

import multiprocessing
import os
import signal
import threading
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

import torch
import torch.distributed as dist

from sklearn_mrmp._host.fork import is_forked
from sklearn_mrmp._host.interrupts import InsistedInterrupt
from sklearn_mrmp._host.world import ALONE, World

# What `torchrun` and its like tell each process.
_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
# Processes wait for the first one while it fits the voters. One that has died is noticed at once,
# since its connections close; this is for one that hangs, or whose machine is out of reach.
_PATIENCE = timedelta(hours=4)

# A fit inside a fit (a voter that is a network of its own) is no business of the other processes.
_inside = ContextVar("inside_a_group", default=False)
_busy = threading.Lock()
_n_groups, _stores = count(), {}


@dataclass(frozen=True, eq=False)
class ProcessGroup(World):
    """Processes that are connected.

    Attributes
    ----------
    groups : list
        The group of `torch.distributed` (None is the default group), or nothing once it is closed.
    """

    groups: list = field(default_factory=list)

    def once(self, step):
        """Take a step in the first process, and tell the others what came of it."""
        outcome = None, None
        if self.is_first:
            outcome = _outcome_of(step)
        result, error = self._from_first(outcome)
        if error is not None:
            raise error
        return result

    def _from_first(self, value):
        values = [value]
        with _lost_connection(self):
            dist.broadcast_object_list(values, src=0, group=self._group())
        return values[0]

    def gathered(self, value):
        """Return the values of all processes."""
        values = [None] * self.size
        with _lost_connection(self):
            dist.all_gather_object(values, value, group=self._group())
        return values

    def any(self, flag):
        """Return whether a flag is true anywhere."""
        return bool(self.add(torch.tensor([float(flag)])).item())

    def add(self, tensor):
        """Add up a tensor over all processes, in place, and return it."""
        with _lost_connection(self):
            dist.all_reduce(tensor, group=self._group())
        return tensor

    def copy_from_first(self, tensors):
        """Overwrite tensors by those of the first process."""
        for tensor in tensors:
            with _lost_connection(self), torch.no_grad():
                dist.broadcast(tensor, src=0, group=self._group())

    def _group(self):
        if not self.groups:
            raise RuntimeError("The processes have parted: their fit is over.")
        return self.groups[0]

    def close(self):
        """Leave the group; whoever waits for this process gets an error."""
        group = self.groups.pop()
        with suppress(RuntimeError, ValueError):  # a connection that is broken already
            dist.destroy_process_group(group)


def _outcome_of(step):
    """Take a step, and return its result and error; a user who insists is not kept waiting."""
    try:
        return step(), None
    except InsistedInterrupt:
        raise
    except (Exception, KeyboardInterrupt) as error:
        return None, error


@contextmanager
def _lost_connection(world):
    """Say in the error of a lost connection which process noticed it."""
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(
            f"Process {world.rank} of {world.size} has lost the connection to another one: that "
            "process has ended, or its fit has failed. What it printed last says why. "
            f"({error})"
        ) from error.with_traceback(None)  # its frames would keep the connections open


@contextmanager
def world_of_fit(device):
    """Join the other processes of a fit, if there are any, and part from them afterwards.

    Parameters
    ----------
    device : str
        Where this process computes.

    Yields
    ------
    world : World
    """
    if _inside.get() or is_forked() or not dist.is_available() or _size() == 1:
        yield ALONE
        return
    if not _busy.acquire(blocking=False):
        raise RuntimeError(
            "Another fit of this process is under way in another thread, and both would talk to "
            "the other processes at once. Inside a process group fits must follow each other: use "
            "n_jobs=1."
        )
    token = _inside.set(True)
    try:
        world = _joined(device)
        try:
            with _interrupts_by_first(world):
                yield world
                world.gathered(None)  # nobody closes what another one still reads
        finally:
            world.close()
    finally:
        _inside.reset(token)
        _busy.release()


def _size():
    """Count the processes of the group this one belongs to, or was started for."""
    if dist.is_initialized():
        return dist.get_world_size()
    # Workers of joblib inherit the variables of the process that started them, but not its place.
    was_launched = multiprocessing.parent_process() is None
    if not was_launched or any(name not in os.environ for name in _VARIABLES):
        return 1
    return _number("WORLD_SIZE")


def _number(name):
    try:
        return int(os.environ[name])
    except ValueError:
        raise ValueError(
            f"The environment variable {name} must be a whole number, got {os.environ[name]!r}."
        ) from None


def _joined(device):
    """Connect to the other processes; CPUs talk by gloo, CUDA devices by nccl."""
    backend = "cpu:gloo,cuda:nccl" if torch.device(device).type == "cuda" else "gloo"
    if dist.is_initialized():
        group = dist.new_group(backend=backend, timeout=_PATIENCE)
        return ProcessGroup(dist.get_rank(), dist.get_world_size(), [group])
    rank, size = _number("RANK"), _number("WORLD_SIZE")
    dist.init_process_group(
        backend,
        # A name of its own for each fit: what an earlier one has left behind is not read.
        store=dist.PrefixStore(f"sklearn_mrmp/{next(_n_groups)}", _store(rank, size)),
        rank=rank,
        world_size=size,
        timeout=_PATIENCE,
    )
    return ProcessGroup(rank, size, [None])


def _store(rank, size):
    """Return where processes find each other; the first one keeps it, unless the launcher does."""
    address = os.environ["MASTER_ADDR"], _number("MASTER_PORT")
    if address not in _stores:
        keeps = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        _stores[address] = dist.TCPStore(
            *address, size, is_master=keeps, multi_tenant=True, wait_for_workers=False
        )
    return _stores[address]


@contextmanager
def _interrupts_by_first(world):
    """Let the first process decide on Ctrl-C, which a terminal sends to all of them."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    ours = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if world.is_first or not ours:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
