"""Threads of ours: several calls of a function at once, on blocks of rows or on any items.

How many is said by whoever calls the model (`threads`), not by those who use them; a thread that
works for us starts none of its own. Knows the standard library.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

_n_threads = ContextVar("n_threads", default=1)
# Calls of ours at once: Python's lock is shared by all of them.
MOST_WORKERS = 4

# Numbers of a block of rows (1 MB of float32, which caches bear), and rows that are worth a block
# unless it gets this large.
_BLOCK_NUMBERS = 2**18
_FEWEST_ROWS, _MOST_NUMBERS = 32, 2**22


@contextmanager
def threads(n_threads):
    """Let calls of `run_on_rows` inside the block use this many threads.

    Examples
    --------
    >>> with threads(2):
    ...     run_on_rows(print, n_samples=3, width=1)
    slice(0, 3, None)
    """
    token = _n_threads.set(n_threads)
    try:
        yield
    finally:
        _n_threads.reset(token)


def current_threads():
    """Return the number of threads that the caller has allowed; 1 outside of `threads`."""
    return _n_threads.get()


def run_in_threads(function, items, n_threads, prepare=None):
    """Call a function for each item, several at once.

    Parameters
    ----------
    function : callable
        Takes an item; what it returns is dropped.
    items : list
        What to call it for, longest work first.
    n_threads : int
        Calls at once, at most `MOST_WORKERS`; with 1 they are made here, one after the other.
    prepare : callable, default=None
        Called once in each new thread.

    Raises
    ------
    Exception
        The first one of the calls; those that have not begun by then are not made.
    """
    n_workers = min(n_threads, MOST_WORKERS, len(items))
    if n_workers > 1:
        items = _run_in_pool(function, items, n_workers, prepare)
    for item in items:
        function(item)


def _run_in_pool(function, items, n_workers, prepare):
    """Call as far as threads are to be had, and return the items that are left.

    At the interpreter's end there are none. The first error is raised as soon as it is there, and
    no call is left running behind.
    """
    pool, futures = ThreadPoolExecutor(n_workers, initializer=prepare), []
    try:
        try:
            for item in items:
                futures.append(pool.submit(function, item))
        except RuntimeError:
            pass
        for future in futures:
            future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return items[len(futures) :]


def run_on_rows(function, n_samples, width):
    """Call a function for slices of rows, several at once.

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
    # Not by scikit-learn's `gen_batches`, whose checks take as long as some of the work on a row.
    starts = range(0, n_samples, size)
    slices = [slice(start, min(start + size, n_samples)) for start in starts]
    run_in_threads(function, slices, current_threads())
