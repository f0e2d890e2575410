"""Forked processes: threads of the parent are gone there, and OpenMP would wait for them for ever.

Knows the process id and threadpoolctl, which scikit-learn brings along.
"""

import os
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_IMPORTING_PROCESS = os.getpid()


def is_forked():
    """Whether this process was forked from the one that imported the package."""
    return os.getpid() != _IMPORTING_PROCESS


@contextmanager
def openmp_after_fork():
    """Run code that uses OpenMP, with a single thread in a forked process.

    Examples
    --------
    >>> from sklearn_mrmp._host.fork import openmp_after_fork
    >>> with openmp_after_fork():
    ...     pass
    """
    if not is_forked():
        yield
        return
    with threadpool_limits(1, user_api="openmp"):
        yield
